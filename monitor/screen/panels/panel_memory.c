#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "monitor/screen/panels/panel_parts.h"
#include "widgets/cells.h"
#include "widgets/key.h"
#include "widgets/tabbar.h"
#include "widgets/table.h"
#include "widgets/text.h"

enum { TAB_TASK, TAB_TYPE, TAB_MATRIX, TAB_TAG, TAB_COUNT };
enum { SORT_LIVE, SORT_MARK, SORT_ALLOC, SORT_FREE, SORT_OBJECTS, SORT_NAME, SORT_COUNT };

enum {
	CHART_SECONDS = 300,
	SMALL_SECONDS = 60,
	MATRIX_TASKS_MAX = TABLE_COLUMNS_MAX - 3,    /* beside type, live and others */
	MATRIX_CELLS = 9,
	NAME_SPARE_CELLS = 4,        /* of what a trend could take, left to names */
	HOLDERS_MAX = 4,             /* named in the row below the table */
	TREND_SECONDS = 60,
	TOP_CELLS = 18,              /* "decoder  148 MiB▲ " */
	TOP_MAX = 32
};

static const char *const tab_names[TAB_COUNT] = { "task", "type", "task×type", "tag" };
static const char *const sorts[SORT_COUNT] = { "live", "Δ mark", "alloc/s", "free/s", "objects", "name" };
static const char *const tag_sorts[SORT_COUNT] = { "left", "Δ mark", "alloc/s", "free/s", "objects", "name" };
static const struct need alloc_need = { site_is_alloc, "allocation type", "allocation types", "used" };
static const struct need tag_need = { site_is_tag, "tag", "tags", "used" };

/* What a task or a type holds, or a tag left behind; NaN for what is not known. */
struct holding {
	double live, change, allocated, freed, allocations_per_s, alloc_per_s, free_per_s, objects;
	double average;              /* of what was allocated, ever */
	const struct series *trend;
	bool is_rough, is_known;
};

static const struct holding nothing = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NULL, false, false };

static double change_of(const struct model *model, double live, int64_t mark)
{
	return model_mark_ns(model) > 0 ? live - (double)mark : NAN;
}

static double pair_live(const struct task_site *pair)
{
	return (double)model_live_bytes(pair->sum, pair->max);
}

/* What tasks held that are no more: it has no rates of its own. */
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
		holding.live += pair_live(pair);
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

/* Or of a tag. */
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

static struct holding holding_of(const struct model *model, int tab, uint32_t id)
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

static int tab_of(const struct panel_view *view)
{
	return view->tab >= 0 && view->tab < TAB_COUNT ? view->tab : TAB_TASK;
}

static const struct panel_list *list_of(int tab)
{
	return tab == TAB_TASK ? &task_list : tab == TAB_TAG ? &tag_list : &type_list;
}

/* Live typed bytes once there ever were any, else what the kernel counts. */
static const struct series *chart_series(const struct model *model)
{
	return model_series(model, model_has_typed_memory(model) ? MODEL_MEMORY : MODEL_RSS);
}

/* "12.1 ms"; "–" without one. */
static void lifetime_text(char out[UNITS_BYTES], const struct model_site *lifetime)
{
	if (lifetime)
		site_figure(out, lifetime, quantile_or_none(&lifetime->window, lifetime->window.p50));
	else
		units_time(out, NAN);
}

/* "60 s ─ max 340 MiB", and "60 s" for where that is too long. */
static void chart_label(char out[96], const struct model *model, int seconds)
{
	double max = series_max(chart_series(model), model_second(model), seconds);
	char text[UNITS_BYTES];

	units_bytes(text, max);
	snprintf(out, 96, "%s%s%s", window_name(seconds), isnan(max) ? "" : " ─ max ", isnan(max) ? "" : text);
}

/* ---- the table ---- */

enum {
	COLUMN_NAME, COLUMN_LIVE, COLUMN_MARK, COLUMN_ALLOCATED, COLUMN_FREED, COLUMN_RATE, COLUMN_ALLOC, COLUMN_FREE,
	COLUMN_OBJECTS, COLUMN_AVERAGE, COLUMN_LIFE, COLUMN_TREND, COLUMN_COUNT
};

