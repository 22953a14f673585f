/* sample.h -- the table of sampled allocations that live.
 *
 * A place of the table is an address in telem_samples_, where every free looks; what is known of
 * it lies beside. Whoever puts SAMPLE_TAKEN there owns the place: a birth that finds none, the
 * death of that address, or a birth that drives out one that has lived long. Any thread. */
#ifndef TELEM_EMITTER_RECORD_SAMPLE_H
#define TELEM_EMITTER_RECORD_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"

#define SAMPLE_TAKEN 1u
#define SAMPLE_MEAN 64u              /* allocations to a sample; a power of two */

struct sample { uint64_t born_ticks, bytes; uint32_t site; int task; };

/* What lies beside a place, while it may be written. */
struct sample sample_at(const uint64_t *place);
/* The owner of a place writes what lies beside it. */
void sample_put(const uint64_t *place, struct sample sample);
/* Allocations from one sample to the next. */
uint32_t sample_distance(void);

struct sample_info { struct sample sample; uint64_t address; };
/* Copies the next sampled allocation that lives, of a task (0: any), from place *at on; false: no
 * more. */
bool samples_next(uint32_t *at, int task, struct sample_info *out);
/* The ends of all were not recorded: the class was off, or telemetry. */
void samples_forget(void);
#endif
