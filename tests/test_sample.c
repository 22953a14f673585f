/* test_sample.c -- who holds the memory: estimates from a table of samples that is far too small for the program. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/beside.h"

/* The first start decides about the room, so it is the same in all tests. */
enum { ROOM = 1024 };

static int sample_setup(void **state)
{
	int err = beside_setup(state);

	start("samples=1K");
	reader = attach_viewer();
	return err;
}

static uint64_t task_id(const char *name) { return (uint64_t)telem_task_new(name); }

/* What a task holds of a type, of which the name may be NULL, by the latest tick. */
static struct reader_holder held(uint64_t task, const char *type)
{
	struct reader_holder sum = { 0 };
	double variance = 0;

	for (uint32_t i = 0; i < reader->holder_count; i++) {
		const struct reader_holder *holder = &reader->holders[i];

		if (holder->task != task || (type && holder->type != site(type)->id))
			continue;
		sum.bytes += holder->bytes;
		sum.count += holder->count;
		variance += (double)holder->deviation * (double)holder->deviation;
	}
	sum.deviation = (uint64_t)sqrt(variance);
	return sum;
}

/* Fails when an estimate is more than six standard deviations away from the truth: its own, or what the mean allows when
 * there are too few samples to tell. */
static void assert_about(struct reader_holder holder, uint64_t bytes)
{
	double off = fabs((double)holder.bytes - (double)bytes);
	double deviation = fmax((double)holder.deviation, sqrt((double)bytes * (double)reader->mean_bytes));

	if (off > 6 * deviation + 2)
		fail_msg("%llu +- %.0f bytes, in truth %llu", (unsigned long long)holder.bytes, deviation,
			 (unsigned long long)bytes);
}

/* Every free finds its sample by these counters, so none may be left over. */
static void assert_nothing_is_sampled(void)
{
	assert_int_equal(telem_allocations(0, &(struct telem_allocation){ 0 }, 1), 0);
	for (uint32_t i = 0; i < TELEM_SAMPLED_ROOM_; i++)
		assert_int_equal(__atomic_load_n(&telem_sampled_[i], __ATOMIC_RELAXED), 0);
}

/* Addresses that nobody has. */
static char heap[1 << 20];

static void memory_that_others_free_is_held_by_nobody(void **state)
{
	uint64_t producer = task_id("producer"), consumer = task_id("consumer");

	(void)state;
	for (int round = 0; round < 20; round++) {
		telem_task_enter((int)producer);
		{
			TELEM_ALLOC_TAG("produce");

			for (int i = 0; i < 1000; i++)
				TELEM_ALLOC_AT(msg, &heap[i], 1000);
		}
		telem_task_leave();
		telem_task_enter((int)consumer);
		for (int i = 0; i < (round < 19 ? 1000 : 500); i++)
			TELEM_FREE_AT(msg, &heap[i], 1000);
		telem_task_leave();
	}
	hear(reader);
	assert_about(held(producer, "mem.msg"), 500000);
	assert_int_equal(held(consumer, NULL).bytes, 0);
	for (uint32_t i = 0; i < reader->holder_count; i++)
		assert_int_equal(reader->holders[i].tag, site("mem.produce")->id);
	for (int i = 500; i < 1000; i++)
		TELEM_FREE_AT(msg, &heap[i], 1000);
	hear(reader);
	assert_int_equal(reader->holder_count, 0);
	assert_nothing_is_sampled();
}

enum { EARLY = 100000, LATE = 200000 };