struct memory_table {
	const struct model *model;
	const struct panel_rows *rows;
	int tab;
	enum glyphs glyphs;
	int columns[COLUMN_COUNT];   /* what stands in the table's columns */
	/* the matrix */
	uint32_t tasks[MATRIX_TASKS_MAX];
	int task_count;
};

static void row_name(const struct memory_table *memory, const struct panel_row *row, char *out, size_t out_bytes,
		     struct style *style)
{
	if (memory->tab == TAB_TASK) {
		task_name_clean(out, out_bytes, memory->model, row->id, memory->glyphs);
	} else if (row->is_gone) {
		snprintf(out, out_bytes, "%s %" PRIu32, memory->tab == TAB_TAG ? "tag" : "type", row->id);
	} else {
		name_clean(out, out_bytes, row->name, memory->glyphs);
	}
	if (row->is_gone)
		*style = STYLE(ROLE_DIM);
}

static void bytes_cell(char *out, size_t out_bytes, double bytes, bool is_rough)
{
	char text[UNITS_BYTES];

	units_bytes(text, bytes);
	snprintf(out, out_bytes, "%s%.*s", is_rough && !isnan(bytes) ? "~" : "", (int)out_bytes - 2, text);
}

static void dim_when_zero(double value, struct style *style)
{
	if (isnan(value) || value == 0)
		*style = STYLE(ROLE_DIM);
}

static void life_cell(const struct memory_table *memory, uint32_t id, char text[UNITS_BYTES], struct style *style)
{
	const struct model_site *lifetime = site_lifetime_of(memory->model, model_site_by_id(memory->model, id));

	lifetime_text(text, lifetime);
	if (!lifetime || lifetime->window.count == 0)
		*style = STYLE(ROLE_DIM);
}

static void table_cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct memory_table *memory = arg;
	const struct panel_row *row = &memory->rows->rows[index];
	struct holding holding = holding_of(memory->model, memory->tab, row->id);
	char text[UNITS_BYTES] = "";

	if (column < 0)
		return;
	switch (memory->columns[column]) {
	case COLUMN_NAME:
		row_name(memory, row, out, out_bytes, style);
		return;
	case COLUMN_LIVE:
		bytes_cell(out, out_bytes, holding.live, holding.is_rough);
		dim_when_zero(holding.live, style);
		return;
	case COLUMN_MARK:
		units_bytes_change(text, holding.change);
		dim_when_zero(holding.change, style);
		break;
	case COLUMN_ALLOCATED:
		units_bytes(text, holding.allocated);
		dim_when_zero(holding.allocated, style);
		break;
	case COLUMN_FREED:
		units_bytes(text, holding.freed);
		dim_when_zero(holding.freed, style);
		break;
	case COLUMN_RATE:
		units_rate(text, holding.allocations_per_s);
		dim_when_zero(holding.allocations_per_s, style);
		break;
	case COLUMN_ALLOC:
		units_bytes(text, holding.alloc_per_s);
		dim_when_zero(holding.alloc_per_s, style);
		break;
	case COLUMN_FREE:
		units_bytes(text, holding.free_per_s);
		dim_when_zero(holding.free_per_s, style);
		break;
	case COLUMN_OBJECTS:
		units_count(text, holding.objects);
		dim_when_zero(holding.objects, style);
		break;
	case COLUMN_AVERAGE:
		units_bytes(text, holding.average);
		dim_when_zero(holding.average, style);
		break;
	case COLUMN_LIFE:
		life_cell(memory, row->id, text, style);
		break;
	default:
		return;
	}
	snprintf(out, out_bytes, "%s", text);
}

static bool table_draw_cell(void *arg, int index, int column, const struct canvas *canvas)
{
	const struct memory_table *memory = arg;
	struct holding holding;

	if (memory->columns[column] != COLUMN_TREND)
		return false;
	holding = holding_of(memory->model, memory->tab, memory->rows->rows[index].id);
	series_spark(holding.trend, model_second(memory->model), SPARK_SHAPE, canvas);
	return true;
}

/* Some type that is listed has lifetimes. */
static bool has_lifetimes(const struct memory_table *memory)
{
	for (uint32_t i = 0; i < model_site_count(memory->model); i++)
		if (site_is_lifetime(memory->model, model_site(memory->model, i)))
			return true;
	return false;
}

