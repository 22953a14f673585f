/* price.h -- what an event costs the program, by kind and level, in picoseconds.
 *
 * The prices are measured once, at the first reader (deliver/cost.c), and read while shards are
 * folded and costs are reported, always with the lock held. */
#ifndef TELEM_EMITTER_RECORD_PRICE_H
#define TELEM_EMITTER_RECORD_PRICE_H

#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/message.h"

typedef uint32_t price_table[SITE_KIND_COUNT][LEVEL_ALL + 1];

/* Returns the price, or 0 when it was not measured. */
uint32_t price_ps(unsigned kind, unsigned level);
void prices_set(const price_table measured);
/* Returns what streaming the events of a cell has cost, beyond their cost at level sum. */
uint64_t price_of_streaming_ps(const struct telem_cell *cell, unsigned kind);
#endif
