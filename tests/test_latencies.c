/* test_latencies.c -- latencies: from a stamp, or from a begin to an end that share a key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);

static void a_latency_without_a_start_is_no_latency(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_LATENCY(net, "never begun", 0);
	TELEM_LATENCY(net, "from tomorrow", telem_stamp() + (1ull << 40));
	hear(reader);
	assert_int_equal(site("net.never begun")->count, 0);
	assert_int_equal(site("net.from tomorrow")->count, 1);
	assert_int_equal(site("net.from tomorrow")->max, 0);
}

static void *end_latencies(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		TELEM_LATENCY_END(net, "round trip", i);
	return NULL;
}

static void a_latency_by_key_is_ended_by_any_thread(void **state)
{
	int count = 100;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < count; i++)
		TELEM_LATENCY_BEGIN(net, "round trip", i);
	in_thread(end_latencies, &count);
	hear(reader);
	assert_int_equal(site("net.round trip")->count, 100);
	assert_true(site("net.round trip")->min > 0);
	assert_int_equal(site_count("telem.latency unmatched"), 0);
	/* One key is ended twice, another is ended and was never begun. */
	in_thread(end_latencies, &count);
	TELEM_LATENCY_END(net, "one way", 5);
	hear(reader);
	assert_int_equal(site("net.round trip")->count, 100);
	assert_int_equal(site_count("telem.latency unmatched"), 101);
}

static void a_latency_begun_again_starts_anew(void **state)
{
	uint64_t before;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	before = site_count("telem.latency restarted");
	TELEM_LATENCY_BEGIN(net, "again", 1);
	spin_until_passed(20 * MS);
	TELEM_LATENCY_BEGIN(net, "again", 1);
	TELEM_LATENCY_END(net, "again", 1);
	hear(reader);
	assert_int_equal(site("net.again")->count, 1);
	assert_in_range(site("net.again")->max, 1, 19 * MS);
	assert_int_equal(site_count("telem.latency restarted"), before + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(a_latency_without_a_start_is_no_latency),
		BESIDE_TEST(a_latency_by_key_is_ended_by_any_thread),
		BESIDE_TEST(a_latency_begun_again_starts_anew),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("latencies", tests, NULL, NULL);
}
