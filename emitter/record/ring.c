#include "emitter/record/ring.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "emitter/core/clock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)
#define SIGNAL_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

static void slot_store(struct ring *ring, uint64_t position, uint64_t word, uint64_t value)
{
	uint64_t *slot = (uint64_t *)(void *)(ring->slots + (position & ring->mask));

	STORE(slot[0], word);
	STORE(slot[1], value);
}

struct ring *ring_new(size_t bytes)
{
	struct ring *ring = memory_map(sizeof *ring);

	if (!ring)
		return NULL;
	ring->slots = memory_map(bytes);
	if (!ring->slots) {
		memory_unmap(ring, sizeof *ring);
		return NULL;
	}
	ring->mask = bytes - 1;
	ring->bytes = bytes;
	ring->head = bytes;
	ring_reset(ring);
	return ring;
}

void ring_free(struct ring *ring)
{
	memory_unmap(ring->slots, ring->bytes);
	memory_unmap(ring, sizeof *ring);
}

void ring_reset(struct ring *ring)
{
	/* head goes on from the start of the next segment, because a position is never used twice. */
	uint64_t start = ring_segment_end(ring, ring->head);

	/* The events of earlier threads stay in the ring for a dump. */
	if (ring->head < start && ring->first < ring->head)
		slot_store(ring, ring->head, 0, RING_END);
	if (ring->first == 0)
		STORE(ring->first, start);
	STORE(ring->head, start);
	STORE(ring->tail, start);
	ring->task = ring->announced_task = ring->consumer_task = 0;
	ring->lost_at = ring->lost_end = 0;
	STORE(ring->limit, RING_LOOK);
}

static uint64_t slot_word(const struct ring *ring, uint64_t position, uint32_t which)
{
	return ring_word(ring->slots + (position & ring->mask) + (size_t)which * 8);
}

/* Returns the position that the consumer must have reached before the segment that begins at start can be written. */
static uint64_t needed_by(const struct ring *ring, uint64_t start)
{
	return start + ring_segment_bytes(ring) - (ring->mask + 1);
}

/* Prepares the segment that begins at start for writing. It gives up the oldest one if the policy says so. */
static enum ring_result segment_open(struct ring *ring, uint64_t start)
{
	uint64_t needed = needed_by(ring, start), tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	while (tail < needed) {
		if (LOAD(settings.policy) != TELEM_OVERWRITE)
			return RING_IS_FULL;
		/* Acquire and release: what the consumer read before this was not yet overwritten, and it does not take
		 * what the producer writes afterwards for the old events. */
		if (!__atomic_compare_exchange_n(&ring->tail, &tail, needed, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		ring->lost_at = tail;
		ring->lost_end = needed;
		return RING_GAVE_UP;
	}
	return RING_PUT;
}

bool ring_lost_next(struct ring *ring, int *task, uint32_t *site)
{
	uint64_t end = ring->lost_end;

	/* The consumer may have taken a part of the segment, but its first word, the task, is needed: so begin
	 * there. */
	for (uint64_t at = ring->lost_cursor; at < end;) {
		uint64_t word = slot_word(ring, at, 0), value = slot_word(ring, at, 1), here = at;
		uint32_t id = word & (RING_PAYLOAD - 1);

		at += (uint64_t)ring_record_slots(word, value) * RING_SLOT_BYTES;
		ring->lost_cursor = at;
		if (id == 0 && (value & 0xff) == RING_END)
			break;
		if (id == 0 && (value & 0xff) == RING_TASK)
			ring->lost_task = (int)(value >> 8);
		if (id == 0 || here < ring->lost_at)
			continue;
		*task = ring->lost_task;
		*site = id;
		return true;
	}
	/* All lost events are counted, so signal handlers may write again. */
	SIGNAL_FENCE();
	STORE(ring->limit, RING_LOOK);
	return false;
}

static enum ring_result wait_for_room(struct ring *ring, uint64_t start)
{
	uint64_t end;
	int cancel;
	enum ring_result result = RING_IS_FULL;

	/* Only policy `block` reads the clock when the ring is full. */
	if (LOAD(settings.policy) != TELEM_BLOCK)
		return RING_IS_FULL;
	end = clock_ns() + LOAD(settings.block_wait_ns);
	/* A thread that is cancelled while it sleeps would leave the ring claimed. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/* The thread waits only while a reader is there, because else nothing drains the ring. clock_nanosleep() does
	 * not change errno. */
	while (LOAD(settings.policy) == TELEM_BLOCK && LOAD(settings.coarse_ticks)) {
		wake_signal();
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 50000 }, NULL);
		result = segment_open(ring, start);
		if (result != RING_IS_FULL || clock_ns() >= end)
			break;
	}
	pthread_setcancelstate(cancel, NULL);
	return result;
}

/* Makes room for a record of so many slots, in a later segment if need be. When it returns RING_PUT, the room is at
 * *position. Called only while limit is RING_BUSY. */
static enum ring_result make_room(struct ring *ring, uint32_t slots, uint64_t *position)
{
	enum ring_result result;
	uint64_t head = ring->head, end = ring_segment_end(ring, head);
	bool announce = ring->task != ring->announced_task;

	if (end - head >= (uint64_t)(slots + announce) * RING_SLOT_BYTES) {
		if (!announce) {
			*position = head;
			return RING_PUT;
		}
	} else {
		result = segment_open(ring, end);
		if (result == RING_IS_FULL)
			result = wait_for_room(ring, end);
		if (result != RING_PUT)
			return result;
		for (; head < end; head += RING_SLOT_BYTES)
			slot_store(ring, head, 0, RING_PAD);
	}
	slot_store(ring, head, 0, RING_TASK | (uint64_t)(uint32_t)ring->task << 8);
	ring->announced_task = ring->task;
	*position = head + RING_SLOT_BYTES;
	return RING_PUT;
}

