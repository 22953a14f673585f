/* test_reporters.c -- reporters and providers: functions of the program that the telem thread calls
 * while a reader is there. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(loud, "at all", TELEM_ALL);

/* A reporter's state: what it returns, and whether it waits inside its call until may_leave. */
struct asked { int64_t value; int result; uint32_t count; bool inside, may_leave; };

static int tell(void *arg, int64_t *value)
{
	struct asked *asked = arg;

	__atomic_store_n(&asked->inside, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&asked->may_leave, __ATOMIC_ACQUIRE))
		sched_yield();
	*value = __atomic_load_n(&asked->value, __ATOMIC_RELAXED);
	__atomic_fetch_add(&asked->count, 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&asked->result, __ATOMIC_RELAXED);
}

static uint32_t times_asked(const struct asked *asked) { return __atomic_load_n(&asked->count, __ATOMIC_RELAXED); }

static void a_reporter_is_asked_while_somebody_looks(void **state)
{
	static struct asked asked = { .value = -5, .may_leave = true }, other = { .value = 9, .may_leave = true };
	uint64_t ticks;
	uint32_t count;

	(void)state;
	start(NULL);
	assert_int_equal(telem_reporter("vm/objects", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), 0);
	assert_int_equal(telem_reporter("vm/objects", TELEM_REPORT_HEAP, TELEM_BYTES, tell, &other), -EEXIST);
	assert_int_equal(telem_reporter("", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), -EINVAL);
	assert_int_equal(telem_flush(100 * MS), 0);
	assert_int_equal(times_asked(&asked), 0);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	READ_UNTIL(reader, reader_site(reader, "report.vm/objects") && (int64_t)site("report.vm/objects")->sum == -5);
	/* A failing reporter is counted, and its previous value stays. */
	__atomic_store_n(&asked.result, -1, __ATOMIC_RELAXED);
	__atomic_store_n(&asked.value, 7, __ATOMIC_RELAXED);
	READ_UNTIL(reader, reader_site(reader, "report.failures") && site("report.failures")->sum > 0);
	assert_int_equal((int64_t)site("report.vm/objects")->sum, -5);
	__atomic_store_n(&asked.result, 0, __ATOMIC_RELAXED);
	READ_UNTIL(reader, site("report.vm/objects")->sum == 7);
	/* While its class is off the reporter is not called. */
	telem_level_set("report", TELEM_OFF);
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] > ticks + 1);
	count = times_asked(&asked);
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] > ticks + 4);
	assert_int_equal(times_asked(&asked), count);
	telem_level_set("report", TELEM_SUM);
	assert_int_equal(times_asked(&other), 0);
	assert_int_equal(telem_reporter_remove("vm/objects"), 0);
	assert_int_equal(telem_reporter_remove("vm/objects"), -ENOENT);
}

static void without_a_reader_nothing_of_its_own_is_recorded(void **state)
{
	static struct asked asked = { .value = 1, .may_leave = true };
	uint64_t emitted;
	uint32_t count = 0;

	(void)state;
	start("all=all;flush=1ms");
	assert_int_equal(telem_reporter("vm/unwatched", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), 0);
	emitted = statistics().emitted;
	/* Round 0 is before the first reader. Round 1 follows one that wanted a tick every 100 ms: two are overdue. */
	for (int round = 0; round < 2; round++) {
		proc_watch_for(round * 250);
		for (int i = 0; i < 20; i++) {
			telem_sync();
			assert_int_equal(telem_flush(5 * S), 0);
		}
		assert_int_equal(statistics().emitted, emitted);
		assert_int_equal(statistics().queued, 0);
		assert_int_equal(times_asked(&asked), count);
		if (round == 1)
			break;
		reader = attach_viewer();
		assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
		READ_UNTIL(reader, times_asked(&asked) > 0);
		reader_free(reader);
		reader = NULL;
		WAIT_UNTIL(statistics().sinks == 0, 5000);
		count = times_asked(&asked);
	}
	assert_int_equal(telem_reporter_remove("vm/unwatched"), 0);
}

