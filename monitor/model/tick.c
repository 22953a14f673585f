#include "monitor/model/tick.h"

#include <math.h>
#include <string.h>

#include "monitor/model/define.h"
#include "monitor/model/holders.h"

void window_add(const struct model_site *site, int64_t second, int window_s, uint64_t *buckets)
{
	for (int64_t at = second; site->deltas && at > second - window_s && at >= 0; at--)
		for (const struct delta *delta = site->deltas[at % MODEL_WINDOW_S_MAX]; delta; delta = delta->next)
			for (uint32_t i = 0; delta->second == at && i < delta->pair_count; i++)
				buckets[delta->pairs[i].index] += delta->pairs[i].count;
}

static void quantiles_of(const uint64_t *buckets, const struct model_site *site, struct quantiles *out)
{
	static const uint32_t permille[] = { 500, 900, 990, 999 };
	uint64_t *quantile[] = { &out->p50, &out->p90, &out->p99, &out->p999 };
	uint32_t low = 0, high = HISTOGRAM_BUCKETS;

	*out = (struct quantiles){ 0 };
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		out->count = sum_of(out->count, buckets[i]);
	if (out->count == 0)
		return;
	while (low < HISTOGRAM_BUCKETS - 1 && buckets[low] == 0)
		low++;
	while (high > low + 1 && buckets[high - 1] == 0)
		high--;
	/* The exact minimum and maximum are known of the whole run only. Those of a window are the edges of its
	 * outermost buckets, where the run's are not narrower; the last bucket has no upper edge. */
	out->min = histogram_low(low) > site->min ? histogram_low(low) : site->min;
	out->max = high < HISTOGRAM_BUCKETS && histogram_low(high) - 1 < site->max ? histogram_low(high) - 1 : site->max;
	if (out->min > out->max)
		out->min = out->max;
	for (int i = 0; i < 4; i++) {
		uint64_t middle = histogram_quantile(buckets, out->count, permille[i]);

		*quantile[i] = middle < out->min ? out->min : middle > out->max ? out->max : middle;
	}
}

void site_window(const struct model *model, struct model_site *site)
{
	uint64_t buckets[HISTOGRAM_BUCKETS];
	double elapsed_s = (double)(model->time_ns - model->since_ns) / 1e9, interval_s = (double)model->interval_ns / 1e9;
	double window_s = model->window_s > interval_s ? model->window_s : interval_s;

	if (!site->buckets || !model_window_buckets(model, site, buckets)) {
		site->window = (struct quantiles){ .count = site->count, .min = site->min, .max = site->max,
						   .rate_per_s = site->rate_per_s };
		return;
	}
	quantiles_of(buckets, site, &site->window);
	if (window_s > elapsed_s)
		window_s = elapsed_s;
	site->window.rate_per_s = model->window_s == 0 || window_s <= 0 ? site->rate_per_s
									: (double)site->window.count / window_s;
}

void site_mark_window(const struct model *model, struct model_site *site)
{
	int64_t second = (int64_t)(model->mark_ns / 1000000000u), from = second - model->window_s;
	uint64_t buckets[HISTOGRAM_BUCKETS] = { 0 };

	site->mark = (struct quantiles){ 0 };
	/* What the whole run was at the mark is not remembered, nor are seconds that have gone. */
	if (model->window_s == 0 || !site->deltas || (site->forgotten_second && site->forgotten_second > from) ||
	    model_second(model) - from > MODEL_WINDOW_S_MAX)
		return;
	window_add(site, second, model->window_s, buckets);
	quantiles_of(buckets, site, &site->mark);
}

static uint32_t heat_row(uint32_t bucket)
{
	uint64_t low = histogram_low(bucket);
	uint32_t octave = low < 64 ? 0 : (uint32_t)(58 - __builtin_clzll(low));

	return octave < MODEL_HEAT_ROWS ? octave : MODEL_HEAT_ROWS - 1;
}

static void heat_add(struct heat *heat, const uint64_t *added, int64_t second)
{
	int64_t clear = heat->last_second + 1;

	if (second - clear >= MODEL_WINDOW_S_MAX)
		clear = second - MODEL_WINDOW_S_MAX + 1;
	for (; clear <= second; clear++)
		memset(heat->counts[clear % MODEL_WINDOW_S_MAX], 0, sizeof *heat->counts);
	heat->last_second = second;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint32_t *count = &heat->counts[second % MODEL_WINDOW_S_MAX][heat_row(i)];

		*count = u32(sum_of(*count, added[i]));
	}
}

