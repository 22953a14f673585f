/* clock.h -- ticks and nanoseconds.
 *
 * Ticks are the TSC where it is invariant and the kernel itself trusts it, else nanoseconds of
 * CLOCK_MONOTONIC. The rate is measured once at the start and again, over a longer and longer
 * base, by the flusher; a new rate starts at a new anchor, so that time never steps back. */
#ifndef TELEM_EMITTER_CORE_CLOCK_H
#define TELEM_EMITTER_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Measures the rate at the first call, which takes about a millisecond. Later calls do nothing. */
void clock_begin(void);
/* Measures the rate again. For the flusher, with the lock held. */
void clock_renew(void);
uint64_t clock_ticks(void);
/* Nanoseconds of a clock of the kernel; 0 when it cannot be read. */
uint64_t clock_read_ns(clockid_t clock);
struct timespec clock_timespec(uint64_t ns);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_ns(void);
uint64_t clock_real_ns(void);
/* Converts a stamp in ticks to nanoseconds of CLOCK_MONOTONIC. Call with the lock held. */
uint64_t clock_ns_of(uint64_t ticks);
/* Converts a duration in ticks to nanoseconds. Any thread. */
uint64_t clock_duration_ns(uint64_t ticks);
/* Returns the rate, nanoseconds per tick times 2^32, for callers that convert many durations. */
uint64_t clock_rate(void);
static inline uint64_t clock_scale(uint64_t ticks, uint64_t rate)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)ticks * rate >> 32);
}
/* The least time between two different stamps. */
uint64_t clock_resolution_ns(void);
#endif