static void a_full_table_favours_neither_early_nor_late(void **state)
{
	static struct telem_allocation infos[2 * ROOM];
	uint64_t early = task_id("early"), late = task_id("late"), mean = reader->mean_bytes;
	uint32_t count;

	(void)state;
	telem_task_enter((int)early);
	for (int i = 0; i < EARLY; i++)
		TELEM_ALLOC_AT(small, &heap[i], 20);
	telem_task_leave();
	telem_task_enter((int)late);
	for (int i = 0; i < LATE; i++)
		TELEM_ALLOC_AT(big, &heap[EARLY + i], 1000);
	telem_task_leave();
	hear(reader);
	count = telem_allocations(0, infos, 2 * ROOM);
	assert_in_range(count, ROOM / 8, ROOM * 3 / 4);
	assert_true(reader->mean_bytes > mean);
	assert_about(held(early, "mem.small"), EARLY * 20);
	assert_about(held(late, "mem.big"), LATE * 1000);
	/* It is known well enough to be of use. */
	assert_in_range(held(late, NULL).deviation, 1, LATE * 1000 / 8);
	assert_in_range(held(late, NULL).count, LATE / 2, LATE * 3 / 2);
	for (int i = 0; i < LATE; i++)
		TELEM_FREE_AT(big, &heap[EARLY + i], 1000);
	for (int i = 0; i < EARLY; i++)
		TELEM_FREE_AT(small, &heap[i], 20);
	assert_nothing_is_sampled();
}

/* One estimate may be off by chance; the mean of many is not. */
static void estimates_have_no_bias(void **state)
{
	enum { ROUNDS = 40, OBJECTS = 3000 };
	uint64_t task = task_id("many sizes"), truth = 0;
	double off = 0, variance = 0;

	(void)state;
	telem_task_enter((int)task);
	for (int i = 0; i < OBJECTS; i++)
		truth += 16u << i % 12;
	for (int round = 0; round < ROUNDS; round++) {
		struct reader_holder holder;

		for (int i = 0; i < OBJECTS; i++)
			TELEM_ALLOC_AT(object, &heap[i], 16u << i % 12);
		hear(reader);
		holder = held(task, "mem.object");
		off += (double)holder.bytes - (double)truth;
		variance += (double)holder.deviation * (double)holder.deviation;
		for (int i = 0; i < OBJECTS; i++)
			TELEM_FREE_AT(object, &heap[i], 16u << i % 12);
	}
	telem_task_leave();
	if (fabs(off) > 5 * sqrt(variance))
		fail_msg("off by %.0f in all, deviation %.0f", off, sqrt(variance));
	assert_nothing_is_sampled();
}

static void what_was_not_recorded_is_forgotten(void **state)
{
	uint64_t task = task_id("forgetful");

	(void)state;
	telem_task_enter((int)task);
	for (int i = 0; i < 1000; i++) {
		TELEM_ALLOC_AT(one, &heap[i], 100000);
		TELEM_ALLOC_AT(other, &heap[1000 + i], 100000);
	}
	hear(reader);
	assert_int_not_equal(held(task, "mem.one").bytes, 0);
	/* Frees are not recorded while their type is off. */
	telem_level_set("mem.one", TELEM_OFF);
	hear(reader);
	assert_int_equal(held(task, "mem.one").bytes, 0);
	assert_int_not_equal(held(task, "mem.other").bytes, 0);
	telem_level_set("mem.one", TELEM_SUM);
	telem_level_set("mem", TELEM_OFF);
	telem_level_set("mem", TELEM_SUM);
	telem_level_set("mem.other", TELEM_OFF);
	assert_nothing_is_sampled();
	telem_level_set("mem.other", TELEM_SUM);
	/* An address that is told again was freed in between. */
	for (int i = 0; i < 50; i++)
		TELEM_ALLOC_AT(one, &heap[0], 100 << 20);
	hear(reader);
	assert_in_range(held(task, "mem.one").bytes, 1, 110 << 20);
	TELEM_FREE_AT(one, &heap[0], 100 << 20);
	telem_task_leave();
	assert_nothing_is_sampled();
}