/* Remembers what a tick added, for windows. When there is no room, the site's oldest seconds are freed. */
static void delta_add(struct model *model, struct model_site *site, const uint64_t *added, int64_t second)
{
	struct delta *delta, **slot = &site->deltas[second % MODEL_WINDOW_S_MAX];
	uint32_t pair_count = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		pair_count += added[i] > 0;
	if (*slot && (*slot)->second != second) {
		model_deltas_free(model, *slot);
		*slot = NULL;
	}
	delta = model_take(model, model_delta_bytes(pair_count), ROOM_WINDOWS);
	for (int64_t age = MODEL_WINDOW_S_MAX - 1; !delta && age > 0; age--) {
		struct delta **old = &site->deltas[(second + MODEL_WINDOW_S_MAX - age) % MODEL_WINDOW_S_MAX];

		if (*old)
			site->forgotten_second = (*old)->second;
		model_deltas_free(model, *old);
		*old = NULL;
		delta = model_take(model, model_delta_bytes(pair_count), ROOM_WINDOWS);
	}
	if (!delta) {
		site->forgotten_second = second;
		return;
	}
	delta->next = *slot;
	delta->second = second;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (added[i]) {
			delta->pairs[delta->pair_count].index = i;
			delta->pairs[delta->pair_count++].count = u32(added[i]);
		}
	*slot = delta;
}

/* Adds to window, trend and heat map what the tick added to the site's distribution. */
static void site_delta(struct model *model, struct model_site *site, int64_t from_second, int64_t second)
{
	uint64_t added[HISTOGRAM_BUCKETS];
	struct quantiles tick;

	if (!site->buckets || !site->previous_buckets)
		return;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		added[i] = site->buckets[i] > site->previous_buckets[i] ? site->buckets[i] - site->previous_buckets[i] : 0;
	memcpy(site->previous_buckets, site->buckets, BUCKET_BYTES);
	if (!model->has_previous)
		return;
	quantiles_of(added, site, &tick);
	if (site->heat)
		heat_add(site->heat, added, second);
	if (site->trend)
		series_put(site->trend, from_second, second, tick.count ? (double)tick.p99 : NAN);
	if (site->deltas && tick.count)
		delta_add(model, site, added, second);
}

static double per_s(uint64_t now, uint64_t previous, double seconds)
{
	return seconds > 0 && now >= previous ? (double)(now - previous) / seconds : 0;
}

static double live_or_none(const struct live *live)
{
	return live->is_known ? live->bytes : NAN;
}

static void site_tick(struct model *model, struct model_site *site, double seconds, int64_t from_second, int64_t second)
{
	if (model->has_previous) {
		site->rate_per_s = per_s(site->count, site->previous_count, seconds);
		site->sum_per_s = site->kind == SITE_GAUGE ? 0 : per_s(site->sum, site->previous_sum, seconds);
		site->free_per_s = model_is_memory(site) ? per_s(site->max, site->previous_max, seconds) : 0;
		site->streamed_per_s = per_s(site->received, site->previous_received, seconds);
	}
	if (site->told_ns == 0 || site->count != site->previous_count)
		site->told_ns = model->time_ns;
	site->is_rough = site->live.is_rough;
	if (model_is_timed(site)) {
		site_delta(model, site, from_second, second);
		site_window(model, site);
		site->is_rough = site->every > 1 || model_is_lifetime(site) || !site->buckets || !site->previous_buckets ||
				 (model->window_s && !site->deltas) ||
				 (site->forgotten_second && site->forgotten_second > second - model->window_s &&
				  model->window_s);
	} else if (site->trend) {
		series_put(site->trend, from_second, second,
			   model_is_memory(site) ? live_or_none(&site->live)
			   : site->kind == SITE_GAUGE ? (double)(int64_t)site->sum : site->rate_per_s);
	}
	site->previous_count = site->count;
	site->previous_sum = site->sum;
	site->previous_max = site->max;
	site->previous_received = site->received;
}

static void class_tick(struct model *model, struct model_class *class, double seconds)
{
	if (model->has_previous) {
		class->events_per_s = per_s(class->received, class->previous_received, seconds);
		class->bytes_per_s = per_s(class->bytes, class->previous_bytes, seconds);
		class->drops_per_s = per_s(class->dropped, class->previous_dropped, seconds);
	}
	class->previous_received = class->received;
	class->previous_bytes = class->bytes;
	class->previous_dropped = class->dropped;
}

/* What the events of each class cost, from the rates of its sites. A streamed event costs more than one that is only
 * summed. */
