/* One thread's ring: order, losses, overwriting, payloads, tasks, first alone and then with a consumer in another
 * thread. ring.c is included here, because libtelem.a hides its functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emitter/record/ring.c"

#include "tests/support/proc.h"

#define SMALL LIMIT_RING_BYTES_MIN
#define SLOTS (SMALL / RING_SLOT_BYTES)
/* How many events of one task a full ring holds. Each segment begins with a record of the task. */
#define EVENTS (SLOTS - RING_SEGMENTS)
#define TAKE_BYTES (32u << 10)

struct settings settings;

/* ---- what ring.c needs of other files ---- */

enum { TASKS = 8, SITES = 8 };
static uint64_t lost[TASKS][SITES], woken;
static uint64_t now_ns;

void *memory_map(size_t bytes) { return aligned_alloc(128, (bytes + 127) & ~(size_t)127); }
void memory_unmap(void *pages, size_t bytes) { (void)bytes, free(pages); }
uint64_t clock_ns(void) { return now_ns += 50000; }
uint64_t clock_ticks(void) { return 1; }
void wake_signal(void) { woken++; }

static struct ring *ring;
static uint8_t out[TAKE_BYTES];

static int setup(void **state)
{
	(void)state;
	settings = (struct settings){ .policy = TELEM_DROP };
	memset(lost, 0, sizeof lost);
	woken = now_ns = 0;
	ring = ring_new(SMALL);
	if (ring)
		ring_task(ring, 2);
	return ring ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ring_free(ring);
	return 0;
}

/* What a consumer has read so far. */
struct seen { uint64_t events, next, by[TASKS][SITES], bytes; int task; bool in_order; };

static bool payload_is_whole(const uint8_t *bytes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (bytes[i] != (uint8_t)(count + i))
			return false;
	return true;
}

static uint32_t look(struct seen *seen, uint32_t room)
{
	uint32_t bytes = ring_take(ring, out, room);

	for (uint32_t at = 0; at < bytes;) {
		uint64_t words[2];
		uint32_t site;

		memcpy(words, out + at, sizeof words);
		site = words[0] & (RING_PAYLOAD - 1);
		if (site == 0 && (words[1] & 0xff) == RING_TASK) {
			seen->task = (int)(words[1] >> 8);
		} else if (site != 0) {
			if (words[0] & RING_PAYLOAD)
				assert_true(payload_is_whole(out + at + RING_SLOT_BYTES, words[1]));
			else
				seen->in_order &= words[1] >= seen->next;
			if (!(words[0] & RING_PAYLOAD))
				seen->next = words[1] + 1;
			/* Time and value belong together, so a record of two halves would be noticed. */
			assert_int_equal(words[0] >> 16, (words[1] & 0xffff) + 1);
			seen->by[seen->task % TASKS][site % SITES]++;
			seen->events++;
		}
		at += ring_record_slots(words[0], words[1]) * RING_SLOT_BYTES;
		assert_true(at <= bytes);
	}
	seen->bytes += bytes;
	return bytes;
}

static struct seen look_at_all(void)
{
	struct seen seen = { .in_order = true };

	while (look(&seen, TAKE_BYTES))
		;
	return seen;
}

/* Counts what was given up. Returns whether the record must be put again. */
static bool count_lost(enum ring_result result)
{
	uint32_t site;
	int task;

	if (result != RING_GAVE_UP)
		return false;
	while (ring_lost_next(ring, &task, &site))
		lost[task % TASKS][site % SITES]++;
	return true;
}

static bool put(uint32_t site, uint64_t value)
{
	enum ring_result result;

	do
		result = ring_put(ring, site, (value & 0xffff) + 1, value);
	while (count_lost(result));
	return result == RING_PUT;
}

static bool put_payload(uint32_t site, uint32_t bytes)
{
	uint8_t payload[RING_PAYLOAD_BYTES_MAX];
	enum ring_result result;

	for (uint32_t i = 0; i < bytes; i++)
		payload[i] = (uint8_t)(bytes + i);
	do
		result = ring_put_payload(ring, site, (bytes & 0xffff) + 1, payload, bytes);
	while (count_lost(result));
	return result == RING_PUT;
}

/* ---- alone ---- */

