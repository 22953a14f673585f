/* flusher.h -- the life of the background thread, which drains, sums, encodes, writes and listens.
 *
 * All signals are blocked in it. It sleeps in ppoll() while no reader is there. */
#ifndef TELEM_EMITTER_DELIVER_FLUSHER_H
#define TELEM_EMITTER_DELIVER_FLUSHER_H

#include <stdint.h>

/* Starts the thread. Returns 0 or a negative errno. Call with the lock held. */
int flusher_start(void);
/* Sends everything that is recorded, for at most linger_ns, and ends the thread. Call with the lock held; it
 * is released while this waits for the thread. */
void flusher_stop(uint64_t linger_ns);
/* In the child of fork(): there is no such thread. */
void flusher_forget(void);
#endif