static void costs_tick(struct model *model)
{
	for (uint32_t i = 0; i < model->class_count; i++)
		model->classes[i].sum_per_s = 0;
	for (uint32_t i = 0; i < model->sites.count; i++) {
		const struct model_site *site = model->sites.items[i];

		/* An allocation that a tag counts is also counted by a type. */
		if (site->kind != SITE_TAG)
			model->classes[site->class_id].sum_per_s += site->rate_per_s;
	}
	for (uint32_t i = 0; i < model->class_count; i++) {
		struct model_class *class = &model->classes[i];
		double summed = class->sum_per_s > class->events_per_s ? class->sum_per_s - class->events_per_s : 0;

		class->cost_share = (class->events_per_s * (double)model->link.event_cost_ps +
				     summed * (double)model->link.sum_cost_ps) / 1e12;
		if (class->level == LEVEL_SUM && model->link.sum_cost_ps == 0)
			class->cost_share = NAN;         /* the target has not measured it */
		if (class->level == LEVEL_ALL && class->events_per_s > 0) {
			class->last_events_per_s = class->events_per_s;
			class->last_bytes_per_s = class->bytes_per_s;
			class->last_cost_share = class->cost_share;
		}
	}
}

static void pair_tick(const struct model *model, struct task_site *pair, const struct model_site *site, double seconds)
{
	struct model_task *task = model_find_task(model, pair->task);
	/* TASK_ENDED has no rates: it takes over all sums of a task that ends, which are older than this tick. */
	bool has_rates = model->has_previous && pair->task != TASK_ENDED;

	pair->rate_per_s = has_rates ? per_s(pair->count, pair->previous_count, seconds) : 0;
	if (task && site->kind == SITE_ALLOC) {
		live_add(&task->live, &pair->live);
		task->alloc_bytes = sum_of(task->alloc_bytes, pair->sum);
		task->alloc_count = sum_of(task->alloc_count, pair->count);
		task->free_bytes = sum_of(task->free_bytes, pair->max);
		task->free_count = sum_of(task->free_count, pair->min);
		if (has_rates) {
			task->alloc_per_s += per_s(pair->sum, pair->previous_sum, seconds);
			task->free_per_s += per_s(pair->max, pair->previous_max, seconds);
		}
	}
	if (task) {
		task->events_per_s += site->kind == SITE_TAG ? 0 : pair->rate_per_s;
		if (pair->count != pair->previous_count)
			task->last_ns = model->time_ns;
	}
	pair->previous_count = pair->count;
	pair->previous_sum = pair->sum;
	pair->previous_max = pair->max;
}

static void tasks_tick(struct model *model, double seconds, int64_t from_second, int64_t second)
{
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		struct model_task *task = model->tasks.items[i];

		task->live = (struct live){ .is_known = model->holders };
		task->alloc_bytes = task->alloc_count = task->free_bytes = task->free_count = 0;
		task->alloc_per_s = task->free_per_s = task->events_per_s = 0;
	}
	for (uint32_t i = 0; i < model->task_sites.count; i++) {
		struct task_site *pair = model->task_sites.items[i];
		const struct model_site *site = model_find_site(model, pair->site);

		if (site)
			pair_tick(model, pair, site, seconds);
	}
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		struct model_task *task = model->tasks.items[i];

		if (task->trend)
			series_put(task->trend, from_second, second, live_or_none(&task->live));
	}
}

static void totals_tick(struct model *model, const struct message_snapshot *snapshot, double seconds)
{
	struct model_totals *totals = &model->totals;
	double gc_busiest = 0, pauses_per_s = 0, pause_share = 0;
	bool has_pauses = false;

	*totals = (struct model_totals){ .live = totals->live, .unsampled_bytes = totals->unsampled_bytes,
					 .rss_bytes = snapshot->rss_bytes, .cpu_ns = snapshot->cpu_ns,
					 .thread_count = snapshot->thread_count, .telem_cpu_ns = snapshot->telem_cpu_ns,
					 .telem_bytes = snapshot->telem_bytes };
	if (model->has_previous && seconds > 0) {
		totals->cpu_share = per_s(snapshot->cpu_ns, model->previous_cpu_ns, seconds) / 1e9;
		totals->telem_cpu_share = per_s(snapshot->telem_cpu_ns, model->previous_telem_cpu_ns, seconds) / 1e9;
	}
	for (uint32_t i = 0; i < model->sites.count; i++) {
		const struct model_site *site = model->sites.items[i];
		bool is_gc = !strcmp(model->classes[site->class_id].name, "gc");

		/* An allocation that a tag counts is also counted by a type. */
		totals->events_per_s += site->kind == SITE_TAG ? 0 : site->rate_per_s;
		if (site->kind == SITE_ALLOC) {
			totals->alloc_per_s += site->sum_per_s;
			totals->free_per_s += site->free_per_s;
		}
		if (site->kind == SITE_LOG && site->detail < 5)
			totals->log_per_s[site->detail] += site->rate_per_s;
		if (!is_gc || site->kind != SITE_SPAN)
			continue;
		if (site->detail == SPAN_IS_PAUSE) {
			pauses_per_s += site->rate_per_s;
			pause_share += site->sum_per_s / 1e9;
			has_pauses = true;
		}
		/* A program that does not say which spans are the pauses has spans for whole collections and for their
		 * phases, which lie inside them: the span that took the most time is the whole collection. */
		if (site->sum_per_s >= gc_busiest) {
			gc_busiest = site->sum_per_s;
			totals->gc_per_s = site->rate_per_s;
			totals->gc_share = site->sum_per_s / 1e9;
		}
	}
	if (has_pauses) {
		totals->gc_per_s = pauses_per_s;
		totals->gc_share = pause_share;
	}
	model->previous_cpu_ns = snapshot->cpu_ns;
	model->previous_telem_cpu_ns = snapshot->telem_cpu_ns;
}

