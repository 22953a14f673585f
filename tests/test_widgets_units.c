#include "widgets/units.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "widgets/text.h"

#define CHECK(function, value, expected) do { \
	char out_[UNITS_BYTES]; \
	function(out_, (value)); \
	assert_string_equal(out_, (expected)); \
} while (0)

static const enum unit all_units[] = {
	UNIT_NONE, UNIT_NS, UNIT_BYTES, UNIT_PER_S, UNIT_BYTES_PER_S, UNIT_SHARE,
};

static void times_have_three_digits(void **state)
{
	(void)state;
	CHECK(units_time, 29, "29.0 ns");
	CHECK(units_time, 0.5, "0.50 ns");
	CHECK(units_time, 412e3, "412 µs");
	CHECK(units_time, 8.31e6, "8.31 ms");
	CHECK(units_time, 52.3e9, "52.3 s");
	CHECK(units_time, -8.31e6, "-8.31 ms");
}

static void times_change_unit_before_a_thousand(void **state)
{
	(void)state;
	CHECK(units_time, 999.4, "999 ns");
	CHECK(units_time, 999.5, "1.00 µs");
	CHECK(units_time, 999.4e3, "999 µs");
	CHECK(units_time, 999.6e3, "1.00 ms");
	CHECK(units_time, 9.994e6, "9.99 ms");
	CHECK(units_time, 9.996e6, "10.0 ms");
	CHECK(units_time, 99.96e6, "100 ms");
}

static void times_from_a_minute_on_have_two_parts(void **state)
{
	(void)state;
	CHECK(units_time, 59.94e9, "59.9 s");
	CHECK(units_time, 59.96e9, "1m00s");
	CHECK(units_time, 65e9, "1m05s");
	CHECK(units_time, 3599.6e9, "1h00m");
	CHECK(units_time, (2 * 3600 + 14 * 60 + 59) * 1e9, "2h14m");
	CHECK(units_time, 86400e9, "1d0h");
	CHECK(units_time, (12 * 24 + 4) * 3600e9, "12d4h");
	CHECK(units_time, 999.99 * 86400e9, "999d23h");
	CHECK(units_time, 1000 * 86400e9, "1000d");
	CHECK(units_time, 1e30, ">99999d");
}

static void bytes_change_unit_before_a_thousand(void **state)
{
	(void)state;
	CHECK(units_bytes, 512, "512 B");
	CHECK(units_bytes, 999, "999 B");
	CHECK(units_bytes, 1000, "0.98 KiB");
	CHECK(units_bytes, 999 * 1024.0, "999 KiB");
	CHECK(units_bytes, 1000 * 1024.0, "0.98 MiB");
	CHECK(units_bytes, 1.2 * 1048576, "1.20 MiB");
	CHECK(units_bytes, 312 * 1048576.0, "312 MiB");
	CHECK(units_bytes, 18446744073709551615.0, "16.0 EiB");
	CHECK(units_bytes, 1e30, ">999 EiB");
}

static void counts_are_whole_where_they_are(void **state)
{
	(void)state;
	CHECK(units_count, 7, "7");
	CHECK(units_count, 310, "310");
	CHECK(units_count, 12.04, "12.0");
	CHECK(units_count, 999, "999");
	CHECK(units_count, 999.7, "1.00k");
	CHECK(units_count, 48210, "48.2k");
	CHECK(units_count, 1.24e6, "1.24M");
	CHECK(units_count, -5, "-5");
	CHECK(units_count, 1e30, ">999E");
}

static void rates_keep_the_place_of_the_letter(void **state)
{
	(void)state;
	CHECK(units_rate, 298, "298 /s");
	CHECK(units_rate, 12, "12.0 /s");
	CHECK(units_rate, 1240, "1.24k/s");
	CHECK(units_rate, 0, "0 /s");
	CHECK(units_byte_rate, 1.91 * 1048576, "1.91 MiB/s");
	CHECK(units_byte_rate, 0, "0 /s");
}

