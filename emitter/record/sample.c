#include "emitter/record/sample.h"

#include <errno.h>

#include "emitter/core/api.h"
#include "emitter/core/clock.h"
#include "emitter/core/memory.h"
#include "protocol/limits.h"

#define SAMPLE_TAKEN 1u
#define SHIFT_FIRST 10u              /* 1 KiB */
#define SHIFT_MAX 40u
/* An address is in one of so many places from its home on. In a table that is half full, all of them are taken about once
 * in 30,000 samples, by measurement. */
#define NEIGHBOURS 32u
#define SWEEP_STEP 8u                /* places that each new sample thins */
/* At most so many samples a second are wanted: a birth and a death take about 0.2 us together. The rate is looked at
 * once in RATE_SAMPLES, so that the beginning of a program may be sampled more densely. */
#define RATE_PER_S 20000u
#define RATE_SAMPLES 4096u

/* Each sample adds one to the counter of its address, so that a free knows from one load that its allocation was not
 * sampled. Collisions cost a search. */
uint8_t telem_sampled_[TELEM_SAMPLED_ROOM_];

static struct {
	uint64_t *places;
	struct sample *samples;      /* what is known of the allocation in the place of the same number */
	uint32_t room;               /* places in all, a power of two */
	uint32_t live;               /* atomic */
	/* The shift, in the upper half, and how many places it has thinned (room: all), which change together; atomic. */
	uint64_t sweep;
	uint32_t births;             /* atomic */
	uint64_t births_from;        /* stamp of the last birth that completed RATE_SAMPLES; atomic */
	uint64_t used[LIMIT_SAMPLES_MAX * sizeof(struct sample) / 4096 / 64];    /* a bit for each page in use; atomic */
} table = { .sweep = (uint64_t)SHIFT_FIRST << 32 };

static uint32_t wanted_room = LIMIT_SAMPLES_DEFAULT;

int samples_room(uint64_t count)
{
	if (count < LIMIT_SAMPLES_MIN || count > LIMIT_SAMPLES_MAX)
		return -EINVAL;
	wanted_room = LIMIT_SAMPLES_MIN;
	while (wanted_room < count)
		wanted_room *= 2;
	return 0;
}

void samples_begin(void)
{
	uint64_t *pages;

	if (table.places)
		return;
	pages = memory_reserve_most(sizeof *table.places + sizeof *table.samples, &wanted_room, LIMIT_SAMPLES_MIN);
	if (!pages)
		return;
	table.samples = (struct sample *)(pages + wanted_room);
	table.room = wanted_room;
	table.sweep |= wanted_room;
	__atomic_store_n(&table.places, pages, __ATOMIC_RELEASE);
}

/* ---- chance ---- */

/* splitmix64 of G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t random_bits(struct sampler *sampler)
{
	uint64_t z = sampler->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Returns a number from 0 up to, but not including, 1. */
static double random_unit(struct sampler *sampler)
{
	return (double)(random_bits(sampler) >> 11) * 0x1p-53;
}

/* Both functions are here because a program that links the static library need not link libm. */

/* Returns -ln of a random number between 0 and 1, to seven digits. */
static double random_exponential(struct sampler *sampler)
{
	uint64_t bits = random_bits(sampler) | 1;
	int zeros = __builtin_clzll(bits);
	/* The number is m 2^-zeros with m from 0.5 to 1, and ln m is the series of 2 artanh z. */
	double m = (double)(bits << zeros) * 0x1p-64, z = (m - 1) / (m + 1), zz = z * z;
	double series = 1 + zz * (1.0 / 3 + zz * (1.0 / 5 + zz * (1.0 / 7 + zz * (1.0 / 9 + zz / 11))));

	return zeros * 0.693147180559945309 - 2 * z * series;
}

/* Returns 1 - e^-x for x of at least 0. */
static double one_minus_exp(double x)
{
	double t, rest;

	if (x > 40)
		return 1;
	/* The series is for a 64th of x, where it needs few terms. Doubling it keeps small results exact:
	 * 1 - (1 - r)^2 = r (2 - r). */
	t = x / 64;
	rest = t * (1 - t / 2 * (1 - t / 3 * (1 - t / 4 * (1 - t / 5 * (1 - t / 6)))));
	for (int i = 0; i < 6; i++)
		rest *= 2 - rest;
	return rest;
}

static double mean_bytes(uint32_t shift)
{
	return (double)(1ull << shift);
}

double sample_probability(uint64_t bytes, uint32_t shift)
{
	return one_minus_exp((double)bytes / mean_bytes(shift));
}

