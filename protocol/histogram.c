#include "protocol/histogram.h"

uint64_t histogram_quantile(const uint64_t *buckets, uint64_t total, uint32_t permille)
{
	/* The rank of the wanted event, from 1, computed so that no total overflows. */
	uint64_t rank = total / 1000 * permille + (total % 1000 * permille + 999) / 1000;
	uint64_t seen = 0;

	if (total == 0)
		return 0;
	if (rank == 0)
		rank = 1;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += buckets[i];
		if (seen >= rank)
			return histogram_low(i) + (histogram_low(i + 1) - histogram_low(i)) / 2;
	}
	return histogram_low(HISTOGRAM_BUCKETS - 1);
}
