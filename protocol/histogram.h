/* histogram.h -- log-linear buckets, the same in the program and in the monitor.
 *
 * Every doubling of the value has 32 buckets. Values below 64 are exact; above, a bucket is at most
 * 3.2 % wide, up to 2^42; larger values are counted in the last bucket. This is HdrHistogram's
 * scheme with one fixed precision. */
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
	/* With bit 5 set, values below 64 get a shift of 0. */
	shift = 58u - (uint32_t)__builtin_clzll(value | (1u << HISTOGRAM_SUB_BITS));
	return (shift << HISTOGRAM_SUB_BITS) + (uint32_t)(value >> shift);
}

/* The smallest value of a bucket. For index HISTOGRAM_BUCKETS, one past the last, it is 2^42. */
static inline uint64_t histogram_low(uint32_t index)
{
	uint32_t shift = index >> HISTOGRAM_SUB_BITS;

	if (shift <= 1)
		return index;
	shift--;
	return (uint64_t)(index - (shift << HISTOGRAM_SUB_BITS)) << shift;
}

/* The value that permille / 1000 of the events do not exceed; it is the middle of its bucket.
 * buckets has HISTOGRAM_BUCKETS counts, total is their sum; 0 when total is 0. */
uint64_t histogram_quantile(const uint64_t *buckets, uint64_t total, uint32_t permille);
#endif
