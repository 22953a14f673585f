/* test_dump.c -- the flight recorder: what the rings still hold, written as a recording. */
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocol/recording.h"
#include "tests/support/beside.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

/* Reads a dump, which must be a whole recording with a proper end. */
static struct reader *read_dump(const char *path)
{
	struct reader *of_file = reader_new(-1);
	uint64_t offset, points;
	size_t count;
	uint8_t *bytes = (uint8_t *)fixture_read(path, &count);

	assert_true(count > RECORDING_END_BYTES);
	assert_true(recording_end_read(bytes + count - RECORDING_END_BYTES, &offset, &points));
	of_file->keeps_events = true;
	reader_feed(of_file, bytes, count);
	assert_true(of_file->has_bye);
	assert_int_equal(of_file->bye.emitted, of_file->bye.before + of_file->bye.delivered);
	free(bytes);
	return of_file;
}

static void start_with_directory(const char *more)
{
	char config[512];

	snprintf(config, sizeof config, "dump=%s%s", fixture_path(fixture, "."), more);
	start(config);
}

static uint32_t id_of(struct reader *of_file, const char *name)
{
	const struct reader_site *found = reader_site(of_file, name);

	assert_non_null(found);
	return found->id;
}

/* Checks that the values of a site's events grow by one each, in the latest run that begins at 0. Returns how many
 * events there are, and the last value. */
static uint64_t run_of(struct reader *of_file, const char *name, uint64_t *last)
{
	uint32_t id = id_of(of_file, name);
	uint64_t count = 0;

	for (uint64_t i = 0; i < of_file->event_count; i++) {
		if (of_file->events[i].site != id)
			continue;
		if (of_file->events[i].value == 0)
			count = 0;
		if (count > 0)
			assert_int_equal(of_file->events[i].value, *last + 1);
		*last = of_file->events[i].value;
		count++;
	}
	return count;
}

static void marks(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		TELEM_MARK(loud, "step", i);
}

/* ---- what is in it ---- */

static void a_dump_has_the_latest_of_what_nobody_read(void **state)
{
	struct telem_statistics before, after;
	char path[256];
	uint64_t count, last;

	(void)state;
	start_with_directory(";policy=overwrite");
	marks(300000);
	telem_stats(&before);
	assert_int_equal(telem_dump("too slow", path, sizeof path), 0);
	telem_stats(&after);
	assert_int_equal(before.queued, after.queued);          /* the dump has taken no event from the stream */
	assert_int_equal(before.dropped, after.dropped);
	reader = read_dump(path);
	count = run_of(reader, "loud.step", &last);
	assert_in_range(count, 65536 / 8 * 6 - 8, 65536);       /* except for the segment that may be being written */
	assert_int_equal(last, 299999);
	assert_int_equal(strncmp(reader->log_text, "too slow (the last ", 19), 0);
	assert_non_null(strstr(reader->log_text, " s; policy overwrite)"));
	assert_true(site("loud.step")->count >= 300000);
}

/* The first test, because later ones choose a policy. */
static void who_wants_dumps_gets_the_latest(void **state)
{
	char path[256];
	uint64_t last;

	(void)state;
	start_with_directory("");
	marks(300000);
	assert_int_equal(telem_dump("why", path, sizeof path), 0);
	reader = read_dump(path);
	assert_in_range(run_of(reader, "loud.step", &last), 65536 / 8 * 6 - 8, 65536);
	assert_int_equal(last, 299999);
	assert_non_null(strstr(reader->log_text, " s; policy overwrite)"));
}

static void with_the_first_ones_kept_it_has_those(void **state)
{
	char path[256];
	uint64_t last;

	(void)state;
	start_with_directory(";policy=drop;ring=64K");
	marks(100);
	TELEM_EVENT(loud, "request", TELEM_F("status", 200), TELEM_F("share", 0.5));
	telem_level_set("log", TELEM_ALL);
	TELEM_LOG(TELEM_ERROR, "a text of some length, to fill %d slots", 3);
	assert_int_equal(telem_dump(NULL, path, sizeof path), 0);
	reader = read_dump(path);
	assert_int_equal(run_of(reader, "loud.step", &last), 100);
	assert_non_null(strstr(reader->log_text, "; policy drop)"));
	assert_int_equal(site("loud.request")->event_count, 1);
	assert_int_equal(reader->record[0].bits, 200);
	assert_int_equal(site("log.a text of some length, to fill %d slots")->event_count, 1);
}

