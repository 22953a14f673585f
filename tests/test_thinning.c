/* test_thinning.c -- figures count all events, but only some are timed or streamed: sampled spans, classes with limits,
 * bursts of log lines. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(loud, "at all", TELEM_ALL);

/* ---- spans ---- */

static void spans(int count)
{
	for (int i = 0; i < count; i++)
		TELEM_SPAN(net, "sampled")
			__asm__ volatile("");
}

static void a_span_may_be_timed_now_and_then_and_is_counted_always(void **state)
{
	(void)state;
	start("");
	reader = attach_viewer();
	assert_int_equal(telem_span_every("net.sampled", 10), 0);   /* rounded up to 16 */
	spans(1601);
	hear(reader);
	assert_int_equal(site("net.sampled")->every, 16);
	assert_int_equal(site("net.sampled")->count, 1601);
	assert_int_equal(site("net.sampled")->bucket_total, 101 * 16);
	assert_int_equal(site("net.sampled")->sum % 16, 0);
	assert_true(site("net.sampled")->min * 1616 <= site("net.sampled")->sum &&
		    site("net.sampled")->sum <= site("net.sampled")->max * 1616);
	assert_int_equal(telem_span_every("net.sampled", 1), 0);
	spans(99);
	hear(reader);
	assert_int_equal(site("net.sampled")->every, 1);
	assert_int_equal(site("net.sampled")->count, 1700);
	assert_int_equal(site("net.sampled")->bucket_total, 101 * 16 + 99);
}

static void of_a_sampled_span_the_timed_ones_are_streamed(void **state)
{
	uint64_t before;

	(void)state;
	start("net.sampled=1/4;net=all");
	reader = attach_viewer();
	hear(reader);
	before = site("net.sampled")->count;
	spans(400);
	hear(reader);
	assert_int_equal(site("net.sampled")->count, before + 400);
	assert_int_equal(site("net.sampled")->event_count, 100);
	telem_span_every("net.sampled", 1);
}

static void abandoned_spans_are_not_counted(void **state)
{
	uint64_t before;

	(void)state;
	start("net.abandoned=1/4");
	reader = attach_viewer();
	for (int i = 0; i < 400; i++) {
		struct telem_span span = telem_span_begin(TELEM_SPAN_SITE(net, "abandoned"));

		if (i == 0) {
			telem_span_end(&span);
			hear(reader);
			before = site("net.abandoned")->count;
			assert_int_equal(before, 1);
		}
		telem_span_abandon(&span);
	}
	hear(reader);
	/* Only abandoned spans that were timed are left out. The others were counted when they began. */
	assert_int_equal(site("net.abandoned")->count, 400 - 99);
	telem_span_every("net.abandoned", 1);
}

static void of_one_name_the_span_is_meant(void **state)
{
	(void)state;
	start("");
	TELEM_COUNT(net, "of two kinds", 1);
	TELEM_SPAN(net, "of two kinds")
		__asm__ volatile("");
	assert_int_equal(telem_span_every("net.of two kinds", 4), 0);
	assert_int_equal(telem_frame_counter("f", "net.of two kinds"), 0);
}

static int count_call(const struct telem_happening *what, void *arg)
{
	*(int *)arg += what->phase == TELEM_STOPPED;
	return 0;
}

static void handlers_hear_of_every_span(void **state)
{
	int calls = 0;

	(void)state;
	start("net.sampled=1/4");
	assert_int_equal(telem_attach("each", "net.sampled", count_call, &calls), 0);
	spans(100);
	assert_int_equal(calls, 100);
	assert_int_equal(telem_detach("each"), 0);
	telem_span_every("net.sampled", 1);
}

static void what_is_no_span_is_timed_as_it_was(void **state)
{
	(void)state;
	start("");
	TELEM_COUNT(net, "no span", 1);
	assert_int_equal(telem_span_every("net.no span", 4), -ENOENT);
	assert_int_equal(telem_span_every("net.never heard of", 4), -ENOENT);
	assert_int_equal(telem_span_every(NULL, 4), -ENOENT);
	assert_int_equal(telem_span_every("net.sampled", 0), -EINVAL);
	assert_int_equal(telem_span_every("net.sampled", 65537), -EINVAL);
}

