/* test_frames.c -- frames, what they took, and their budgets. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);

struct node { int x; };

static struct telem_frame_info last(const char *name)
{
	struct telem_frame_info info = { .name = NULL };

	assert_int_equal(telem_frames(name, &info, 1), 1);
	return info;
}

static int reader_setup(void **state)
{
	int err = beside_setup(state);

	start("");
	return err;
}

/* ---- what a frame takes ---- */

static void a_frame_is_a_span_and_tells_what_it_took(void **state)
{
	struct telem_frame_info info;

	(void)state;
	reader = attach_viewer();
	TELEM_COUNT(net, "bytes in", 0);
	assert_int_equal(telem_frame_counter("turn", "net.bytes in"), 0);
	telem_frame("turn");
	assert_int_equal(telem_frames("turn", &info, 1), 0);       /* it has only begun */
	for (int i = 0; i < 3; i++)
		TELEM_ALLOC(struct node, 1000);
	TELEM_FREE(struct node, 1000);
	TELEM_LOG(TELEM_WARN, "slow");
	TELEM_LOG(TELEM_ERROR, "lost");
	TELEM_LOG(TELEM_ERROR, "lost too");
	TELEM_COUNT(net, "bytes in", 512);
	telem_frame("turn");
	info = last("turn");
	assert_string_equal(info.name, "turn");
	assert_int_equal(info.number, 1);
	assert_true(info.duration_ns > 0 && info.time_ns > info.duration_ns);
	assert_int_equal(info.heap_bytes, 2000);
	assert_in_range(info.heap_peak, 2000, 3000);    /* seen in steps of 16 KiB */
	assert_int_equal(info.allocations, 3);
	assert_int_equal(info.logs[TELEM_WARN], 1);
	assert_int_equal(info.logs[TELEM_ERROR], 2);
	assert_int_equal(info.counter_count, 1);
	assert_string_equal(info.counters[0].name, "net.bytes in");
	assert_int_equal(info.counters[0].sum, 512);
	assert_int_equal(info.broken, 0);
	telem_frame("turn");
	info = last("turn");
	assert_int_equal(info.number, 2);
	assert_int_equal(info.allocations + info.logs[TELEM_WARN] + info.counters[0].sum, 0);
	assert_int_equal(info.heap_bytes, 2000);
	hear(reader);
	assert_int_equal(site("frame.turn")->count, 2);
	assert_int_equal(site("frame.turn")->detail, SPAN_IS_FRAME);
	assert_int_equal(reader->kind_count[KIND_FRAME], 0);       /* no viewer inspects frames */
	TELEM_FREE(struct node, 2000);
}

static void the_peak_of_the_heap_within_a_frame_is_seen(void **state)
{
	(void)state;
	telem_frame("peak");
	TELEM_ALLOC(struct node, 5 << 20);
	TELEM_FREE(struct node, 5 << 20);
	telem_frame("peak");
	assert_int_equal(last("peak").heap_bytes, 0);
	assert_int_equal(last("peak").heap_peak, 5 << 20);
	telem_frame("peak");
	assert_int_equal(last("peak").heap_peak, 0);
}

static void *allocate_elsewhere(void *arg)
{
	(void)arg;
	TELEM_ALLOC(struct node, 100000);
	return NULL;
}

static void the_heap_is_the_program_s_and_the_rest_the_thread_s(void **state)
{
	pthread_t thread;

	(void)state;
	telem_frame("mine");
	assert_int_equal(pthread_create(&thread, NULL, allocate_elsewhere, NULL), 0);
	pthread_join(thread, NULL);
	telem_frame("mine");
	assert_int_equal(last("mine").heap_bytes, 100000);
	assert_int_equal(last("mine").allocations, 0);
	TELEM_FREE(struct node, 100000);
}

static void time_between_two_turns_may_be_nobody_s(void **state)
{
	(void)state;
	telem_frame_begin("request");
	TELEM_LOG(TELEM_INFO, "between");
	telem_frame_begin("request");
	telem_frame("request");
	assert_int_equal(last("request").number, 1);
	assert_int_equal(last("request").logs[TELEM_INFO], 0);
}

static void a_frame_sees_the_counters_of_tasks_that_ended_in_it(void **state)
{
	(void)state;
	TELEM_COUNT(net, "of tasks", 0);
	assert_int_equal(telem_frame_counter("tasks", "net.of tasks"), 0);
	telem_frame("tasks");
	for (int i = 0; i < 20; i++) {
		int task = telem_task_new("short");

		assert_true(task > 0);
		telem_task_enter(task);
		TELEM_COUNT(net, "of tasks", 5);
		telem_task_leave();
		telem_task_end(task);
	}
	telem_frame("tasks");
	assert_int_equal(last("tasks").counters[0].sum, 100);
}

