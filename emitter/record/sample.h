/* sample.h -- a random sample of the live allocations, from which readers estimate who holds the memory.
 *
 * Each byte that the program allocates is drawn with the same chance, one in 2^shift, and an allocation with a drawn byte
 * is kept here until its address is freed, by whatever thread. So an allocation of s bytes is kept with probability
 * p = 1 - exp(-s / 2^shift), and stands for 1 / p allocations: sums over the sample, each weighted with its own 1 / p,
 * are estimates without bias, whoever allocates and frees (D. G. Horvitz and D. J. Thompson, "A generalization of
 * sampling without replacement from a finite universe", 1952). The distances between drawn bytes are exponential, as in
 * tcmalloc (docs/sampling.md), in jemalloc (doc_internal/PROFILING_INTERNALS.md) and in Go's heap profiler
 * (runtime/malloc.go, nextSample).
 *
 * When the table is half full, the shift is raised by one and each sample stays with the probability at which it would
 * have been kept under the new shift. The shift is also raised while allocations are drawn so often that it would cost
 * the program noticeable time.
 *
 * A place of the table is a word that holds the address of an allocation. A thread that puts SAMPLE_TAKEN into a place
 * owns it for the moment. Any thread, no lock, also in signal handlers, except where a comment says otherwise. */
#ifndef TELEM_EMITTER_RECORD_SAMPLE_H
#define TELEM_EMITTER_RECORD_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct sample {
	uint64_t address, born_ticks, bytes;
	int task;
	uint32_t type, tag;          /* ids of sites; tag 0: none */
	uint32_t shift;              /* the one for which its probability holds */
};

/* Of one thread, which alone reads and writes it. */
struct sampler { uint64_t random; uint32_t shift; };

/* Makes the table if there is none, with room for the number of samples that the settings ask for. Without memory there
 * is none, and nothing is sampled. Call with the lock held. */
void samples_begin(void);
/* Sets how many samples the table has room for. Returns 0, or -EINVAL for less than LIMIT_SAMPLES_MIN or more than
 * LIMIT_SAMPLES_MAX. It holds for the first start. */
int samples_room(uint64_t count);

/* Draws how many bytes the thread allocates from now on before the next one is drawn. */
int64_t sampler_distance(struct sampler *sampler);
/* An allocation of so many bytes has a drawn byte: returns whether it is kept, and draws the next distance. */
bool sampler_keeps(struct sampler *sampler, uint64_t bytes, int64_t *distance);
/* Returns 1 / p of a sample, rounded to a whole number at random, so that the mean is right. */
uint64_t sampler_weight(struct sampler *sampler, const struct sample *sample);
/* Returns p of an allocation of so many bytes. */
double sample_probability(uint64_t bytes, uint32_t shift);

/* Puts an allocation that is kept into the table. Where there is no room for it, it is lost. */
void sample_put(const struct sample *sample, struct sampler *sampler);
/* Takes the allocation at this address out of the table. Returns false when it is not there. */
bool sample_take(uint64_t address, struct sample *out);
/* Copies the next live sample, from place *at on. Returns false when there are no more. */
bool samples_next(uint32_t *at, struct sample *out);
uint32_t samples_shift(void);
/* Empties the table of the samples of all types for which is_gone() returns true, because their frees are not recorded
 * while their type, or telemetry, is off. */
void samples_forget(bool (*is_gone)(uint32_t type));
/* Empties it in the child of fork(), where no other thread runs. */
void samples_forget_all(void);
#endif
