/* test_stress_threads.c -- threads that emit and call as fast as they can, while sinks, tasks and
 * levels come and go. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/beside.h"
#include "tests/support/emitting.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(quiet, "off", TELEM_OFF);
TELEM_CLASS(loud, "at all", TELEM_ALL);

/* A reader under a sanitizer cannot keep up with threads that never yield. */
static void emit_steadily(uint64_t *count)
{
	TELEM_COUNT(loud, "steady", 1);
	TELEM_SPAN(loud, "steady span")
		++*count;
	if (*count % 64 == 0 && proc_slowness() > 1)
		sched_yield();
}

static void sinks_come_and_go_while_threads_emit(void **state)
{
	struct emitters emitters;

	(void)state;
	assert_int_equal(telem_start(&(struct telem_options){ .config = "flush=1ms", .ignore_environment = true,
							      .linger_ns = 10 * MS }), 0);
	emitters_begin(&emitters, 2, emit_steadily);
	for (int i = 0; i < 20; i++) {
		struct reader *who;
		int id;

		who = attach_fd(&id);
		who->is_lossy = true;
		READ_UNTIL(who, who->event_count > 1000);
		reading_begin(who);
		assert_int_equal(telem_sink_remove(id), 0);
		reading_end();
		reader_to_end(who);
		if (who->has_bye)
			reader_check_books(who);
		reader_free(who);
	}
	emitters_end(&emitters);
}

static void a_flush_returns_while_others_go_on_emitting(void **state)
{
	struct emitters emitters;

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	reader->is_lossy = true;
	emitters_begin(&emitters, 2, emit_steadily);
	reading_begin(reader);
	for (int i = 0; i < 200; i++) {
		TELEM_MARK(loud, "fenced", i);
		assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
	}
	emitters_end(&emitters);
	reading_end();
	hear(reader);
	assert_true(site("loud.fenced")->count >= 200);
	stop_and_read(reader);
	reader_check_books(reader);
}

static void stopping_while_threads_emit_leaves_even_books(void **state)
{
	struct emitters emitters;

	(void)state;
	emitters_begin(&emitters, 2, emit_steadily);
	for (int i = 0; i < 30; i++) {
		struct telem_statistics stats;

		start("flush=1ms");
		reader = attach_fd(NULL);
		reader->is_lossy = true;
		READ_UNTIL(reader, reader->event_count > 1000);
		stop_and_read(reader);
		if (reader->has_bye)
			reader_check_books(reader);
		reader_free(reader);
		telem_stats(&stats);
		assert_true(stats.queued < 100);
	}
	reader = NULL;
	emitters_end(&emitters);
}

static void *begin_and_end(void *arg)
{
	uint64_t thread = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < 20000; i++) {
		TELEM_LATENCY_BEGIN(net, "contested trip", thread << 32 | i);
		TELEM_LATENCY_END(net, "contested trip", thread << 32 | i);
	}
	return NULL;
}

static void latencies_of_many_threads_do_not_meet(void **state)
{
	pthread_t threads[4];

	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	for (uintptr_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, begin_and_end, (void *)i), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	hear(reader);
	assert_int_equal(site("net.contested trip")->count, 80000);
}

static int contested_task;

static void enter_and_leave(uint64_t *count)
{
	if (telem_task_enter(__atomic_load_n(&contested_task, __ATOMIC_RELAXED)) != 0)
		return;
	TELEM_COUNT(net, "contested", 1);
	telem_task_leave();
	++*count;
}

static void tasks_may_end_while_others_enter_them(void **state)
{
	struct emitters emitters;

	(void)state;
	start(NULL);
	contested_task = telem_task_new("contested");
	emitters_begin(&emitters, 2, enter_and_leave);
	for (int i = 0; i < 20000; i++) {
		int before = contested_task;

		__atomic_store_n(&contested_task, telem_task_new("contested"), __ATOMIC_RELAXED);
		telem_task_end(before);
	}
	emitters_end(&emitters);
	telem_task_end(contested_task);
}

static void count_quietly(void) { TELEM_COUNT(quiet, "at any level", 1); }

static void change_everything(uint64_t *count)
{
	struct telem_statistics stats;

	telem_level_set("quiet", TELEM_ALL);
	telem_stats(&stats);
	telem_sync();
	count_quietly();
	telem_level_set("quiet", TELEM_OFF);
	telem_set_policy(TELEM_OVERWRITE, 0);
	telem_set_ring_bytes(64 << 10);
	telem_set_flush_interval(2 * MS);
	telem_task_name("changer");
	telem_set_policy(TELEM_DROP, 0);
	++*count;
}

static void everything_may_be_called_from_any_thread_at_once(void **state)
{
	struct emitters emitters, changers;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	reader->is_lossy = true;
	emitters_begin(&emitters, 1, emit_steadily);
	emitters_begin(&changers, 2, change_everything);
	for (int i = 0; i < 15; i++) {
		int id;
		struct reader *who = attach_fd(&id);

		assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DONE);
		telem_sink_remove(id);
		reader_free(who);
	}
	emitters_end(&emitters);
	emitters_end(&changers);
	stop_and_read(reader);
	if (reader->has_bye)
		reader_check_books(reader);
}

static pthread_barrier_t all_are_here;

static void *emit_once_together(void *arg)
{
	(void)arg;
	TELEM_COUNT(loud, "together", 1);
	pthread_barrier_wait(&all_are_here);
	return NULL;
}

static void *emit_100(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		TELEM_COUNT(loud, "alone", 1);
	return NULL;
}

/* Those that found no ring leave a state without one behind, which no later thread may prefer. */
static void rings_are_used_again_after_there_were_more_threads_than_rings(void **state)
{
	enum { THREADS = LIMIT_RINGS + 50 };
	static pthread_t threads[THREADS];
	struct telem_statistics before;
	pthread_attr_t small;

	(void)state;
	start(NULL);
	assert_true(telem_sink_file(fixture_path(fixture, "run")) >= 0);
	assert_int_equal(pthread_attr_init(&small), 0);
	assert_int_equal(pthread_attr_setstacksize(&small, 256 << 10), 0);
	assert_int_equal(pthread_barrier_init(&all_are_here, NULL, THREADS), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], &small, emit_once_together, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&all_are_here);
	pthread_attr_destroy(&small);
	WAIT_UNTIL((telem_flush(5 * S), statistics().threads <= 1), 10000);
	before = statistics();
	assert_true(before.dropped > 0);
	for (int i = 0; i < 10; i++)
		in_thread(emit_100, NULL);
	assert_int_equal(telem_flush(5 * S), 0);
	assert_int_equal(statistics().emitted - before.emitted, 1000);
	assert_int_equal(statistics().dropped, before.dropped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(latencies_of_many_threads_do_not_meet),
		BESIDE_TEST(tasks_may_end_while_others_enter_them),
		BESIDE_TEST(sinks_come_and_go_while_threads_emit),
		BESIDE_TEST(a_flush_returns_while_others_go_on_emitting),
		BESIDE_TEST(stopping_while_threads_emit_leaves_even_books),
		BESIDE_TEST(everything_may_be_called_from_any_thread_at_once),
		BESIDE_TEST(rings_are_used_again_after_there_were_more_threads_than_rings),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("stress_threads", tests, NULL, NULL);
}