static void a_forked_child_has_no_samples(void **state)
{
	int status;
	pid_t child;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();                          /* a forked child may start no threads under ThreadSanitizer */
#endif
	for (int i = 0; i < 1000; i++)
		TELEM_ALLOC_AT(one, &heap[i], 100000);
	child = fork();
	if (child == 0) {
		TELEM_ALLOC(one, 1);             /* the first event restarts telemetry in the child */
		for (uint32_t i = 0; i < TELEM_SAMPLED_ROOM_; i++)
			if (telem_sampled_[i])
				_exit(1);
		_exit(telem_allocations(0, &(struct telem_allocation){ 0 }, 1) ? 2 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (int i = 0; i < 1000; i++)
		TELEM_FREE_AT(one, &heap[i], 100000);
	assert_nothing_is_sampled();
}

/* ---- an allocator that does not know what it frees ---- */

static uint64_t lives(const char *name) { return site(name)->sum - site(name)->max; }

static void frees_of_no_type_leave_an_exact_total(void **state)
{
	struct telem_site *key = TELEM_TYPE(key), *value = TELEM_TYPE(value);
	uint64_t task = task_id("database");
	struct reader_holder keys, values;

	(void)state;
	telem_task_enter((int)task);
	for (int i = 0; i < 20000; i++) {
		telem_heap_alloc(key, &heap[i], 30);
		telem_heap_alloc(value, &heap[100000 + i], 300);
	}
	for (int i = 0; i < 20000; i += 2)
		telem_heap_free(&heap[i], 30);
	for (int i = 0; i < 5000; i++)
		telem_heap_free(&heap[100000 + i], 300);
	telem_heap_alloc(key, NULL, 5);
	telem_heap_free(NULL, 5);
	hear(reader);
	assert_int_equal(site("mem.key")->detail, ALLOC_IS_FREED_ELSEWHERE);
	assert_int_equal(site("mem.key")->count, 20000);
	assert_int_equal(site("mem.key")->max, 0);
	assert_int_equal(site("mem.(freed)")->detail, ALLOC_IS_FREES);
	assert_int_equal(site("mem.(freed)")->count, 0);
	assert_int_equal(site("mem.(freed)")->min, 15000);
	assert_int_equal(lives("mem.key") + lives("mem.value") + lives("mem.(freed)"), 10000 * 30 + 15000 * 300);
	keys = held(task, "mem.key");
	values = held(task, "mem.value");
	assert_about(keys, 10000 * 30);
	assert_about(values, 15000 * 300);
	/* What grows moves, or stays where it is. */
	for (int i = 5000; i < 20000; i++)
		telem_heap_realloc(value, &heap[100000 + i], 300, &heap[200000 + i], 600);
	for (int i = 5000; i < 20000; i++)
		telem_heap_realloc(value, &heap[200000 + i], 600, &heap[200000 + i], 900);
	hear(reader);
	assert_about(held(task, "mem.value"), 15000 * 900);
	for (int i = 5000; i < 20000; i++)
		telem_heap_free(&heap[200000 + i], 900);
	for (int i = 1; i < 20000; i += 2)
		telem_heap_free(&heap[i], 30);
	telem_task_leave();
	hear(reader);
	assert_int_equal(lives("mem.key") + lives("mem.value") + lives("mem.(freed)"), 0);
	assert_nothing_is_sampled();
}

static void what_is_moved_counts_as_freed_and_allocated(void **state)
{
	(void)state;
	TELEM_ALLOC_AT(moved, &heap[0], 1 << 20);
	TELEM_REALLOC(moved, &heap[0], 1 << 20, &heap[1], 3 << 20);
	TELEM_REALLOC(moved, NULL, 0, &heap[2], 5);
	hear(reader);
	assert_int_equal(site("mem.moved")->count, 3);
	assert_int_equal(site("mem.moved")->min, 1);
	assert_int_equal(lives("mem.moved"), (3 << 20) + 5);
	TELEM_REALLOC(moved, &heap[1], 3 << 20, NULL, 0);
	TELEM_FREE_AT(moved, &heap[2], 5);
	hear(reader);
	assert_int_equal(lives("mem.moved"), 0);
	assert_nothing_is_sampled();
}

/* realloc() of NULL and free() of NULL end no sample, also when one has the counter that NULL would have. */
static void null_is_never_a_sample(void **state)
{
	struct telem_allocation info;
	char *address = heap;

	(void)state;
	while (TELEM_SAMPLED_AT_(address) != TELEM_SAMPLED_AT_(NULL))
		address++;
	TELEM_ALLOC_AT(large, address, 1 << 30);
	assert_int_equal(telem_allocations(0, &info, 1), 1);
	for (int i = 0; i < 10; i++) {
		TELEM_FREE_AT(large, NULL, 1);
		TELEM_ALLOC_AT(large, NULL, 0);
	}
	assert_int_equal(telem_allocations(0, &info, 1), 1);
	TELEM_FREE_AT(large, address, 1 << 30);
	assert_nothing_is_sampled();
}

/* Types without a type at their free have one site for all frees, and each type that is off has its own samples. */
static void samples_end_with_the_frees_that_are_switched_off(void **state)
{
	struct telem_allocation infos[3];

	(void)state;
	TELEM_ALLOC_AT(kept, &heap[0], 1 << 30);
	TELEM_ALLOC_AT(switched, &heap[1], 1 << 30);
	telem_heap_alloc(TELEM_TYPE(untyped), &heap[2], 1 << 30);
	assert_int_equal(telem_allocations(0, infos, 3), 3);
	assert_int_equal(telem_level_set("mem.switched", TELEM_OFF), 0);
	assert_int_equal(telem_allocations(0, infos, 3), 2);
	assert_int_equal(telem_level_set("mem.switched", TELEM_SUM), 0);
	assert_int_equal(telem_level_set("mem.(freed)", TELEM_OFF), 0);
	assert_int_equal(telem_allocations(0, infos, 3), 1);
	assert_string_equal(infos[0].type, "kept");
	assert_int_equal(telem_level_set("mem.(freed)", TELEM_SUM), 0);
	TELEM_FREE_AT(kept, &heap[0], 1 << 30);
	assert_nothing_is_sampled();
}

/* ---- threads and signals ---- */

static void allocate_in_handler(int signal)
{
	static int count;
	int saved = errno, at = 500000 + __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) % 1000;

	(void)signal;
	TELEM_ALLOC_AT(of_handler, &heap[at], 5000);
	TELEM_FREE_AT(of_handler, &heap[at], 5000);
	errno = saved;
}

static void *churn(void *arg)
{
	char *from = arg;

	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 2000; i++)
			TELEM_ALLOC_AT(object, &from[i], 5000);
		for (int i = 0; i < 2000; i++)
			TELEM_FREE_AT(object, &from[i], 5000);
	}
	return NULL;
}