static void the_latest_frames_are_kept_newest_first(void **state)
{
	struct telem_frame_info infos[300];
	uint32_t count;

	(void)state;
	for (int i = 0; i <= 400; i++)
		telem_frame("many");
	count = telem_frames("many", infos, 300);
	assert_int_equal(count, 128);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(infos[i].number, 400 - i);
	assert_int_equal(telem_frames("unheard of", infos, 300), 0);
}

static void *end_frames(void *arg)
{
	for (int i = 0; i <= *(int *)arg; i++)
		telem_frame("contested");
	return NULL;
}

static void frames_of_many_threads_are_whole(void **state)
{
	struct telem_frame_info infos[128];
	pthread_t threads[4];
	int each = 5000;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, end_frames, &each), 0);
	for (int i = 0; i < 100; i++) {
		uint32_t count = telem_frames("contested", infos, 128);

		for (uint32_t j = 0; j < count; j++)
			assert_true(infos[j].number <= 4u * (unsigned)each && infos[j].duration_ns < 3600 * S);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	reader = attach_viewer();
	hear(reader);
	assert_int_equal(site("frame.contested")->count, 4 * each);
}

static void names_and_counters_have_bounds(void **state)
{
	char name[32];

	(void)state;
	telem_frame(NULL);
	telem_frame("");
	assert_non_null(strstr(telem_error(), "telem_frame: a name"));
	assert_int_equal(telem_frame_counter("", "net.bytes in"), -EINVAL);
	assert_int_equal(telem_frame_counter("bounds", "net.no such"), -ENOENT);
	assert_int_equal(telem_budget("bounds", &(struct telem_budget){ .counter = "no such" }, NULL, NULL), -ENOENT);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof name, "frame %d", i);
		telem_frame(name);
		telem_frame(name);
	}
	assert_int_equal(telem_budget("frame 39", NULL, NULL, NULL), -EINVAL);
}

/* ---- budgets ---- */

static uint32_t broken_bits;
static int broken_calls;

static void note(const struct telem_frame_info *frame, void *arg)
{
	broken_bits = frame->broken;
	++*(int *)arg;
	TELEM_LOG(TELEM_WARN, "over budget");           /* a callback may do whatever a program may do */
}

static void each_part_of_a_budget_is_held(void **state)
{
	(void)state;
	reader = attach_viewer();
	TELEM_COUNT(net, "queries", 0);
	assert_int_equal(telem_budget("game", &(struct telem_budget){ .ns = 3600 * S, .heap_bytes = 1 << 20, .logs = 2,
								      .counter = "net.queries", .counter_most = 10 },
				      note, &broken_calls), 0);
	broken_calls = 0;
	telem_frame("game");
	TELEM_COUNT(net, "queries", 10);
	telem_frame("game");
	assert_int_equal(broken_calls, 0);
	TELEM_COUNT(net, "queries", 11);
	telem_frame("game");
	assert_int_equal(broken_bits, TELEM_BROKE_COUNTER);
	TELEM_ALLOC(struct node, 2 << 20);
	TELEM_FREE(struct node, 2 << 20);
	for (int i = 0; i < 3; i++)
		TELEM_LOG(TELEM_DEBUG, "chatter");
	telem_frame("game");
	assert_int_equal(broken_bits, TELEM_BROKE_HEAP | TELEM_BROKE_LOGS);
	assert_int_equal(telem_budget("game", &(struct telem_budget){ .ns = 1 }, note, &broken_calls), 0);
	telem_frame("game");
	assert_int_equal(broken_bits, TELEM_BROKE_TIME);
	assert_int_equal(broken_calls, 3);
	assert_int_equal(telem_budget("game", NULL, NULL, NULL), 0);
	telem_frame("game");
	assert_int_equal(broken_calls, 3);
	assert_int_equal(last("game").broken, 0);
	hear(reader);
	assert_int_equal(site("frame.game over budget")->count, 3);
}

static int on_over(const struct telem_happening *what, void *arg)
{
	*(int64_t *)arg = telem_field_int(&what->fields[0]);
	return 0;
}

static void a_broken_budget_is_an_event_that_handlers_hear(void **state)
{
	int64_t heard = 0;

	(void)state;
	assert_int_equal(telem_attach("over", "frame.heard over budget", on_over, &heard), 0);
	assert_int_equal(telem_budget("heard", &(struct telem_budget){ .ns = 1 }, NULL, NULL), 0);
	telem_frame("heard");
	telem_frame("heard");
	assert_int_equal(heard, TELEM_BROKE_TIME);
	assert_int_equal(telem_detach("over"), 0);
}

static int nested_calls;

static void end_another(const struct telem_frame_info *frame, void *arg)
{
	(void)frame;
	(void)arg;
	nested_calls++;
	telem_frame("game");                   /* begins a frame, because the broken one has ended */
}