static void events_come_out_in_the_order_they_went_in(void **state)
{
	struct seen seen;

	(void)state;
	for (uint64_t round = 0; round < 3 * SLOTS; round += 100) {
		for (uint64_t i = 0; i < 100; i++)
			assert_true(put(1, round + i));
		seen = look_at_all();
		assert_int_equal(seen.events, 100);
		assert_int_equal(seen.next, round + 100);
		assert_true(seen.in_order);
	}
	assert_int_equal(ring_waiting(ring), 0);
}

static void an_empty_ring_gives_nothing(void **state)
{
	(void)state;
	assert_int_equal(ring_take(ring, out, sizeof out), 0);
	assert_int_equal(ring_waiting(ring), 0);
}

static void a_full_ring_loses_the_newest(void **state)
{
	struct seen seen;

	(void)state;
	for (uint64_t i = 0; i < EVENTS; i++)
		assert_true(put(1, i));
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(put(1, EVENTS + i));
	seen = look_at_all();
	assert_int_equal(seen.events, EVENTS);
	assert_int_equal(seen.next, EVENTS);
}

static void a_full_ring_takes_events_again_when_a_segment_is_free(void **state)
{
	struct seen seen = { .in_order = true };

	(void)state;
	for (uint64_t i = 0; i < EVENTS; i++)
		put(1, i);
	assert_false(put(1, 9999));
	/* The consumer must take the whole segment before it is free. */
	assert_int_equal(look(&seen, SMALL / RING_SEGMENTS - RING_SLOT_BYTES), SMALL / RING_SEGMENTS - RING_SLOT_BYTES);
	assert_false(put(1, 9999));
	look(&seen, RING_SLOT_BYTES);
	assert_true(put(1, 9999));
}

static void overwriting_counts_exactly_what_it_gave_up_by_task_and_site(void **state)
{
	uint64_t put_count[TASKS][SITES] = { { 0 } };
	uint64_t random = 1;
	struct seen seen;

	(void)state;
	settings.policy = TELEM_OVERWRITE;
	for (uint64_t i = 0; i < 5 * SLOTS; i++) {
		int task = 2 + (int)(i / 777 % 3);
		uint32_t site = 1 + (uint32_t)(random >> 33) % 5;

		random = random * 6364136223846793005u + 1442695040888963407u;
		if (i % 777 == 0)
			ring_task(ring, task);
		assert_true(site == 5 ? put_payload(site, (uint32_t)(random >> 40) % 200) : put(site, i));
		put_count[task][site]++;
	}
	seen = look_at_all();
	for (int task = 0; task < TASKS; task++)
		for (int site = 0; site < SITES; site++)
			assert_int_equal(put_count[task][site], seen.by[task][site] + lost[task][site]);
	assert_true(seen.events >= SLOTS / 4);
}

static void dropping_tells_nobody_but_the_caller(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2 * SLOTS; i++)
		put(1, i);
	for (int task = 0; task < TASKS; task++)
		for (int site = 0; site < SITES; site++)
			assert_int_equal(lost[task][site], 0);
}

static void what_the_consumer_took_is_not_counted_as_given_up(void **state)
{
	struct seen seen = { .in_order = true };
	uint64_t all = 0;

	(void)state;
	settings.policy = TELEM_OVERWRITE;
	for (; all < EVENTS; all++)
		put(1, all);
	look(&seen, 1600);               /* into the first segment */
	for (uint64_t i = 0; i < 700; i++, all++)
		put(1, all);
	while (look(&seen, TAKE_BYTES))
		;
	assert_true(lost[2][1] > 0);
	assert_int_equal(seen.events + lost[2][1], all);
}

static void what_was_looked_at_and_given_up_is_not_taken(void **state)
{
	const uint8_t *records;
	uint64_t tail, newer, lost_count;
	uint32_t bytes;

	(void)state;
	settings.policy = TELEM_OVERWRITE;
	for (uint64_t i = 0; i < EVENTS; i++)
		put(1, i);
	bytes = ring_look(ring, &tail, &records);
	assert_true(bytes >= 2 * RING_SLOT_BYTES);
	assert_int_equal(ring_word(records) & 0xffff, 0);        /* the task */
	assert_int_equal(ring_word(records + RING_SLOT_BYTES + 8), 0);
	assert_true(ring_pass(ring, tail, 2 * RING_SLOT_BYTES));
	bytes = ring_look(ring, &tail, &records);
	for (uint64_t i = 0; i < EVENTS; i++)
		put(1, EVENTS + i);
	lost_count = lost[2][1];
	assert_true(lost_count > 0);
	assert_false(ring_pass(ring, tail, bytes));
	assert_true(ring_look(ring, &newer, &records) > 0);
	assert_true(newer >= tail + bytes);
	assert_true(ring_pass(ring, newer, RING_SLOT_BYTES));
}

