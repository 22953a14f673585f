#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitor/model/series.h"

static struct series series;

static int setup(void **state)
{
	(void)state;
	series_init(&series);
	return 0;
}

static void a_new_series_has_no_data_anywhere(void **state)
{
	(void)state;
	assert_int_equal(series.last_second, -1);
	assert_true(isnan(series_at(&series, -1)));
	assert_true(isnan(series_at(&series, 0)));
	assert_true(isnan(series_at(&series, 1700000000)));
}

static void a_point_is_found_at_its_second_only(void **state)
{
	(void)state;
	series_put(&series, 5000, 5000, 42);
	assert_true(series_at(&series, 5000) == 42);
	assert_true(isnan(series_at(&series, 4999)));
	assert_true(isnan(series_at(&series, 5001)));
	assert_true(isnan(series_at(&series, 5000 - LIMIT_HISTORY_S)));
	assert_true(isnan(series_at(&series, 5000 + LIMIT_HISTORY_S)));
}

static void second_0_is_a_second(void **state)
{
	(void)state;
	series_put(&series, 0, 0, 7);
	assert_true(series_at(&series, 0) == 7);
	assert_true(isnan(series_at(&series, -1)));
}

static void a_long_tick_fills_all_its_seconds(void **state)
{
	(void)state;
	series_put(&series, 100, 100, 1);
	series_put(&series, 101, 160, 2);
	assert_true(series_at(&series, 100) == 1);
	for (int64_t second = 101; second <= 160; second++)
		assert_true(series_at(&series, second) == 2);
	assert_true(isnan(series_at(&series, 161)));
}

static void the_later_point_of_a_second_stands(void **state)
{
	(void)state;
	series_put(&series, 100, 100, 1);
	series_put(&series, 101, 100, 2);       /* a second tick in this second, so from_second is after it */
	assert_true(series_at(&series, 100) == 2);
	assert_int_equal(series.last_second, 100);
}

static void what_was_not_told_is_a_gap(void **state)
{
	(void)state;
	/* The same places had values of an hour ago. */
	series_put(&series, 1, LIMIT_HISTORY_S, 9);
	series_put(&series, LIMIT_HISTORY_S + 1, LIMIT_HISTORY_S + 1, 1);
	series_put(&series, LIMIT_HISTORY_S + 10, LIMIT_HISTORY_S + 11, 2);
	assert_true(series_at(&series, LIMIT_HISTORY_S + 1) == 1);
	for (int64_t second = LIMIT_HISTORY_S + 2; second < LIMIT_HISTORY_S + 10; second++)
		assert_true(isnan(series_at(&series, second)));
	assert_true(series_at(&series, LIMIT_HISTORY_S + 10) == 2);
	assert_true(series_at(&series, LIMIT_HISTORY_S + 11) == 2);
	assert_true(series_at(&series, LIMIT_HISTORY_S) == 9);
}

static void a_gap_of_days_forgets_all_before_it(void **state)
{
	(void)state;
	series_put(&series, 1, 1000, 9);
	series_put(&series, 400000, 400000, 1);
	for (int64_t second = 400000 - LIMIT_HISTORY_S; second < 400000; second++)
		assert_true(isnan(series_at(&series, second)));
	assert_true(series_at(&series, 400000) == 1);
}

static void a_tick_longer_than_an_hour_is_one_point(void **state)
{
	(void)state;
	series_put(&series, 10, 10, 1);
	series_put(&series, 11, 11 + LIMIT_HISTORY_S, 2);
	assert_true(series_at(&series, 11 + LIMIT_HISTORY_S) == 2);
	series_put(&series, 12 + LIMIT_HISTORY_S, 400000, 3);
	assert_true(series_at(&series, 400000) == 3);
	assert_true(isnan(series_at(&series, 399999)));
}

static void an_hour_is_kept_and_no_more(void **state)
{
	(void)state;
	for (int64_t second = 1; second <= 2 * LIMIT_HISTORY_S; second++)
		series_put(&series, second, second, (double)second);
	assert_true(isnan(series_at(&series, LIMIT_HISTORY_S)));
	for (int64_t second = LIMIT_HISTORY_S + 1; second <= 2 * LIMIT_HISTORY_S; second++)
		assert_true(series_at(&series, second) == (double)second);
}

static void the_latest_second_there_can_be_is_kept(void **state)
{
	const int64_t last = (int64_t)(UINT64_MAX / 1000000000u);

	(void)state;
	series_put(&series, 1, 1, 1);
	series_put(&series, 2, last, 2);
	assert_true(series_at(&series, last) == 2);
	assert_true(isnan(series_at(&series, last - 1)));
}

static void a_copy_is_oldest_first_with_gaps(void **state)
{
	double out[5];

	(void)state;
	series_put(&series, 10, 10, 1);
	series_put(&series, 12, 12, 3);
	series_copy(&series, 13, 5, out);
	assert_true(isnan(out[0]));
	assert_true(out[1] == 1);
	assert_true(isnan(out[2]));
	assert_true(out[3] == 3);
	assert_true(isnan(out[4]));
	series_copy(&series, 1, 5, out);        /* begins before second 0 */
	for (int i = 0; i < 5; i++)
		assert_true(isnan(out[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_new_series_has_no_data_anywhere, setup),
		cmocka_unit_test_setup(a_point_is_found_at_its_second_only, setup),
		cmocka_unit_test_setup(second_0_is_a_second, setup),
		cmocka_unit_test_setup(a_long_tick_fills_all_its_seconds, setup),
		cmocka_unit_test_setup(the_later_point_of_a_second_stands, setup),
		cmocka_unit_test_setup(what_was_not_told_is_a_gap, setup),
		cmocka_unit_test_setup(a_gap_of_days_forgets_all_before_it, setup),
		cmocka_unit_test_setup(a_tick_longer_than_an_hour_is_one_point, setup),
		cmocka_unit_test_setup(an_hour_is_kept_and_no_more, setup),
		cmocka_unit_test_setup(the_latest_second_there_can_be_is_kept, setup),
		cmocka_unit_test_setup(a_copy_is_oldest_first_with_gaps, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
