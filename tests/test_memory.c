/* test_memory.c -- allocations by type: objects, tags, samples that are followed to their end. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beside.h"

struct node { int x[8]; };
struct leaf { char c[16]; };

enum { LEAF_BYTES = sizeof(struct leaf) };

static int memory_setup(void **state)
{
	int err = beside_setup(state);

	start("");
	return err;
}

static int64_t live(const char *name) { return (int64_t)(site(name)->sum - site(name)->max); }

/* ---- objects ---- */

static void objects_count_with_their_size_and_are_zeroed(void **state)
{
	struct node *one, *row;

	(void)state;
	reader = attach_viewer();
	one = TELEM_NEW(struct node);
	row = TELEM_NEW_ARRAY(struct node, 10);
	assert_int_equal(one->x[7] + row[9].x[0], 0);
	hear(reader);
	assert_int_equal(site("mem.struct node")->count, 2);
	assert_int_equal(live("mem.struct node"), 11 * sizeof(struct node));
	TELEM_DELETE(struct node, one);
	TELEM_DELETE_ARRAY(struct node, row, 10);
	TELEM_DELETE(struct node, NULL);
	hear(reader);
	assert_int_equal(live("mem.struct node"), 0);
	assert_int_equal(site("mem.struct node")->min, 2);
}

static void a_size_that_is_known_when_it_is_freed_is_what_counts(void **state)
{
	void *memory;

	(void)state;
	reader = attach_viewer();
	memory = telem_malloc_sized(struct leaf, 1001);
	hear(reader);
	assert_int_equal(live("mem.struct leaf"), 1001);
	telem_free_sized(struct leaf, memory, 1001);
	telem_free_sized(struct leaf, NULL, 1001);
	hear(reader);
	assert_int_equal(live("mem.struct leaf"), 0);
}

static void more_than_there_is_gives_null_and_counts_nothing(void **state)
{
	volatile size_t most = SIZE_MAX / 2;
	uint64_t before;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();                          /* sanitizers end a program that asks for so much */
#endif
	reader = attach_viewer();
	hear(reader);
	before = site("mem.struct leaf")->count;
	assert_null(TELEM_NEW_ARRAY(struct leaf, most));
	assert_null(telem_malloc_sized(struct leaf, most));
	hear(reader);
	assert_int_equal(site("mem.struct leaf")->count, before);
}

/* ---- tags ---- */

static void allocate_tagged(void)
{
	TELEM_ALLOC_TAG("parser");

	TELEM_ALLOC(struct node, 100);
	TELEM_ALLOC(struct node, 50);
	TELEM_FREE(struct node, 50);
	{
		TELEM_ALLOC_TAG("lexer");
		TELEM_ALLOC(struct leaf, 7);
	}
	TELEM_ALLOC(struct leaf, 3);
	TELEM_ALLOC(struct leaf, 0);
}

static void a_tag_counts_what_its_block_left_behind(void **state)
{
	(void)state;
	reader = attach_viewer();
	TELEM_ALLOC(struct node, 1000);
	allocate_tagged();
	TELEM_ALLOC(struct node, 1000);
	hear(reader);
	assert_int_equal(site("mem.parser")->kind, SITE_TAG);
	assert_int_equal(site("mem.parser")->count, 4);
	assert_int_equal(site("mem.parser")->sum, 153);
	assert_int_equal(site("mem.parser")->min, 1);
	assert_int_equal(site("mem.parser")->max, 50);
	assert_int_equal(site("mem.lexer")->sum, 7);
	assert_int_equal(live("mem.struct node"), 2100);
	TELEM_FREE(struct node, 2100);
	TELEM_FREE(struct leaf, 10);
}

static void a_tag_of_a_class_that_is_off_costs_and_counts_nothing(void **state)
{
	uint64_t before;

	(void)state;
	reader = attach_viewer();
	hear(reader);
	before = site("mem.parser")->count;
	telem_level_set("mem", TELEM_OFF);
	allocate_tagged();
	telem_level_set("mem", TELEM_SUM);
	hear(reader);
	assert_int_equal(site("mem.parser")->count, before);
}

/* ---- samples ---- */

enum { MANY = 20000 };

/* How many of MANY allocations of so many bytes are sampled, when one byte in mean is. Both bounds are six standard
 * deviations away. */
static void assert_sampled(uint64_t count, uint64_t bytes, uint64_t mean)
{
	double p = -expm1(-(double)bytes / (double)mean), wanted = MANY * p, spread = 6 * sqrt(MANY * p * (1 - p)) + 1;

	if ((double)count < wanted - spread || (double)count > wanted + spread)
		fail_msg("%d samples, not %.0f +- %.0f", (int)count, wanted, spread);
}

/* One byte in so many is sampled now, by the latest tick. */
static uint64_t mean_now(void)
{
	hear(reader);
	return reader->mean_bytes;
}