static bool has_column(const struct memory_table *memory, int column)
{
	switch (column) {
	case COLUMN_ALLOCATED:
	case COLUMN_FREED:
	case COLUMN_RATE:
		return memory->tab == TAB_TAG;
	case COLUMN_LIFE:
		return memory->tab == TAB_TYPE && has_lifetimes(memory);
	default:
		return true;
	}
}

static struct table_drawn draw_table(struct memory_table *memory, const struct panel_view *view,
				     const struct canvas *canvas)
{
	static const int by_sort[SORT_COUNT] = {
		COLUMN_LIVE, COLUMN_MARK, COLUMN_ALLOC, COLUMN_FREE, COLUMN_OBJECTS, COLUMN_NAME,
	};
	static const struct table_column all[COLUMN_COUNT] = {
		[COLUMN_NAME] = { .width_cells = 9, .stretch = true },
		[COLUMN_LIVE] = { .title = "live", .width_cells = 9, .right = true },
		[COLUMN_MARK] = { .title = "Δ mark", .width_cells = 9, .right = true, .drop = 2 },
		[COLUMN_ALLOCATED] = { .title = "allocated", .width_cells = 9, .right = true, .drop = 1 },
		[COLUMN_FREED] = { .title = "freed", .width_cells = 8, .right = true, .drop = 1 },
		[COLUMN_RATE] = { .title = "rate", .width_cells = 7, .right = true, .drop = 2 },
		[COLUMN_ALLOC] = { .title = "alloc/s", .width_cells = 8, .right = true, .drop = 3 },
		[COLUMN_FREE] = { .title = "free/s", .width_cells = 8, .right = true, .drop = 4 },
		[COLUMN_OBJECTS] = { .title = "objects", .width_cells = 7, .right = true, .drop = 6 },
		[COLUMN_AVERAGE] = { .title = "avg", .width_cells = 8, .right = true, .drop = 7 },
		[COLUMN_LIFE] = { .title = "life p50", .width_cells = 8, .right = true, .drop = 8 },
		[COLUMN_TREND] = { .title = "trend", .width_cells = 8, .drop = 5 },
	};
	struct table_column columns[COLUMN_COUNT];
	int count = 0, sort_column = -1, used = TABLE_GUTTER_CELLS;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!has_column(memory, i))
			continue;
		columns[count] = all[i];
		if (i == COLUMN_NAME)
			columns[count].title = tab_names[memory->tab];
		if (i == COLUMN_LIVE && memory->tab == TAB_TAG)
			columns[count].title = "left";
		/* A wide screen shows more of how it went. */
		if (i == COLUMN_TREND && canvas->width_cells >= 100)
			columns[count].width_cells =
				cells_max(8, cells_min(canvas->width_cells - used - NAME_SPARE_CELLS, 60));
		used += 1 + columns[count].width_cells;
		if (i == by_sort[view->sort])
			sort_column = count;
		memory->columns[count++] = i;
	}
	return table_draw(&(struct table){
		.columns = columns,
		.column_count = count,
		.row_count = memory->rows->count,
		.top = view->top,
		.cursor = view->cursor,
		.sort_column = sort_column,
		.sort_ascending = view->is_ascending,
		.cell = table_cell,
		.draw = table_draw_cell,
		.arg = memory,
	}, canvas);
}

/* ---- the matrix ---- */

static void matrix_cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct memory_table *memory = arg;
	const struct panel_row *row = &memory->rows->rows[index];
	const struct model_site *site = model_site_by_id(memory->model, row->id);
	double bytes = NAN;

	if (column == 0) {
		row_name(memory, row, out, out_bytes, style);
		return;
	}
	if (column < 0 || !site)
		return;
	if (column == 1) {
		bytes = (double)model_live_bytes(site->sum, site->max);
	} else if (column - 2 < memory->task_count) {
		const struct task_site *pair = model_task_site_of(memory->model, memory->tasks[column - 2], site->id);

		bytes = pair ? pair_live(pair) : NAN;
	} else {
		bytes = (double)model_live_bytes(site->sum, site->max);
		for (int i = 0; i < memory->task_count; i++) {
			const struct task_site *pair = model_task_site_of(memory->model, memory->tasks[i], site->id);

			bytes -= pair ? pair_live(pair) : 0;
		}
	}
	bytes_cell(out, out_bytes, bytes, site->is_rough);
	dim_when_zero(bytes, style);
}