/* ---- classes ---- */

struct node { int x; };

static void emit_each_kind(int count)
{
	for (int i = 0; i < count; i++) {
		TELEM_COUNT(loud, "counted", 2);
		TELEM_GAUGE(loud, "gauge", i);
		TELEM_VALUE(loud, "value", 5, TELEM_NONE);
		TELEM_MARK(loud, "mark", i);
		TELEM_EVENT(loud, "event", TELEM_F("i", i));
		TELEM_SPAN(loud, "span")
			__asm__ volatile("");
	}
}

static void of_a_class_that_keeps_one_in_some_the_figures_have_all(void **state)
{
	static const char *const names[] = { "loud.counted", "loud.gauge", "loud.value", "loud.mark", "loud.event",
					     "loud.span" };
	uint64_t events = 0;

	(void)state;
	start("loud=all,keep=1/10");
	reader = attach_viewer();
	emit_each_kind(1000);
	hear(reader);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(site(names[i])->count, 1000);
		events += site(names[i])->event_count;
	}
	assert_int_equal(events, 600);
	assert_int_equal(site("loud.counted")->sum, 2000);
	assert_int_equal(site("loud.value")->bucket_total, 1000);
	telem_class_limit("loud", 0, 0);
	emit_each_kind(10);
	hear(reader);
	assert_int_equal(reader->event_count, 660);
}

static void frees_are_thinned_like_allocations_and_the_books_are_even(void **state)
{
	(void)state;
	start("mem=all,keep=1/2");
	reader = attach_viewer();
	for (int i = 0; i < 100; i++)
		TELEM_ALLOC(struct node, 10);
	for (int i = 0; i < 100; i++)
		TELEM_FREE(struct node, 10);
	stop_and_read(reader);
	assert_int_equal(site("mem.struct node")->count, 100);
	assert_int_equal(site("mem.struct node")->min, 100);
	assert_int_equal(site("mem.struct node")->sum, site("mem.struct node")->max);
	assert_int_equal(site("mem.struct node")->event_count, 100);
	assert_int_equal(reader->bye.emitted - reader->bye.before, 100);
	telem_class_limit("mem", 0, 0);
}

static void at_most_so_many_a_second_are_streamed(void **state)
{
	(void)state;
	start("loud=all,limit=1k/s");
	reader = attach_viewer();
	for (int i = 0; i < 100000; i++)
		TELEM_COUNT(loud, "counted", 1);
	hear(reader);
	/* On a slow machine this may take more than a second, in each of which 1000 events pass. */
	assert_true(site("loud.counted")->event_count >= 1000 && site("loud.counted")->event_count % 1000 == 0);
	assert_true(site("loud.counted")->event_count < 50000);
	assert_int_equal(telem_class_limit("loud", 0, 0), 0);
}

static void a_viewer_may_limit_a_class(void **state)
{
	(void)state;
	start("");
	reader = attach_viewer();
	hear(reader);
	for (uint64_t id = 0; id < 10; id++)
		if (!strcmp(reader->classes[id].name, "loud"))
			assert_int_equal(reader_request(reader, (struct message){ .kind = KIND_LIMIT,
										  .limit = { 0, id, 5, 0 } }), ACK_DONE);
	for (int i = 0; i < 500; i++)
		TELEM_COUNT(loud, "counted", 1);
	hear(reader);
	assert_int_equal(reader->event_count, 100);
	assert_int_equal(reader_request(reader, (struct message){ .kind = KIND_LIMIT, .limit = { 0, 63, 5, 0 } }),
			 ACK_NO_SUCH);
	telem_class_limit("loud", 0, 0);
}

