/* drain.h -- moves events from the rings of threads into the stream. */
#ifndef TELEM_EMITTER_DELIVER_DRAIN_H
#define TELEM_EMITTER_DELIVER_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct task;
struct thread;
struct writer;

/* So much is taken from a ring between two writes. It takes at most half of a sink's queue. */
#define DRAIN_BYTES (32u << 10)
/* Once this many threads have ended, their rings are drained at once, because other threads need rings. */
#define DRAIN_AT_ONCE 16u

/* Takes up to most bytes from a thread's ring into the stream; with discard the events are only counted as dropped.
 * Returns how many bytes were taken. For the flusher, with the lock held. */
uint64_t drain(struct thread *thread, uint64_t most, uint64_t now_ns, bool discard);
/* Counts all events that are in rings as dropped. Call with the lock held. */
void drain_discard(void);
/* Called by a thread that ends. When many have ended it wakes the flusher, or empties their rings itself while no
 * reader is there. Call without the lock. */
void drain_ended(void);
/* Returns when the event of a record was. */
uint64_t event_time_ns(const uint8_t *record, uint64_t now_ticks);
/* Writes one record of a ring, which is not of site 0. seq is how many events of its task came before. Returns false
 * when there is no memory for a block. Call with the lock held. */
bool write_event(struct writer *writer, const struct task *task, uint64_t seq, const uint8_t *record,
		 uint64_t now_ticks, uint64_t now_ns);
#endif
