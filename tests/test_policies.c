/* test_policies.c -- policies: what a full ring does with the next event. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

static void *overfill(void *arg)
{
	for (uint64_t i = 0; i < 20000; i++)
		TELEM_MARK(loud, "overfilled", i);
	*(bool *)arg = true;
	return NULL;
}

/* A thread fills its ring while there is no reader and ends; then a reader attaches and this thread fills its ring. */
static void overfill_and_read(enum telem_policy policy)
{
	uint64_t before;
	pthread_t thread;
	bool done = false;
	int id;

	telem_set_ring_bytes(64 << 10);
	telem_set_policy(policy, 0);
	start(NULL);
	assert_int_equal(pthread_create(&thread, NULL, overfill, &done), 0);
	pthread_join(thread, NULL);
	assert_true(done);
	reader = attach_fd(&id);
	reader->keeps_events = true;
	before = reader->event_count;
	overfill(&done);                 /* this thread's ring may be larger */
	stop_and_read(reader);
	reader_check_books(reader);
	assert_true(reader->event_count > before);
}

static void dropping_loses_the_newest_and_the_books_are_even(void **state)
{
	(void)state;
	overfill_and_read(TELEM_DROP);
}

static void *fill_hear_and_go_on(void *arg)
{
	struct telem_statistics stats;
	bool done;

	(void)arg;
	/* The thread may have been given the ring of an ended thread, which may be larger. */
	do {
		overfill(&done);
		telem_stats(&stats);
	} while (stats.dropped == 0);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	hear(reader);
	TELEM_MARK(loud, "after it was drained", 1);
	hear(reader);
	return NULL;
}

static void a_full_ring_is_used_again_once_it_is_drained(void **state)
{
	pthread_t thread;

	(void)state;
	telem_set_ring_bytes(64 << 10);
	start(NULL);
	assert_int_equal(pthread_create(&thread, NULL, fill_hear_and_go_on, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(reader->event_count > 1000);
	assert_string_equal(reader->sites[reader->events[reader->event_count - 1].site].name, "after it was drained");
}

static void overwriting_loses_the_oldest_and_the_books_are_even(void **state)
{
	(void)state;
	overfill_and_read(TELEM_OVERWRITE);
	assert_int_equal(reader->events[reader->event_count - 1].value, 19999);
}

static void a_flight_recorder_gives_the_latest_to_whoever_comes(void **state)
{
	bool done;

	(void)state;
	telem_set_policy(TELEM_OVERWRITE, 0);
	start(NULL);
	for (int i = 0; i < 10; i++)
		overfill(&done);
	reader = attach_fd(NULL);
	reader->keeps_events = true;
	hear(reader);
	assert_true(reader->event_count > 10000);
	assert_int_equal(reader->events[reader->event_count - 1].value, 19999);
}

static void *emit_blocking(void *arg)
{
	(void)arg;
	for (int i = 0; i < 50000; i++)
		TELEM_COUNT(loud, "blocking", 1);
	return NULL;
}

static void blocking_loses_nothing_while_the_ring_is_drained(void **state)
{
	pthread_t thread;
	uint64_t emitted;

	(void)state;
	telem_set_ring_bytes(64 << 10);
	start("policy=block:5s");
	reader = attach_fd(NULL);
	assert_int_equal(pthread_create(&thread, NULL, emit_blocking, NULL), 0);
	READ_UNTIL(reader, reader_site(reader, "loud.blocking") && site("loud.blocking")->event_count == 50000);
	pthread_join(thread, NULL);
	emitted = reader->event_count;
	stop_and_read(reader);
	reader_check_books(reader);
	assert_true(emitted >= 50000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* Comes first: the main thread's ring is made here, of 1 MiB, and keeps its size. */
		BESIDE_TEST(a_flight_recorder_gives_the_latest_to_whoever_comes),
		BESIDE_TEST(dropping_loses_the_newest_and_the_books_are_even),
		BESIDE_TEST(a_full_ring_is_used_again_once_it_is_drained),
		BESIDE_TEST(overwriting_loses_the_oldest_and_the_books_are_even),
		BESIDE_TEST(blocking_loses_nothing_while_the_ring_is_drained),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("policies", tests, NULL, NULL);
}
