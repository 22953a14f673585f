#include "monitor/model/held.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_group_and_age(const void *a, const void *b)
{
	const struct held_sample *left = a, *right = b;
	int order = compare(left->type, right->type);

	if (!order)
		order = compare(left->task, right->task);
	if (!order)
		order = compare(left->tag, right->tag);
	return order ? order : compare(left->born_ns, right->born_ns);
}

static bool is_of(const struct held_sample *sample, const struct held_group *group)
{
	return sample->type == group->type && sample->task == group->task && sample->tag == group->tag;
}

uint64_t held_time_ns(const struct model *model, const struct held_sample *samples, uint32_t count)
{
	uint64_t now_ns = model_time_ns(model);

	for (uint32_t i = 0; i < count; i++)
		now_ns = samples[i].born_ns > now_ns ? samples[i].born_ns : now_ns;
	return now_ns;
}

void held_sort(struct held_sample *samples, uint32_t count)
{
	if (count > 0)
		qsort(samples, count, sizeof *samples, by_group_and_age);
}

/* Returns the index of the group's oldest sample, or where it would be. */
static uint32_t first_of(const struct held_sample *samples, uint32_t count, const struct held_group *group)
{
	const struct held_sample wanted = { .type = group->type, .task = group->task, .tag = group->tag };
	uint32_t from = 0, to = count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (by_group_and_age(&samples[middle], &wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* samples are those of the group, oldest first. */
static void ages(struct held_group *group, const struct held_sample *samples, uint64_t now_ns)
{
	double weight = 0, half = 0;
	uint32_t middle = 0;

	for (uint32_t i = 0; i < group->sample_count; i++)
		weight += samples[i].weight;
	while (middle + 1 < group->sample_count && half + samples[middle].weight < weight / 2)
		half += samples[middle++].weight;
	group->oldest_ns = now_ns - samples[0].born_ns;
	group->median_ns = now_ns - samples[middle].born_ns;
}

static int most_bytes_first(const void *a, const void *b)
{
	const struct held_group *left = a, *right = b;

	return (left->live.bytes < right->live.bytes) - (left->live.bytes > right->live.bytes);
}

int held_groups(const struct model *model, const struct held_sample *samples, uint32_t count, struct held_group **out)
{
	uint32_t group_count = model_holder_count(model);
	uint64_t now_ns = held_time_ns(model, samples, count);
	struct held_group *groups = calloc(group_count + 1, sizeof *groups);

	*out = groups;
	if (!groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < group_count; i++) {
		const struct model_holder *holder = model_holder(model, i);
		struct held_group *group = &groups[i];
		uint32_t from, end;

		*group = (struct held_group){ .type = holder->type, .task = holder->task, .tag = holder->tag,
					      .live = holder->live };
		from = first_of(samples, count, group);
		for (end = from; end < count && is_of(&samples[end], group); end++)
			;
		group->sample_count = end - from;
		if (group->sample_count > 0)
			ages(group, &samples[from], now_ns);
	}
	qsort(groups, group_count, sizeof *groups, most_bytes_first);
	return (int)group_count;
}
