#include "monitor/screen/panels/panel_memory.h"

#include <math.h>

const char *const memory_tab_names[TAB_COUNT] = { "task", "type", "task×type", "tag" };
const struct need memory_alloc_need = { site_is_alloc, "allocation type", "allocation types", "used" };
const struct need memory_tag_need = { site_is_tag, "tag", "tags", "used" };

static const char *const sorts[SORT_COUNT] = { "live", "Δ mark", "alloc/s", "free/s", "objects", "name" };

static const struct holding nothing = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NULL, false, false };

/* The part of a holding that is the same for tasks, types and tags. */
static struct holding holding_of_live(const struct model *model, const struct live *live, int64_t mark)
{
	struct holding holding = nothing;

	holding.is_known = true;
	holding.is_rough = live->is_rough;
	if (!live->is_known)
		return holding;
	holding.live = live->bytes;
	holding.objects = live->count;
	holding.average = live->count > 0 ? live->bytes / live->count : NAN;
	holding.change = model_mark_ns(model) > 0 ? live->bytes - (double)mark : NAN;
	return holding;
}

/* What tasks that have ended still hold. It has no rates. */
static struct holding holding_of_ended(const struct model *model)
{
	struct holding holding = nothing;
	struct live live = { 0 };
	double allocated = 0, freed = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		const struct task_site *pair = site->kind == SITE_ALLOC ? model_task_site_of(model, TASK_ENDED, site->id)
									: NULL;

		if (!pair)
			continue;
		live_add(&live, &pair->live);
		allocated += (double)pair->sum;
		freed += (double)pair->max;
		holding.is_known = true;
	}
	if (!holding.is_known)
		return holding;
	holding = holding_of_live(model, &live, 0);
	holding.change = NAN;
	holding.allocated = allocated;
	holding.freed = freed;
	return holding;
}

static struct holding holding_of_task(const struct model *model, uint32_t id)
{
	const struct model_task *task = model_task_by_id(model, id);
	struct holding holding;

	if (!task)
		return id == TASK_ENDED ? holding_of_ended(model) : nothing;
	holding = holding_of_live(model, &task->live, task->mark_value);
	holding.allocated = (double)task->alloc_bytes;
	holding.freed = (double)task->free_bytes;
	holding.alloc_per_s = task->alloc_per_s;
	holding.free_per_s = task->free_per_s;
	holding.trend = task->trend;
	return holding;
}

/* What lives of a type, or of what was allocated under a tag; site may be NULL. */
static struct holding holding_of_type(const struct model *model, const struct model_site *site)
{
	struct holding holding;

	if (!site)
		return nothing;
	holding = holding_of_live(model, &site->live, site->mark_value);
	holding.allocated = (double)site->sum;
	holding.freed = (double)site->max;
	holding.allocations_per_s = site->rate_per_s;
	holding.alloc_per_s = site->sum_per_s;
	holding.free_per_s = site->free_per_s;
	holding.trend = site->trend;
	return holding;
}

/* Memory that lives but of which no sample, and no row, tells which task holds it. */
static struct holding holding_of_nobody(const struct model *model)
{
	struct holding holding = nothing;

	holding.live = model_totals(model)->unsampled_bytes;
	for (uint32_t i = 0; i < model_holder_count(model); i++)
		if (model_holder(model, i)->task == TASK_ALL)
			holding.live += model_holder(model, i)->live.bytes;
	holding.is_known = holding.live > 0;
	holding.is_rough = true;
	return holding;
}

struct holding memory_holding_of(const struct model *model, int tab, uint32_t id)
{
	if (tab == TAB_TASK)
		return id == TASK_ALL ? holding_of_nobody(model) : holding_of_task(model, id);
	return holding_of_type(model, model_site_by_id(model, id));
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
	struct holding ended = holding_of_ended(model), nobody = holding_of_nobody(model);

	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);
		struct holding holding = holding_of_task(model, task->id);

		rows_add(rows, task->id, 0, sort_key(&holding, view->sort), task->name);
	}
	if (ended.is_known && !model_task_by_id(model, TASK_ENDED))
		rows_add(rows, TASK_ENDED, 0, sort_key(&ended, view->sort), "(ended tasks)");
	if (nobody.is_known)
		rows_add(rows, TASK_ALL, 0, sort_key(&nobody, view->sort), MEMORY_OF_NOBODY);
}

static void collect_sites(const struct model *model, bool (*wants)(const struct model_site *site), int sort,
			  struct panel_rows *rows)
{
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		struct holding holding;

		if (!wants(site))
			continue;
		holding = holding_of_type(model, site);
		rows_add(rows, site->id, 0, sort_key(&holding, sort), site->name);
	}
}

static void collect_types(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	collect_sites(model, site_is_alloc, view->sort, rows);
}

static void collect_tags(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	collect_sites(model, site_is_tag, view->sort, rows);
}

static const struct panel_list task_list = { collect_tasks, sorts, SORT_COUNT, SORT_NAME };
static const struct panel_list type_list = { collect_types, sorts, SORT_COUNT, SORT_NAME };
static const struct panel_list tag_list = { collect_tags, sorts, SORT_COUNT, SORT_NAME };

int memory_tab_of(const struct panel_view *view)
{
	return view->tab >= 0 && view->tab < TAB_COUNT ? view->tab : TAB_TASK;
}

const struct panel_list *memory_list_of(int tab)
{
	return tab == TAB_TASK ? &task_list : tab == TAB_TAG ? &tag_list : &type_list;
}
