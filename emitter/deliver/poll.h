/* poll.h -- what the flusher waits for: readers, viewers that come or ask, and being woken. */
#ifndef TELEM_EMITTER_DELIVER_POLL_H
#define TELEM_EMITTER_DELIVER_POLL_H

#include <stdint.h>

/* Waits until something has come, or until_ns, and handles it. The flusher, not locked. */
void poll_wait(uint64_t until_ns);
/* When a sink has something due without being woken; UINT64_MAX: never. */
uint64_t poll_due_ns(uint64_t now_ns);
/* Sinks that wait for a reader, and are due, try again. */
void poll_retry(uint64_t now_ns);
#endif
