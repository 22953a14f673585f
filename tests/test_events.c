/* test_events.c -- what an event carries: fields, keys, the text of a log line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

/* ---- fields and keys ---- */

static void an_event_keeps_its_fields_whatever_their_type(void **state)
{
	float half = 0.5f;
	double result;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_EVENT(loud, "request", TELEM_F("status", -404), TELEM_F("bytes", UINT64_MAX), TELEM_F("ratio", half),
		    TELEM_F("flag", (unsigned char)200), TELEM_F("time", 1e300), TELEM_F("a", 0),
		    TELEM_F("b", (short)-1), TELEM_F("c", 1ull << 63));
	hear(reader);
	assert_int_equal(site("loud.request")->event_count, 1);
	assert_int_equal(site("loud.request")->field_count, 8);
	assert_string_equal(site("loud.request")->fields[0], "status");
	assert_string_equal(site("loud.request")->fields[7], "c");
	assert_int_equal(reader->record_count, 8);
	assert_int_equal((int64_t)reader->record[0].bits, -404);
	assert_true(reader->record[1].bits == UINT64_MAX && reader->record[1].type == NUMBER_UINT);
	memcpy(&result, &reader->record[2].bits, 8);
	assert_true(result == 0.5 && reader->record[2].type == NUMBER_DOUBLE);
	assert_int_equal(reader->record[3].bits, 200);
	memcpy(&result, &reader->record[4].bits, 8);
	assert_true(result == 1e300);
	assert_int_equal((int64_t)reader->record[6].bits, -1);
	assert_true(reader->record[7].bits == 1ull << 63);
}

static void a_field_that_places_of_one_name_put_differently_has_no_name(void **state)
{
	uint64_t sites;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_EVENT(loud, "swapped", TELEM_F("status", 200), TELEM_F("bytes", 512), TELEM_F("port", 80));
	hear(reader);
	assert_string_equal(site("loud.swapped")->fields[0], "status");
	assert_string_equal(site("loud.swapped")->fields[1], "bytes");
	assert_string_equal(site("loud.swapped")->fields[2], "port");
	sites = reader->kind_count[KIND_SITE];
	TELEM_EVENT(loud, "swapped", TELEM_F("bytes", 512), TELEM_F("status", 200), TELEM_F("port", 80),
		    TELEM_F("host", 7));
	/* The changed site is sent with the event, before the next greeting. */
	READ_UNTIL(reader, site("loud.swapped")->event_count == 2);
	assert_int_equal(reader->kind_count[KIND_SITE], sites + 1);
	assert_int_equal(site("loud.swapped")->field_count, 4);
	assert_string_equal(site("loud.swapped")->fields[0], "?");
	assert_string_equal(site("loud.swapped")->fields[1], "?");
	assert_string_equal(site("loud.swapped")->fields[2], "port");
	assert_string_equal(site("loud.swapped")->fields[3], "host");
}

static void marks_carry_their_key(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	TELEM_MARK(loud, "enqueued", 0xfedcba9876543210u);
	hear(reader);
	assert_int_equal(site("loud.enqueued")->event_count, 1);
	assert_true(site("loud.enqueued")->event_sum == 0xfedcba9876543210u);
}

/* ---- log lines ---- */

static void a_log_line_is_counted_at_sum_and_sent_at_all(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_LOG(TELEM_WARN, "retry %d", 1);
	hear(reader);
	assert_int_equal(site("log.retry %d")->count, 1);
	assert_int_equal(site("log.retry %d")->event_count, 0);
	telem_level_set("log", TELEM_ALL);
	TELEM_LOG(TELEM_WARN, "retry %d", 2);
	hear(reader);
	assert_int_equal(site("log.retry %d")->count, 2);
	assert_string_equal(reader->log_text, "retry 2");
	assert_int_equal(reader->log_severity, TELEM_WARN);
	assert_false(reader->log_cut);
}

static void a_long_log_line_is_cut_with_a_mark(void **state)
{
	char text[3000];

	(void)state;
	start("log=all");
	reader = attach_fd(NULL);
	memset(text, 'x', sizeof text);
	text[LIMIT_TEXT_BYTES] = '\0';
	TELEM_LOG(TELEM_INFO, "%s", text);
	hear(reader);
	assert_false(reader->log_cut);
	assert_int_equal(strlen(reader->log_text), LIMIT_TEXT_BYTES);
	text[LIMIT_TEXT_BYTES] = 'x';
	text[sizeof text - 1] = '\0';
	TELEM_LOG(TELEM_INFO, "%s", text);
	hear(reader);
	assert_true(reader->log_cut);
	assert_int_equal(strlen(reader->log_text), LIMIT_TEXT_BYTES);
}

static void a_long_log_line_is_cut_between_characters(void **state)
{
	char text[3 * LIMIT_TEXT_BYTES];

	(void)state;
	start("log=all");
	reader = attach_fd(NULL);
	for (size_t ahead = 0; ahead < 3; ahead++) {
		size_t whole = (LIMIT_TEXT_BYTES - ahead) / 3;

		memset(text, 'x', ahead);
		for (size_t i = 0; i < whole + 100; i++)
			memcpy(text + ahead + 3 * i, "\u20ac", 4);
		TELEM_LOG(TELEM_INFO, "%s", text);
		hear(reader);
		assert_true(reader->log_cut);
		assert_int_equal(strlen(reader->log_text), ahead + 3 * whole);
		assert_memory_equal(reader->log_text, text, ahead + 3 * whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(an_event_keeps_its_fields_whatever_their_type),
		BESIDE_TEST(a_field_that_places_of_one_name_put_differently_has_no_name),
		BESIDE_TEST(a_log_line_is_counted_at_sum_and_sent_at_all),
		BESIDE_TEST(a_long_log_line_is_cut_with_a_mark),
		BESIDE_TEST(a_long_log_line_is_cut_between_characters),
		BESIDE_TEST(marks_carry_their_key),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
