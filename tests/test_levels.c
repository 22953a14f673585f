/* test_levels.c -- levels of classes and sites: what is recorded at off, sum and all, and who sets them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(quiet, "off", TELEM_OFF);
TELEM_CLASS(loud, "at all", TELEM_ALL);

static int evaluated;
static uint64_t one(void) { evaluated++; return 1; }

static void a_site_that_is_off_does_not_evaluate_its_arguments(void **state)
{
	(void)state;
	start(NULL);
	evaluated = 0;
	TELEM_COUNT(quiet, "off counter", one());
	TELEM_VALUE(quiet, "off value", one(), TELEM_NONE);
	TELEM_EVENT(quiet, "off event", TELEM_F("a", one()));
	assert_int_equal(evaluated, 0);
	TELEM_COUNT(net, "on counter", one());
	assert_int_equal(evaluated, 1);
}

static void nothing_is_recorded_before_the_start_and_after_the_stop(void **state)
{
	(void)state;
	evaluated = 0;
	TELEM_COUNT(net, "too early", one());
	start(NULL);
	telem_stop();
	TELEM_COUNT(net, "too late", one());
	assert_int_equal(evaluated, 0);
}

static void a_class_at_sum_sends_figures_and_no_events(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < 100; i++)
		TELEM_COUNT(net, "summed", 2);
	hear(reader);
	assert_int_equal(site("net.summed")->count, 100);
	assert_int_equal(site("net.summed")->sum, 200);
	assert_int_equal(site("net.summed")->event_count, 0);
}

static void a_class_at_all_sends_figures_and_every_event(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (uint64_t i = 0; i < 100; i++)
		TELEM_COUNT(loud, "streamed", i);
	hear(reader);
	assert_int_equal(site("loud.streamed")->count, 100);
	assert_int_equal(site("loud.streamed")->sum, 4950);
	assert_int_equal(site("loud.streamed")->event_count, 100);
	assert_int_equal(site("loud.streamed")->event_sum, 4950);
}

static void a_class_that_is_off_sends_nothing(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_COUNT(quiet, "silent", 1);
	hear(reader);
	assert_int_equal(site("quiet.silent")->count, 0);
	assert_int_equal(site("quiet.silent")->level, TELEM_OFF);
}

static void count_alone(void) { TELEM_COUNT(quiet, "alone", 1); }

static void a_site_may_have_a_level_of_its_own(void **state)
{
	(void)state;
	start(NULL);
	assert_int_equal(telem_level_set("quiet.alone", TELEM_SUM), 0);
	assert_int_equal(telem_level_get("quiet.alone"), TELEM_SUM);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	count_alone();
	reader = attach_fd(NULL);
	assert_int_equal(site("quiet.alone")->count, 1);
	assert_int_equal(telem_level_set("quiet.alone", TELEM_OFF), 0);
	count_alone();
	hear(reader);
	assert_int_equal(site("quiet.alone")->count, 1);
}

static void a_level_takes_effect_at_once_and_is_told(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	evaluated = 0;
	assert_int_equal(telem_class_level(&telem_class_net, TELEM_OFF), 0);
	TELEM_COUNT(net, "switched", one());
	assert_int_equal(telem_class_level(&telem_class_net, TELEM_ALL), 0);
	TELEM_COUNT(net, "switched", one());
	assert_int_equal(evaluated, 1);
	READ_UNTIL(reader, reader_class(reader, "net")->level == TELEM_ALL && reader_class(reader, "net")->level_count);
	assert_string_equal(reader_class(reader, "net")->by, "program");
}

static void a_level_of_nothing_or_of_no_such_number_is_refused(void **state)
{
	(void)state;
	start(NULL);
	assert_int_equal(telem_level_set("no such class", TELEM_SUM), -ENOENT);
	assert_int_equal(telem_level_set("net.no such site", TELEM_SUM), -ENOENT);
	assert_int_equal(telem_level_get("no such class"), -ENOENT);
	assert_int_equal(telem_level_set("net", (enum telem_level)3), -EINVAL);
	assert_int_equal(telem_class_level(&telem_class_net, (enum telem_level)7), -EINVAL);
	assert_int_equal(telem_level_get("net"), TELEM_SUM);
}

static void the_last_words_tell_the_levels_that_were_and_a_second_start_has_them_again(void **state)
{
	const char *path = fixture_path(fixture, "run.telem");
	struct reader *file = reader_new(-1);
	uint64_t levels;
	uint8_t *bytes;
	size_t count;

	(void)state;
	start(NULL);
	assert_true(telem_sink_file(path) >= 0);
	reader = attach_fd(NULL);
	telem_class_level(&telem_class_net, TELEM_ALL);
	hear(reader);
	levels = reader->kind_count[KIND_LEVEL];
	stop_and_read(reader);
	assert_true(reader->has_bye);
	assert_int_equal(reader->kind_count[KIND_LEVEL], levels);
	bytes = (uint8_t *)fixture_read(path, &count);
	file->at_end = true;
	reader_feed(file, bytes, count);
	assert_true(file->has_bye);
	for (struct reader *who = reader; who; who = who == reader ? file : NULL) {
		assert_int_equal(reader_class(who, "net")->level, TELEM_ALL);
		assert_int_equal(reader_class(who, "loud")->level, TELEM_ALL);
		assert_int_equal(reader_class(who, "log")->level, TELEM_SUM);
	}
	free(bytes);
	reader_free(file);
	assert_int_equal(telem_level_get("net"), TELEM_OFF);
	start(NULL);
	assert_int_equal(telem_level_get("net"), TELEM_ALL);
	assert_int_equal(telem_level_get("loud"), TELEM_ALL);
	assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	evaluated = 0;
	TELEM_COUNT(net, "on again", one());
	assert_int_equal(evaluated, 1);
}

static void enable_all_switches_every_class(void **state)
{
	(void)state;
	start(NULL);
	telem_enable_all(true);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	assert_int_equal(telem_level_get("mem"), TELEM_ALL);
	telem_enable_all(false);
	assert_int_equal(telem_level_get("loud"), TELEM_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(nothing_is_recorded_before_the_start_and_after_the_stop),
		BESIDE_TEST(a_site_that_is_off_does_not_evaluate_its_arguments),
		BESIDE_TEST(a_class_at_sum_sends_figures_and_no_events),
		BESIDE_TEST(a_class_at_all_sends_figures_and_every_event),
		BESIDE_TEST(a_class_that_is_off_sends_nothing),
		BESIDE_TEST(a_site_may_have_a_level_of_its_own),
		BESIDE_TEST(a_level_takes_effect_at_once_and_is_told),
		BESIDE_TEST(a_level_of_nothing_or_of_no_such_number_is_refused),
		BESIDE_TEST(the_last_words_tell_the_levels_that_were_and_a_second_start_has_them_again),
		BESIDE_TEST(enable_all_switches_every_class),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("levels", tests, NULL, NULL);
}
