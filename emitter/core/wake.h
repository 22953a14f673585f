/* wake.h -- an eventfd that wakes the flusher out of its poll(). */
#ifndef TELEM_EMITTER_CORE_WAKE_H
#define TELEM_EMITTER_CORE_WAKE_H

/* 0 or a negative errno; end with wake_close(). */
int wake_open(void);
/* Makes the flusher look round now. Any thread, locked or not, and signal handlers. */
void wake_signal(void);
/* What to poll for POLLIN; -1 when it is not open. */
int wake_fd(void);
/* Takes the signals that have come: the fd is not readable any more. */
void wake_clear(void);
void wake_close(void);
/* In the child of fork(): closes its copy. */
void wake_forget(void);
#endif
