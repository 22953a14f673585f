/* drain.h -- events from threads' rings into the stream. */
#ifndef TELEM_EMITTER_DELIVER_DRAIN_H
#define TELEM_EMITTER_DELIVER_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct task;
struct thread;
struct writer;

/* What is taken from a ring between two writes: fits in half of what a sink may queue. */
#define DRAIN_BYTES (32u << 10)
/* Once this many threads have exited, drain at once: others want their rings. */
#define DRAIN_AT_ONCE 16u

/* Takes up to most bytes from a thread's ring. The flusher, locked. Returns bytes taken. discard:
 * into the books as dropped, and no further. */
uint64_t drain(struct thread *thread, uint64_t most, uint64_t now_ns, bool discard);
/* All that is in the rings into the books as dropped. Locked. */
void drain_discard(void);
/* Called by a thread that ended and left its ring behind: wakes the flusher once there are many;
 * while no reader is there it empties these rings here and now. Not locked. */
void drain_ended(void);
/* One record as it lies in a ring (not of site 0), of which seq came before from its task.
 * Locked. False: no memory for a block. */
bool write_event(struct writer *writer, const struct task *task, uint64_t seq, const uint8_t *record,
		 uint64_t now_ticks, uint64_t now_ns);
#endif
