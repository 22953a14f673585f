/* test_flush.c -- telem_flush() and telem_stop(): what has arrived when they return, and how long they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "protocol/recording.h"
#include "tests/support/beside.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

static void after_a_flush_everything_before_it_has_been_delivered(void **state)
{
	(void)state;
	start("flush=10s");
	reader = attach_fd(NULL);
	for (uint64_t i = 1; i <= 200; i++) {
		TELEM_COUNT(loud, "flushed", 1);
		assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
		while (reader_pump(reader))
			;
		assert_int_equal(reader->event_count, i);
	}
	assert_int_equal(telem_flush(UINT64_MAX), 0);
}

static void a_flush_with_a_stalled_reader_ends_in_its_time(void **state)
{
	uint64_t bytes_sent;
	int64_t begin;

	(void)state;
	start("flush=1ms");
	reader = attach_fd(NULL);
	for (int i = 0; i < 400000; i++)
		TELEM_COUNT(loud, "into a stall", 1);
	/* The reader has stalled once a flush sends nothing more. */
	do {
		bytes_sent = statistics().bytes_sent;
		telem_flush(50 * MS);
	} while (statistics().bytes_sent != bytes_sent);
	begin = proc_now_ms();
	TELEM_COUNT(loud, "into a stall", 1);
	telem_flush(50 * MS);
	assert_in_range(proc_now_ms() - begin, 0, 300 * proc_slowness());
	reader->is_lossy = true;
}

static void a_stop_with_a_stalled_reader_ends_within_the_linger_time(void **state)
{
	struct telem_statistics stats;
	int64_t begin;

	(void)state;
	assert_int_equal(telem_start(&(struct telem_options){ .config = "flush=1ms", .linger_ns = 100 * MS }), 0);
	reader = attach_fd(NULL);
	for (int i = 0; i < 400000; i++)
		TELEM_COUNT(loud, "into a stall", 1);
	begin = proc_now_ms();
	telem_stop();
	assert_in_range(proc_now_ms() - begin, 0, 300 * proc_slowness());
	telem_stats(&stats);
	assert_int_equal(stats.emitted, stats.delivered + stats.dropped);
	reader->is_lossy = true;
}

/* Checks that the recording at path has a trailer and even books. */
static void assert_whole(const char *path, const char *name, uint64_t events)
{
	uint64_t index_offset, index_count;
	size_t count;
	uint8_t *bytes = (uint8_t *)fixture_read(path, &count);
	struct reader *before = reader;

	reader = reader_new(-1);
	reader->at_end = true;
	reader_feed(reader, bytes, count);
	assert_true(recording_end_read(bytes + count - RECORDING_END_BYTES, &index_offset, &index_count));
	assert_int_equal(site(name)->event_count, events);
	reader_check_books(reader);
	reader_free(reader);
	reader = before;
	free(bytes);
}

static void a_stalled_reader_does_not_cost_the_others_their_goodbye(void **state)
{
	enum { AT_ONCE = 50000 };        /* fits into 7 of the ring's 8 segments, so it fits wherever the head is */
	const char *path = fixture_path(fixture, "beside.telem"), *first = fixture_path(fixture, "first.telem");
	int id, stuck;
	int64_t begin;

	(void)state;
	assert_int_equal(telem_start(&(struct telem_options){ .config = "flush=1ms", .linger_ns = 100 * MS }), 0);
	reader = attach_fd(&stuck);
	reader->is_lossy = true;
	id = telem_sink_file(first);
	assert_true(id >= 0 && telem_sink_file(path) >= 0);
	assert_int_equal(telem_flush(5 * S), 0);
	for (int i = 0; i < AT_ONCE; i++)
		TELEM_COUNT(loud, "beside a stall", 1);
	assert_int_equal(telem_sink_remove(id), 0);
	assert_whole(first, "loud.beside a stall", AT_ONCE);
	/* Removing the stalled sink takes the linger time, and no longer. */
	begin = proc_now_ms();
	assert_int_equal(telem_sink_remove(stuck), 0);
	assert_in_range(proc_now_ms() - begin, 0, 300 * proc_slowness());
	reader_free(reader);
	reader = attach_fd(NULL);
	reader->is_lossy = true;
	for (int i = 0; i < AT_ONCE; i++)
		TELEM_COUNT(loud, "beside a stall", 1);
	telem_stop();
	assert_whole(path, "loud.beside a stall", 2 * AT_ONCE);
}

static void what_was_emitted_right_before_the_stop_arrives(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		start("flush=10s");
		reader = attach_fd(NULL);
		for (int event = 0; event < 500; event++)
			TELEM_COUNT(loud, "at last", 1);
		telem_stop();
		reader_to_end(reader);
		assert_int_equal(reader->event_count, 500);
		reader_check_books(reader);
		reader_free(reader);
	}
	reader = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(after_a_flush_everything_before_it_has_been_delivered),
		BESIDE_TEST(a_flush_with_a_stalled_reader_ends_in_its_time),
		BESIDE_TEST(a_stop_with_a_stalled_reader_ends_within_the_linger_time),
		BESIDE_TEST(a_stalled_reader_does_not_cost_the_others_their_goodbye),
		BESIDE_TEST(what_was_emitted_right_before_the_stop_arrives),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("flush", tests, NULL, NULL);
}