static void shares_are_percent(void **state)
{
	(void)state;
	CHECK(units_percent, 0.0092, "0.92 %");
	CHECK(units_percent, 0.61, "61.0 %");
	CHECK(units_percent, 1, "100 %");
	CHECK(units_percent, 0.9996, "100 %");
	CHECK(units_percent, 12.4, "1240 %");
	CHECK(units_percent, 1e9, ">9999 %");
}

static void zero_is_zero_and_only_zero(void **state)
{
	(void)state;
	CHECK(units_time, 0, "0");
	CHECK(units_bytes, -0.0, "0");
	CHECK(units_count, 0, "0");
	CHECK(units_percent, 0, "0 %");
	CHECK(units_percent, 1e-9, "0.00 %");
	CHECK(units_bytes_change, 0, "0");
}

static void absent_is_a_dash(void **state)
{
	char out[UNITS_BYTES], ascii[UNITS_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof all_units / sizeof all_units[0]; i++) {
		units_value(out, all_units[i], NAN);
		assert_string_equal(out, "–");
		text_clean(ascii, sizeof ascii, out, strlen(out), GLYPHS_ASCII);
		assert_string_equal(ascii, "-");
	}
	CHECK(units_time_change, NAN, "–");
	CHECK(units_bytes_change, NAN, "–");
	CHECK(units_uptime, NAN, "–");
}

static void infinity_is_past_the_largest_unit(void **state)
{
	(void)state;
	CHECK(units_time, INFINITY, ">99999d");
	CHECK(units_bytes, INFINITY, ">999 EiB");
	CHECK(units_count, INFINITY, ">999E");
	CHECK(units_count, -INFINITY, "->999E");
	CHECK(units_percent, INFINITY, ">9999 %");
	CHECK(units_uptime, INFINITY, ">99999d");
}

static void changes_are_signed(void **state)
{
	char out[UNITS_BYTES];

	(void)state;
	CHECK(units_bytes_change, 41 * 1048576.0, "+41.0 MiB");
	CHECK(units_bytes_change, -320 * 1024.0, "-320 KiB");
	CHECK(units_time_change, 78.1e6, "+78.1 ms");
	CHECK(units_time_change, -61e9, "-1m01s");
	units_change_percent(out, 401, 417);
	assert_string_equal(out, "+4 %");
	units_change_percent(out, 2.2, 8.31);
	assert_string_equal(out, "+278 %");
	units_change_percent(out, 100, 88);
	assert_string_equal(out, "-12 %");
	units_change_percent(out, 1, 1e9);
	assert_string_equal(out, "+>9999 %");
}

static void no_change_has_no_sign(void **state)
{
	char out[UNITS_BYTES];

	(void)state;
	units_change_percent(out, 100, 100);
	assert_string_equal(out, "0 %");
	units_change_percent(out, 100000, 100001);
	assert_string_equal(out, "0 %");
}

static void change_from_nothing_is_absent(void **state)
{
	char out[UNITS_BYTES];

	(void)state;
	units_change_percent(out, 0, 5);
	assert_string_equal(out, "–");
	units_change_percent(out, NAN, 5);
	assert_string_equal(out, "–");
	units_change_percent(out, 5, NAN);
	assert_string_equal(out, "–");
	units_change_percent(out, -1, 5);
	assert_string_equal(out, "–");
}

static void no_figure_passes_its_width(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof all_units / sizeof all_units[0]; i++)
		for (double value = 1e-6; value < 1e24; value *= 1.013) {
			char out[UNITS_BYTES];
			int limit = units_width(all_units[i]);

			if (all_units[i] == UNIT_SHARE && value > 99)
				break;
			units_value(out, all_units[i], value);
			assert_true(text_width(out) <= limit);
			assert_null(strstr(out, "1000 "));
			units_tick(out, all_units[i], value);
			assert_true(text_width(out) <= limit);
		}
}