static struct table_drawn draw_matrix(struct memory_table *memory, const struct panel_view *view,
				      const struct canvas *canvas)
{
	struct panel_rows tasks = list_rows_plain(&task_list, memory->model, SORT_LIVE);
	struct table_column columns[TABLE_COLUMNS_MAX] = {
		{ .title = "type", .width_cells = 12, .stretch = true },
		{ .title = "live", .width_cells = MATRIX_CELLS, .right = true },
	};
	char titles[MATRIX_TASKS_MAX][NAME_BYTES];
	int room = (canvas->width_cells - TABLE_GUTTER_CELLS - 12 - (1 + MATRIX_CELLS)) / (1 + MATRIX_CELLS);
	int count = 2;

	room = cells_max(0, cells_min(room, MATRIX_TASKS_MAX + 1));
	/* The last column is for all the others, if there are any. */
	memory->task_count = cells_min(tasks.count <= room ? tasks.count : room - 1, MATRIX_TASKS_MAX);
	memory->task_count = cells_max(memory->task_count, 0);
	for (int i = 0; i < memory->task_count; i++) {
		char name[NAME_BYTES];

		memory->tasks[i] = tasks.rows[i].id;
		task_name_clean(name, sizeof name, memory->model, tasks.rows[i].id, memory->glyphs);
		text_fit(titles[i], sizeof titles[i], name, MATRIX_CELLS, memory->glyphs);
		columns[count++] = (struct table_column){ .title = titles[i], .width_cells = MATRIX_CELLS, .right = true };
	}
	if (tasks.count > memory->task_count && room > 0)
		columns[count++] = (struct table_column){ .title = "others", .width_cells = MATRIX_CELLS, .right = true };
	rows_free(&tasks);
	return table_draw(&(struct table){
		.columns = columns,
		.column_count = count,
		.row_count = memory->rows->count,
		.top = view->top,
		.cursor = view->cursor,
		.sort_column = view->sort == SORT_LIVE ? 1 : view->sort == SORT_NAME ? 0 : -1,
		.sort_ascending = view->is_ascending,
		.cell = matrix_cell,
		.arg = memory,
	}, canvas);
}

/* ---- who holds what ---- */

struct holder { uint32_t id; double bytes; };

/* Keeps the most biggest, biggest first; returns the bytes that found no place. */
static double holder_add(struct holder holders[HOLDERS_MAX], int most, int *count, struct holder holder)
{
	int at = *count;
	double left_over = 0;

	while (at > 0 && holders[at - 1].bytes < holder.bytes)
		at--;
	if (*count == most)
		left_over = at < most ? holders[most - 1].bytes : holder.bytes;
	else
		(*count)++;
	if (at >= most)
		return left_over;
	memmove(&holders[at + 1], &holders[at], (size_t)(*count - at - 1) * sizeof *holders);
	holders[at] = holder;
	return left_over;
}

/* "Frame is held by: decoder 96.0 MiB, cache 25.0 MiB. Lifetime p50 12.1 ms." or "decoder
 * holds: …"; at most so many are named. */
static void holders_text(char *out, size_t out_bytes, const struct memory_table *memory, const struct panel_row *row,
			 int most)
{
	const struct model_site *type = memory->tab == TAB_TASK ? NULL : model_site_by_id(memory->model, row->id);
	const struct model_site *lifetime = site_lifetime_of(memory->model, type);
	struct holder holders[HOLDERS_MAX];
	int count = 0, more = 0;
	double more_bytes = 0;
	char name[NAME_BYTES], fit[NAME_BYTES], bytes[UNITS_BYTES];
	struct style style;
	size_t used;

	for (uint32_t i = 0; i < model_task_site_count(memory->model); i++) {
		const struct task_site *pair = model_task_site(memory->model, i);
		const struct model_site *site = model_site_by_id(memory->model, pair->site);
		double live = pair_live(pair);

		if (!site || site->kind != SITE_ALLOC || live == 0)
			continue;
		if ((memory->tab == TAB_TASK ? pair->task : pair->site) != row->id)
			continue;
		more += count == most;
		more_bytes += holder_add(holders, most, &count,
					 (struct holder){ memory->tab == TAB_TASK ? pair->site : pair->task, live });
	}
	row_name(memory, row, name, sizeof name, &style);
	text_fit(fit, sizeof fit, name, 24, memory->glyphs);
	used = (size_t)snprintf(out, out_bytes, memory->tab == TAB_TASK ? "%s holds" : "%s is held by", fit);
	used += (size_t)snprintf(out + used, out_bytes - used,
				 count ? ":" : memory->tab == TAB_TASK ? " nothing" : " no task");
	for (int i = 0; i < count && used < out_bytes; i++) {
		if (memory->tab == TAB_TASK)
			name_clean(name, sizeof name, model_site_by_id(memory->model, holders[i].id)->name, memory->glyphs);
		else
			task_name_clean(name, sizeof name, memory->model, holders[i].id, memory->glyphs);
		text_fit(fit, sizeof fit, name, 20, memory->glyphs);
		units_bytes(bytes, holders[i].bytes);
		used += (size_t)snprintf(out + used, out_bytes - used, "%s %s %s", i ? "," : "", fit, bytes);
	}
	if (more > 0 && used < out_bytes) {
		units_bytes(bytes, more_bytes);
		used += (size_t)snprintf(out + used, out_bytes - used, ", %d more %s", more, bytes);
	}
	if (used < out_bytes)
		used += (size_t)snprintf(out + used, out_bytes - used, ".");
	if (lifetime && used < out_bytes) {
		lifetime_text(bytes, lifetime);
		snprintf(out + used, out_bytes - used, " Lifetime p50 %s.", bytes);
	}
}

