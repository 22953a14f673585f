/* histogram.h -- the arena of histograms: of one site in one thread and task each.
 *
 * A histogram is HISTOGRAM_BUCKETS counts, and one word behind them: the number of the bucket
 * that the latest value is still to be counted in, plus 1; 0: none. */
#ifndef TELEM_EMITTER_RECORD_HISTOGRAM_H
#define TELEM_EMITTER_RECORD_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/histogram.h"

/* In place of that number: it is being written. */
#define HISTOGRAM_BUSY UINT64_MAX

/* The arena is spent; read without the lock. */
extern bool histograms_are_spent __attribute__((visibility("hidden")));

/* Zeroed, or NULL when the arena is spent. Locked. */
uint64_t *histogram_take(void);
void histogram_give(uint64_t *histogram);
/* Adds up what is in one, the late value too; its thread may go on writing. */
void histogram_add(uint64_t into[HISTOGRAM_BUCKETS], const uint64_t *histogram);
#endif
