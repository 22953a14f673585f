#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitor/model/map.h"
#include "tests/support/wire.h"

static struct map map;

static int setup(void **state)
{
	(void)state;
	map = (struct map){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	map_fini(&map);
	return 0;
}

static void an_empty_map_knows_no_key(void **state)
{
	(void)state;
	assert_int_equal(map_get(&map, 0), UINT32_MAX);
	assert_int_equal(map_get(&map, UINT64_MAX), UINT32_MAX);
	map_remove(&map, 0);
	assert_int_equal(map.used_count, 0);
}

static void any_key_is_found_with_its_latest_value(void **state)
{
	const uint64_t keys[] = { 0, 1, 64, UINT32_MAX, 1ull << 63, UINT64_MAX };

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		assert_true(map_put(&map, keys[i], i));
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(map_get(&map, keys[i]), i);
	assert_true(map_put(&map, 64, 99));
	assert_int_equal(map_get(&map, 64), 99);
	assert_int_equal(map.used_count, 6);
	assert_int_equal(map_get(&map, 65), UINT32_MAX);
}

static void a_removed_key_is_gone_and_no_other(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(map_put(&map, i * 7919ull, i));
	for (uint32_t i = 0; i < 1000; i += 2)
		map_remove(&map, i * 7919ull);
	map_remove(&map, 12345);        /* never there */
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(map_get(&map, i * 7919ull), i % 2 ? i : UINT32_MAX);
	assert_int_equal(map.used_count, 500);
}

/* A few keys are put and removed at random, so that runs of used slots grow, break and continue at the start of the
 * table. The result is compared with an array. */
static void any_order_of_puts_and_removes_is_as_in_an_array(void **state)
{
	enum { KEYS = 97 };
	uint32_t expected[KEYS];
	uint64_t random = random_seed(1);

	(void)state;
	for (uint32_t i = 0; i < KEYS; i++)
		expected[i] = UINT32_MAX;
	for (int turn = 0; turn < 200000; turn++) {
		uint32_t key = random_below(&random, KEYS);

		if (random_below(&random, 2)) {
			expected[key] = (uint32_t)turn;
			assert_true(map_put(&map, (uint64_t)key << 20 | 3, (uint32_t)turn));
		} else {
			expected[key] = UINT32_MAX;
			map_remove(&map, (uint64_t)key << 20 | 3);
		}
		key = random_below(&random, KEYS);
		assert_int_equal(map_get(&map, (uint64_t)key << 20 | 3), expected[key]);
	}
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(map_get(&map, (uint64_t)i << 20 | 3), expected[i]);
}

static void half_of_it_stays_free(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		assert_true(map_put(&map, i, i));
		assert_true(map.used_count * 2 <= map.slot_count);
	}
	assert_int_equal(map.slot_count & (map.slot_count - 1), 0);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(map_get(&map, i), i);
}

static void keys_that_come_and_go_do_not_make_it_grow(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		assert_true(map_put(&map, i, 1));
		if (i >= 20)
			map_remove(&map, i - 20);
	}
	assert_int_equal(map.slot_count, 64);
	assert_int_equal(map.used_count, 20);
}

static void a_copy_has_a_life_of_its_own(void **state)
{
	struct map copy, empty;

	(void)state;
	assert_true(map_copy(&empty, &map));
	assert_int_equal(map_get(&empty, 1), UINT32_MAX);
	map_put(&map, 1, 10);
	map_put(&map, 2, 20);
	assert_true(map_copy(&copy, &map));
	map_put(&map, 1, 11);
	map_remove(&map, 2);
	assert_int_equal(map_get(&copy, 1), 10);
	assert_int_equal(map_get(&copy, 2), 20);
	map_put(&copy, 3, 30);
	assert_int_equal(map_get(&map, 3), UINT32_MAX);
	map_fini(&copy);
	map_fini(&empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_map_knows_no_key, setup, teardown),
		cmocka_unit_test_setup_teardown(any_key_is_found_with_its_latest_value, setup, teardown),
		cmocka_unit_test_setup_teardown(a_removed_key_is_gone_and_no_other, setup, teardown),
		cmocka_unit_test_setup_teardown(any_order_of_puts_and_removes_is_as_in_an_array, setup, teardown),
		cmocka_unit_test_setup_teardown(half_of_it_stays_free, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_that_come_and_go_do_not_make_it_grow, setup, teardown),
		cmocka_unit_test_setup_teardown(a_copy_has_a_life_of_its_own, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
