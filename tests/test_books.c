/* test_books.c -- books: every emitted event is delivered, dropped or queued, for every task, class and reader. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/beside.h"
#include "tests/support/emitting.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(loud, "at all", TELEM_ALL);

static void *emit_as(void *name)
{
	telem_task_name(name);
	TELEM_COUNT(loud, "by a named thread", 1);
	return NULL;
}

static void the_books_are_even_for_every_task_and_class(void **state)
{
	uint64_t emitted = 0, dropped = 0, taken = 0;

	(void)state;
	start("net=all");
	reader = attach_fd(NULL);
	in_thread(emit_as, "one");
	in_thread(emit_as, "two");
	for (int i = 0; i < 3000; i++) {
		TELEM_COUNT(net, "booked", 1);
		TELEM_VALUE(loud, "booked too", 1ull << (i % 50), TELEM_NONE);
	}
	hear(reader);
	for (uint32_t i = 0; i < reader->task_count; i++)
		for (int c = 0; reader->tasks[i] && c < LIMIT_CLASSES; c++) {
			uint64_t task_emitted = reader->tasks[i]->books[c].emitted;
			uint64_t task_dropped = reader->tasks[i]->books[c].dropped;
			uint64_t task_taken = reader->tasks[i]->books[c].taken;

			assert_int_equal(task_emitted, task_dropped + task_taken);
			if (i > TASK_ALL) {
				emitted += task_emitted;
				dropped += task_dropped;
				taken += task_taken;
			}
		}
	for (int c = 0; c < LIMIT_CLASSES; c++) {
		emitted -= reader->tasks[TASK_ALL]->books[c].emitted;
		dropped -= reader->tasks[TASK_ALL]->books[c].dropped;
		taken -= reader->tasks[TASK_ALL]->books[c].taken;
	}
	assert_int_equal(emitted | dropped | taken, 0);
	stop_and_read(reader);
	reader_check_books(reader);
	assert_int_equal(reader->event_count, reader->bye.delivered);
}

static int handled;
static void emit_in_handler(int number)
{
	(void)number;
	TELEM_COUNT(loud, "in handler", 1);
	__atomic_store_n(&handled, 1, __ATOMIC_RELAXED);
}

static void *flush_in_vain(void *arg)
{
	__atomic_store_n((pid_t *)arg, gettid(), __ATOMIC_RELAXED);
	telem_flush(30 * S);
	return NULL;
}

static bool is_asleep(const pid_t *thread)
{
	char path[64], *line;
	bool is;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)__atomic_load_n(thread, __ATOMIC_RELAXED));
	if (access(path, F_OK) < 0)
		return false;            /* the thread has not stored its number yet */
	line = fixture_read(path, NULL);
	is = strstr(line, ") S ") != NULL;
	free(line);
	return is;
}

/* The interrupted thread has no ring, and the handler cannot make one inside a call of telem. */
static void an_event_of_a_handler_that_interrupts_a_call_is_in_its_class_s_books(void **state)
{
	struct sigaction action = { .sa_handler = emit_in_handler, .sa_flags = SA_RESTART }, before;
	uint64_t dropped, emitted, loud;
	pthread_t thread;
	pid_t tid = 0;
	int ends[2];

	(void)state;
	start(NULL);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	assert_true(telem_sink_fd(ends[1]) >= 0);
	reader = reader_new(ends[0]);
	wait_until_greeted(reader);
	hear(reader);
	loud = class_id("loud");
	emitted = reader->tasks[TASK_ALL]->books[loud].emitted;
	dropped = reader->tasks[TASK_ALL]->books[loud].dropped;
	sigaction(SIGUSR1, &action, &before);
	for (int i = 0; i < 10000; i++)          /* more than the pipe takes, so a flush must wait */
		TELEM_COUNT(loud, "into a full pipe", 1);
	assert_int_equal(pthread_create(&thread, NULL, flush_in_vain, &tid), 0);
	WAIT_UNTIL(is_asleep(&tid), 5000);
	pthread_kill(thread, SIGUSR1);
	WAIT_UNTIL(__atomic_load_n(&handled, __ATOMIC_RELAXED), 5000);
	hear(reader);
	pthread_join(thread, NULL);
	sigaction(SIGUSR1, &before, NULL);
	assert_int_equal(site("loud.in handler")->count, 1);
	assert_int_equal(site("loud.in handler")->event_count, 0);
	assert_int_equal(reader->tasks[TASK_ALL]->books[loud].emitted - emitted, 10001);
	assert_int_equal(reader->tasks[TASK_ALL]->books[loud].dropped - dropped, 1);
	stop_and_read(reader);
	reader_check_books(reader);
}