/* Returns whether a sample of shift `from` is one of shift `to` as well. */
static bool survives(struct sampler *sampler, uint64_t bytes, uint32_t from, uint32_t to)
{
	return from >= to || random_unit(sampler) * sample_probability(bytes, from) < sample_probability(bytes, to);
}

uint32_t samples_shift(void)
{
	return (uint32_t)(__atomic_load_n(&table.sweep, __ATOMIC_RELAXED) >> 32);
}

int64_t sampler_distance(struct sampler *sampler)
{
	if (sampler->random == 0)
		sampler->random = telem_stamp() ^ (uint64_t)(uintptr_t)sampler;
	sampler->shift = samples_shift();
	return (int64_t)(random_exponential(sampler) * mean_bytes(sampler->shift));
}

bool sampler_keeps(struct sampler *sampler, uint64_t bytes, int64_t *distance)
{
	uint32_t drawn_with = sampler->shift;

	*distance = sampler_distance(sampler);
	return survives(sampler, bytes, drawn_with, sampler->shift);
}

uint64_t sampler_weight(struct sampler *sampler, const struct sample *sample)
{
	return (uint64_t)(1 / sample_probability(sample->bytes, sample->shift) + random_unit(sampler));
}

/* ---- the table ---- */

static uint8_t *counter_of(uint64_t address)
{
	return &telem_sampled_[TELEM_SAMPLED_AT_(address)];
}

static uint32_t place_of(uint64_t address, uint32_t neighbour)
{
	return (uint32_t)((address * 0x9e3779b97f4a7c15u >> 32) + neighbour) & (table.room - 1);
}

static uint64_t *places(void)
{
	return __atomic_load_n(&table.places, __ATOMIC_ACQUIRE);
}

