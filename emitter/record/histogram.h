/* histogram.h -- the memory of histograms. Each is of one site in one thread and task.
 *
 * A histogram is HISTOGRAM_BUCKETS counts and one word behind them. The latest value is not counted yet: the word says
 * in which bucket it belongs, as that bucket's number plus 1. 0 means that all values are counted. */
#ifndef TELEM_EMITTER_RECORD_HISTOGRAM_H
#define TELEM_EMITTER_RECORD_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/histogram.h"

/* The value of that word while the histogram is being written. */
#define HISTOGRAM_BUSY UINT64_MAX

/* Whether no memory is left for histograms; read without the lock. */
extern bool histograms_are_spent __attribute__((visibility("hidden")));

/* Returns a zeroed histogram, or NULL when no memory is left. Call with the lock held. */
uint64_t *histogram_take(void);
void histogram_give(uint64_t *histogram);
/* Adds a histogram to `into`, also its latest value. Its thread may go on writing. */
void histogram_add(uint64_t into[HISTOGRAM_BUCKETS], const uint64_t *histogram);
#endif
