/* held.h -- the live sampled allocations of a program, by type, task and tag. */
#ifndef TELEM_MONITOR_MODEL_HELD_H
#define TELEM_MONITOR_MODEL_HELD_H

#include <stdint.h>

#include "monitor/model/model.h"

struct held_sample {
	uint32_t type, task, tag;    /* tag 0: none */
	uint64_t bytes, born_ns, address;
	double weight;               /* it stands for so many allocations */
};

/* The samples of one type, task and tag. */
struct held_group {
	uint32_t type, task, tag;
	struct live live;            /* as the model has it */
	uint64_t oldest_ns, median_ns;       /* ages; the median is of all allocations that the samples stand for */
	uint32_t sample_count;       /* 0: its samples ended between the tick and the answer, so ages are not known */
};

/* When the samples were asked for, which may be after the newest tick: at least when the youngest of them was born. */
uint64_t held_time_ns(const struct model *model, const struct held_sample *samples, uint32_t count);
/* Sorts samples by group and age, as held_groups() needs them. */
void held_sort(struct held_sample *samples, uint32_t count);
/* Makes an array of the groups that the model knows, those with the most bytes first; free() it. Returns their number, or
 * -ENOMEM. */
int held_groups(const struct model *model, const struct held_sample *samples, uint32_t count, struct held_group **out);
#endif