static void what_a_budget_calls_may_end_frames(void **state)
{
	(void)state;
	assert_int_equal(telem_budget("game", &(struct telem_budget){ .ns = 1 }, end_another, NULL), 0);
	telem_frame("game");
	telem_frame("game");
	assert_int_equal(nested_calls, 1);
	telem_budget("game", NULL, NULL, NULL);
}

static void a_counter_chosen_within_a_frame_counts_from_the_next(void **state)
{
	(void)state;
	TELEM_COUNT(net, "chosen late", 1000);
	telem_frame("late");
	assert_int_equal(telem_budget("late", &(struct telem_budget){ .counter = "net.chosen late", .counter_most = 10 },
				      note, &broken_calls), 0);
	broken_calls = 0;
	TELEM_COUNT(net, "chosen late", 1);
	telem_frame("late");
	assert_int_equal(last("late").counter_count, 0);
	TELEM_COUNT(net, "chosen late", 1);
	telem_frame("late");
	assert_int_equal(last("late").counters[0].sum, 1);
	assert_int_equal(broken_calls, 0);
}

static void no_frame_spans_a_stop(void **state)
{
	struct telem_frame_info info;

	(void)state;
	telem_frame("many");
	telem_stop();
	start("");
	telem_frame("many");
	assert_int_equal(telem_frames("many", &info, 1), 0);
	telem_frame("many");
	assert_int_equal(telem_frames("many", &info, 1), 1);
}

static void telemetry_s_own_measuring_is_in_no_frame(void **state)
{
	struct telem_class_statistics classes[64];

	(void)state;
	telem_frame("mine");
	telem_class_stats(classes, 64);
	telem_frame("mine");
	for (int i = 0; i < 5; i++)
		assert_int_equal(last("mine").logs[i], 0);
}

static void a_frame_is_timed_each_time(void **state)
{
	(void)state;
	telem_frame("peak");
	assert_int_equal(telem_span_every("frame.peak", 16), -ENOENT);
}

/* ---- who looks ---- */

static void each_switch_is_counted_and_implies_no_other(void **state)
{
	struct telem_frame_info info;

	(void)state;
	broken_calls = 0;
	assert_int_equal(telem_budget("sw", &(struct telem_budget){ .ns = 1 }, note, &broken_calls), 0);
	telem_watch(TELEM_RECORDING, false);
	telem_frame("sw");
	telem_frame("sw");
	assert_int_equal(telem_frames("sw", &info, 1), 0);
	assert_int_equal(broken_calls, 1);              /* not recorded, but compared with its budget */
	telem_watch(TELEM_RECORDING, true);
	telem_watch(TELEM_BUDGETS, true);
	telem_watch(TELEM_BUDGETS, false);
	telem_frame("sw");
	assert_int_equal(broken_calls, 2);              /* one reference is left */
	telem_watch(TELEM_BUDGETS, false);
	telem_frame("sw");
	assert_int_equal(broken_calls, 2);
	assert_int_equal(last("sw").number, 3);
	telem_watch(TELEM_BUDGETS, true);
	telem_watch(TELEM_INSPECTION, false);           /* no reference is held, so the count stays 0 */
	reader = attach_viewer();
	telem_watch(TELEM_INSPECTION, true);
	telem_frame("sw");
	READ_UNTIL(reader, reader->kind_count[KIND_FRAME] == 1);
	telem_watch(TELEM_INSPECTION, false);
	assert_int_equal(reader->frame.number, 4);
	assert_int_equal(reader->frame.broken, TELEM_BROKE_TIME);
	assert_int_equal(reader->frame.budget_ns, 1);
	telem_budget("sw", NULL, NULL, NULL);
}

#define WATCH(what_, on_) \
	reader_request(reader, (struct message){ .kind = KIND_WATCH, .watch = { 0, what_, on_ } })

static void a_viewer_that_inspects_is_told_of_each_frame_and_lets_go_when_it_dies(void **state)
{
	struct reader *other;

	(void)state;
	reader = attach_viewer();
	assert_int_equal(WATCH(WATCH_INSPECTION, 1), ACK_DONE);
	assert_int_equal(WATCH(WATCH_INSPECTION, 1), ACK_DONE);     /* a viewer holds at most one reference */
	assert_int_equal(WATCH(7, 1), ACK_LIMIT);
	TELEM_COUNT(net, "told", 0);
	assert_int_equal(telem_frame_counter("told", "net.told"), 0);
	telem_frame("told");
	for (uint64_t i = 1; i <= 50; i++) {
		TELEM_COUNT(net, "told", i);
		TELEM_LOG(TELEM_ERROR, "one");
		telem_frame("told");
	}
	READ_UNTIL(reader, reader->kind_count[KIND_FRAME] == 50);
	assert_int_equal(reader->frame.number, 50);
	assert_int_equal(reader->frame.site, site("frame.told")->id);
	assert_int_equal(reader->frame_figures[TELEM_ERROR], 1);
	assert_int_equal(reader->frame_figures[SEVERITY_COUNT], site("net.told")->id);
	assert_int_equal(reader->frame_figures[SEVERITY_COUNT + 1], 50);
	other = attach_viewer();
	reader_free(reader);
	reader = other;
	/* The viewer has died. Some more frames may be sent until the program notices. */
	for (uint64_t before = 1; before != reader->kind_count[KIND_FRAME]; hear(reader)) {
		before = reader->kind_count[KIND_FRAME];
		telem_frame("told");
		hear(reader);
	}
}

