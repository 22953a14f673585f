/* closing.h -- closes sinks, one step at each turn, so that other sinks need not wait. */
#ifndef TELEM_EMITTER_DELIVER_CLOSING_H
#define TELEM_EMITTER_DELIVER_CLOSING_H

#include <stdint.h>

/* Returns the sinks that are asked to close, a bit 1 << id for each, with the viewers of those that listen. They
 * still get everything that is recorded by now. For the flusher, with the lock held. */
uint64_t closing_asked(void);
/* Called when these sinks have it: from now on they get nothing new. Call with the lock held. */
void closing_leave(uint64_t asked, uint64_t tick, uint64_t now_ns);
/* Closes all sinks, by by_ns at the latest. Call with the lock held. */
void closing_all(uint64_t by_ns, uint64_t tick, uint64_t now_ns);
/* Does one step for each sink that is closing. Returns how many sinks are still there. Call without the lock. */
uint32_t closing_step(uint64_t tick);
#endif