/* One row about the chosen one. */
static void draw_holders(const struct memory_table *memory, const struct panel_view *view, int y,
			 const struct canvas *canvas)
{
	char text[2048] = "A tag's bytes are those of its blocks of code; their types count them as well.";
	int row = view->cursor >= 0 ? view->cursor : 0;

	if (row >= memory->rows->count)
		return;
	/* Fewer names rather than a row that is cut. */
	for (int most = HOLDERS_MAX; most > 0 && memory->tab != TAB_TAG; most--) {
		holders_text(text, sizeof text, memory, &memory->rows->rows[row], most);
		if (1 + canvas_text_width(canvas, text) <= canvas->width_cells)
			break;
	}
	canvas_text(canvas, 1, y, memory->tab == TAB_TAG ? STYLE(ROLE_DIM) : STYLE(ROLE_TEXT), text);
}

/* ---- the panel ---- */

static void draw_title(const struct model *model, const struct panel_view *view, const struct panel_rows *rows,
		       const struct canvas *canvas)
{
	char title[64], filter[256], left[512], longer[256], shorter[128], sort[64], clock[UNITS_BYTES];
	int tab = tab_of(view), tabs_x;

	panel_title(title, '1', "Memory");
	filter_label(filter, sizeof filter, view, rows->count, rows->all_count, canvas_glyphs(canvas));
	snprintf(left, sizeof left, "%s%s ─", title, filter);
	tabs_x = 2 + canvas_text_width(canvas, left);
	for (int i = 0; i < TAB_COUNT; i++) {
		size_t used = strlen(left);

		snprintf(left + used, sizeof left - used, i == tab ? "[%s]" : " %s ", tab_names[i]);
	}
	if (left[strlen(left) - 1] == ' ')
		left[strlen(left) - 1] = '\0';
	list_sort_label(sort, list_of(tab), view);
	/* What is unusual is said first: that rows are held, then what Δ is against. */
	snprintf(shorter, sizeof shorter, view->is_held ? "5 min ─ %s" : "5 min", sort);
	snprintf(longer, sizeof longer, "%s", shorter);
	if (model_mark_ns(model) > 0) {
		clock_text(clock, model, model_mark_ns(model), 0);
		snprintf(longer, sizeof longer, "%s ─ Δ since mark %s", shorter, clock);
		if (!title_fits(canvas, left, longer))
			snprintf(longer, sizeof longer, "%s ─ mark %s", view->is_held ? sort + strlen("sort ") : "5 min",
				 clock);
	}
	title_draw(canvas, left, longer, shorter);
	if (canvas_text_width(canvas, left) + 4 <= canvas->width_cells)
		tabbar_draw(canvas, tabs_x, 0, tab_names, TAB_COUNT, tab);
}

static int chart_rows(int height_cells)
{
	if (height_cells < 10)
		return 0;
	return height_cells < 16 ? 2 : cells_max(4, height_cells / 4 - 1);
}