static void ticks_are_short(void **state)
{
	char out[UNITS_BYTES];
	static const struct { enum unit unit; double value; const char *text; } cases[] = {
		{ UNIT_NS, 1e5, "100µs" }, { UNIT_NS, 1e6, "1ms" }, { UNIT_NS, 2.5e6, "2.5ms" },
		{ UNIT_NS, 1e4, "10µs" }, { UNIT_NS, 65e9, "1m05s" }, { UNIT_NS, 0, "0" },
		{ UNIT_BYTES, 65536, "64KiB" }, { UNIT_NONE, 1000, "1k" }, { UNIT_NONE, 100, "100" },
		{ UNIT_PER_S, 10, "10/s" }, { UNIT_SHARE, 0.5, "50%" }, { UNIT_NS, NAN, "–" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		units_tick(out, cases[i].unit, cases[i].value);
		assert_string_equal(out, cases[i].text);
	}
}

static void clock_is_in_the_local_zone(void **state)
{
	char out[UNITS_BYTES];

	(void)state;
	setenv("TZ", "XST-5:30", 1);
	tzset();
	units_clock(out, 1700000000123456789, 0);        /* 22:13:20 UTC */
	assert_string_equal(out, "03:43:20");
	setenv("TZ", "UTC0", 1);
	tzset();
	units_clock(out, 1700000000123456789, 0);
	assert_string_equal(out, "22:13:20");
	units_clock(out, 1700000000123456789, 3);
	assert_string_equal(out, "22:13:20.123");
	units_clock(out, 1700000000123456789, 9);
	assert_string_equal(out, "22:13:20.123456789");
}

static void clock_takes_any_time(void **state)
{
	char out[UNITS_BYTES];

	(void)state;
	setenv("TZ", "UTC0", 1);
	tzset();
	units_clock(out, -1, 3);
	assert_string_equal(out, "23:59:59.999");
	units_clock(out, INT64_MIN, 99);
	assert_true(strlen(out) == 18);
	units_clock(out, INT64_MAX, -1);
	assert_true(strlen(out) == 8);
}

static void uptime_counts_whole_seconds_passed(void **state)
{
	(void)state;
	CHECK(units_uptime, 0, "0s");
	CHECK(units_uptime, 42.9e9, "42s");
	CHECK(units_uptime, 59.99e9, "59s");
	CHECK(units_uptime, 190e9, "3m10s");
	CHECK(units_uptime, 8099e9, "2h14m");
	CHECK(units_uptime, -5e9, "0s");
}

static void decimal_point_is_a_point_in_every_locale(void **state)
{
	(void)state;
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		skip();
	CHECK(units_time, 8.31e6, "8.31 ms");
	setlocale(LC_NUMERIC, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_three_digits),
		cmocka_unit_test(times_change_unit_before_a_thousand),
		cmocka_unit_test(times_from_a_minute_on_have_two_parts),
		cmocka_unit_test(bytes_change_unit_before_a_thousand),
		cmocka_unit_test(counts_are_whole_where_they_are),
		cmocka_unit_test(rates_keep_the_place_of_the_letter),
		cmocka_unit_test(shares_are_percent),
		cmocka_unit_test(zero_is_zero_and_only_zero),
		cmocka_unit_test(absent_is_a_dash),
		cmocka_unit_test(infinity_is_past_the_largest_unit),
		cmocka_unit_test(changes_are_signed),
		cmocka_unit_test(no_change_has_no_sign),
		cmocka_unit_test(change_from_nothing_is_absent),
		cmocka_unit_test(no_figure_passes_its_width),
		cmocka_unit_test(ticks_are_short),
		cmocka_unit_test(clock_is_in_the_local_zone),
		cmocka_unit_test(clock_takes_any_time),
		cmocka_unit_test(uptime_counts_whole_seconds_passed),
		cmocka_unit_test(decimal_point_is_a_point_in_every_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
