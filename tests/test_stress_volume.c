/* test_stress_volume.c -- more events, tasks, latencies and sinks than there is room for. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(loud, "at all", TELEM_ALL);

static void more_open_latencies_than_there_is_room_are_counted(void **state)
{
	enum { MANY = 60000 };
	uint64_t overflowed, unmatched, restarted, expired;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	overflowed = site_count("telem.latency overflowed");
	unmatched = site_count("telem.latency unmatched");
	for (int i = 0; i < MANY; i++)
		TELEM_LATENCY_BEGIN(net, "many", i * 7919);
	for (int i = 0; i < MANY; i++)
		TELEM_LATENCY_END(net, "many", i * 7919);
	hear(reader);
	overflowed = site_count("telem.latency overflowed") - overflowed;
	unmatched = site_count("telem.latency unmatched") - unmatched;
	assert_in_range(overflowed, MANY - 32768, MANY - 1000);
	assert_int_equal(unmatched, overflowed);
	assert_int_equal(site("net.many")->count + overflowed, MANY);
	/* Latencies that have expired give their slots to new ones. */
	assert_int_equal(telem_set_latency_expiry(1), -EINVAL);
	assert_int_equal(telem_set_latency_expiry(MS), 0);
	for (int i = 0; i < MANY; i++)
		TELEM_LATENCY_BEGIN(net, "many", i * 7919);
	hear(reader);
	restarted = site_count("telem.latency restarted");
	expired = site_count("telem.latency expired");
	spin_until_passed(3 * MS);
	for (int i = MANY; i < 2 * MANY; i++)
		TELEM_LATENCY_BEGIN(net, "many", i * 7919);
	hear(reader);
	assert_true(site_count("telem.latency expired") > expired);
	assert_int_equal(site_count("telem.latency restarted"), restarted);
	telem_set_latency_expiry(60 * S);
	for (int i = 0; i < 2 * MANY; i++)
		TELEM_LATENCY_END(net, "many", i * 7919);
}

static void many_short_tasks_keep_memory_flat_and_the_sums_whole(void **state)
{
	struct telem_statistics stats;
	uint64_t before;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_COUNT(net, "in short tasks", 0);
	hear(reader);
	before = site("net.in short tasks")->count;
	for (int i = 0; i < 50000; i++) {
		int task = telem_task_new("short");

		assert_true(task > 0);
		assert_int_equal(telem_task_enter(task), 0);
		TELEM_COUNT(net, "in short tasks", 1);
		telem_task_leave();
		telem_task_end(task);
		if (i % 1000 == 0)
			while (reader_pump(reader))
				;
		if (i % 10000 == 0)
			telem_flush(5 * S);
	}
	hear(reader);
	assert_int_equal(site("net.in short tasks")->count, before + 50000);
	telem_stats(&stats);
	assert_true(stats.tasks < 30000);
}

static void many_short_tasks_keep_memory_flat_while_nobody_listens(void **state)
{
	struct telem_statistics stats;

	(void)state;
	start(NULL);
	for (int i = 0; i < 200000; i++) {
		int task = telem_task_new("short");

		assert_true(task > 0);
		assert_int_equal(telem_task_enter(task), 0);
		TELEM_COUNT(loud, "in short tasks", 1);
		telem_task_leave();
		telem_task_end(task);
	}
	telem_stats(&stats);
	assert_true(stats.tasks < 1000);
	assert_true(stats.memory_bytes < 64 << 20);
}

/* A sink is added and removed at every point of the flusher's turn. */
static void a_sink_that_is_removed_at_once_has_all(void **state)
{
	struct telem_statistics before, stats;

	(void)state;
	start(NULL);
	telem_stats(&before);
	for (uint64_t i = 1; i <= 5000 / (uint64_t)proc_slowness(); i++) {
		int id = telem_sink_fd(memfd_create("recording", 0));

		assert_true(id >= 0);
		TELEM_COUNT(loud, "said at once", 1);
		assert_int_equal(telem_sink_remove(id), 0);
		telem_stats(&stats);
		assert_int_equal(stats.delivered - before.delivered, i);
	}
}

static void a_slow_reader_loses_and_knows_how_much_and_a_fast_one_nothing(void **state)
{
	struct reader *slow, *fast;
	struct telem_statistics stats;

	(void)state;
	start("flush=1ms");
	slow = attach_fd(NULL);
	slow->is_lossy = true;
	fast = attach_viewer();
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 4000; i++)
			TELEM_COUNT(loud, "to slow and fast", 1);
		while (reader_pump(fast))
			;
		READ_UNTIL(fast, fast->event_count >= (uint64_t)(round + 1) * 4000);
	}
	hear(slow);              /* the slow reader has caught up and was greeted again */
	stop_and_read(slow);
	reader_to_end(fast);
	reader_check_books(slow);
	reader_check_books(fast);
	assert_int_equal(fast->event_count, 400000);
	assert_int_equal(fast->bye.dropped, fast->bye.emitted - fast->bye.before - fast->bye.delivered);
	assert_true(slow->event_count < 400000);
	telem_stats(&stats);
	assert_int_equal(stats.emitted, stats.delivered + stats.dropped + stats.queued);
	assert_int_equal(stats.queued, 0);
	reader_free(slow);
	reader_free(fast);
}

enum { RISING = 8000000 };

static void *emit_rising(void *arg)
{
	for (uint64_t i = 1; i <= RISING; i++)
		TELEM_MARK(loud, "rising", i);
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The producer overwrites segments while the flusher reads them. */
static void what_is_overwritten_while_it_is_sent_is_whole_or_lost(void **state)
{
	uint64_t last = 0, last_ns = 0;
	bool done = false;
	pthread_t thread;

	(void)state;
	telem_set_ring_bytes(256 << 10);
	telem_set_policy(TELEM_OVERWRITE, 0);
	start(NULL);
	reader = attach_fd(NULL);
	reader->keeps_events = reader->is_lossy = true;
	assert_int_equal(pthread_create(&thread, NULL, emit_rising, &done), 0);
	READ_UNTIL(reader, __atomic_load_n(&done, __ATOMIC_ACQUIRE));
	pthread_join(thread, NULL);
	hear(reader);
	stop_and_read(reader);
	reader_check_books(reader);
	assert_true(reader->event_count > 0);
	for (uint64_t i = 0; i < reader->event_count; i++) {
		assert_true(reader->events[i].value > last && reader->events[i].time_ns >= last_ns);
		last = reader->events[i].value;
		last_ns = reader->events[i].time_ns;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(more_open_latencies_than_there_is_room_are_counted),
		BESIDE_TEST(many_short_tasks_keep_memory_flat_and_the_sums_whole),
		BESIDE_TEST(many_short_tasks_keep_memory_flat_while_nobody_listens),
		BESIDE_TEST(a_sink_that_is_removed_at_once_has_all),
		BESIDE_TEST(a_slow_reader_loses_and_knows_how_much_and_a_fast_one_nothing),
		BESIDE_TEST(what_is_overwritten_while_it_is_sent_is_whole_or_lost),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("stress_volume", tests, NULL, NULL);
}