static void *remove_reporter(void *arg)
{
	assert_int_equal(telem_reporter_remove("vm/slow"), 0);
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	return NULL;
}

static void a_removed_reporter_is_in_use_no_more(void **state)
{
	static struct asked asked = { .value = 1 };
	bool is_removed = false;
	pthread_t remover;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_reporter("vm/slow", TELEM_REPORT_OTHER, TELEM_NONE, tell, &asked), 0);
	WAIT_UNTIL(__atomic_load_n(&asked.inside, __ATOMIC_ACQUIRE), 5000);
	assert_int_equal(pthread_create(&remover, NULL, remove_reporter, &is_removed), 0);
	sched_yield();
	assert_false(__atomic_load_n(&is_removed, __ATOMIC_ACQUIRE));
	__atomic_store_n(&asked.may_leave, true, __ATOMIC_RELEASE);
	pthread_join(remover, NULL);
	assert_int_equal(times_asked(&asked), 1);
}

static int reporter_state;           /* 1: it is being called; 2: it may return; 3: it has returned */

static int block_for_long(void *arg, int64_t *value)
{
	(void)arg;
	*value = 1;
	__atomic_store_n(&reporter_state, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&reporter_state, __ATOMIC_ACQUIRE) != 2)
		sched_yield();
	__atomic_store_n(&reporter_state, 3, __ATOMIC_RELEASE);
	return 0;
}

static void a_stop_does_not_wait_for_a_reporter(void **state)
{
	struct telem_options options = { .ignore_environment = true, .linger_ns = 100 * MS };

	(void)state;
	assert_int_equal(telem_start(&options), 0);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_reporter("stuck", TELEM_REPORT_OTHER, TELEM_NONE, block_for_long, NULL), 0);
	READ_UNTIL(reader, __atomic_load_n(&reporter_state, __ATOMIC_ACQUIRE) == 1);
	TELEM_COUNT(loud, "while it is stuck", 1);
	telem_stop();                    /* returns while the reporter is still inside its call */
	assert_non_null(strstr(telem_error(), "reporter"));
	assert_int_equal(statistics().queued, 0);
	reader_free(reader);
	/* A new start works while the old telem thread is still inside the reporter, and after that thread returns. */
	assert_int_equal(telem_start(&options), 0);
	assert_int_equal(telem_level_set("report.stuck", TELEM_OFF), 0);
	reader = attach_fd(NULL);
	TELEM_COUNT(loud, "after it", 1);
	hear(reader);
	assert_int_equal(site("loud.after it")->event_count, 1);
	__atomic_store_n(&reporter_state, 2, __ATOMIC_RELEASE);
	READ_UNTIL(reader, __atomic_load_n(&reporter_state, __ATOMIC_ACQUIRE) == 3);
	TELEM_COUNT(loud, "after it", 1);
	hear(reader);
	assert_int_equal(site("loud.after it")->event_count, 2);
	assert_int_equal(telem_reporter_remove("stuck"), 0);
}

static int tell_after_work(void *arg, int64_t *value)
{
	spin_until_passed(50 * MS);
	return tell(arg, value);
}

/* At a tick of 100 ms all reporters together may take 0.1 ms a tick, so 50 ms are enough for 500 ticks. */
static void a_dear_reporter_is_asked_seldom_and_a_cheap_one_at_each_tick(void **state)
{
	static struct asked dear = { .may_leave = true }, cheap = { .may_leave = true };
	uint64_t ticks;
	uint32_t count;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_reporter("dear", TELEM_REPORT_OTHER, TELEM_NONE, tell_after_work, &dear), 0);
	assert_int_equal(telem_reporter("cheap", TELEM_REPORT_OTHER, TELEM_NONE, tell, &cheap), 0);
	READ_UNTIL(reader, times_asked(&dear) == 1 && times_asked(&cheap) > 0);
	count = times_asked(&cheap);
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] == ticks + 10);
	assert_int_equal(times_asked(&dear), 1);
	assert_true(times_asked(&cheap) >= count + 9);
	assert_int_equal(telem_reporter_remove("dear"), 0);
	assert_int_equal(telem_reporter_remove("cheap"), 0);
}