static void payloads_of_every_length_come_out_whole(void **state)
{
	struct seen seen = { .in_order = true };
	uint64_t count = 0;

	(void)state;
	for (uint32_t bytes = 0; bytes <= LIMIT_TEXT_BYTES + 1; bytes += 7, count++) {
		assert_true(put_payload(3, bytes));
		if (count % 8 == 7)
			while (look(&seen, TAKE_BYTES))
				;
	}
	while (look(&seen, TAKE_BYTES))
		;
	assert_int_equal(seen.by[2][3], count);
}

static void a_payload_never_crosses_into_the_next_segment(void **state)
{
	struct seen seen;

	(void)state;
	/* Fills the first segment except for its last fifteen slots. */
	for (uint64_t i = 0; i < SLOTS / RING_SEGMENTS - 16; i++)
		put(1, i);
	assert_true(put_payload(2, 1000));
	assert_int_equal(ring->head % (SMALL / RING_SEGMENTS), (2 + 63) * RING_SLOT_BYTES);
	seen = look_at_all();
	assert_int_equal(seen.by[2][2], 1);
}

static void a_payload_without_room_is_lost_whole(void **state)
{
	struct seen seen;

	(void)state;
	for (uint64_t i = 0; i < EVENTS - 10; i++)
		put(1, i);
	assert_false(put_payload(2, 1000));
	assert_true(put_payload(2, 100));
	seen = look_at_all();
	assert_int_equal(seen.by[2][2], 1);
	assert_int_equal(seen.events, EVENTS - 10 + 1);
}

static void events_belong_to_the_task_that_was_set_last(void **state)
{
	struct seen seen;

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		if (i % 3 == 0)
			ring_task(ring, 3 + (int)(i % 2));
		put(1, i);
	}
	seen = look_at_all();
	assert_int_equal(seen.by[3][1] + seen.by[4][1], 3000);
	assert_int_equal(seen.by[3][1], 1500);
}

static void a_task_without_events_is_not_announced(void **state)
{
	struct seen seen;

	(void)state;
	put(1, 0);
	for (int i = 0; i < 1000; i++)
		ring_task(ring, 3 + i % 4);
	ring_task(ring, 2);
	put(1, 1);
	seen = look_at_all();
	assert_int_equal(seen.bytes, 3 * RING_SLOT_BYTES);
	assert_int_equal(seen.by[2][1], 2);
}

static void a_small_room_is_filled_with_whole_records(void **state)
{
	struct seen seen = { .in_order = true };
	uint32_t bytes;

	(void)state;
	for (int i = 0; i < 30; i++)
		assert_true(put_payload(1, 1000));
	while ((bytes = look(&seen, 2100)))
		assert_true(bytes <= 2100);
	assert_int_equal(seen.events, 30);
}

static void an_event_that_interrupts_another_is_lost(void **state)
{
	uint64_t limit;

	(void)state;
	put(1, 0);
	limit = ring->limit;
	ring->limit = RING_BUSY;         /* as a signal handler finds it */
	assert_false(put(1, 1));
	assert_false(put_payload(1, 10));
	assert_int_equal(ring->limit, RING_BUSY);
	ring->limit = limit;
	assert_true(put(1, 2));
	assert_int_equal(look_at_all().events, 2);
}

static void a_reset_ring_is_empty_and_has_no_task(void **state)
{
	struct seen seen;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		put(1, i);
	ring_reset(ring);
	assert_int_equal(ring_waiting(ring), 0);
	ring_task(ring, 5);
	put(1, 7);
	seen = look_at_all();
	assert_int_equal(seen.by[5][1], 1);
	assert_int_equal(seen.events, 1);
}