static void limits_that_are_none_are_refused(void **state)
{
	static const char *const wrong[] = {
		"loud=all,keep=10", "loud=all,keep=1/0", "loud=all,keep=1/x", "loud=all,limit=10k", "loud=all,limit=0/s",
		"loud=all,often", "all=all,keep=1/10", "loud=", "net.sampled=1/0", "net.nowhere=all",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(telem_start(&(struct telem_options){ .config = wrong[i], .ignore_environment = true }),
				 -EINVAL);
		assert_non_null(strstr(telem_error(), "bad setting"));
		telem_stop();
	}
	assert_int_equal(telem_class_limit("", 1, 1), -EINVAL);
	assert_int_equal(telem_class_limit(NULL, 1, 1), -EINVAL);
}

/* ---- log lines ---- */

static void a_burst_of_one_place_is_folded_into_a_count(void **state)
{
	uint64_t told;

	(void)state;
	start("log=all");
	reader = attach_viewer();
	for (int i = 0; i < 500; i++)
		TELEM_LOG(TELEM_WARN, "again %d", i);
	TELEM_LOG(TELEM_WARN, "another place");
	hear(reader);
	told = site("log.again %d")->event_count;
	assert_int_equal(site("log.again %d")->count, 500);
	assert_true(told >= 20 && told < 400);
	assert_int_equal(site("log.again %d")->sum, 500 - told);
	assert_int_equal(site("log.another place")->event_count, 1);
	assert_string_equal(reader->log_text, "another place");
	assert_int_equal(reader->log_folded, 0);
}

static void the_next_text_tells_how_many_were_folded(void **state)
{
	uint64_t told = 0;
	int64_t deadline;

	(void)state;
	start("log=all");
	reader = attach_viewer();
	/* Waits until the second of the burst is over, on any machine. */
	for (deadline = proc_now_ms() + 20000; proc_now_ms() < deadline && !reader->log_folded;) {
		TELEM_LOG(TELEM_INFO, "and again");
		if (++told % 1000 == 0)
			hear(reader);
	}
	assert_true(reader->log_folded > 0 && reader->log_folded < told);
}

static uint64_t log_count(const char *name) { return site(name)->event_count; }

/* Far beyond its burst a place does not even make its texts, and viewers are told of these lines, too. */
static void every_line_of_a_flood_is_told(void **state)
{
	uint64_t before;

	(void)state;
	start("log=all");
	reader = attach_viewer();
	before = reader->log_folded;
	reader->folded_prefix = "flood ";
	for (int i = 0; i < 100000; i++)
		TELEM_LOG(TELEM_INFO, "flood %d", i);
	READ_UNTIL(reader, log_count("log.flood %d") + reader->log_folded - before + reader->folded_count >= 100000);
	assert_int_equal(log_count("log.flood %d") + reader->log_folded - before + reader->folded_count, 100000);
}

static void *log_a_burst(void *arg)
{
	(void)arg;
	for (int i = 0; i < 30; i++)
		TELEM_LOG(TELEM_INFO, "farewell %d", i);
	return NULL;
}

/* What a thread has left out is told when it ends, and is no burden of the next thread. */
static void bursts_of_threads_that_ended_are_told(void **state)
{
	uint64_t before;

	(void)state;
	start("log=all");
	reader = attach_viewer();
	before = reader->log_folded;
	reader->folded_prefix = "farewell ";
	for (int i = 0; i < 3; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, log_a_burst, NULL), 0);
		pthread_join(thread, NULL);
		/* Its state is free for the next one when its burst is told. */
		READ_UNTIL(reader, reader->folded_count >= (uint64_t)10 * (uint64_t)(i + 1));
	}
	hear(reader);
	assert_int_equal(log_count("log.farewell %d"), 60);
	assert_int_equal(reader->folded_count, 30);
	assert_int_equal(reader->log_folded, before);
}

/* ---- looks of lines ---- */

static int line_of_wrapper;

static void wrapped(const char *file, int line, const char *text)
{
	TELEM_LOG_AT(file, line, TELEM_WARN, "%s", text);
	line_of_wrapper = __LINE__ + 1;
	TELEM_LOG(TELEM_WARN, "%s", text);
}

