/* test_spans.c -- spans: however they end, what they measure; garbage collections are spans, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

/* This clock_gettime() stands in for libc's, also inside the library, so that a test can set the wall clock. */
static int64_t wall_step_s;
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = (int)syscall(SYS_clock_gettime, clock, now);

	if (result == 0 && clock == CLOCK_REALTIME)
		now->tv_sec += __atomic_load_n(&wall_step_s, __ATOMIC_RELAXED);
	return result;
}

static int leave_by_return(void)
{
	TELEM_SPAN(loud, "returned")
		return 5;
	return 6;
}

static void a_span_ends_however_its_block_is_left(void **state)
{
	int turns = 0;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_SPAN(loud, "fell out")
		turns++;
	TELEM_SPAN(loud, "broken") {
		turns++;
		break;
	}
	TELEM_SPAN(loud, "continued") {
		turns++;
		continue;
	}
	TELEM_SPAN(loud, "jumped")
		goto out;
out:
	assert_int_equal(leave_by_return(), 5);
	for (int i = 0; i < 10; i++) {
		TELEM_SPAN_HERE(loud, "here");
		if (i == 5)
			break;
	}
	assert_int_equal(turns, 3);
	hear(reader);
	assert_int_equal(site("loud.fell out")->event_count, 1);
	assert_int_equal(site("loud.broken")->event_count, 1);
	assert_int_equal(site("loud.continued")->event_count, 1);
	assert_int_equal(site("loud.jumped")->event_count, 1);
	assert_int_equal(site("loud.returned")->event_count, 1);
	assert_int_equal(site("loud.here")->event_count, 6);
}

static void durations_are_nanoseconds_and_times_lie_in_the_run(void **state)
{
	struct timespec before, after;
	uint64_t stamp, real_ns;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	clock_gettime(CLOCK_MONOTONIC, &before);
	stamp = telem_stamp();
	TELEM_SPAN(loud, "timed")
		spin_until_passed(20 * MS);
	TELEM_LATENCY(loud, "waited", stamp);
	clock_gettime(CLOCK_MONOTONIC, &after);
	real_ns = (uint64_t)(after.tv_sec - before.tv_sec) * S + (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec;
	hear(reader);
	assert_in_range(site("loud.timed")->sum, 20 * MS * 99 / 100, real_ns * 101 / 100);
	assert_in_range(site("loud.waited")->sum, site("loud.timed")->sum, real_ns * 101 / 100);
	for (size_t i = 0; i < reader->event_count; i++)
		assert_in_range(reader->events[i].time_ns, reader->first_ns - MS,
				(uint64_t)after.tv_sec * S + (uint64_t)after.tv_nsec + MS);
}

static void a_wall_clock_that_is_set_changes_no_duration(void **state)
{
	static const int64_t steps_s[] = { -3600, 86400, -1700000000 };

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (size_t i = 0; i < sizeof steps_s / sizeof *steps_s; i++) {
		uint64_t stamp = telem_stamp();
		struct timespec now;

		TELEM_LATENCY_BEGIN(loud, "over a step, by key", i);
		TELEM_SPAN(loud, "over a step")
			__atomic_store_n(&wall_step_s, steps_s[i], __ATOMIC_RELAXED);
		TELEM_LATENCY(loud, "over a step, carried", stamp);
		TELEM_LATENCY_END(loud, "over a step, by key", i);
		/* The next snapshot carries the new difference between the two clocks. */
		hear(reader);
		clock_gettime(CLOCK_REALTIME, &now);
		assert_in_range(reader->snapshot.real_ns / S + 60, now.tv_sec, now.tv_sec + 60);
	}
	__atomic_store_n(&wall_step_s, 0, __ATOMIC_RELAXED);
	/* The reader has checked the times of the events as they came. */
	assert_int_equal(site("loud.over a step")->event_count, 3);
	assert_in_range(site("loud.over a step")->sum, 1, 60 * S);
	assert_in_range(site("loud.over a step, carried")->sum, 1, 60 * S);
	assert_in_range(site("loud.over a step, by key")->sum, 1, 60 * S);
}

static void a_collection_is_a_pause_and_what_it_left(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_GC_BEGIN(0);
	TELEM_GC_END(0, (&(struct telem_gc){ .live_bytes = 700, .heap_bytes = 1000, .slop_bytes = 10,
					     .collected_bytes = 300 }));
	telem_gc_begin(2);
	telem_gc_begin(9);
	telem_gc_end(9, NULL);
	telem_gc_end(2, &(struct telem_gc){ .live_bytes = 600, .heap_bytes = 1000, .copied_bytes = 50,
					    .collected_bytes = 100 });
	telem_gc_end(1, NULL);                   /* this collection was never begun */
	hear(reader);
	assert_int_equal(site("gc.gen 0")->count, 1);
	assert_int_equal(site("gc.gen 0")->detail, SPAN_IS_PAUSE);
	assert_int_equal(site("gc.gen 1")->count, 0);
	assert_int_equal(site("gc.gen 2")->count, 1);
	assert_int_equal(site("gc.gen 3+")->count, 1);
	assert_true(site("gc.gen 2")->sum >= site("gc.gen 3+")->sum);
	assert_int_equal(site("gc.live")->sum, 600);
	assert_int_equal(site("gc.heap")->sum, 1000);
	assert_int_equal(site("gc.collected")->sum, 400);
	assert_int_equal(site("gc.copied")->sum, 50);
	assert_int_equal(site("gc.live")->unit, UNIT_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(a_span_ends_however_its_block_is_left),
		BESIDE_TEST(durations_are_nanoseconds_and_times_lie_in_the_run),
		BESIDE_TEST(a_wall_clock_that_is_set_changes_no_duration),
		BESIDE_TEST(a_collection_is_a_pause_and_what_it_left),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("spans", tests, NULL, NULL);
}