static void what_waited_for_a_slow_reader_is_given_back_when_it_has_gone(void **state)
{
	uint64_t before;

	(void)state;
	start("flush=1ms");
	TELEM_COUNT(loud, "to a slow one", 1);           /* allocates the ring and the first blocks */
	reader = attach_fd(NULL);
	hear(reader);
	reader_free(reader);
	reader = NULL;
	WAIT_UNTIL(statistics().sinks == 0, 5000);
	before = statistics().memory_bytes;
	for (int round = 0; round < 5; round++) {
		uint64_t most = 0;

		reader = attach_fd(NULL);
		reader->is_lossy = true;
		for (int i = 0; i < 20; i++) {
			for (int event = 0; event < 20000; event++)
				TELEM_COUNT(loud, "to a slow one", 1);
			telem_flush(MS);
			most = statistics().memory_bytes > most ? statistics().memory_bytes : most;
			reader_pump(reader);
		}
		/* The queue is full; the sink's own queue may add to it. */
		assert_in_range(most, before + LIMIT_QUEUE_BLOCKS * LIMIT_BLOCK_BYTES / 2,
				before + 4 * LIMIT_QUEUE_BLOCKS * LIMIT_BLOCK_BYTES);
		reader_free(reader);
		reader = NULL;
		WAIT_UNTIL(statistics().sinks == 0 && statistics().memory_bytes <= before, 5000);
	}
}

static void the_statistics_are_even(void **state)
{
	struct telem_statistics before, after;

	(void)state;
	start(NULL);
	telem_stats(&before);
	assert_int_equal(before.emitted, before.delivered + before.dropped + before.queued);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "unheard", 1);
	telem_stats(&after);
	assert_int_equal(after.queued, 1000);
	reader = attach_fd(NULL);
	telem_flush(5 * S);
	telem_stats(&after);
	assert_int_equal(after.queued, 0);
	assert_int_equal(after.delivered - before.delivered, 1000);
	assert_int_equal(after.sinks, 1);
	assert_true(after.bytes_sent > before.bytes_sent && after.memory_bytes > 0 && after.threads >= 1);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "unheard", 1);
	telem_stop();
	telem_stats(&after);
	assert_int_equal(after.queued, 0);
	assert_int_equal(after.emitted - before.emitted, 2000);
}

static void what_nobody_heard_is_dropped_at_the_stop(void **state)
{
	struct telem_statistics before, after;

	(void)state;
	start(NULL);
	telem_stats(&before);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "unheard", 1);
	telem_stop();
	telem_stats(&after);
	assert_int_equal(after.dropped - before.dropped, 1000);
	assert_int_equal(after.queued, 0);
}

