/* test_allocations.c -- TELEM_ALLOC, TELEM_FREE and the wrappers of malloc: counted by type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/beside.h"

struct node { int a[5]; };

static void *free_node(void *arg)
{
	telem_free(struct node, arg);
	return NULL;
}

static void allocations_and_frees_of_a_type_balance(void **state)
{
	const struct reader_site *type;

	(void)state;
	start("mem=all");
	reader = attach_fd(NULL);
	for (int i = 0; i < 10; i++)
		TELEM_ALLOC(struct node, 100);
	for (int i = 0; i < 4; i++)
		TELEM_FREE(struct node, 100);
	hear(reader);
	type = site("mem.struct node");
	assert_int_equal(type->count, 10);
	assert_int_equal(type->sum, 1000);
	assert_int_equal(type->min, 4);          /* min counts the frees */
	assert_int_equal(type->max, 400);        /* max sums the freed bytes */
	assert_int_equal(type->event_count, 14);
	assert_int_equal(type->event_sum, 600);
	for (int i = 0; i < 6; i++)
		TELEM_FREE(struct node, 100);
}

/* Allocations are not sampled: each one counts with its true size, however large it is. */
static void allocations_of_any_size_are_counted_to_the_byte(void **state)
{
	enum { BLOCKS = 100000 };

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < BLOCKS; i++) {
		TELEM_ALLOC(struct even, 512 << 10);
		TELEM_ALLOC(struct odd, 500 << 10);
	}
	hear(reader);
	assert_int_equal(site("mem.struct even")->count, BLOCKS);
	assert_int_equal(site("mem.struct even")->sum, (uint64_t)BLOCKS * (512 << 10));
	assert_int_equal(site("mem.struct odd")->count, BLOCKS);
	assert_int_equal(site("mem.struct odd")->sum, (uint64_t)BLOCKS * (500 << 10));
	for (int i = 0; i < BLOCKS; i++) {
		TELEM_FREE(struct even, 512 << 10);
		TELEM_FREE(struct odd, 500 << 10);
	}
}

static void the_allocator_wrappers_balance_across_threads(void **state)
{
	char *text;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (int i = 0; i < 50; i++)
		in_thread(free_node, telem_malloc(struct node, sizeof(struct node)));
	text = telem_calloc(char, 1, 100);
	text = telem_realloc(char, text, 100000);
	text[99999] = 'x';
	telem_free(char, text);
	telem_free(char, NULL);
	text = telem_malloc(char, 1000);
	assert_null(telem_realloc(char, text, 0));       /* a size of 0 frees */
	hear(reader);
	assert_int_equal(site("mem.char")->count, 3);
	assert_int_equal(site("mem.char")->min, 3);
	assert_int_equal(site("mem.char")->sum, site("mem.char")->max);
	assert_int_equal(site("mem.struct node")->sum, site("mem.struct node")->max);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(allocations_and_frees_of_a_type_balance),
		BESIDE_TEST(allocations_of_any_size_are_counted_to_the_byte),
		BESIDE_TEST(the_allocator_wrappers_balance_across_threads),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("allocations", tests, NULL, NULL);
}
