/* test_leases.c -- leases: levels that hold while the viewer who asked for them is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/beside.h"
#include "tests/support/emitting.h"

TELEM_CLASS(quiet, "off", TELEM_OFF);

static void a_lease_holds_while_its_viewer_is_there(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(ATTACH, attach, { "looker", 6 }), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	READ_UNTIL(reader, reader_class(reader, "quiet")->level == TELEM_ALL && reader_class(reader, "quiet")->leases);
	assert_string_equal(reader_class(reader, "quiet")->by, "looker");
	assert_int_equal(reader_class(reader, "quiet")->leases, 1);
	assert_int_equal(reader_class(reader, "quiet")->own_level, TELEM_OFF);
	TELEM_COUNT(quiet, "leased", 1);
	telem_flush(5 * S);
	READ_UNTIL(reader, site("quiet.leased")->event_count == 1);
	reader_free(reader);
	reader = attach_viewer();
	READ_UNTIL(reader, telem_level_get("quiet") == TELEM_OFF);
}

static uint64_t records_wanted;
static uint64_t want_record(void) { return __atomic_add_fetch(&records_wanted, 1, __ATOMIC_RELAXED); }

static void pass(uint64_t *count)
{
	TELEM_COUNT(quiet, "passed", want_record());
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* Waits until the thread has passed the place again from its begin to its end. */
static void wait_for_passes(const struct emitters *emitters)
{
	uint64_t before = __atomic_load_n(&emitters->counts[0], __ATOMIC_RELAXED);

	WAIT_UNTIL(__atomic_load_n(&emitters->counts[0], __ATOMIC_RELAXED) > before + 100, 5000);
}

static void a_place_first_passed_while_off_records_while_a_viewer_wants_it(void **state)
{
	uint64_t wanted;
	struct emitters emitters;

	(void)state;
	start(NULL);
	records_wanted = 0;
	emitters_begin(&emitters, 1, pass);
	for (int round = 0; round < 3; round++) {
		wait_for_passes(&emitters);
		wanted = __atomic_load_n(&records_wanted, __ATOMIC_RELAXED);
		wait_for_passes(&emitters);
		assert_int_equal(__atomic_load_n(&records_wanted, __ATOMIC_RELAXED), wanted);
		reader = attach_viewer();
		reader->is_lossy = true;
		assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
		READ_UNTIL(reader, site("quiet.passed")->event_count > 100);
		reader_free(reader);
		reader = NULL;
		WAIT_UNTIL(telem_level_get("quiet") == TELEM_OFF, 5000);
	}
	emitters_end(&emitters);
}

static void a_kept_level_stays_when_its_viewer_leaves(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_SUM, 1), ACK_DONE);
	reader_free(reader);
	reader = attach_viewer();
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_SUM);
	assert_int_equal(reader_class(reader, "quiet")->own_level, TELEM_SUM);
}

static void the_latest_lease_wins_and_then_the_one_before_returns(void **state)
{
	struct reader *first, *second;

	(void)state;
	start(NULL);
	first = reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_SUM, 0), ACK_DONE);
	second = reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	reader_free(second);
	READ_UNTIL(first, telem_level_get("quiet") == TELEM_SUM);
	reader = first;
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_OWN, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
}

static void count_alone(void) { TELEM_COUNT(quiet, "alone", 1); }

static void a_lease_of_a_site_leaves_its_class_alone(void **state)
{
	(void)state;
	start(NULL);
	count_alone();
	reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, site("quiet.alone")->id, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(telem_level_get("quiet.alone"), TELEM_ALL);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	READ_UNTIL(reader, site("quiet.alone")->level == TELEM_ALL);
}

static void count_beside(void) { TELEM_COUNT(quiet, "beside", 1); }

static void leases_of_a_class_are_counted_without_those_of_its_sites(void **state)
{
	(void)state;
	start(NULL);
	count_alone();
	count_beside();
	reader = attach_viewer();
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, site("quiet.alone")->id, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, site("quiet.beside")->id, LEVEL_ALL, 0), ACK_DONE);
	hear(reader);                                    /* the greeting's CLASS */
	assert_int_equal(reader_class(reader, "quiet")->leases, 0);
	telem_class_level(&telem_class_quiet, TELEM_SUM);
	READ_UNTIL(reader, reader_class(reader, "quiet")->level == TELEM_SUM);     /* a LEVEL message */
	assert_int_equal(reader_class(reader, "quiet")->leases, 0);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_SUM, 0), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("quiet"), 0, LEVEL_ALL, 0), ACK_DONE);
	READ_UNTIL(reader, reader_class(reader, "quiet")->level == TELEM_ALL);
	assert_int_equal(reader_class(reader, "quiet")->leases, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(a_lease_holds_while_its_viewer_is_there),
		BESIDE_TEST(a_place_first_passed_while_off_records_while_a_viewer_wants_it),
		BESIDE_TEST(a_kept_level_stays_when_its_viewer_leaves),
		BESIDE_TEST(the_latest_lease_wins_and_then_the_one_before_returns),
		BESIDE_TEST(a_lease_of_a_site_leaves_its_class_alone),
		BESIDE_TEST(leases_of_a_class_are_counted_without_those_of_its_sites),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("leases", tests, NULL, NULL);
}