static bool change(uint64_t *place, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(place, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* The members are atomic, because a reader may come while they are written, and finds out afterwards. */
static struct sample sample_read(uint32_t at)
{
	const struct sample *sample = &table.samples[at];

	return (struct sample){
		__atomic_load_n(&sample->address, __ATOMIC_ACQUIRE),
		__atomic_load_n(&sample->born_ticks, __ATOMIC_ACQUIRE),
		__atomic_load_n(&sample->bytes, __ATOMIC_ACQUIRE), __atomic_load_n(&sample->task, __ATOMIC_ACQUIRE),
		__atomic_load_n(&sample->type, __ATOMIC_ACQUIRE), __atomic_load_n(&sample->tag, __ATOMIC_ACQUIRE),
		__atomic_load_n(&sample->shift, __ATOMIC_ACQUIRE),
	};
}

static void sample_write(uint32_t at, const struct sample *from)
{
	struct sample *sample = &table.samples[at];

	__atomic_store_n(&sample->address, from->address, __ATOMIC_RELAXED);
	__atomic_store_n(&sample->born_ticks, from->born_ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&sample->bytes, from->bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&sample->task, from->task, __ATOMIC_RELAXED);
	__atomic_store_n(&sample->type, from->type, __ATOMIC_RELAXED);
	__atomic_store_n(&sample->tag, from->tag, __ATOMIC_RELAXED);
	__atomic_store_n(&sample->shift, from->shift, __ATOMIC_RELAXED);
}

/* Reads the sample in a place. Returns false when there is none, or when it changed meanwhile, so that what was read may be
 * parts of two. */
static bool read_whole(uint32_t at, struct sample *out)
{
	const uint64_t *place = &places()[at];
	uint64_t there = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (there <= SAMPLE_TAKEN)
		return false;
	*out = sample_read(at);
	return __atomic_load_n(place, __ATOMIC_RELAXED) == there && out->address == there;
}

/* Empties a place that the caller has taken. */
static void empty(uint64_t *place, uint64_t address)
{
	__atomic_store_n(place, 0, __ATOMIC_RELEASE);
	__atomic_fetch_sub(counter_of(address), 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&table.live, 1, __ATOMIC_RELAXED);
}

/* Counts the pages that a place uses, when it is the first one there to be used. */
static void use(uint32_t at)
{
	uint32_t page = at * (uint32_t)sizeof(struct sample) / 4096;
	uint64_t bit = 1ull << page % 64;

	if (!(__atomic_load_n(&table.used[page / 64], __ATOMIC_RELAXED) & bit) &&
	    !(__atomic_fetch_or(&table.used[page / 64], bit, __ATOMIC_RELAXED) & bit))
		memory_use(4096 + 4096 * sizeof *table.places / sizeof(struct sample));
}

/* Gives a sample of an earlier shift its chance to stay. One that stays is not taken for that, because another thread may
 * be freeing it. */
static void thin(uint32_t at, uint32_t shift, struct sampler *sampler)
{
	struct sample sample;

	if (!read_whole(at, &sample) || sample.shift >= shift)
		return;
	if (survives(sampler, sample.bytes, sample.shift, shift))
		/* It fails when the place has another sample by now, unless that one is of the same shift, which is rare. */
		__atomic_compare_exchange_n(&table.samples[at].shift, &sample.shift, shift, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	else if (change(&places()[at], sample.address, SAMPLE_TAKEN))
		empty(&places()[at], sample.address);
}

/* Raises the shift, of which `swept` places are thinned, unless another thread has done something meanwhile. */
static bool raise_shift(uint64_t seen, uint32_t swept)
{
	uint64_t shift = seen >> 32;

	shift += shift < SHIFT_MAX;
	return __atomic_compare_exchange_n(&table.sweep, &seen, shift << 32 | swept, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/* Thins a part of the table. When all of it is thinned and half of it is still full, the shift is raised and thinning
 * begins anew. Each birth does some, so that no call takes long. */
static void sweep(struct sampler *sampler)
{
	uint64_t sweep = __atomic_load_n(&table.sweep, __ATOMIC_RELAXED);
	uint32_t from;

	if ((uint32_t)sweep >= table.room &&
	    (__atomic_load_n(&table.live, __ATOMIC_RELAXED) < table.room / 2 || !raise_shift(sweep, 0)))
		return;
	sweep = __atomic_fetch_add(&table.sweep, SWEEP_STEP, __ATOMIC_RELAXED);
	from = (uint32_t)sweep;
	for (uint32_t at = from; at < from + SWEEP_STEP && at < table.room; at++)
		thin(at, (uint32_t)(sweep >> 32), sampler);
}

static void pace(uint64_t now)
{
	uint64_t from, sweep;

	if (__atomic_add_fetch(&table.births, 1, __ATOMIC_RELAXED) % RATE_SAMPLES != 0)
		return;
	from = __atomic_exchange_n(&table.births_from, now, __ATOMIC_RELAXED);
	if (from && now > from && clock_duration_ns(now - from) < RATE_SAMPLES * (1000000000ull / RATE_PER_S)) {
		sweep = __atomic_load_n(&table.sweep, __ATOMIC_RELAXED);
		raise_shift(sweep, (uint32_t)sweep);
	}
}

bool sample_take(uint64_t address, struct sample *out)
{
	if (!places() || address <= SAMPLE_TAKEN)
		return false;
	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		uint32_t at = place_of(address, i);
		uint64_t *place = &places()[at];

		if (__atomic_load_n(place, __ATOMIC_RELAXED) == address && change(place, address, SAMPLE_TAKEN)) {
			*out = sample_read(at);
			empty(place, address);
			return true;
		}
	}
	return false;
}

void sample_put(const struct sample *sample, struct sampler *sampler)
{
	uint64_t address = sample->address;
	uint8_t *counter = counter_of(address);
	struct sample stale;

	if (!places() || address <= SAMPLE_TAKEN || sample->bytes == 0)
		return;
	/* This very address may be there, if its free was not recorded. */
	if (__atomic_load_n(counter, __ATOMIC_RELAXED) > 0)
		sample_take(address, &stale);
	for (uint32_t i = 0; i < NEIGHBOURS && __atomic_load_n(counter, __ATOMIC_RELAXED) < UINT8_MAX / 2; i++) {
		uint32_t at = place_of(address, i);
		uint64_t *place = &places()[at];

		if (__atomic_load_n(place, __ATOMIC_RELAXED) != 0 || !change(place, 0, SAMPLE_TAKEN))
			continue;
		use(at);
		sample_write(at, sample);
		__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&table.live, 1, __ATOMIC_RELAXED);
		__atomic_store_n(place, address, __ATOMIC_RELEASE);
		break;
	}
	sweep(sampler);
	pace(sample->born_ticks);
}

bool samples_next(uint32_t *at, struct sample *out)
{
	while (*at < table.room && __atomic_load_n(&table.live, __ATOMIC_RELAXED) > 0)
		if (read_whole((*at)++, out))
			return true;
	return false;
}

void samples_forget(bool (*is_gone)(uint32_t type))
{
	struct sample sample;
	uint32_t at = 0;

	while (samples_next(&at, &sample))
		if (is_gone(sample.type))
			sample_take(sample.address, &sample);
}

void samples_forget_all(void)
{
	for (uint32_t i = 0; i < table.room; i++)
		if (table.places[i])
			table.places[i] = 0;
	for (uint32_t i = 0; i < TELEM_SAMPLED_ROOM_; i++)
		if (telem_sampled_[i])
			telem_sampled_[i] = 0;
	table.live = 0;
	table.sweep = table.sweep >> 32 << 32 | table.room;
}