/* ---- reporters that come with the library ---- */

static void what_nobody_claims_of_the_heap_is_told_also_below_0(void **state)
{
	static struct asked asked = { .value = INT64_MAX / 2, .may_leave = true };

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_reporter("vm/heap", TELEM_REPORT_HEAP, TELEM_BYTES, tell, &asked), 0);
	READ_UNTIL(reader, reader_site(reader, "report.heap/unclassified"));
	assert_int_equal(telem_level_set("report.heap/unclassified", TELEM_SUM), 0);
	READ_UNTIL(reader, (int64_t)site("report.heap/unclassified")->sum < -(INT64_MAX / 4));
	__atomic_store_n(&asked.value, 0, __ATOMIC_RELAXED);
	/* A sanitizer's malloc reports 0 allocated bytes, so 0 is allowed. */
	READ_UNTIL(reader, (int64_t)site("report.heap/unclassified")->sum >= 0);
	assert_int_equal(telem_reporter_remove("vm/heap"), 0);
}

static void malloc_and_the_process_report(void **state)
{
	uint64_t count, ticks;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_report_malloc(), 0);
	assert_int_equal(telem_report_process(), 0);
	/* Nobody wants the dear values yet. */
	assert_int_equal(telem_level_get("report.malloc/allocated"), TELEM_OFF);
	assert_int_equal(telem_level_get("report.process/pss"), TELEM_OFF);
	assert_int_equal(telem_level_set("report.malloc/allocated", TELEM_SUM), 0);
	/* fd_count() has three more: ".", ".." and the open directory. */
	READ_UNTIL(reader, reader_site(reader, "report.process/open files") &&
				   site("report.process/open files")->sum == fd_count() - 3);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)      /* sanitizers bring their own malloc */
	READ_UNTIL(reader, site("report.malloc/allocated")->sum >= 1000);
	assert_true(site("report.malloc/allocated")->sum < 1ull << 40);
	assert_int_equal(site("report.malloc/free")->count, 0);
	assert_int_equal(site("report.process/pss")->count, 0);
#endif
	assert_int_equal(site("report.malloc/allocated")->unit, UNIT_SIZE);
	assert_true(site("report.process/faults")->sum > 100);
	assert_true(site("report.process/rss")->sum >= 500000 && site("report.process/rss")->sum % 1024 == 0);
	assert_int_equal(site("report.process/rss")->unit, UNIT_SIZE);
	assert_int_equal(telem_report_malloc(), -EEXIST);
	/* A value of the library can be removed like any other. */
	assert_int_equal(telem_reporter_remove("malloc/allocated"), 0);
	assert_int_equal(telem_flush(5 * S), 0);
	hear(reader);
	count = site("report.malloc/allocated")->count;
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] > ticks + 2);
	assert_int_equal(site("report.malloc/allocated")->count, count);
}

static void threads_report_their_processor_time_by_name(void **state)
{
	char path[64];

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	pthread_setname_np(pthread_self(), "busy one");
	assert_int_equal(telem_report_process() == 0 || telem_report_process() == -EEXIST, 1);
	snprintf(path, sizeof path, "report.process/cpu of %s", "busy one");
	READ_UNTIL(reader, reader_site(reader, path) && reader_site(reader, path)->sum > 0);
	assert_int_equal(site(path)->unit, UNIT_TIME);
	READ_UNTIL(reader, reader_site(reader, "report.process/cpu of telem"));
}

