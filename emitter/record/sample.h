/* sample.h -- the table of sampled allocations that are not yet freed.
 *
 * A place of the table is a word of telem_samples_, which holds the address of the allocation, and which every free
 * reads. A second array holds what is known of the allocation. A thread that puts SAMPLE_TAKEN into a place owns it:
 * for an allocation that finds the place empty, for the free of that address, or for an allocation that replaces one
 * which has lived for long. Any thread. */
#ifndef TELEM_EMITTER_RECORD_SAMPLE_H
#define TELEM_EMITTER_RECORD_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"

#define SAMPLE_TAKEN 1u
#define SAMPLE_MEAN 64u              /* allocations to a sample; a power of two */

struct sample { uint64_t born_ticks, bytes; uint32_t site; int task; };

/* Reads what is known of the allocation in a place, while another thread may be writing it. */
struct sample sample_at(const uint64_t *place);
/* Writes what is known of the allocation. Called by the owner of the place. */
void sample_put(const uint64_t *place, struct sample sample);
/* Returns how many allocations there are from one sample to the next. */
uint32_t sample_distance(void);

struct sample_info { struct sample sample; uint64_t address; };
/* Copies the next sampled allocation of a task, or of any task when it is 0, from place *at on. Returns false when
 * there are no more. */
bool samples_next(uint32_t *at, int task, struct sample_info *out);
/* Empties the table, because their frees were not recorded while the class, or telemetry, was off. */
void samples_forget(void);
#endif