/* One function that all lines go through is not one place. */
static void lines_that_look_different_are_no_burst(void **state)
{
	uint64_t before, folded;
	char text[64], name[64];
	int line = __LINE__;

	(void)state;
	start("log=all");
	reader = attach_viewer();
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof text, "%c%c is a word of its own, number %d", 'a' + i % 26, 'a' + i / 26, i);
		wrapped("wrap.c", line, text);
	}
	hear(reader);
	snprintf(name, sizeof name, "log.wrap.c:%d", line);
	assert_int_equal(log_count(name), 100);
	assert_int_equal(site(name)->count, 100);
	before = reader->log_folded;
	reader->folded_prefix = "request ";
	/* These differ in digits only. */
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof text, "request %d took %d ms", i, i * 7);
		wrapped("wrap.c", line, text);
	}
	hear(reader);
	/* 20 of them are sent in each second that this takes. */
	assert_in_range(log_count(name), 120, 190);
	assert_int_equal(site(name)->sum, 200 - log_count(name));
	/* Nobody logs any more, and viewers are told all the same. */
	folded = site(name)->sum;
	snprintf(name, sizeof name, "log.test_thinning.c:%d", line_of_wrapper);
	folded += site(name)->sum;
	READ_UNTIL(reader, reader->log_folded + reader->folded_count >= before + folded);
	assert_int_equal(reader->log_folded + reader->folded_count, before + folded);
	assert_true(reader->folded_count > 0);
}

static void a_burst_can_be_as_long_as_one_likes(void **state)
{
	struct message request = { .kind = KIND_LIMIT, .limit = { .sample = LIMIT_AS_IT_IS, .per_second = LIMIT_AS_IT_IS,
								  .burst = 40 } };

	(void)state;
	start("log=all");
	assert_int_equal(telem_log_burst("log", 500), 0);
	reader = attach_viewer();
	for (int i = 0; i < 600; i++)
		TELEM_LOG(TELEM_INFO, "a long burst %d", i);
	hear(reader);
	assert_in_range(log_count("log.a long burst %d"), 500, 599);
	telem_log_burst("log", 0);
	assert_int_equal(telem_log_burst("", 1), -EINVAL);
	stop_and_read(reader);
	start("log=all,burst=30/s");
	reader_free(reader);
	reader = attach_viewer();
	for (int i = 0; i < 600; i++)
		TELEM_LOG(TELEM_INFO, "a shorter burst %d", i);
	hear(reader);
	assert_in_range(log_count("log.a shorter burst %d"), 30, 500);
	request.limit.class_id = (uint64_t)(reader_class(reader, "log") - reader->classes);
	assert_int_equal(reader_request(reader, request), ACK_DONE);
	for (int i = 0; i < 600; i++)
		TELEM_LOG(TELEM_INFO, "another burst %d", i);
	hear(reader);
	assert_in_range(log_count("log.another burst %d"), 40, 500);
	telem_log_burst("log", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(a_span_may_be_timed_now_and_then_and_is_counted_always),
		BESIDE_TEST(of_a_sampled_span_the_timed_ones_are_streamed),
		BESIDE_TEST(abandoned_spans_are_not_counted),
		BESIDE_TEST(of_one_name_the_span_is_meant),
		BESIDE_TEST(handlers_hear_of_every_span),
		BESIDE_TEST(what_is_no_span_is_timed_as_it_was),
		BESIDE_TEST(of_a_class_that_keeps_one_in_some_the_figures_have_all),
		BESIDE_TEST(frees_are_thinned_like_allocations_and_the_books_are_even),
		BESIDE_TEST(at_most_so_many_a_second_are_streamed),
		BESIDE_TEST(a_viewer_may_limit_a_class),
		BESIDE_TEST(limits_that_are_none_are_refused),
		BESIDE_TEST(a_burst_of_one_place_is_folded_into_a_count),
		BESIDE_TEST(the_next_text_tells_how_many_were_folded),
		BESIDE_TEST(every_line_of_a_flood_is_told),
		BESIDE_TEST(bursts_of_threads_that_ended_are_told),
		BESIDE_TEST(lines_that_look_different_are_no_burst),
		BESIDE_TEST(a_burst_can_be_as_long_as_one_likes),
	};

	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests_name("thinning", tests, NULL, NULL);
}