static int turns;

static void *emit_net_spans(void *arg)
{
	for (int i = 0; i < 1000; i++)
		TELEM_SPAN(net, "costs, elsewhere")
			turns++;
	return arg;
}

static void telemetry_tells_what_it_costs(void **state)
{
	struct telem_class_statistics classes[64];
	uint32_t count, net_at = 64;

	(void)state;
	start("net=all");
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(telem_report_telemetry(), 0);
	count = telem_class_stats(classes, 64);
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(classes[i].name, "net"))
			net_at = i;
	assert_in_range(net_at, 0, 63);
	for (int i = 0; i < 1000; i++)
		TELEM_SPAN(net, "costs")
			turns++;
	{
		struct telem_class_statistics before = classes[net_at];

		telem_class_stats(classes, 64);
		assert_int_equal(classes[net_at].events - before.events, 1000);
		assert_int_equal(classes[net_at].emitted - before.emitted, 1000);
		assert_int_equal(classes[net_at].level, TELEM_ALL);
		/* A span costs two clock readings at least; the upper bound allows for a slow machine. */
		assert_in_range(classes[net_at].cost_ns - before.cost_ns, 1000 * 5, 1000 * 100000);
	}
	READ_UNTIL(reader, reader_site(reader, "telem.cost of net") && site("telem.cost of net")->sum >= 5000);
	READ_UNTIL(reader, reader_site(reader, "telem.memory held") && site("telem.memory held")->sum > 1000);
	assert_true(site("telem.bytes sent")->sum > 0);
	assert_int_equal(telem_class_stats(classes, 1), 1);
	/* The cost of a class includes that of threads that have ended. */
	telem_class_stats(classes, 64);
	in_thread(emit_net_spans, NULL);
	{
		uint64_t before = classes[net_at].cost_ns;

		telem_class_stats(classes, 64);
		assert_in_range(classes[net_at].cost_ns, before + 1000 * 5, before + 1000 * 100000);
	}
}

/* ---- providers ---- */

static void provide(void *arg)
{
	++*(int *)arg;
	TELEM_GAUGE(net, "provided", 42);
	TELEM_COUNT(net, "times provided", 1);
}

static void a_provider_records_what_it_likes_while_somebody_looks(void **state)
{
	int calls = 0;

	(void)state;
	start(NULL);
	assert_int_equal(telem_provider("engine", provide, &calls), 0);
	assert_int_equal(telem_provider("engine", provide, &calls), -EEXIST);
	assert_int_equal(telem_provider("", provide, &calls), -EINVAL);
	assert_int_equal(telem_flush(5 * S), 0);
	assert_int_equal(calls, 0);              /* no reader is there, so no call is made */
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	READ_UNTIL(reader, reader_site(reader, "net.provided") && reader_site(reader, "net.provided")->sum == 42);
	assert_int_equal(telem_reporter_remove("engine"), 0);
	hear(reader);
	assert_int_equal(site("net.times provided")->count, calls);
	assert_null(reader_site(reader, "report.engine"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(a_reporter_is_asked_while_somebody_looks),
		BESIDE_TEST(without_a_reader_nothing_of_its_own_is_recorded),
		BESIDE_TEST(a_removed_reporter_is_in_use_no_more),
		BESIDE_TEST(a_stop_does_not_wait_for_a_reporter),
		BESIDE_TEST(a_dear_reporter_is_asked_seldom_and_a_cheap_one_at_each_tick),
		BESIDE_TEST(what_nobody_claims_of_the_heap_is_told_also_below_0),
		BESIDE_TEST(malloc_and_the_process_report),
		BESIDE_TEST(a_provider_records_what_it_likes_while_somebody_looks),
		BESIDE_TEST(threads_report_their_processor_time_by_name),
		BESIDE_TEST(telemetry_tells_what_it_costs),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("reporters", tests, NULL, NULL);
}
