/* poll.h -- where the flusher waits: for readers that can take more, for viewers that connect or ask, and to be
 * woken. */
#ifndef TELEM_EMITTER_DELIVER_POLL_H
#define TELEM_EMITTER_DELIVER_POLL_H

#include <stdint.h>

/* Waits until something has come, at most until until_ns, and handles it. For the flusher, without the lock. */
void poll_wait(uint64_t until_ns);
/* Returns when the first sink has something to do even if nothing comes; UINT64_MAX when none has. */
uint64_t poll_due_ns(uint64_t now_ns);
/* Lets sinks that wait for a reader, and whose time has come, try again. */
void poll_retry(uint64_t now_ns);
#endif