static void emit_unheard(uint64_t *count)
{
	TELEM_COUNT(loud, "by a thread that ends", 1);
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void a_thread_that_ends_unheard_leaves_even_books(void **state)
{
	struct telem_statistics stats;
	struct emitters emitters;

	(void)state;
	start(NULL);
	emitters_begin(&emitters, 1, emit_unheard);
	WAIT_UNTIL(__atomic_load_n(&emitters.counts[0], __ATOMIC_RELAXED) > 10000, 5000);
	emitters_end(&emitters);
	telem_stats(&stats);
	assert_int_equal(stats.emitted, stats.delivered + stats.dropped + stats.queued);
	reader = attach_fd(NULL);
	stop_and_read(reader);
	reader_check_books(reader);
}

static void *remove_sink(void *id)
{
	assert_int_equal(telem_sink_remove(*(int *)id), 0);
	return NULL;
}

/* Starts telemetry with a sink behind a pipe of one page, and returns the pipe's reader. */
static struct reader *start_with_slow_sink(int *id)
{
	int ends[2];

	assert_int_equal(telem_start(&(struct telem_options){ .config = "flush=1ms", .ignore_environment = true,
							      .linger_ns = 100 * S }), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	*id = telem_sink_fd(ends[1]);
	assert_true(*id >= 0);
	return reader_new(ends[0]);
}

/* The queue of a sink that was removed is still sent while the stream goes on for others. */
static void what_is_emitted_after_a_sink_was_removed_is_not_in_its_goodbye(void **state)
{
	pthread_t thread;
	struct reader *slow;
	int id;

	(void)state;
	slow = start_with_slow_sink(&id);
	wait_until_greeted(slow);
	reader = attach_fd(NULL);
	for (int i = 0; i < 10000; i++)          /* more than the pipe takes */
		TELEM_COUNT(loud, "before the removal", 1);
	assert_int_equal(pthread_create(&thread, NULL, remove_sink, &id), 0);
	for (uint64_t i = 1; i <= 100; i++) {
		TELEM_COUNT(loud, "after the removal", 1);
		READ_UNTIL(reader, reader->event_count == 10000 + i);
	}
	reader_to_end(slow);
	pthread_join(thread, NULL);
	reader_check_books(slow);
	stop_and_read(reader);
	reader_check_books(reader);
	assert_true(slow->bye.delivered >= 10000);
	assert_true(slow->bye.emitted < reader->bye.emitted);
	reader_free(slow);
}

/* The same for a sink whose queue is full: its last books are those of its goodbye. */
static void the_last_books_of_a_sink_that_is_behind_are_those_of_its_goodbye(void **state)
{
	uint64_t taken = 0;
	pthread_t thread;
	struct reader *slow;
	int id;

	(void)state;
	slow = start_with_slow_sink(&id);
	slow->is_lossy = true;
	wait_until_greeted(slow);
	reader = attach_fd(NULL);
	/* The queue holds 256 blocks of 4 KiB, each event takes at least 3 bytes. */
	for (uint64_t i = 1; i <= 400; i++) {
		for (int j = 0; j < 1000; j++)
			TELEM_COUNT(loud, "before the removal", 1);
		READ_UNTIL(reader, reader->event_count == 1000 * i);
	}
	assert_int_equal(pthread_create(&thread, NULL, remove_sink, &id), 0);
	for (uint64_t i = 1; i <= 100; i++) {
		TELEM_COUNT(loud, "after the removal", 1);
		READ_UNTIL(reader, reader->event_count == 400000 + i);
	}
	reader_to_end(slow);
	pthread_join(thread, NULL);
	assert_true(slow->has_bye);
	assert_true(slow->bye.dropped > 0);
	assert_int_equal(slow->bye.emitted, slow->bye.before + slow->bye.delivered + slow->bye.dropped);
	for (int i = 0; i < LIMIT_CLASSES; i++)
		taken += slow->tasks[TASK_ALL]->books[i].taken + slow->tasks[TASK_ALL]->books[i].dropped;
	assert_int_equal(taken, slow->bye.before + slow->bye.delivered + slow->bye.dropped);
	stop_and_read(reader);
	reader_check_books(reader);
	reader_free(slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(the_books_are_even_for_every_task_and_class),
		BESIDE_TEST(an_event_of_a_handler_that_interrupts_a_call_is_in_its_class_s_books),
		BESIDE_TEST(what_waited_for_a_slow_reader_is_given_back_when_it_has_gone),
		BESIDE_TEST(the_statistics_are_even),
		BESIDE_TEST(what_nobody_heard_is_dropped_at_the_stop),
		BESIDE_TEST(a_thread_that_ends_unheard_leaves_even_books),
		BESIDE_TEST(what_is_emitted_after_a_sink_was_removed_is_not_in_its_goodbye),
		BESIDE_TEST(the_last_books_of_a_sink_that_is_behind_are_those_of_its_goodbye),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("books", tests, NULL, NULL);
}