static void link_tick(struct model *model, const struct message_snapshot *snapshot, double seconds)
{
	struct model_link *link = &model->link;
	uint64_t losses = sum_of(link->lost_events, link->dropped_events);

	link->event_cost_ps = snapshot->event_cost_ps;
	link->sum_cost_ps = snapshot->sum_cost_ps;
	link->ring_permille = snapshot->ring_permille;
	if (model->has_previous) {
		link->bytes_per_s = per_s(link->bytes, model->previous_bytes, seconds);
		link->blocks_per_s = per_s(link->blocks, model->previous_blocks, seconds);
		link->events_per_s = per_s(link->events, model->previous_events, seconds);
		link->drops_per_s = per_s(losses, model->previous_losses, seconds);
		if (losses > model->previous_losses)
			link->last_loss_ns = snapshot->time_ns;
	}
	model->previous_bytes = link->bytes;
	model->previous_blocks = link->blocks;
	model->previous_events = link->events;
	model->previous_losses = losses;
}

void apply_snapshot(struct model *model, const struct message_snapshot *snapshot)
{
	uint64_t before_ns = model->time_ns;
	int64_t second = (int64_t)(snapshot->time_ns / 1000000000u), from_second = second;
	double seconds = 0;

	model->is_in_tick = false;
	tasks_greeted(model);
	/* A greeting has figures of the moment when it was made, which may be before the newest tick. The model's time
	 * never goes back. */
	if (snapshot->time_ns < before_ns)
		return;
	model->snapshot = *snapshot;
	if (model->has_previous) {
		/* Interval 0 marks the end of a greeting. It is not a tick, because a reader that loses data is greeted
		 * again and would count more ticks than others. */
		if (snapshot->interval_ns == 0)
			return;
		/* This is a tick that another viewer asked for. One that we asked for may come a little early. */
		if (snapshot->time_ns - before_ns < model->wanted_interval_ns / 10 * 9)
			return;
		seconds = (double)(snapshot->time_ns - before_ns) / 1e9;
		from_second = (int64_t)(before_ns / 1000000000u) + 1;
	}
	model->time_ns = snapshot->time_ns;
	if (seconds > 0)
		model->interval_ns = snapshot->time_ns - before_ns;
	if (model->ticks == 0)
		model->since_ns = snapshot->time_ns;
	/* A class that had no events when we joined has no row in those books: its base is 0. */
	for (uint32_t i = 0; i < LIMIT_CLASSES && model->link.has_books; i++)
		model->classes[i].has_base = true;
	for (uint32_t i = 0; i < model->class_count; i++)
		class_tick(model, &model->classes[i], seconds);
	link_tick(model, snapshot, seconds);
	model->ticks++;
	holders_tick(model);
	for (uint32_t i = 0; i < model->sites.count; i++)
		site_tick(model, model->sites.items[i], seconds, from_second, second);
	if (model->has_previous)
		costs_tick(model);
	tasks_tick(model, seconds, from_second, second);
	totals_tick(model, snapshot, seconds);
	series_put(&model->series[MODEL_MEMORY], from_second, second, model->totals.live.bytes);
	series_put(&model->series[MODEL_RSS], from_second, second, (double)model->totals.rss_bytes);
	series_put(&model->series[MODEL_LAG], from_second, second, model->link.lag_ns);
	if (model->has_previous) {
		series_put(&model->series[MODEL_EVENTS], from_second, second, model->totals.events_per_s);
		series_put(&model->series[MODEL_WIRE], from_second, second, model->link.bytes_per_s);
		series_put(&model->series[MODEL_LOSS], from_second, second, model->link.drops_per_s);
	}
	model->has_previous = true;
	if (model->wanted_mark_ns && model->time_ns >= model->wanted_mark_ns)
		model_set_mark(model);
}
