/* test_values.c -- values and gauges: their figures at the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "protocol/histogram.h"
#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);

static void values_keep_count_sum_extremes_and_distribution(void **state)
{
	uint64_t sum = 0;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (uint64_t i = 1; i <= 1000; i++) {
		TELEM_VALUE(net, "sizes", i * i, TELEM_BYTES);
		sum += i * i;
	}
	hear(reader);
	assert_int_equal(site("net.sizes")->count, 1000);
	assert_int_equal(site("net.sizes")->sum, sum);
	assert_int_equal(site("net.sizes")->min, 1);
	assert_int_equal(site("net.sizes")->max, 1000000);
	assert_int_equal(site("net.sizes")->unit, TELEM_BYTES);
	assert_int_equal(site("net.sizes")->bucket_total, 1000);
	for (uint64_t i = 1; i <= 1000; i += 111)
		assert_true(site("net.sizes")->buckets[histogram_index(i * i)] > 0);
	assert_in_range(histogram_quantile(site("net.sizes")->buckets, 1000, 500), 250000 * 97 / 100,
			250000 * 103 / 100);
}

static void a_value_above_the_histogram_falls_into_its_last_bucket(void **state)
{
	(void)state;
	start("net=all");
	reader = attach_fd(NULL);
	TELEM_VALUE(net, "huge", UINT64_MAX, TELEM_NONE);
	TELEM_VALUE(net, "huge", 0, TELEM_NONE);
	hear(reader);
	assert_int_equal(site("net.huge")->buckets[HISTOGRAM_BUCKETS - 1], 1);
	assert_int_equal(site("net.huge")->buckets[0], 1);
	assert_int_equal(site("net.huge")->min, 0);
	assert_true(site("net.huge")->max == UINT64_MAX);
	assert_int_equal(site("net.huge")->event_count, 2);
}

struct setting { int64_t value; };
static void *set_gauge(void *arg)
{
	TELEM_GAUGE(net, "clients", ((struct setting *)arg)->value);
	TELEM_GAUGE_ADD(net, "open", ((struct setting *)arg)->value);
	return NULL;
}

static void a_gauge_is_what_the_last_thread_set(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	set_gauge(&(struct setting){ 7 });
	in_thread(set_gauge, &(struct setting){ -12 });
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, -12);
	set_gauge(&(struct setting){ 3 });
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, 3);
}

static void *set_gauge_elsewhere(void *arg)
{
	TELEM_GAUGE(net, "clients", ((struct setting *)arg)->value);
	return NULL;
}

static void a_gauge_is_what_was_set_last_wherever_that_stands(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_GAUGE(net, "clients", 100);
	in_thread(set_gauge_elsewhere, &(struct setting){ 7 });
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, 7);
	TELEM_GAUGE(net, "clients", 101);
	hear(reader);
	assert_int_equal((int64_t)site("net.clients")->sum, 101);
}

/* Some changes cancel each other out. Figures whose sum is the same as before must still be sent. */
static void every_change_is_told_at_the_next_tick(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	TELEM_GAUGE_ADD(net, "up and down", 10);
	READ_UNTIL(reader, reader_site(reader, "net.up and down") && site("net.up and down")->count == 1);
	TELEM_GAUGE_ADD(net, "up and down", -1);
	TELEM_GAUGE_ADD(net, "up and down", -1);
	TELEM_GAUGE_ADD(net, "up and down", 1);
	READ_UNTIL(reader, site("net.up and down")->count == 4);
	assert_int_equal((int64_t)site("net.up and down")->sum, 9);
}

static void a_moved_gauge_is_the_sum_over_all_threads_also_ended_ones(void **state)
{
	int64_t before;

	(void)state;
	start(NULL);
	set_gauge(&(struct setting){ 0 });
	reader = attach_fd(NULL);
	before = (int64_t)site("net.open")->sum;
	in_thread(set_gauge, &(struct setting){ 10 });
	in_thread(set_gauge, &(struct setting){ -4 });
	set_gauge(&(struct setting){ -20 });
	hear(reader);
	assert_int_equal((int64_t)site("net.open")->sum, before - 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(values_keep_count_sum_extremes_and_distribution),
		BESIDE_TEST(a_value_above_the_histogram_falls_into_its_last_bucket),
		BESIDE_TEST(a_gauge_is_what_the_last_thread_set),
		BESIDE_TEST(a_gauge_is_what_was_set_last_wherever_that_stands),
		BESIDE_TEST(every_change_is_told_at_the_next_tick),
		BESIDE_TEST(a_moved_gauge_is_the_sum_over_all_threads_also_ended_ones),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
