/* report_own.h -- the reporters that come with the library: malloc, the process, telemetry itself. */
#ifndef TELEM_EMITTER_DELIVER_REPORT_OWN_H
#define TELEM_EMITTER_DELIVER_REPORT_OWN_H

#include <stdint.h>

/* Begins a new round, and reports the values whose paths are not fixed. For the flusher, without the lock. */
void report_own(void);
/* Returns how many bytes malloc() has given out. */
int64_t report_malloc_allocated(void);
#endif