/* Handles the first event, a new segment, a task to announce, a payload, a full ring, and an interrupted producer. */
enum ring_result ring_put_slow(struct ring *ring, uint32_t site, uint64_t ticks, uint64_t value, const void *payload)
{
	uint32_t slots = ring_record_slots(site, value);
	uint64_t position = 0;
	enum ring_result result;

	if (LOAD(ring->limit) == RING_BUSY)
		return RING_IS_FULL;
	STORE(ring->limit, RING_BUSY);
	SIGNAL_FENCE();
	result = make_room(ring, slots, &position);
	if (result == RING_GAVE_UP) {
		/* The ring stays busy until its losses are counted, because a signal handler could write over them. */
		ring->lost_cursor = ring->lost_end - ring_segment_bytes(ring);
		ring->lost_task = ring->announced_task;
		return RING_GAVE_UP;
	}
	if (result == RING_IS_FULL) {
		SIGNAL_FENCE();
		STORE(ring->limit, RING_LOOK);
		return RING_IS_FULL;
	}
	assert(position > 0);
	slot_store(ring, position, (ticks ? ticks : clock_ticks()) << 16 | site, value);
	position += RING_SLOT_BYTES;
	for (uint32_t i = 1; i < slots; i++, position += RING_SLOT_BYTES) {
		uint64_t words[2] = { 0, 0 };
		uint32_t at = (i - 1) * RING_SLOT_BYTES, left = (uint32_t)value - at;

		memcpy(words, (const uint8_t *)payload + at, left < RING_SLOT_BYTES ? left : RING_SLOT_BYTES);
		slot_store(ring, position, words[0], words[1]);
	}
	SIGNAL_FENCE();
	__atomic_store_n(&ring->head, position, __ATOMIC_RELEASE);
	ring->base = (uintptr_t)ring->slots - (position & ~ring->mask);
	SIGNAL_FENCE();
	STORE(ring->limit, ring_segment_end(ring, position));
	return RING_PUT;
}

void ring_task(struct ring *ring, int task)
{
	ring->task = task;
	if (LOAD(ring->limit) != RING_BUSY)
		STORE(ring->limit, RING_LOOK);
}

uint64_t ring_waiting(const struct ring *ring)
{
	/* tail is read before head, because under `overwrite` it may pass a value of head that was read before. */
	uint64_t tail = LOAD(ring->tail);

	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) - tail;
}

/* Returns how many bytes of a copy are whole records. */
static uint32_t whole_records(const uint8_t *copy, uint32_t bytes)
{
	uint32_t at = 0;

	while (at < bytes) {
		uint64_t words[2];
		uint32_t record;

		memcpy(words, copy + at, sizeof words);
		record = ring_record_slots(words[0], words[1]) * RING_SLOT_BYTES;
		if (record > bytes - at)
			break;
		at += record;
	}
	return at;
}

/* Copies slots that are contiguous. Returns the bits that are set in the first word of any of them. */
static uint64_t slots_copy(uint8_t *out, const uint8_t *from, uint32_t bytes)
{
	uint64_t seen = 0;

	for (uint32_t at = 0; at < bytes; at += RING_SLOT_BYTES) {
		uint64_t words[2] = { ring_word(from + at), ring_word(from + at + 8) };

		memcpy(out + at, words, sizeof words);
		seen |= words[0];
	}
	return seen;
}

uint32_t ring_look(const struct ring *ring, uint64_t *tail, const uint8_t **records)
{
	uint64_t head, end;

	*tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	end = ring_segment_end(ring, *tail + 1);
	*records = ring->slots + (*tail & ring->mask);
	return *tail >= head ? 0 : (uint32_t)((end < head ? end : head) - *tail);
}

bool ring_pass(struct ring *ring, uint64_t tail, uint32_t bytes)
{
	return __atomic_compare_exchange_n(&ring->tail, &tail, tail + bytes, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

uint32_t ring_take(struct ring *ring, uint8_t *out, uint32_t room)
{
	const uint8_t *from;
	uint64_t tail;
	uint32_t bytes;

	do {
		bytes = ring_look(ring, &tail, &from);
		if (bytes == 0)
			return 0;
		if (bytes > room)
			bytes = room;
		if (slots_copy(out, from, bytes) & RING_PAYLOAD)
			bytes = whole_records(out, bytes);
	} while (!ring_pass(ring, tail, bytes));
	return bytes;
}

uint32_t ring_copy(const struct ring *ring, uint64_t *position, uint8_t *out)
{
	uint64_t segment = ring_segment_bytes(ring), all = ring->mask + 1;

	for (;;) {
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE), first = LOAD(ring->first);
		/* The producer may already be writing the segment after the one in which head is. */
		uint64_t oldest = ring_segment_end(ring, head + 1) + segment - all, end;

		if (*position < oldest)
			*position = oldest;
		if (*position < first)
			*position = first;
		if (*position >= head)
			return 0;
		end = *position + segment < head ? *position + segment : head;
		slots_copy(out, ring->slots + (*position & ring->mask), (uint32_t)(end - *position));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (ring_segment_end(ring, LOAD(ring->head) + 1) + segment - all > *position)
			continue;                /* the producer has overtaken it: half of the copy may be new */
		*position += segment;
		return (uint32_t)(end + segment - *position);
	}
}
