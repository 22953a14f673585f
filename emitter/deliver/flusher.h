/* flusher.h -- the life of the background thread, which drains, sums, encodes, writes and listens.
 *
 * All signals are blocked in it. It sleeps in ppoll() for as long as nobody reads. */
#ifndef TELEM_EMITTER_DELIVER_FLUSHER_H
#define TELEM_EMITTER_DELIVER_FLUSHER_H

#include <stdint.h>

/* 0 or a negative errno. Locked. */
int flusher_start(void);
/* Everything that is recorded leaves, but no later than this. Locked, but not while it waits for the
 * thread to go. */
void flusher_stop(uint64_t linger_ns);
/* In the child of fork(): there is none. */
void flusher_forget(void);
#endif