/* Why the table is empty or shows no more; returns the row after it. */
static int draw_reasons(const struct model *model, const struct panel_view *view, const struct panel_rows *rows, int y,
			const struct canvas *canvas)
{
	static const char *const rows_of[TAB_COUNT] = { "tasks", "types", "types", "tags" };
	const struct need *need = tab_of(view) == TAB_TAG ? &tag_need : &alloc_need;
	char text[NAME_BYTES * 2];

	if (reason_text(text, sizeof text, model, view, need, canvas_glyphs(canvas))) {
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
		if (!view->nothing && !model_has_typed_memory(model))
			y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT),
				      "The chart shows resident memory, as the kernel counts it.");
	}
	return no_match_draw(view, rows->count, rows->all_count, rows_of[tab_of(view)], y, canvas);
}

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows(list_of(tab_of(view)), model, view);
	struct memory_table memory = { .model = model, .rows = &rows, .tab = tab_of(view), .glyphs = canvas_glyphs(canvas) };
	int height = canvas->height_cells, plot_rows = chart_rows(height), y = 1;
	bool has_holders = height >= 10 && rows.count > 0 && model_has_typed_memory(model);
	struct table_drawn drawn;
	struct canvas part;

	canvas_clear(canvas);
	view->cursor_x = view->cursor_y = -1;
	draw_title(model, view, &rows, canvas);
	if (!view->nothing && plot_rows > 0) {
		part = canvas_part(canvas, 0, 1, canvas->width_cells - 1, plot_rows);
		series_chart(model, chart_series(model), CHART_SECONDS, UNIT_BYTES, true, &part);
		y += plot_rows;
	}
	y = draw_reasons(model, view, &rows, y, canvas);
	part = canvas_part(canvas, 0, y, canvas->width_cells, height - y - has_holders);
	if (rows.count > 0) {
		drawn = memory.tab == TAB_MATRIX ? draw_matrix(&memory, view, &part) : draw_table(&memory, view, &part);
		view->top = drawn.top;
		view->page = drawn.row_count;
		if (drawn.cursor_y >= 0) {
			view->cursor_x = 0;
			view->cursor_y = y + drawn.cursor_y;
		}
	}
	if (has_holders) {
		/* Right below the table, or at the bottom when that fills all. */
		int below = y + 1 + cells_max(rows.count, 0);

		draw_holders(&memory, view, cells_min(below, height - 1), canvas);
	}
	rows_free(&rows);
}

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	if (key == 'v') {
		view->tab = (tab_of(view) + 1) % TAB_COUNT;
		view->top = 0;
		list_leave(view);
		return true;
	}
	if (key == 'x' || key == 'X') {
		struct panel_rows rows = list_rows(list_of(tab_of(view)), model, view);
		const struct model_site *site = NULL;

		if (tab_of(view) != TAB_TASK && view->cursor >= 0 && rows.count > 0)
			site = model_site_by_id(model, view->cursor_id);
		rows_free(&rows);
		if (tab_of(view) != TAB_TASK)
			return site_level_key(model, view, site, key);
		snprintf(view->message, sizeof view->message, "Types have levels, tasks have not: v shows types.");
		return true;
	}
	return list_key(list_of(tab_of(view)), model, view, key);
}

/* ---- small forms ---- */