static void some_allocations_are_followed_and_give_lifetimes(void **state)
{
	static void *blocks[200];
	const struct reader_site *lifetime;
	uint64_t mean;
	double spread;

	(void)state;
	reader = attach_viewer();
	mean = mean_now();
	for (int round = 0; round < MANY / 200; round++) {
		for (int i = 0; i < 200; i++)
			blocks[i] = TELEM_NEW(struct node);
		for (int i = 0; i < 200; i++)
			TELEM_DELETE(struct node, (struct node *)blocks[i]);
	}
	hear(reader);
	lifetime = site("mem.struct node lifetime");
	assert_int_equal(lifetime->kind, SITE_LATENCY);
	assert_int_equal(lifetime->unit, UNIT_TIME);
	assert_int_equal(lifetime->detail, LATENCY_IS_LIFETIME);
	/* Each sample counts for the allocations that it stands for, so the count is about that of all. */
	spread = 6 * sqrt((double)MANY * (double)mean / sizeof(struct node));
	assert_in_range(lifetime->count, MANY - spread, MANY + spread);
	assert_int_equal(lifetime->bucket_total, lifetime->count);
	assert_true(lifetime->sum > 0 && lifetime->max < 3600 * S);
	assert_int_equal(telem_allocations(0, NULL, 0), 0);
}

struct heard { int births, deaths; uint64_t bytes; };

static void hear_allocation(const struct telem_allocation *allocation, void *arg)
{
	struct heard *heard = arg;

	assert_string_equal(allocation->type, "struct node");
	assert_non_null(allocation->address);
	heard->births += !allocation->is_freed;
	heard->deaths += allocation->is_freed;
	heard->bytes += allocation->bytes;
	TELEM_ALLOC(struct leaf, 1);             /* a hook may do whatever a program may do */
	TELEM_FREE(struct leaf, 1);
}

static bool is_locked;
static int calls_while_locked;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The program's own malloc(), which reports its allocations while it holds a lock. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
void *malloc(size_t bytes)
{
	calls_while_locked += is_locked;
	return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes)
{
	calls_while_locked += is_locked;
	return __libc_calloc(count, bytes);
}
#endif

struct own { int x; };

static int nothing(const struct telem_happening *what, void *arg)
{
	(void)what;
	(void)arg;
	return 0;
}

static void an_allocator_may_tell_of_itself_with_its_lock_held(void **state)
{
	static char heap[MANY];

	(void)state;
	is_locked = true;
	for (int i = 0; i < MANY; i++)
		TELEM_ALLOC_AT(struct own, &heap[i], 1);
	for (int i = 0; i < MANY; i++)
		TELEM_FREE_AT(struct own, &heap[i], 1);
	telem_attach("own", "mem.sampled", nothing, NULL);
	telem_detach("own");
	is_locked = false;
	assert_int_equal(calls_while_locked, 0);
}

static void an_end_that_was_not_told_is_of_no_other(void **state)
{
	static struct telem_allocation infos[MANY];
	static char places[MANY];
	struct heard heard = { 0, 0, 0 };

	(void)state;
	for (int i = 0; i < MANY; i++)
		TELEM_ALLOC_AT(struct leaf, &places[i], LEAF_BYTES);
	assert_true(telem_allocations(0, infos, MANY) > 0);
	assert_int_equal(telem_alloc_hook(hear_allocation, &heard), 0);
	for (int i = 0; i < MANY; i++)           /* of another type, for which the hook would fail the test */
		TELEM_FREE_AT(struct node, &places[i], LEAF_BYTES);
	assert_int_equal(telem_alloc_hook(NULL, NULL), 0);
	assert_int_equal(heard.deaths, 0);
	for (int i = 0; i < MANY; i++)
		TELEM_ALLOC_AT(struct leaf, &places[i], LEAF_BYTES);
	telem_level_set("mem", TELEM_OFF);       /* frees are not reported from now on */
	assert_int_equal(telem_allocations(0, infos, MANY), 0);
	telem_level_set("mem", TELEM_SUM);
	TELEM_FREE(struct leaf, 2 * MANY * LEAF_BYTES);
}

static void *allocate_once(void *arg)
{
	TELEM_ALLOC_AT(struct leaf, arg, LEAF_BYTES);
	return NULL;
}

static void a_thread_s_first_allocation_is_no_more_a_sample_than_others(void **state)
{
	static struct telem_allocation infos[MANY];
	static char places[400];

	(void)state;
	for (int i = 0; i < 400; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, allocate_once, &places[i]), 0);
		pthread_join(thread, NULL);
	}
	assert_true(telem_allocations(0, infos, MANY) < 60);
	TELEM_FREE(struct leaf, 400 * LEAF_BYTES);
}