static void threads_and_handlers_lose_no_free(void **state)
{
	static const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never;
	struct sigaction action = { .sa_handler = allocate_in_handler, .sa_flags = SA_RESTART }, before;
	pthread_t threads[3];

	(void)state;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, &heap[i * 10000]), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_nothing_is_sampled();
}

static void its_room_has_limits(void **state)
{
	(void)state;
	telem_stop();
	for (int i = 0; i < 2; i++) {
		const char *const bad[] = { "samples=1000", "samples=1M" };
		struct telem_options options = { .size = sizeof options, .config = bad[i], .ignore_environment = true,
						 .no_discovery = true };

		assert_int_equal(telem_start(&options), -EINVAL);
		assert_non_null(strstr(telem_error(), bad[i]));
		telem_stop();
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_setup, beside_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(memory_that_others_free_is_held_by_nobody),
		TEST(a_full_table_favours_neither_early_nor_late),
		TEST(estimates_have_no_bias),
		TEST(what_was_not_recorded_is_forgotten),
		TEST(a_forked_child_has_no_samples),
		TEST(frees_of_no_type_leave_an_exact_total),
		TEST(what_is_moved_counts_as_freed_and_allocated),
		TEST(null_is_never_a_sample),
		TEST(samples_end_with_the_frees_that_are_switched_off),
		TEST(threads_and_handlers_lose_no_free),
		TEST(its_room_has_limits),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