/* How often telemetry's own thread has waited, and so was woken. */
static uint64_t flusher_waits(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	uint64_t waits = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char path[300], *status;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
		status = fixture_read(path, NULL);
		if (strstr(status, "Name:\ttelem\n"))
			waits = strtoull(strstr(status, "\nvoluntary_ctxt_switches:") + 25, NULL, 10);
		free(status);
	}
	closedir(dir);
	return waits;
}

/* It is woken for ticks and flushes, and when many frames have ended. */
static void a_viewer_that_inspects_wakes_the_flusher_seldom(void **state)
{
	uint64_t ticks, waits;
	int64_t began_ms;

	(void)state;
	reader = attach_viewer();
	assert_int_equal(WATCH(WATCH_INSPECTION, 1), ACK_DONE);
	telem_frame("slow");
	telem_frame("slow");
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_FRAME] == 1 && reader->kind_count[KIND_SNAPSHOT] > ticks);
	waits = flusher_waits();
	began_ms = proc_now_ms();
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] == ticks + 2);
	assert_true(flusher_waits() - waits <= 12 * ((uint64_t)(proc_now_ms() - began_ms) / 1000 + 1));
	/* They come in less than a flush interval, and in all are more than are kept. */
	for (int i = 0; i < 10; i++) {
		uint64_t frames = reader->kind_count[KIND_FRAME];

		for (uint32_t j = 0; j < LIMIT_FRAMES_KEPT / 2; j++)
			telem_frame("slow");
		READ_UNTIL(reader, reader->kind_count[KIND_FRAME] == frames + LIMIT_FRAMES_KEPT / 2);
	}
	assert_true(flusher_waits() > waits);
}

static void a_recording_has_the_frames(void **state)
{
	const char *path = fixture_path(fixture, "frames.telem");
	size_t count;
	uint8_t *bytes;
	int id;

	(void)state;
	id = telem_sink_file(path);
	assert_true(id >= 0);
	telem_frame("recorded");
	for (int i = 0; i < 5; i++)
		telem_frame("recorded");
	assert_int_equal(telem_sink_remove(id), 0);
	bytes = (uint8_t *)fixture_read(path, &count);
	reader = reader_new(-1);
	reader_feed(reader, bytes, count);
	assert_int_equal(reader->kind_count[KIND_FRAME], 5);
	free(bytes);
}

static void a_child_counts_its_own_frames(void **state)
{
	pid_t child;
	int status;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();                          /* the sanitizer allows no thread in the child of such a program */
#endif
	telem_frame("forked");
	telem_frame("forked");
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct telem_frame_info info;

		telem_frame("forked");
		telem_frame("forked");
		_exit(telem_frames("forked", &info, 1) == 1 && info.number == 1 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reader_setup, beside_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_frame_is_a_span_and_tells_what_it_took),
		TEST(the_peak_of_the_heap_within_a_frame_is_seen),
		TEST(the_heap_is_the_program_s_and_the_rest_the_thread_s),
		TEST(time_between_two_turns_may_be_nobody_s),
		TEST(a_frame_sees_the_counters_of_tasks_that_ended_in_it),
		TEST(the_latest_frames_are_kept_newest_first),
		TEST(frames_of_many_threads_are_whole),
		TEST(each_part_of_a_budget_is_held),
		TEST(a_broken_budget_is_an_event_that_handlers_hear),
		TEST(what_a_budget_calls_may_end_frames),
		TEST(a_counter_chosen_within_a_frame_counts_from_the_next),
		TEST(no_frame_spans_a_stop),
		TEST(telemetry_s_own_measuring_is_in_no_frame),
		TEST(a_frame_is_timed_each_time),
		TEST(each_switch_is_counted_and_implies_no_other),
		TEST(a_viewer_that_inspects_is_told_of_each_frame_and_lets_go_when_it_dies),
		TEST(a_viewer_that_inspects_wakes_the_flusher_seldom),
		TEST(a_recording_has_the_frames),
		TEST(a_child_counts_its_own_frames),
		TEST(names_and_counters_have_bounds),   /* last: it takes all names */
	};

	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
