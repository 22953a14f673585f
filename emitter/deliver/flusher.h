/* flusher.h -- the background thread: drains rings, sums, encodes, writes, listens.
 *
 * All signals are blocked in it. It sleeps in ppoll() for as long as nobody listens. */
#ifndef TELEM_EMITTER_FLUSHER_H
#define TELEM_EMITTER_FLUSHER_H

#include <stdint.h>

/* Asks for a fence: everything emitted before this leaves. Locked; returns its number. */
uint64_t flusher_flush_soon(void);
/* Waits, locked, until fence is passed: 0, -ETIMEDOUT, -ENOTCONN when it stopped. */
int flusher_wait(uint64_t fence, uint64_t timeout_ns);
/* Everything is told again to every sink. Locked. */
void flusher_sync_soon(void);
#endif
