/* wake.h -- a pair of sockets that wakes the flusher out of its poll().
 *
 * All eventfds share one inode, so a program's eventfd could be mistaken for ours; and a program that closes the sending
 * end wakes the flusher at once, which then opens a new pair. */
#ifndef TELEM_EMITTER_CORE_WAKE_H
#define TELEM_EMITTER_CORE_WAKE_H

#include <stdbool.h>

/* Opens the pair, which wake_close() closes. Returns 0 or a negative errno. */
int wake_open(void);
/* Wakes the flusher. Any thread may call this, with or without the lock, and so may signal handlers. */
void wake_signal(void);
/* Opens a new pair if the program has closed one end, and returns false then: signals may have been lost, so the flusher
 * must not wait. Called by the flusher before it waits. */
bool wake_keep(void);
/* Returns the descriptor to poll for POLLIN; -1 when none can be opened now. For the flusher. */
int wake_fd(void);
/* Takes the signals that have come, so that the descriptor is not readable any more. For the flusher. */
void wake_clear(void);
void wake_close(void);
/* In the child of fork(): closes its copies. */
void wake_forget(void);
#endif
