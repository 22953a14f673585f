/* clock.h -- the two clocks of this machine, which nothing else in the monitor reads, but for source/discovery.c.
 *
 * Only the target and the application call these functions; they hand the time on as an argument. */
#ifndef TELEM_MONITOR_SESSION_CLOCK_H
#define TELEM_MONITOR_SESSION_CLOCK_H

#include <stdint.h>

/* The monotonic clock, in ns; it does not jump. */
uint64_t clock_mono_ns(void);
/* The wall clock, in ns since 1970. */
uint64_t clock_real_ns(void);
#endif
