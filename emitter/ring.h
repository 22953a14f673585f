/* ring.h -- one thread's queue of events, on their way to the flusher.
 *
 * One producer (the thread, and signal handlers on it), one consumer (whoever holds the
 * emitter's lock). Neither waits, but for policy `block`. Events are records of 16
 * bytes: 48 bits of time, 16 of site, 64 of value; texts and fields follow in slots of
 * their own. The ring has 8 segments, each starts with the task its events belong to and
 * no record crosses from one into the next: under `overwrite` the producer gives up the
 * oldest segment whole, and counts what the consumer had not taken of it. */
#ifndef TELEM_EMITTER_RING_H
#define TELEM_EMITTER_RING_H

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
enum { RING_PAD = 1, RING_TASK = 2 };

/* limit, when it is no position: */
#define RING_BUSY 0          /* a record is being written; what interrupts it is dropped */
#define RING_LOOK 1          /* full, or the task changed: take the slow path */

struct ring {
	/* The producer's; nothing another thread writes is near. */
	_Alignas(128) uint64_t head; /* released; in bytes, starts at capacity, never wraps */
	uint64_t limit;              /* up to where the producer may go without a look */
	uint8_t *slots;
	uint64_t mask;
	int task, announced_task;
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

/* Producer: everything but the straight case; see ring_put(). limit is what it was. */
bool ring_put_slow(struct ring *ring, uint64_t limit, uint32_t site, uint64_t ticks, uint64_t value,
		   const void *payload);

static inline void ring_slot_store(struct ring *ring, uint64_t position, uint64_t word, uint64_t value)
{
	uint64_t *slot = (uint64_t *)(void *)(ring->slots + (position & ring->mask));

	/* Relaxed, not plain: a slot given up may be read meanwhile, and is then thrown away. */
	__atomic_store_n(&slot[0], word, __ATOMIC_RELAXED);
	__atomic_store_n(&slot[1], value, __ATOMIC_RELAXED);
}

/* Producer: an event without a payload; false when it was lost. */
static inline __attribute__((always_inline)) bool ring_put(struct ring *ring, uint32_t site, uint64_t ticks,
							   uint64_t value)
{
	uint64_t limit = __atomic_load_n(&ring->limit, __ATOMIC_RELAXED), head;

	/* The fences order this against a signal handler on this thread. Where head is, is
	 * asked only when no handler can move it any more. */
	__atomic_store_n(&ring->limit, RING_BUSY, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
	if (__builtin_expect(head + RING_SLOT_BYTES > limit, 0))
		return ring_put_slow(ring, limit, site, ticks, value, NULL);
	__builtin_prefetch(ring->slots + ((head + 512) & ring->mask), 1, 3);
	ring_slot_store(ring, head, ticks << 16 | site, value);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->head, head + RING_SLOT_BYTES, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->limit, limit, __ATOMIC_RELAXED);
	return true;
}

/* Producer: the payload follows in slots. */
static inline bool ring_put_payload(struct ring *ring, uint32_t site, uint64_t ticks, const void *payload,
				    uint32_t payload_bytes)
{
	uint64_t limit = __atomic_load_n(&ring->limit, __ATOMIC_RELAXED);

	return ring_put_slow(ring, limit, site | RING_PAYLOAD, ticks, payload_bytes, payload);
}
/* Producer: events from now on are this task's. */
void ring_task(struct ring *ring, int task);
/* Called by the producer for each event it gave up. In shard.c. */
void ring_lost(int task, uint32_t site);

/* Slots of the record that starts with these two words. */
static inline uint32_t ring_record_slots(uint64_t word, uint64_t value)
{
	/* Cut to what can be: the consumer may look at slots that are being overwritten. */
	uint32_t bytes = (uint32_t)value & RING_PAYLOAD_BYTES_MAX;

	return word & RING_PAYLOAD ? 1 + (bytes + RING_SLOT_BYTES - 1) / RING_SLOT_BYTES : 1;
}

/* Consumer: takes whole records, oldest first, at most room bytes (room for the longest
 * one at least), and copies them out. Returns bytes; 0: empty. */
uint32_t ring_take(struct ring *ring, uint8_t *out, uint32_t room);
/* Consumer: bytes waiting. */
uint64_t ring_waiting(const struct ring *ring);
/* How long one ring_put() takes here, in picoseconds. */
uint32_t ring_cost_ps(void);
#endif
