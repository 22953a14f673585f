/* ring.h -- one thread's ring buffer of events, on their way to the flusher.
 *
 * It has one producer (the thread, and signal handlers that interrupt it) and one consumer (any thread that holds
 * the emitter's lock). Neither waits, except under policy `block`. An event is a record of 16 bytes: 48 bits of
 * time, 16 of site, 64 of value. Texts and fields follow in slots of their own. The ring has 8 segments. Each
 * begins with the task that its events belong to, and no record crosses from one into the next. So under
 * `overwrite` the producer gives up the oldest segment as a whole, and its caller counts those of its events that
 * the consumer had not taken. */
#ifndef TELEM_EMITTER_RECORD_RING_H
#define TELEM_EMITTER_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SEGMENTS 8
#define RING_SLOT_BYTES 16
#define RING_TIME_BITS 48
/* Set in a record's site when a payload follows. The value then is the payload's length in bytes. */
#define RING_PAYLOAD 0x8000u
#define RING_PAYLOAD_BYTES_MAX 4095u
/* A record of site 0 is a message to the consumer, not an event: its value is RING_PAD, RING_END, or
 * RING_TASK | id << 8. */
enum { RING_PAD = 1, RING_TASK = 2, RING_END = 3 };     /* RING_END: the rest of the segment is older */

/* Values of limit that are not positions: */
#define RING_BUSY 0          /* a record is being written; the events of a signal handler now are dropped */
#define RING_LOOK 1          /* the ring is full, or the task changed: the producer takes the slow path */

struct ring {
	/* These belong to the producer. No other thread writes to their cache lines. */
	_Alignas(128) uint64_t head; /* the next position, in bytes; begins at the capacity, never wraps */
	uint64_t limit;              /* the producer needs no slow path as long as head stays below this position */
	uintptr_t base;              /* base + position is an address, for positions of the present lap */
	uint8_t *slots;
	uint64_t mask, first;        /* first: the oldest position that may be copied */
	uint64_t full_at;            /* the ring is full as long as tail has this value */
	int task, announced_task;
	/* Under `overwrite`, the events from lost_at to lost_end were given up, and are not counted yet. */
	uint64_t lost_at, lost_end, lost_cursor;
	int lost_task;
	/* The consumer moves tail by compare and swap, because the producer also moves it when it gives up the oldest
	 * segment. */
	_Alignas(128) uint64_t tail;
	int consumer_task;
	size_t bytes;
};

/* Makes a ring of `bytes` bytes, a power of two. NULL when memory is out. */
struct ring *ring_new(size_t bytes);
void ring_free(struct ring *ring);
/* Empties a ring for a new thread, while no other thread uses it. */
void ring_reset(struct ring *ring);

static inline uint64_t ring_segment_bytes(const struct ring *ring)
{
	return (ring->mask + 1) / RING_SEGMENTS;
}

static inline uint64_t ring_segment_end(const struct ring *ring, uint64_t position)
{
	return (position + ring_segment_bytes(ring) - 1) & ~(ring_segment_bytes(ring) - 1);
}

/* Producer: returns whether the ring is full to the last slot, so that under `drop` the next event is lost. */
static inline bool ring_is_full(struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	if (head != ring_segment_end(ring, head) || tail >= head + ring_segment_bytes(ring) - (ring->mask + 1))
		return false;
	ring->full_at = tail;
	return true;
}

/* Returns whether the ring was full and nothing has been taken since. This test is cheap, because a ring may stay
 * full for hours while no reader is there. */
static inline bool ring_is_still_full(const struct ring *ring)
{
	return __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) == ring->full_at;
}

