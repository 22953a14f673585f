#include "emitter/record/histogram.h"

#include <string.h>

#include "emitter/core/memory.h"
#include "protocol/limits.h"

/* A histogram fills whole cache lines: the words behind the buckets are one line. */
#define HISTOGRAM_WORDS (HISTOGRAM_BUCKETS + 8)
#define HISTOGRAM_BYTES (HISTOGRAM_WORDS * sizeof(uint64_t))
#define HISTOGRAMS_A_STEP 16u

static uint64_t *free_histograms;    /* linked through their first word */
static uint32_t histogram_count;
bool histograms_are_spent;

uint64_t *histogram_take(void)
{
	uint64_t *taken;

	if (!free_histograms) {
		uint64_t *step = histogram_count + HISTOGRAMS_A_STEP <= LIMIT_HISTOGRAMS
					 ? memory_map(HISTOGRAM_BYTES * HISTOGRAMS_A_STEP) : NULL;

		if (!step) {
			__atomic_store_n(&histograms_are_spent, true, __ATOMIC_RELAXED);
			return NULL;
		}
		histogram_count += HISTOGRAMS_A_STEP;
		for (uint32_t i = 0; i < HISTOGRAMS_A_STEP; i++) {
			uint64_t *one = step + (size_t)i * HISTOGRAM_WORDS;

			*(uint64_t **)(void *)one = free_histograms;
			free_histograms = one;
		}
	}
	taken = free_histograms;
	free_histograms = *(uint64_t **)(void *)taken;
	*(uint64_t **)(void *)taken = NULL;
	return taken;
}

void histogram_give(uint64_t *histogram)
{
	memset(histogram, 0, HISTOGRAM_BYTES);
	*(uint64_t **)(void *)histogram = free_histograms;
	free_histograms = histogram;
	__atomic_store_n(&histograms_are_spent, false, __ATOMIC_RELAXED);
}

void histogram_add(uint64_t into[HISTOGRAM_BUCKETS], const uint64_t *buckets)
{
	uint64_t late;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		into[i] += __atomic_load_n(&buckets[i], __ATOMIC_RELAXED);
	late = __atomic_load_n(&buckets[HISTOGRAM_BUCKETS], __ATOMIC_RELAXED);
	if (late != 0 && late != HISTOGRAM_BUSY)
		into[late - 1]++;
}
