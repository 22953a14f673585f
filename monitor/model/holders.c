#include "monitor/model/holders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOLDERS_MAX = HOLDERS_BYTES / sizeof(struct model_holder) };

void apply_holders(struct model *model, const struct message_holders *message)
{
	const struct number *row = message->rows.numbers;

	model->is_in_tick = true;
	if (!model->samples)
		model->samples = model_take(model, HOLDERS_BYTES, ROOM_FIGURES);
	if (!model->holders)
		model->holders = model_take(model, HOLDERS_BYTES, ROOM_FIGURES);
	if (!model->samples || !model->holders || message->rows.count % HOLDER_NUMBERS != 0) {
		model_refuse(model);
		return;
	}
	if (message->part == 0) {
		model->sample_count = 0;
		model->holders_tick = message->tick;
		model->holders_part = 0;
	}
	/* When a part is lost, those after it are left out, too. */
	if (message->tick != model->holders_tick || message->part != model->holders_part)
		return;
	model->holders_part++;
	model->mean_bytes = message->mean_bytes;
	for (uint32_t i = 0; i < message->rows.count; i += HOLDER_NUMBERS, row += HOLDER_NUMBERS) {
		bool is_good = row[0].bits < LIMIT_SITES && row[1].bits <= UINT32_MAX && row[2].bits < LIMIT_SITES;

		for (int j = 0; j < HOLDER_NUMBERS; j++)
			is_good &= row[j].type == NUMBER_UINT;
		if (!is_good || model->sample_count == HOLDERS_MAX) {
			model_refuse(model);
			continue;
		}
		model->samples[model->sample_count++] = (struct model_holder){
			.type = (uint32_t)row[0].bits, .task = (uint32_t)row[1].bits, .tag = (uint32_t)row[2].bits,
			.drawn = { (double)row[3].bits, (double)row[4].bits, (double)row[5].bits * (double)row[5].bits },
		};
	}
}

