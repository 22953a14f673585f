#include "monitor/screen/panels/panel_memory.h"

#include <math.h>

const char *const memory_tab_names[TAB_COUNT] = { "task", "type", "task×type", "tag" };
const struct need memory_alloc_need = { site_is_alloc, "allocation type", "allocation types", "used" };
const struct need memory_tag_need = { site_is_tag, "tag", "tags", "used" };

static const char *const sorts[SORT_COUNT] = { "live", "Δ mark", "alloc/s", "free/s", "objects", "name" };
static const char *const tag_sorts[SORT_COUNT] = { "left", "Δ mark", "alloc/s", "free/s", "objects", "name" };

static const struct holding nothing = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NULL, false, false };

static double change_of(const struct model *model, double live, int64_t mark)
{
	return model_mark_ns(model) > 0 ? live - (double)mark : NAN;
}

double memory_pair_live(const struct task_site *pair)
{
	return (double)model_live_bytes(pair->sum, pair->max);
}

/* What tasks that have ended still hold. It has no rates. */
static struct holding holding_of_ended(const struct model *model)
{
	struct holding holding = nothing;
	double bytes = 0, count = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		const struct task_site *pair = site->kind == SITE_ALLOC ? model_task_site_of(model, TASK_ENDED, site->id)
									: NULL;

		if (!pair)
			continue;
		if (!holding.is_known)
			holding.live = holding.objects = 0;
		holding.is_known = true;
		holding.live += memory_pair_live(pair);
		holding.objects += (double)model_live_bytes(pair->count, pair->min);
		bytes += (double)pair->sum;
		count += (double)pair->count;
	}
	holding.average = count > 0 ? bytes / count : NAN;
	return holding;
}

static struct holding holding_of_task(const struct model *model, uint32_t id)
{
	const struct model_task *task = model_task_by_id(model, id);

	if (!task)
		return id == TASK_ENDED ? holding_of_ended(model) : nothing;
	return (struct holding){
		.live = (double)task->live_bytes,
		.change = change_of(model, (double)task->live_bytes, task->mark_value),
		.allocated = NAN,
		.freed = NAN,
		.allocations_per_s = NAN,
		.alloc_per_s = task->alloc_per_s,
		.free_per_s = task->free_per_s,
		.objects = (double)task->live_count,
		.average = task->alloc_count > 0 ? (double)task->alloc_bytes / (double)task->alloc_count : NAN,
		.trend = task->trend,
		.is_known = true,
	};
}

/* What a type holds, or what a tag left behind; site may be NULL. */
static struct holding holding_of_type(const struct model *model, const struct model_site *site)
{
	double live;

	if (!site)
		return nothing;
	live = (double)model_live_bytes(site->sum, site->max);
	return (struct holding){
		.live = live,
		.change = change_of(model, live, site->mark_value),
		.allocated = (double)site->sum,
		.freed = (double)site->max,
		.allocations_per_s = site->rate_per_s,
		.alloc_per_s = site->sum_per_s,
		.free_per_s = site->free_per_s,
		.objects = (double)model_live_bytes(site->count, site->min),
		.average = site->count > 0 ? (double)site->sum / (double)site->count : NAN,
		.trend = site->trend,
		.is_rough = site->is_rough,
		.is_known = true,
	};
}

struct holding memory_holding_of(const struct model *model, int tab, uint32_t id)
{
	return tab == TAB_TASK ? holding_of_task(model, id) : holding_of_type(model, model_site_by_id(model, id));
}

static double sort_key(const struct holding *holding, int sort)
{
	switch (sort) {
	case SORT_MARK:
		return holding->change;
	case SORT_ALLOC:
		return holding->alloc_per_s;
	case SORT_FREE:
		return holding->free_per_s;
	case SORT_OBJECTS:
		return holding->objects;
	default:
		return holding->live;
	}
}

static void collect_tasks(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	struct holding ended = holding_of_ended(model);

	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);
		struct holding holding = holding_of_task(model, task->id);

		rows_add(rows, task->id, 0, sort_key(&holding, view->sort), task->name);
	}
	if (ended.is_known && !model_task_by_id(model, TASK_ENDED))
		rows_add(rows, TASK_ENDED, 0, sort_key(&ended, view->sort), "(ended tasks)");
}

static void collect_sites(const struct model *model, unsigned kind, int sort, struct panel_rows *rows)
{
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		struct holding holding;

		if (site->kind != kind)
			continue;
		holding = holding_of_type(model, site);
		rows_add(rows, site->id, 0, sort_key(&holding, sort), site->name);
	}
}

static void collect_types(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	collect_sites(model, SITE_ALLOC, view->sort, rows);
}

static void collect_tags(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	collect_sites(model, SITE_TAG, view->sort, rows);
}

static const struct panel_list task_list = { collect_tasks, sorts, SORT_COUNT, SORT_NAME };
static const struct panel_list type_list = { collect_types, sorts, SORT_COUNT, SORT_NAME };
static const struct panel_list tag_list = { collect_tags, tag_sorts, SORT_COUNT, SORT_NAME };

int memory_tab_of(const struct panel_view *view)
{
	return view->tab >= 0 && view->tab < TAB_COUNT ? view->tab : TAB_TASK;
}

const struct panel_list *memory_list_of(int tab)
{
	return tab == TAB_TASK ? &task_list : tab == TAB_TAG ? &tag_list : &type_list;
}
