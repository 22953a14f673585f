/* histogram.h -- log-linear buckets, shared by both ends.
 *
 * 32 sub-buckets an octave: exact below 64, then at most 3.2 % wide, up to 2^42; larger
 * values fall into the last one. (HdrHistogram's scheme, with one fixed precision.) */
#ifndef TELEM_PROTOCOL_HISTOGRAM_H
#define TELEM_PROTOCOL_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 5
#define HISTOGRAM_VALUE_BITS 42
#define HISTOGRAM_BUCKETS ((HISTOGRAM_VALUE_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

static inline uint32_t histogram_index(uint64_t value)
{
	uint32_t shift;

	if (value >> HISTOGRAM_VALUE_BITS)
		return HISTOGRAM_BUCKETS - 1;
	/* | 32: below 64 the shift is 0. */
	shift = 58u - (uint32_t)__builtin_clzll(value | (1u << HISTOGRAM_SUB_BITS));
	return (shift << HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

/* The smallest value of a bucket; that of HISTOGRAM_BUCKETS is 2^42. */
static inline uint64_t histogram_low(uint32_t index)
{
	uint32_t shift = index >> HISTOGRAM_SUB_BITS;

	if (shift <= 1)
		return index;
	shift--;
	return (uint64_t)(index - (shift << HISTOGRAM_SUB_BITS)) << shift;
}

/* The value below which permille of total events lie (buckets[HISTOGRAM_BUCKETS], taken
 * in the middle of its bucket), or 0 when total is 0. */
uint64_t histogram_quantile(const uint64_t *buckets, uint64_t total, uint32_t permille);
#endif
