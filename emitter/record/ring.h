/* ring.h -- one thread's queue of events, on their way to the flusher.
 *
 * One producer (the thread, and signal handlers on it), one consumer (whoever holds the
 * emitter's lock). Neither waits, but for policy `block`. Events are records of 16
 * bytes: 48 bits of time, 16 of site, 64 of value; texts and fields follow in slots of
 * their own. The ring has 8 segments, each starts with the task its events belong to and
 * no record crosses from one into the next: under `overwrite` the producer gives up the
 * oldest segment whole, and its caller counts what the consumer had not taken of it. */
#ifndef TELEM_EMITTER_RECORD_RING_H
#define TELEM_EMITTER_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SEGMENTS 8
#define RING_SLOT_BYTES 16
#define RING_TIME_BITS 48
/* In a record's site: value is the bytes of a payload that follows. */
#define RING_PAYLOAD 0x8000u
#define RING_PAYLOAD_BYTES_MAX 4095u
/* Site 0: no event, but a word to the consumer; value is RING_PAD, or RING_TASK | id << 8. */
enum { RING_PAD = 1, RING_TASK = 2, RING_END = 3 };     /* RING_END: the rest of the segment is older */

/* limit, when it is no position: */
#define RING_BUSY 0          /* a record is being written; what interrupts it is dropped */
#define RING_LOOK 1          /* full, or the task changed: take the slow path */

struct ring {
	/* The producer's; nothing another thread writes is near. */
	_Alignas(128) uint64_t head; /* released; in bytes, starts at capacity, never wraps */
	uint64_t limit;              /* up to where the producer may go without a look */
	uintptr_t base;              /* where position 0 would lie, of the lap head is in */
	uint8_t *slots;
	uint64_t mask, first;        /* first: nothing before it is copied any more */
	uint64_t full_at;            /* full as long as tail is this */
	int task, announced_task;
	/* Under `overwrite`: the events from lost_at to lost_end were given up, and are not counted yet. */
	uint64_t lost_at, lost_end, lost_cursor;
	int lost_task;
	/* The consumer's; moved by compare and swap, for the producer may give up the oldest. */
	_Alignas(128) uint64_t tail;
	int consumer_task;
	size_t bytes;
};

/* Makes a ring of bytes (a power of two), its slots mapped but not touched. NULL: no memory. */
struct ring *ring_new(size_t bytes);
void ring_free(struct ring *ring);
/* Empties it for a new thread. Nobody else may use it. */
void ring_reset(struct ring *ring);

static inline uint64_t ring_segment_bytes(const struct ring *ring)
{
	return (ring->mask + 1) / RING_SEGMENTS;
}

static inline uint64_t ring_segment_end(const struct ring *ring, uint64_t position)
{
	return (position + ring_segment_bytes(ring) - 1) & ~(ring_segment_bytes(ring) - 1);
}

/* Producer: full to the last slot, so that under `drop` the next event is lost. */
static inline bool ring_is_full(struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	if (head != ring_segment_end(ring, head) || tail >= head + ring_segment_bytes(ring) - (ring->mask + 1))
		return false;
	ring->full_at = tail;
	return true;
}

/* The ring was full, and nothing has been taken since. This is the cheap answer, for a ring may stay
 * full for hours while no reader is there. */
static inline bool ring_is_still_full(const struct ring *ring)
{
	return __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) == ring->full_at;
}