static void a_reader_loses_nothing_to_a_dump(void **state)
{
	char path[256];
	uint64_t last;
	struct reader *of_file;

	(void)state;
	start_with_directory("");
	reader = attach_viewer();
	marks(10000);
	hear(reader);
	assert_int_equal(telem_dump("while one reads", path, sizeof path), 0);
	of_file = read_dump(path);
	assert_int_equal(run_of(of_file, "loud.step", &last), 10000);
	reader_free(of_file);
	marks(1000);
	stop_and_read(reader);
	assert_int_equal(site("loud.step")->event_count, 11000);
}

static void *mark_and_end(void *arg)
{
	for (uint64_t i = 0; i < 2000; i++)
		TELEM_MARK(loud, "of threads that ended", i);
	return arg;
}

static void threads_that_ended_are_in_it(void **state)
{
	pthread_t thread;
	char path[256];
	uint64_t last;

	(void)state;
	start_with_directory(";policy=overwrite");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&thread, NULL, mark_and_end, NULL), 0);
		pthread_join(thread, NULL);
	}
	assert_int_equal(telem_dump("all gone", path, sizeof path), 0);
	reader = read_dump(path);
	assert_int_equal(run_of(reader, "loud.of threads that ended", &last), 2000);
	assert_int_equal(site("loud.of threads that ended")->event_count, 6000);
}

static void *mark_many(void *arg)
{
	for (uint64_t i = 0; i < 20000; i++)
		TELEM_MARK(loud, "of a new thread", i);
	return arg;
}

