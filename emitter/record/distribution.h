/* distribution.h -- values that stand for more than one. */
#ifndef TELEM_EMITTER_RECORD_DISTRIBUTION_H
#define TELEM_EMITTER_RECORD_DISTRIBUTION_H

#include <stdint.h>

struct telem_site;

/* Counts a value that stands for `weight` values. It is never streamed, because it is not one event. Any thread, for its
 * own cells. */
void distribution_add(struct telem_site *site, uint64_t value, uint64_t weight);
#endif
