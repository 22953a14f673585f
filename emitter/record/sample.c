#include "emitter/record/sample.h"

uint64_t telem_samples_[TELEM_SAMPLES_];
static struct sample samples[TELEM_SAMPLES_];

struct sample sample_at(const uint64_t *place)
{
	const struct sample *sample = &samples[place - telem_samples_];

	return (struct sample){
		__atomic_load_n(&sample->born_ticks, __ATOMIC_ACQUIRE),
		__atomic_load_n(&sample->bytes, __ATOMIC_ACQUIRE),
		__atomic_load_n(&sample->site, __ATOMIC_ACQUIRE), __atomic_load_n(&sample->task, __ATOMIC_ACQUIRE),
	};
}

void sample_put(const uint64_t *place, struct sample sample)
{
	struct sample *beside = &samples[place - telem_samples_];

	__atomic_store_n(&beside->born_ticks, sample.born_ticks, __ATOMIC_RELAXED);
	__atomic_store_n(&beside->bytes, sample.bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&beside->site, sample.site, __ATOMIC_RELAXED);
	__atomic_store_n(&beside->task, sample.task, __ATOMIC_RELAXED);
}

uint32_t sample_distance(void)
{
	/* The distance is random, between 0 and twice the mean, because a fixed one could coincide with a loop of the
	 * program. */
	return (uint32_t)(telem_stamp() * 0x9e3779b97f4a7c15u >> 40) % (2 * SAMPLE_MEAN - 1);
}

bool samples_next(uint32_t *at, int task, struct sample_info *out)
{
	while (*at < TELEM_SAMPLES_) {
		const uint64_t *place = &telem_samples_[(*at)++];
		uint64_t there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		struct sample sample = sample_at(place);

		/* The place has changed meanwhile, so what was read may be parts of two samples. */
		if (there <= SAMPLE_TAKEN || __atomic_load_n(place, __ATOMIC_RELAXED) != there)
			continue;
		*out = (struct sample_info){ sample, there };
		if (task == 0 || task == sample.task)
			return true;
	}
	return false;
}

void samples_forget(void)
{
	for (uint32_t i = 0; i < TELEM_SAMPLES_; i++) {
		uint64_t there = __atomic_load_n(&telem_samples_[i], __ATOMIC_RELAXED);

		if (there > SAMPLE_TAKEN)
			__atomic_compare_exchange_n(&telem_samples_[i], &there, 0, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
}
