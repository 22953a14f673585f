/* fence.h -- waiting until everything that was emitted before has left. */
#ifndef TELEM_EMITTER_DELIVER_FENCE_H
#define TELEM_EMITTER_DELIVER_FENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Asks for a fence, and wakes the flusher. Locked. Returns its number. */
uint64_t fence_ask(void);
/* Waits until the fence is passed: 0, -ETIMEDOUT, or -ENOTCONN when telemetry stopped. Locked on
 * entry and exit. */
int fence_wait(uint64_t fence, uint64_t timeout_ns);

/* For the flusher: has one been asked for, while none is under way? Locked. */
bool fence_begin(void);
/* All that was emitted before it lies in blocks up to this number. */
void fence_set(uint64_t block_number);
/* A fence is passed when every block up to it has left, or was dropped, everywhere. Not locked. */
void fence_pass(void);
/* Telemetry starts: there are none. */
void fences_forget(void);
#endif
