/* wake.h -- an eventfd that wakes the flusher out of its poll(). */
#ifndef TELEM_EMITTER_CORE_WAKE_H
#define TELEM_EMITTER_CORE_WAKE_H

/* Opens the eventfd, which wake_close() closes. Returns 0 or a negative errno. */
int wake_open(void);
/* Wakes the flusher. Any thread may call this, with or without the lock, and so may signal handlers. */
void wake_signal(void);
/* Returns the fd to poll for POLLIN; -1 when it is not open. */
int wake_fd(void);
/* Resets the eventfd, so that it is not readable any more. */
void wake_clear(void);
void wake_close(void);
/* In the child of fork(): closes its copy. */
void wake_forget(void);
#endif