static void blocking_ends_after_its_time(void **state)
{
	(void)state;
	settings.policy = TELEM_BLOCK;
	settings.block_wait_ns = 1000000;
	settings.coarse_ticks = 1;
	for (uint64_t i = 0; i < EVENTS; i++)
		put(1, i);
	assert_false(put(1, EVENTS));
	assert_in_range(woken, 1, 1000000 / 50000);
}

static void blocking_does_not_wait_while_nobody_reads(void **state)
{
	(void)state;
	settings.policy = TELEM_BLOCK;
	settings.block_wait_ns = 10000000000;
	for (uint64_t i = 0; i < EVENTS + 1000; i++)
		put(1, i);
	assert_int_equal(woken, 0);
}

static void garbage_in_a_slot_is_a_record_of_bounded_length(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < UINT32_MAX - 100000; value += 65521)
		assert_in_range(ring_record_slots(RING_PAYLOAD, value), 1, 1 + (RING_PAYLOAD_BYTES_MAX + 15) / 16);
	assert_in_range(ring_record_slots(RING_PAYLOAD, UINT64_MAX - 23), 1, 257);
}

/* ---- with a consumer beside it ---- */

#define TOGETHER_EVENTS 400000u
static bool producer_is_done;
static uint64_t together_lost;

static void *produce(void *arg)
{
	(void)arg;
	for (uint64_t i = 0; i < TOGETHER_EVENTS; i++) {
		if (i % 1000 == 0)
			ring_task(ring, 2 + (int)(i / 1000 % 2));
		if (!(i % 16 == 15 ? put_payload(2, (uint32_t)(i % 500)) : put(1, i)))
			together_lost++;
	}
	__atomic_store_n(&producer_is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

static struct seen together(uint32_t policy)
{
	struct seen seen = { .in_order = true };
	pthread_t producer;

	settings.policy = policy;
	producer_is_done = false;
	together_lost = 0;
	assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
	while (!__atomic_load_n(&producer_is_done, __ATOMIC_ACQUIRE))
		look(&seen, TAKE_BYTES);
	while (look(&seen, TAKE_BYTES))
		;
	pthread_join(producer, NULL);
	assert_true(seen.in_order);
	return seen;
}

static void beside_a_consumer_dropping_loses_nothing_uncounted(void **state)
{
	struct seen seen = together(TELEM_DROP);

	(void)state;
	assert_int_equal(seen.events + together_lost, TOGETHER_EVENTS);
	assert_true(seen.events >= EVENTS / 2);
}

static void beside_a_consumer_overwriting_loses_nothing_uncounted(void **state)
{
	struct seen seen = together(TELEM_OVERWRITE);
	uint64_t lost_count = 0;

	(void)state;
	for (int task = 0; task < TASKS; task++)
		for (int site = 0; site < SITES; site++)
			lost_count += lost[task][site];
	assert_int_equal(together_lost, 0);
	assert_int_equal(seen.events + lost_count, TOGETHER_EVENTS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_come_out_in_the_order_they_went_in),
		TEST(an_empty_ring_gives_nothing),
		TEST(a_full_ring_loses_the_newest),
		TEST(a_full_ring_takes_events_again_when_a_segment_is_free),
		TEST(overwriting_counts_exactly_what_it_gave_up_by_task_and_site),
		TEST(dropping_tells_nobody_but_the_caller),
		TEST(what_the_consumer_took_is_not_counted_as_given_up),
		TEST(what_was_looked_at_and_given_up_is_not_taken),
		TEST(payloads_of_every_length_come_out_whole),
		TEST(a_payload_never_crosses_into_the_next_segment),
		TEST(a_payload_without_room_is_lost_whole),
		TEST(events_belong_to_the_task_that_was_set_last),
		TEST(a_task_without_events_is_not_announced),
		TEST(a_small_room_is_filled_with_whole_records),
		TEST(an_event_that_interrupts_another_is_lost),
		TEST(a_reset_ring_is_empty_and_has_no_task),
		TEST(blocking_ends_after_its_time),
		TEST(blocking_does_not_wait_while_nobody_reads),
		TEST(garbage_in_a_slot_is_a_record_of_bounded_length),
		TEST(beside_a_consumer_dropping_loses_nothing_uncounted),
		TEST(beside_a_consumer_overwriting_loses_nothing_uncounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
