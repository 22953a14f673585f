/* drain.h -- events from a thread's ring into the stream. The flusher's. */
#ifndef TELEM_EMITTER_DRAIN_H
#define TELEM_EMITTER_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct task;
struct thread;
struct writer;

/* What is taken from a ring between two writes: fits in half of what a sink may queue. */
#define DRAIN_BYTES (32u << 10)

/* Takes up to most bytes from a thread's ring. Locked. Returns bytes taken. discard: into the
 * books as dropped, and no further. */
uint64_t drain(struct thread *thread, uint64_t most, uint64_t now_ns, bool discard);
/* One record as it lies in a ring (not of site 0), of which seq came before from its task.
 * Locked. False: no memory for a block. */
bool write_event(struct writer *writer, const struct task *task, uint64_t seq, const uint8_t *record, uint64_t now_ticks,
		 uint64_t now_ns);
#endif
