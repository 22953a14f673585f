#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/histogram.h"
#include "tests/support/wire.h"

static const uint64_t top = 1ull << HISTOGRAM_VALUE_BITS;

static void each_bucket_starts_where_the_one_before_ends(void **state)
{
	(void)state;
	assert_int_equal(histogram_low(0), 0);
	assert_int_equal(histogram_low(HISTOGRAM_BUCKETS), top);
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_low(i), high = histogram_low(i + 1);

		assert_true(high > low);
		assert_int_equal(histogram_index(low), i);
		assert_int_equal(histogram_index(high - 1), i);
	}
}

static void values_below_64_are_exact(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 64; value++) {
		assert_int_equal(histogram_index(value), value);
		assert_int_equal(histogram_low((uint32_t)value), value);
	}
}

static void a_bucket_is_at_most_a_32nd_of_its_value_wide(void **state)
{
	(void)state;
	for (uint32_t i = 64; i < HISTOGRAM_BUCKETS; i++)
		assert_true((histogram_low(i + 1) - histogram_low(i)) * 32 <= histogram_low(i));
}

static void random_values_fall_into_their_bucket(void **state)
{
	uint64_t random = random_seed(7);

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint64_t value = random_next(&random) >> (22 + random_below(&random, 42));
		uint32_t index = histogram_index(value);

		assert_true(histogram_low(index) <= value);
		assert_true(value < histogram_low(index + 1));
	}
}

static void values_too_large_fall_into_the_last_bucket(void **state)
{
	const uint64_t values[] = { top - 1, top, top + 1, 1ull << 63, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		assert_int_equal(histogram_index(values[i]), HISTOGRAM_BUCKETS - 1);
}

static uint64_t buckets[HISTOGRAM_BUCKETS];

static int setup(void **state)
{
	(void)state;
	memset(buckets, 0, sizeof buckets);
	return 0;
}

static void quantiles_of_values_1_to_63_are_exact(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < 64; i++)
		buckets[i] = 1;
	assert_int_equal(histogram_quantile(buckets, 63, 0), 1);       /* the least */
	assert_int_equal(histogram_quantile(buckets, 63, 500), 32);
	assert_int_equal(histogram_quantile(buckets, 63, 984), 62);    /* rank 61.99 */
	assert_int_equal(histogram_quantile(buckets, 63, 985), 63);
	assert_int_equal(histogram_quantile(buckets, 63, 1000), 63);
}

static void a_quantile_is_the_middle_of_its_bucket(void **state)
{
	(void)state;
	buckets[histogram_index(1000000)] = 5;
	for (uint32_t permille = 0; permille <= 1000; permille += 100) {
		uint64_t value = histogram_quantile(buckets, 5, permille);

		assert_int_equal(histogram_index(value), histogram_index(1000000));
		assert_true(value >= 1000000 - 1000000 / 32 && value <= 1000000 + 1000000 / 32);
	}
}

static void no_events_have_quantile_0(void **state)
{
	(void)state;
	assert_int_equal(histogram_quantile(buckets, 0, 990), 0);
}

static void the_largest_totals_do_not_overflow(void **state)
{
	(void)state;
	buckets[3] = UINT64_MAX - 1;
	buckets[5] = 1;
	assert_int_equal(histogram_quantile(buckets, UINT64_MAX, 999), 3);
	assert_int_equal(histogram_quantile(buckets, UINT64_MAX, 1000), 5);
}

/* The total is larger than the sum of the buckets when some buckets have not arrived yet. */
static void a_total_larger_than_the_buckets_ends_in_the_last_one(void **state)
{
	(void)state;
	buckets[3] = 1;
	assert_int_equal(histogram_quantile(buckets, 10, 100), 3);
	assert_int_equal(histogram_quantile(buckets, 10, 990), histogram_low(HISTOGRAM_BUCKETS - 1));
	assert_int_equal(histogram_quantile(buckets, 1, 5000), histogram_low(HISTOGRAM_BUCKETS - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_bucket_starts_where_the_one_before_ends),
		cmocka_unit_test(values_below_64_are_exact),
		cmocka_unit_test(a_bucket_is_at_most_a_32nd_of_its_value_wide),
		cmocka_unit_test(random_values_fall_into_their_bucket),
		cmocka_unit_test(values_too_large_fall_into_the_last_bucket),
		cmocka_unit_test_setup(quantiles_of_values_1_to_63_are_exact, setup),
		cmocka_unit_test_setup(a_quantile_is_the_middle_of_its_bucket, setup),
		cmocka_unit_test_setup(no_events_have_quantile_0, setup),
		cmocka_unit_test_setup(the_largest_totals_do_not_overflow, setup),
		cmocka_unit_test_setup(a_total_larger_than_the_buckets_ends_in_the_last_one, setup),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
