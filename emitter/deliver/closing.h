/* closing.h -- sinks on their way out, one step after the other, so that the others need not wait. */
#ifndef TELEM_EMITTER_DELIVER_CLOSING_H
#define TELEM_EMITTER_DELIVER_CLOSING_H

#include <stdint.h>

/* The sinks that are asked to close, a bit 1 << id each: they get all that is recorded by now. With
 * one that listens go those it let in. The flusher, locked. */
uint64_t closing_asked(void);
/* They have it: nothing new comes in. Locked. */
void closing_leave(uint64_t asked);
/* All go, by then at the latest. Locked. */
void closing_all(uint64_t by_ns);
/* One step for each that leaves. Returns how many are still there. Not locked. */
uint32_t closing_step(uint64_t tick);
#endif
