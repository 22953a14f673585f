/* record.h -- puts an event of this thread into its ring, or counts it as dropped.
 *
 * The usual case makes no call, so that no registers are saved. All other cases take the slow path, which makes the
 * ring, gives up old events, or counts the new one as dropped. The thread that records calls all of this, without a
 * lock. */
#ifndef TELEM_EMITTER_RECORD_RECORD_H
#define TELEM_EMITTER_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"
#include "emitter/record/ring.h"

/* The recording code is in several files, and calls across them are as short as within one. */
#define RECORD_INNER __attribute__((visibility("hidden")))

/* Returns whether the limit of its class leaves this event of the site with this id out of the stream. Then it is only
 * summed. */
RECORD_INNER bool record_is_left_out(uint32_t site);

/* Returns the level that counts for one event, from the level at its place. */
static inline uint8_t record_level(const struct telem_site *site, uint8_t level)
{
	return __builtin_expect(level & TELEM_LIMITED_, 0) && record_is_left_out(site->id) ? TELEM_SUM
											      : level & TELEM_LEVEL_;
}

/* Puts an event that the cell has counted as streamed into the ring. ticks 0 says that the caller has no stamp: the
 * slow path takes one. */
RECORD_INNER void record_stream_slow(const struct telem_site *site, struct telem_cell *cell, uint64_t value, uint64_t ticks);
static inline __attribute__((always_inline)) void record_stream(const struct telem_site *site, struct telem_cell *cell,
								uint64_t value, uint64_t ticks)
{
	struct ring *ring = telem_thread_.ring;
	uint64_t head, limit;

	if (__builtin_expect(ring && ticks && ring_claim(ring, &head, &limit), 1))
		ring_commit(ring, head, limit, ticks << 16 | site->id, value);
	else
		record_stream_slow(site, cell, value, ticks);
}

/* Counts an event with a payload as streamed, and puts it into the ring. Returns false when the event is lost, which is
 * counted. */
RECORD_INNER bool record_payload(struct telem_site *site, struct telem_cell *cell, const void *payload, uint32_t bytes);
#endif