uint64_t model_round(double value)
{
	return !(value >= 0) ? 0 : value < 0x1p63 ? (uint64_t)(value + 0.5) : value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

void live_add(struct live *into, const struct live *live)
{
	into->bytes += live->bytes;
	into->count += live->count;
	into->variance += live->variance;
	into->is_known |= live->is_known;
	into->is_rough |= live->is_rough;
}

static void drawn_add(struct drawn *into, const struct drawn *drawn)
{
	into->bytes += drawn->bytes;
	into->count += drawn->count;
	into->variance += drawn->variance;
}

/* Returns whether the samples of a pool stand for all that lives of it. They do not when a type was off for a while, or
 * when the addresses of some allocations are not told; then much more lives than they can stand for by chance. */
static bool is_covered(const struct pool *pool)
{
	return !pool->is_rough && pool->drawn.bytes > 0 &&
	       pool->bytes * 15 / 16 <= pool->drawn.bytes + 6 * sqrt(pool->drawn.variance);
}

/* Scales the estimate of a part of a pool so that all parts add up to what lives of the pool, which is known exactly. The
 * variance is that of a ratio, by the delta method. A part stays an estimate, even where it is all that was sampled, unless
 * no allocation can have been missed. */
static struct live part_of(const struct drawn *part, const struct pool *pool)
{
	double share, factor, variance;

	if (part->bytes <= 0 || part->count <= 0)
		return (struct live){ .is_known = true };
	if (!is_covered(pool))
		return (struct live){ part->bytes, part->count, part->variance, true, true };
	share = part->bytes / pool->drawn.bytes;
	factor = pool->bytes / pool->drawn.bytes;
	variance = factor * factor * ((1 - share) * (1 - share) * part->variance +
				      share * share * fmax(pool->drawn.variance - part->variance, 0));
	return (struct live){ part->bytes * factor, part->count * pool->count / pool->drawn.count,
			      variance, true, pool->drawn.variance > 0 };
}

static struct pool *pool_of(struct model *model, struct model_site *type)
{
	return type->detail == ALLOC_IS_FREED_ELSEWHERE ? &model->shared_pool : &type->pool;
}

/* Returns the allocation type with this id, or NULL. */
static struct model_site *type_of(const struct model *model, uint32_t id)
{
	struct model_site *site = model_find_site(model, id);

	return site && site->kind == SITE_ALLOC ? site : NULL;
}

static double unsampled(const struct pool *pool)
{
	double rest = is_covered(pool) ? 0 : pool->bytes - pool->drawn.bytes;

	return rest > 0 ? rest : 0;
}

static double difference(double in, double out)
{
	return in > out ? in - out : 0;
}

/* Begins a tick with what lives of each pool. It is exact: it does not depend on samples. */
static void pools_tick(struct model *model)
{
	double in = 0, out = 0, in_count = 0, out_count = 0;

	model->shared_pool = (struct pool){ 0 };
	for (uint32_t i = 0; i < model->sites.count; i++) {
		struct model_site *site = model->sites.items[i];

		if (!model_is_memory(site))
			continue;
		site->live = (struct live){ .is_known = model->holders };
		site->pool = (struct pool){ .is_rough = site->was_off };
		if (site->kind != SITE_ALLOC)
			continue;
		if (site->detail != ALLOC_IS_FREED_ELSEWHERE && site->detail != ALLOC_IS_FREES) {
			site->pool.bytes = difference((double)site->sum, (double)site->max);
			site->pool.count = difference((double)site->count, (double)site->min);
			site->live = (struct live){ site->pool.bytes, site->pool.count, 0, true, site->was_off };
			continue;
		}
		model->shared_pool.is_rough |= site->was_off;
		in += (double)site->sum;
		out += (double)site->max;
		in_count += (double)site->count;
		out_count += (double)site->min;
	}
	model->shared_pool.bytes = difference(in, out);
	model->shared_pool.count = difference(in_count, out_count);
}

static int by_tag_and_type(const void *a, const void *b)
{
	const struct model_holder *left = a, *right = b;

	if (left->tag != right->tag)
		return left->tag < right->tag ? -1 : 1;
	return (left->type > right->type) - (left->type < right->type);
}

/* Tags have no exact figure, so what lives of them is what was sampled of each type, scaled. */
static void tags_tick(struct model *model)
{
	for (uint32_t i = 0, next; i < model->holder_count; i = next) {
		const struct model_holder *holder = &model->holders[i];
		struct model_site *tag = model_find_site(model, holder->tag);
		struct model_site *type = type_of(model, holder->type);
		struct drawn drawn = { 0 };
		struct live part;

		for (next = i; next < model->holder_count && !by_tag_and_type(holder, &model->holders[next]); next++)
			drawn_add(&drawn, &model->holders[next].drawn);
		if (!tag || tag->kind != SITE_TAG || !type)
			continue;
		part = part_of(&drawn, pool_of(model, type));
		live_add(&tag->live, &part);
	}
}

/* Adds each row of the target to its type, pool, and pair of task and type. Until all are added, the live of a pair has
 * what was drawn. */
static void rows_add_up(struct model *model)
{
	for (uint32_t i = 0; i < model->holder_count; i++) {
		const struct model_holder *holder = &model->holders[i];
		struct model_site *type = type_of(model, holder->type);
		uint32_t task = model_find_task(model, holder->task) ? holder->task : TASK_ENDED;
		struct task_site *pair;

		if (!type)
			continue;
		drawn_add(&type->pool.drawn, &holder->drawn);
		if (pool_of(model, type) != &type->pool)
			drawn_add(&model->shared_pool.drawn, &holder->drawn);
		/* TASK_ALL: it is not told which task holds it. */
		pair = holder->task != TASK_ALL ? model_make_pair(model, task, holder->type) : NULL;
		if (!pair)
			continue;
		live_add(&pair->live, &(struct live){ holder->drawn.bytes, holder->drawn.count, holder->drawn.variance,
						      true, false });
	}
}

/* Adds up what lives of all types, and what of it no sample stands for. */
static void total_tick(struct model *model)
{
	const struct pool *shared = &model->shared_pool;
	struct model_totals *totals = &model->totals;

	totals->live = (struct live){ shared->bytes, shared->count, 0, true, shared->is_rough && shared->bytes > 0 };
	totals->unsampled_bytes = unsampled(shared);
	for (uint32_t i = 0; i < model->sites.count; i++) {
		const struct model_site *site = model->sites.items[i];
		struct live live = site->live;

		if (site->kind != SITE_ALLOC || site->detail == ALLOC_IS_FREED_ELSEWHERE)
			continue;
		live.is_rough &= site->count > 0;
		live_add(&totals->live, &live);
		totals->unsampled_bytes += unsampled(&site->pool);
	}
	if (!model->holders)
		totals->unsampled_bytes = 0;
}

void holders_tick(struct model *model)
{
	pools_tick(model);
	for (uint32_t i = 0; i < model->task_sites.count; i++) {
		struct task_site *pair = model->task_sites.items[i];

		pair->live = (struct live){ .is_known = model->holders };
	}
	model->holder_count = model->sample_count;
	if (model->holder_count > 0) {
		memcpy(model->holders, model->samples, model->holder_count * sizeof *model->holders);
		qsort(model->holders, model->holder_count, sizeof *model->holders, by_tag_and_type);
	}
	rows_add_up(model);
	for (uint32_t i = 0; i < model->sites.count; i++) {
		struct model_site *site = model->sites.items[i];

		if (site->kind == SITE_ALLOC && site->detail == ALLOC_IS_FREED_ELSEWHERE && model->holders)
			site->live = part_of(&site->pool.drawn, &model->shared_pool);
	}
	for (uint32_t i = 0; i < model->holder_count; i++) {
		struct model_holder *holder = &model->holders[i];
		struct model_site *type = type_of(model, holder->type);

		if (type)
			holder->live = part_of(&holder->drawn, pool_of(model, type));
	}
	for (uint32_t i = 0; i < model->task_sites.count; i++) {
		struct task_site *pair = model->task_sites.items[i];
		const struct drawn drawn = { pair->live.bytes, pair->live.count, pair->live.variance };

		if (drawn.bytes > 0)
			pair->live = part_of(&drawn, pool_of(model, type_of(model, pair->site)));
	}
	tags_tick(model);
	total_tick(model);
}