/* " task  decoder  148 MiB▲ cache   96.0 MiB  11 more 36.8 MiB" */
static void draw_top(const struct model *model, int tab, int y, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows_plain(list_of(tab), model, SORT_LIVE);
	int cells = cells_max(1, cells_min((canvas->width_cells - 7) / TOP_CELLS, TOP_MAX));
	int named = rows.count <= cells ? rows.count : cells - 1;
	enum glyphs glyphs = canvas_glyphs(canvas);
	double rest = 0;
	char text[NAME_BYTES], bytes[UNITS_BYTES];

	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), tab_names[tab]);
	for (int i = 0; i < named; i++) {
		struct holding holding = holding_of(model, tab, rows.rows[i].id);
		char name[NAME_BYTES];
		int x = 7 + i * TOP_CELLS, trend = series_trend(holding.trend, model_second(model), TREND_SECONDS);

		if (tab == TAB_TASK)
			task_name_clean(text, sizeof text, model, rows.rows[i].id, glyphs);
		else
			name_clean(text, sizeof text, rows.rows[i].name, glyphs);
		bytes_cell(bytes, sizeof bytes, holding.live, holding.is_rough);
		text_fit(name, sizeof name, text, TOP_CELLS - 3 - cells_max(8, canvas_text_width(canvas, bytes)), glyphs);
		canvas_text(canvas, x, y, STYLE(ROLE_TEXT), name);
		canvas_text_right(canvas, x + TOP_CELLS - 2, y, STYLE(ROLE_TEXT), bytes);
		canvas_text(canvas, x + TOP_CELLS - 2, y, STYLE(ROLE_ACCENT), trend_arrow(trend));
	}
	for (int i = named; i < rows.count; i++) {
		double live = holding_of(model, tab, rows.rows[i].id).live;

		rest += isnan(live) ? 0 : live;
	}
	if (rows.count > named) {
		int x = 7 + named * TOP_CELLS;

		snprintf(text, sizeof text, "%d more", rows.count - named);
		canvas_text(canvas, x, y, STYLE(ROLE_DIM), text);
		units_bytes(bytes, rest);
		canvas_text_right(canvas, x + TOP_CELLS - 2, y, STYLE(ROLE_TEXT), bytes);
	}
	if (rows.count == 0)
		canvas_text(canvas, 7, y, STYLE(ROLE_DIM),
			    tab == TAB_TASK ? "no task is known" : "no allocation type is declared");
	rows_free(&rows);
}

static void draw_chart_title(const struct model *model, const char *by, int seconds, const struct canvas *canvas)
{
	char title[64], label[96], left[128];

	panel_title(title, '1', "Memory");
	snprintf(left, sizeof left, "%s%s", title, model_has_typed_memory(model) ? by : " (resident)");
	chart_label(label, model, seconds);
	title_draw(canvas, left, label, window_name(seconds));
}

void memory_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	bool has_types = model_has_typed_memory(model);
	int lines = canvas->height_cells < 5 ? 0 : canvas->height_cells < 6 ? 1 : 2;
	struct canvas plot;

	(void)view;
	draw_chart_title(model, "", SMALL_SECONDS, canvas);
	plot = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1 - lines);
	series_chart(model, chart_series(model), SMALL_SECONDS, UNIT_BYTES, plot.height_cells > 5, &plot);
	if (lines > 0)
		draw_top(model, has_types ? TAB_TASK : TAB_TYPE, canvas->height_cells - lines, canvas);
	if (lines > 1)
		draw_top(model, has_types ? TAB_TYPE : TAB_TASK, canvas->height_cells - 1, canvas);
}

static void draw_list(const struct model *model, int tab, int y, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows_plain(list_of(tab), model, SORT_LIVE);
	struct memory_table memory = { .model = model, .rows = &rows, .tab = tab, .glyphs = canvas_glyphs(canvas) };
	struct panel_view plain;
	struct canvas part = canvas_part(canvas, 0, y, canvas->width_cells - 1, canvas->height_cells - y);

	panel_view_init(&plain);
	if (rows.count > 0)
		draw_table(&memory, &plain, &part);
	rows_free(&rows);
}

void memory_draw_tasks(const struct model *model, const struct panel_view *view, int plot_rows,
		       const struct canvas *canvas)
{
	struct canvas plot = canvas_part(canvas, 0, 1, canvas->width_cells - 1, plot_rows);

	(void)view;
	draw_chart_title(model, " by task", CHART_SECONDS, canvas);
	series_chart(model, chart_series(model), CHART_SECONDS, UNIT_BYTES, true, &plot);
	draw_list(model, TAB_TASK, 1 + plot_rows, canvas);
}

void memory_draw_types(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	char title[64], text[NAME_BYTES * 2];
	int y = 1;

	panel_title(title, '1', "Memory by type");
	title_draw(canvas, title, NULL, NULL);
	if (reason_text(text, sizeof text, model, view, &alloc_need, canvas_glyphs(canvas)))
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
	draw_list(model, TAB_TYPE, y, canvas);
}

static const char *const keys[] = {
	"v\tby task, type, task×type, tag",
	"s r\tsort by next column, reverse",
	"o\thold, let go the order",
	"/\tfilter (sub, !not, /regex/)",
	"x X\tnext level of the type, off",
	NULL
};

const struct panel panel_memory = {
	.name = "Memory",
	.digit = '1',
	.help = "live bytes by task, by type and by tag",
	.keys = keys,
	.footer = "v view  s sort  / filter  m mark",
	.draw = draw,
	.key = on_key,
};