static void a_new_thread_has_a_ring_of_the_size_that_is_set(void **state)
{
	pthread_t thread;
	char path[256];

	(void)state;
	start_with_directory(";policy=overwrite;ring=1M");
	assert_int_equal(pthread_create(&thread, NULL, mark_and_end, NULL), 0);
	pthread_join(thread, NULL);
	/* The dump's thread empties the rings of threads that have ended, so that they can be used again. */
	assert_int_equal(telem_dump("of the first thread", path, sizeof path), 0);
	assert_int_equal(telem_set_ring_bytes(64 << 10), 0);
	assert_int_equal(pthread_create(&thread, NULL, mark_many, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(telem_dump("of the second", path, sizeof path), 0);
	reader = read_dump(path);
	assert_in_range(site("loud.of a new thread")->event_count, 1, 65536 / 16);
}

static bool keep_marking;

static void *mark_on(void *arg)
{
	for (uint64_t i = 0; __atomic_load_n(&keep_marking, __ATOMIC_RELAXED); i++)
		if (arg)
			TELEM_MARK(loud, "one thread", i);
		else
			TELEM_MARK(loud, "other thread", i);
	return NULL;
}

static void what_is_being_written_is_left_out_and_never_torn(void **state)
{
	pthread_t threads[2];
	char path[256];
	uint64_t last;

	(void)state;
	start_with_directory(";policy=overwrite;ring=64K");
	__atomic_store_n(&keep_marking, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, mark_on, i ? fixture : NULL), 0);
	for (int round = 0; round < 20; round++) {
		uint32_t id;

		assert_int_equal(telem_dump("in the middle", path, sizeof path), 0);
		reader_free(reader);
		reader = read_dump(path);
		if (!reader_site(reader, "loud.one thread"))
			continue;
		/* The dump ends, although the thread goes on filling its ring of 64 KiB. */
		assert_true(site("loud.one thread")->event_count < 2 * 65536 / 16);
		/* Segments that were overwritten meanwhile may be missing. No other is there twice or in part. */
		id = id_of(reader, "loud.one thread");
		last = 0;
		for (uint64_t i = 0; i < reader->event_count; i++)
			if (reader->events[i].site == id) {
				assert_true(last == 0 || reader->events[i].value > last);
				last = reader->events[i].value;
			}
		assert_int_equal(unlink(path), 0);
	}
	__atomic_store_n(&keep_marking, false, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- who wants it ---- */

static void a_viewer_may_ask_for_one_and_is_told_where_it_is(void **state)
{
	struct message request = { .kind = KIND_DUMP, .dump = { 0, text_of("asked for") } };
	struct reader *of_file;
	uint64_t last;

	(void)state;
	start_with_directory("");
	reader = attach_viewer();
	marks(7);
	hear(reader);
	assert_int_equal(reader_request(reader, request), ACK_DONE);
	of_file = read_dump(reader->ack_text);
	assert_int_equal(run_of(of_file, "loud.step", &last), 7);
	assert_int_equal(strncmp(of_file->log_text, "asked for (", 11), 0);
	reader_free(of_file);
	assert_int_equal(reader_request(reader, request), ACK_LIMIT);     /* so soon */
}

static uint32_t dumps_in_directory(void)
{
	glob_t found;
	uint32_t count;

	if (glob(fixture_path(fixture, "*.telem"), 0, NULL, &found) != 0)
		return 0;
	count = (uint32_t)found.gl_pathc;
	globfree(&found);
	return count;
}

static void a_broken_budget_has_one_written_and_no_more_for_a_while(void **state)
{
	const struct telem_budget budget = { .ns = 1, .dump = true };
	char path[256];

	(void)state;
	start_with_directory("");
	assert_int_equal(telem_budget("dumped", &budget, NULL, NULL), 0);
	for (int i = 0; i < 5; i++)
		telem_frame("dumped");
	WAIT_UNTIL(dumps_in_directory() == 1, 5000);
	assert_int_equal(telem_dump("and by hand", path, sizeof path), 0);
	assert_int_equal(dumps_in_directory(), 2);
	telem_budget("dumped", NULL, NULL, NULL);
}

static int dump_from_reporter(void *arg, int64_t *value)
{
	__atomic_store_n((int *)arg, telem_dump("from inside", NULL, 0), __ATOMIC_RELAXED);
	*value = 0;
	return 0;
}

static void where_it_cannot_be_had_says_why(void **state)
{
	int result = 0;
	char path[256] = "x";

	(void)state;
	assert_int_equal(telem_dump("not started", NULL, 0), -ENOTCONN);
	start("dump=/nowhere/at/all");
	assert_int_equal(telem_dump("no directory", path, sizeof path), -ENOENT);
	assert_string_equal(path, "");
	assert_non_null(strstr(telem_error(), "/nowhere/at/all"));
	reader = attach_viewer();
	assert_int_equal(telem_reporter("dumper", TELEM_REPORT_OTHER, TELEM_NONE, dump_from_reporter, &result), 0);
	READ_UNTIL(reader, __atomic_load_n(&result, __ATOMIC_RELAXED) != 0);
	assert_int_equal(telem_reporter_remove("dumper"), 0);
	assert_int_equal(result, -EDEADLK);
	assert_int_equal(telem_dump_directory(NULL), -EINVAL);
	assert_int_equal(telem_dump_on_signal(SIGKILL), -EINVAL);
	assert_int_equal(telem_dump_on_signal(0), -EINVAL);
}

static void on_a_full_disk_it_ends_with_a_whole_block_and_says_so(void **state)
{
	struct rlimit before, small;
	char path[256];

	(void)state;
	start_with_directory("");
	marks(50000);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 100000;
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(telem_dump("no room", path, sizeof path), -ENOSPC);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(telem_dump("room again", path, sizeof path), 0);
}

/* ---- signals ---- */

static volatile int *volatile nowhere;

static int child(int number)
{
	signal(number, SIG_DFL);         /* else cmocka's own handler would run next */
	start_with_directory(";policy=overwrite");
	if (telem_dump_on_signal(number) != 0)
		return 1;
	marks(500);
	if (number == SIGSEGV)
		*nowhere = 1;
	else if (number == SIGALRM)      /* sent by the kernel, but not a fault that is raised again */
		setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 1000 } }, NULL);
	else
		kill(getpid(), number);
	pause();
	return 2;
}