static void what_lives_can_be_asked_for_by_task(void **state)
{
	static struct telem_allocation infos[MANY];
	static struct leaf *blocks[MANY];
	int task = telem_task_new("hoarder");
	uint32_t count, others;
	uint64_t mean;

	(void)state;
	reader = attach_viewer();
	mean = mean_now();
	telem_task_enter(task);
	for (int i = 0; i < MANY; i++)
		blocks[i] = TELEM_NEW(struct leaf);
	telem_task_leave();
	count = telem_allocations(task, infos, MANY);
	others = telem_allocations(0, infos, MANY);
	assert_sampled(count, LEAF_BYTES, mean);
	assert_true(others >= count);
	for (uint32_t i = 0; i < others; i++) {
		if (infos[i].task != task)
			continue;
		assert_string_equal(infos[i].type, "struct leaf");
		assert_int_equal(infos[i].bytes, LEAF_BYTES);
		assert_false(infos[i].is_freed);
	}
	assert_int_equal(reader_request(reader, (struct message){ .kind = KIND_ASK_HELD,
								  .ask_held = { 0, (uint64_t)task } }), ACK_DONE);
	assert_int_equal(reader->held_task, task);
	assert_int_equal(reader->held_count, count);
	/* The same in pages. */
	reader->held_count = reader->held_next = 0;
	for (uint64_t before = UINT64_MAX; before != reader->held_count;) {
		before = reader->held_count;
		assert_int_equal(reader_request(reader, (struct message){
			.kind = KIND_ASK_HELD, .ask_held = { 0, (uint64_t)task, reader->held_next, 100 } }), ACK_DONE);
		assert_true(reader->held_count <= before + 100);
	}
	assert_int_equal(reader->held_count, count);
	for (int i = 0; i < MANY; i++)
		TELEM_DELETE(struct leaf, blocks[i]);
	assert_int_equal(telem_allocations(task, infos, MANY), 0);
	telem_task_end(task);
}

static void a_hook_hears_of_births_and_deaths(void **state)
{
	struct heard heard = { 0, 0, 0 }, other = { 0, 0, 0 };
	uint64_t mean;

	(void)state;
	reader = attach_viewer();
	mean = mean_now();
	assert_int_equal(telem_alloc_hook(hear_allocation, &other), 0);
	assert_int_equal(telem_alloc_hook(hear_allocation, &heard), 0);     /* replaces the other hook */
	for (int i = 0; i < MANY; i++) {
		struct node *node = TELEM_NEW(struct node);

		TELEM_DELETE(struct node, node);
	}
	assert_int_equal(telem_alloc_hook(NULL, NULL), 0);
	assert_sampled((uint64_t)heard.births, sizeof(struct node), mean);
	assert_int_equal(heard.deaths, heard.births);
	assert_int_equal(heard.bytes, sizeof(struct node) * 2 * (uint64_t)heard.births);
	assert_int_equal(other.births, 0);
	for (int i = 0; i < MANY; i++) {
		struct node *node = TELEM_NEW(struct node);

		TELEM_DELETE(struct node, node);
	}
	assert_int_equal(heard.deaths, heard.births);
}

static void *churn(void *arg)
{
	static void *shared[64];

	(void)arg;
	for (int i = 0; i < MANY; i++) {
		void *mine = telem_malloc(struct node, 16), *before;

		before = __atomic_exchange_n(&shared[i % 64], mine, __ATOMIC_ACQ_REL);
		telem_free(struct node, before);
	}
	return NULL;
}

/* One thread allocates and another one frees, while a third calls telem_allocations(). */
static void samples_are_whole_whoever_frees(void **state)
{
	static struct telem_allocation infos[MANY];
	pthread_t threads[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, NULL), 0);
	for (int round = 0; round < 50; round++) {
		uint32_t count = telem_allocations(0, infos, MANY);

		for (uint32_t i = 0; i < count; i++)
			assert_string_equal(infos[i].type, "struct node");
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, memory_setup, beside_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(objects_count_with_their_size_and_are_zeroed),
		TEST(a_size_that_is_known_when_it_is_freed_is_what_counts),
		TEST(more_than_there_is_gives_null_and_counts_nothing),
		TEST(a_tag_counts_what_its_block_left_behind),
		TEST(a_tag_of_a_class_that_is_off_costs_and_counts_nothing),
		TEST(some_allocations_are_followed_and_give_lifetimes),
		TEST(an_allocator_may_tell_of_itself_with_its_lock_held),
		TEST(an_end_that_was_not_told_is_of_no_other),
		TEST(a_thread_s_first_allocation_is_no_more_a_sample_than_others),
		TEST(what_lives_can_be_asked_for_by_task),
		TEST(a_hook_hears_of_births_and_deaths),
		TEST(samples_are_whole_whoever_frees),
	};

	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
