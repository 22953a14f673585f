/* clock.h -- ticks and nanoseconds.
 *
 * Ticks are the TSC where it is invariant and the kernel itself trusts it, else nanoseconds of
 * CLOCK_MONOTONIC. The rate is measured once at the start and again, over a longer and longer
 * base, by the flusher; a new rate starts at a new anchor, so that time never steps back. */
#ifndef TELEM_EMITTER_CORE_CLOCK_H
#define TELEM_EMITTER_CORE_CLOCK_H

#include <stdint.h>

/* Measures the rate, the first time; about a millisecond. */
void clock_begin(void);
/* Measures it again; the flusher, locked. */
void clock_renew(void);
uint64_t clock_ticks(void);
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t clock_ns(void);
uint64_t clock_real_ns(void);
/* When a stamp was taken, in nanoseconds of CLOCK_MONOTONIC. Locked. */
uint64_t clock_ns_of(uint64_t ticks);
/* A duration. Any thread. */
uint64_t clock_duration_ns(uint64_t ticks);
/* The same in two steps: nanoseconds per tick, times 2^32. */
uint64_t clock_rate(void);
static inline uint64_t clock_scale(uint64_t ticks, uint64_t rate)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)ticks * rate >> 32);
}
/* The least time between two different stamps. */
uint64_t clock_resolution_ns(void);
#endif