static void dies_with_a_dump(int number)
{
	glob_t found;
	uint64_t last;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(number));
	assert_int_equal(waitpid(pid, &status, 0), pid);
#ifdef __SANITIZE_ADDRESS__                  /* it has a handler of its own, which runs next */
	assert_int_not_equal(status, 0);
#else
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
#endif
	assert_int_equal(glob(fixture_path(fixture, "*.%d.1.telem", (int)pid), 0, NULL, &found), 0);
	reader = read_dump(found.gl_pathv[0]);
	assert_int_equal(run_of(reader, "loud.step", &last), 500);
	assert_non_null(strstr(reader->log_text, "signal 0"));
	globfree(&found);
}

static void a_fault_leaves_a_dump_and_ends_the_program_as_it_would(void **state)
{
	(void)state;
	dies_with_a_dump(SIGSEGV);
}

static void so_does_a_signal_that_is_sent(void **state)
{
	(void)state;
	dies_with_a_dump(SIGTERM);
}

static void and_one_that_the_kernel_sends(void **state)
{
	(void)state;
	dies_with_a_dump(SIGALRM);
}

static int fork_and_die(void)
{
	int status;
	pid_t pid;

	signal(SIGTERM, SIG_DFL);
	start_with_directory("");
	if (telem_dump_on_signal(SIGTERM) != 0)
		return 1;
	marks(1);
	pid = fork();
	if (pid == 0) {
		alarm(4);                /* without the check the dump would wait for 5 s */
		kill(getpid(), SIGTERM);
		pause();
		_exit(3);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 0 : 2;
}

static void a_forked_child_dies_without_one_and_at_once(void **state)
{
	int status;
	pid_t pid;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();
#endif
	pid = fork();
	if (pid == 0)
		_exit(fork_and_die());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_signal_that_was_survived_leaves_room_for_the_next_dump(void **state)
{
	char path[256];

	(void)state;
	start_with_directory("");
	signal(SIGUSR1, SIG_IGN);
	assert_int_equal(telem_dump_on_signal(SIGUSR1), 0);
	marks(1);
	raise(SIGUSR1);
	assert_int_equal(dumps_in_directory(), 1);
	assert_int_equal(telem_dump("and another", path, sizeof path), 0);
	raise(SIGUSR1);                          /* it is ignored again */
	assert_int_equal(dumps_in_directory(), 2);
	signal(SIGUSR1, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(who_wants_dumps_gets_the_latest),
		BESIDE_TEST(a_fault_leaves_a_dump_and_ends_the_program_as_it_would),
		BESIDE_TEST(so_does_a_signal_that_is_sent),
		BESIDE_TEST(and_one_that_the_kernel_sends),
		BESIDE_TEST(a_forked_child_dies_without_one_and_at_once),
		BESIDE_TEST(a_signal_that_was_survived_leaves_room_for_the_next_dump),
		BESIDE_TEST(threads_that_ended_are_in_it),
		BESIDE_TEST(a_new_thread_has_a_ring_of_the_size_that_is_set),
		BESIDE_TEST(a_dump_has_the_latest_of_what_nobody_read),
		BESIDE_TEST(with_the_first_ones_kept_it_has_those),
		BESIDE_TEST(a_reader_loses_nothing_to_a_dump),
		BESIDE_TEST(what_is_being_written_is_left_out_and_never_torn),
		BESIDE_TEST(a_viewer_may_ask_for_one_and_is_told_where_it_is),
		BESIDE_TEST(a_broken_budget_has_one_written_and_no_more_for_a_while),
		BESIDE_TEST(where_it_cannot_be_had_says_why),
		BESIDE_TEST(on_a_full_disk_it_ends_with_a_whole_block_and_says_so),
	};

	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
