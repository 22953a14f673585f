/* fence.h -- waits until every sink has sent or dropped what was recorded before. */
#ifndef TELEM_EMITTER_DELIVER_FENCE_H
#define TELEM_EMITTER_DELIVER_FENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Asks for a fence, and wakes the flusher. Call with the lock held. Returns its number. */
uint64_t fence_ask(void);
/* Waits until the fence is passed. Returns 0, -ETIMEDOUT, or -ENOTCONN when telemetry stopped. Call with the lock held;
 * it is released while the thread waits. */
int fence_wait(uint64_t fence, uint64_t timeout_ns);

/* Returns whether a fence has been asked for while none is under way. For the flusher, with the lock held. */
bool fence_begin(void);
/* Everything that was recorded before the fence is in blocks up to this number. */
void fence_set(uint64_t block_number);
/* Passes the fence if every sink has sent or dropped all blocks up to it. Call without the lock. */
void fence_pass(void);
/* Called when telemetry starts: there are no fences. */
void fences_forget(void);
#endif