/* Prefetches a cache line for writing, so that the write need not fetch it a second time. */
static inline void ring_prefetch(const void *address)
{
#ifdef __x86_64__
	__asm__("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1, 3);
#endif
}

/* Producer: claims the ring, and sets *head to where the next record of one slot goes. Returns false when
 * ring_put_slow() must be called. Until ring_commit() a signal handler finds RING_BUSY. */
static inline __attribute__((always_inline)) bool ring_claim(struct ring *ring, uint64_t *head, uint64_t *limit)
{
	*limit = __atomic_load_n(&ring->limit, __ATOMIC_RELAXED);
	/* The fences order this against a signal handler on this thread. head is read only when no signal handler can
	 * move it any more. */
	__atomic_store_n(&ring->limit, RING_BUSY, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	if (__builtin_expect(*head + RING_SLOT_BYTES <= *limit, 1))
		return true;
	__atomic_store_n(&ring->limit, *limit, __ATOMIC_RELAXED);
	return false;
}

static inline __attribute__((always_inline)) void ring_commit(struct ring *ring, uint64_t head, uint64_t limit,
							      uint64_t word, uint64_t value)
{
	uint64_t *slot = (uint64_t *)(ring->base + head);

	ring_prefetch((const void *)(ring->base + head + 512));     /* past the end too: no harm */
	/* Relaxed, not plain, because the consumer may be reading a slot that was given up; it discards what it
	 * read. */
	__atomic_store_n(&slot[0], word, __ATOMIC_RELAXED);
	__atomic_store_n(&slot[1], value, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->head, head + RING_SLOT_BYTES, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->limit, limit, __ATOMIC_RELAXED);
}

/* RING_GAVE_UP: the record was not written, but there is room now, because the oldest segment was given up. The
 * caller counts the events that ring_lost_next() returns, until there are no more, and puts the record again. */
enum ring_result { RING_IS_FULL, RING_PUT, RING_GAVE_UP };

/* Producer: puts any record, in any state of the ring. With ticks 0 the record is stamped when there is room,
 * because a full ring is detected in less time than reading the clock takes. */
enum ring_result ring_put_slow(struct ring *ring, uint32_t site, uint64_t ticks, uint64_t value, const void *payload);

/* Producer: returns the task and the site of the next event that was given up, or false when there is no other. */
bool ring_lost_next(struct ring *ring, int *task, uint32_t *site);

/* Producer: puts an event without a payload. */
static inline enum ring_result ring_put(struct ring *ring, uint32_t site, uint64_t ticks, uint64_t value)
{
	uint64_t head, limit;

	if (__builtin_expect(!ring_claim(ring, &head, &limit), 0))
		return ring_put_slow(ring, site, ticks, value, NULL);
	ring_commit(ring, head, limit, ticks << 16 | site, value);
	return RING_PUT;
}

/* Producer: puts an event with a payload, which follows in slots. */
static inline enum ring_result ring_put_payload(struct ring *ring, uint32_t site, uint64_t ticks, const void *payload,
				    uint32_t payload_bytes)
{
	return ring_put_slow(ring, site | RING_PAYLOAD, ticks, payload_bytes, payload);
}
/* Producer: events from now on belong to this task. */
void ring_task(struct ring *ring, int task);

/* Returns the number of slots of the record that begins with these two words. */
static inline uint32_t ring_record_slots(uint64_t word, uint64_t value)
{
	/* The length is cut to the longest payload, because the consumer may read slots that are being overwritten. */
	uint32_t bytes = (uint32_t)value & RING_PAYLOAD_BYTES_MAX;

	return word & RING_PAYLOAD ? 1 + (bytes + RING_SLOT_BYTES - 1) / RING_SLOT_BYTES : 1;
}

/* Reads a word relaxed, not plain, because the producer may be writing it. */
static inline uint64_t ring_word(const uint8_t *slot)
{
	return __atomic_load_n((const uint64_t *)(const void *)slot, __ATOMIC_RELAXED);
}

/* Consumer: sets *records to the oldest records in the ring itself, from *tail on, as far as they are contiguous.
 * The producer may give them up and overwrite them at any time until ring_pass() has returned true. Returns how
 * many bytes they are, or 0 when the ring is empty. */
uint32_t ring_look(const struct ring *ring, uint64_t *tail, const uint8_t **records);
/* Consumer: takes so many bytes of whole records from tail on. Returns false when they were given up meanwhile: then
 * the bytes that were read may be parts of other records. */
bool ring_pass(struct ring *ring, uint64_t tail, uint32_t bytes);
/* Consumer: takes whole records, oldest first, at most room bytes, and copies them out. Returns how many bytes, or 0
 * when the ring is empty or there is no room for the first record. */
uint32_t ring_take(struct ring *ring, uint8_t *out, uint32_t room);
/* Any thread, while the producer may be writing: copies the filled part of the segment in which *position is to
 * out, which has room for one segment, and moves *position to the next. With *position 0 it begins at the oldest
 * segment that is there, taken or not. Returns how many bytes, or 0 when there are no more. The first word of a
 * segment is its task. */
uint32_t ring_copy(const struct ring *ring, uint64_t *position, uint8_t *out);
/* Consumer: returns how many bytes are in the ring. */
uint64_t ring_waiting(const struct ring *ring);
#endif