/* For writing: the line is not fetched a second time to own it. */
static inline void ring_prefetch(const void *address)
{
#ifdef __x86_64__
	__asm__("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1, 3);
#endif
}

/* Producer: *head is where the next record of one slot goes; false: take ring_put_slow().
 * Between this and ring_commit() whoever interrupts finds RING_BUSY. */
static inline __attribute__((always_inline)) bool ring_claim(struct ring *ring, uint64_t *head, uint64_t *limit)
{
	*limit = __atomic_load_n(&ring->limit, __ATOMIC_RELAXED);
	/* The fences order this against a signal handler on this thread. Where head is, is
	 * asked only when no handler can move it any more. */
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
	/* Relaxed, not plain: a slot given up may be read meanwhile, and is then thrown away. */
	__atomic_store_n(&slot[0], word, __ATOMIC_RELAXED);
	__atomic_store_n(&slot[1], value, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->head, head + RING_SLOT_BYTES, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->limit, limit, __ATOMIC_RELAXED);
}

/* RING_GAVE_UP: there is room now, for the oldest segment was given up and nothing is written yet. The
 * caller counts what ring_lost_next() says until that returns false, and puts the record again. */
enum ring_result { RING_IS_FULL, RING_PUT, RING_GAVE_UP };

/* Producer: any record, in any state of the ring. ticks 0: the record is stamped when there is
 * room, because a full ring is found out in less time than the clock is read. */
enum ring_result ring_put_slow(struct ring *ring, uint32_t site, uint64_t ticks, uint64_t value, const void *payload);

/* Producer: the next event that was given up, of a task and a site; false: there is no other one. */
bool ring_lost_next(struct ring *ring, int *task, uint32_t *site);

/* Producer: the straight case, and the rest. */
static inline enum ring_result ring_put(struct ring *ring, uint32_t site, uint64_t ticks, uint64_t value)
{
	uint64_t head, limit;

	if (__builtin_expect(!ring_claim(ring, &head, &limit), 0))
		return ring_put_slow(ring, site, ticks, value, NULL);
	ring_commit(ring, head, limit, ticks << 16 | site, value);
	return RING_PUT;
}

/* Producer: the payload follows in slots. */
static inline enum ring_result ring_put_payload(struct ring *ring, uint32_t site, uint64_t ticks, const void *payload,
				    uint32_t payload_bytes)
{
	return ring_put_slow(ring, site | RING_PAYLOAD, ticks, payload_bytes, payload);
}
/* Producer: events from now on are this task's. */
void ring_task(struct ring *ring, int task);

/* Slots of the record that starts with these two words. */
static inline uint32_t ring_record_slots(uint64_t word, uint64_t value)
{
	/* Cut to what can be: the consumer may look at slots that are being overwritten. */
	uint32_t bytes = (uint32_t)value & RING_PAYLOAD_BYTES_MAX;

	return word & RING_PAYLOAD ? 1 + (bytes + RING_SLOT_BYTES - 1) / RING_SLOT_BYTES : 1;
}

/* Relaxed, not plain: the producer may be writing it. */
static inline uint64_t ring_word(const uint8_t *slot)
{
	return __atomic_load_n((const uint64_t *)(const void *)slot, __ATOMIC_RELAXED);
}

/* Consumer: the oldest records where they lie, from *tail on, as far as they are in one piece. Until
 * ring_pass() says that they are taken, the producer may give them up and write over them.
 * Returns bytes; 0: empty. */
uint32_t ring_look(const struct ring *ring, uint64_t *tail, const uint8_t **records);
/* Consumer: takes so many bytes from tail on, whole records. False: they were given up, and
 * what was read may be half of others. */
bool ring_pass(struct ring *ring, uint64_t tail, uint32_t bytes);
/* Consumer: takes whole records, oldest first, at most room bytes, and copies them out. Returns
 * bytes; 0: empty, or no room for the first one. */
uint32_t ring_take(struct ring *ring, uint8_t *out, uint32_t room);
/* Anybody, beside the producer: copies the segment in which *position lies, as far as it is
 * filled, out to room for one, and moves *position to the next; *position 0: from the oldest that is
 * there, taken or not. Returns bytes, 0: no more. The first word of a segment is its task. */
uint32_t ring_copy(const struct ring *ring, uint64_t *position, uint8_t *out);
/* Consumer: bytes waiting. */
uint64_t ring_waiting(const struct ring *ring);
#endif
