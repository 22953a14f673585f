#include "monitor/screen/panels/panel_memory.h"

#include <inttypes.h>
#include <math.h>

#include "widgets/cells.h"

enum {
	COLUMN_NAME, COLUMN_LIVE, COLUMN_MARK, COLUMN_ALLOCATED, COLUMN_FREED, COLUMN_RATE, COLUMN_ALLOC, COLUMN_FREE,
	COLUMN_OBJECTS, COLUMN_AVERAGE, COLUMN_LIFE, COLUMN_TREND, COLUMN_COUNT
};

/* What a task ever allocated and freed matters less than what it holds. */
enum { DROP_FIRST = 9 };

void memory_lifetime_text(char out[UNITS_BYTES], const struct model_site *lifetime)
{
	if (lifetime)
		site_figure(out, lifetime, quantile_or_none(&lifetime->window, lifetime->window.p50));
	else
		units_time(out, NAN);
}

void memory_row_name(const struct memory_table *memory, const struct panel_row *row, char *out, size_t out_bytes,
		     struct style *style)
{
	if (memory->tab == TAB_TASK && row->id == TASK_ALL) {
		snprintf(out, out_bytes, MEMORY_OF_NOBODY);
		*style = STYLE(ROLE_DIM);
	} else if (memory->tab == TAB_TASK) {
		task_name_clean(out, out_bytes, memory->model, row->id, memory->glyphs);
	} else if (row->is_gone) {
		snprintf(out, out_bytes, "%s %" PRIu32, memory->tab == TAB_TAG ? "tag" : "type", row->id);
	} else {
		name_clean(out, out_bytes, row->name, memory->glyphs);
	}
	if (row->is_gone)
		*style = STYLE(ROLE_DIM);
}

void memory_dim_when_zero(double value, struct style *style)
{
	if (isnan(value) || value == 0)
		*style = STYLE(ROLE_DIM);
}

static void life_cell(const struct memory_table *memory, uint32_t id, char text[UNITS_BYTES], struct style *style)
{
	const struct model_site *lifetime = site_lifetime_of(memory->model, model_site_by_id(memory->model, id));

	memory_lifetime_text(text, lifetime);
	if (!lifetime || lifetime->window.count == 0)
		*style = STYLE(ROLE_DIM);
}

static void table_cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct memory_table *memory = arg;
	const struct panel_row *row = &memory->rows->rows[index];
	struct holding holding = memory_holding_of(memory->model, memory->tab, row->id);
	char text[UNITS_BYTES] = "";

	if (column < 0)
		return;
	switch (memory->columns[column]) {
	case COLUMN_NAME:
		memory_row_name(memory, row, out, out_bytes, style);
		return;
	case COLUMN_LIVE:
		bytes_text(out, out_bytes, holding.live, holding.is_rough);
		memory_dim_when_zero(holding.live, style);
		return;
	case COLUMN_MARK:
		units_bytes_change(text, holding.change);
		memory_dim_when_zero(holding.change, style);
		break;
	case COLUMN_ALLOCATED:
		units_bytes(text, holding.allocated);
		memory_dim_when_zero(holding.allocated, style);
		break;
	case COLUMN_FREED:
		units_bytes(text, holding.freed);
		memory_dim_when_zero(holding.freed, style);
		break;
	case COLUMN_RATE:
		units_rate(text, holding.allocations_per_s);
		memory_dim_when_zero(holding.allocations_per_s, style);
		break;
	case COLUMN_ALLOC:
		units_bytes(text, holding.alloc_per_s);
		memory_dim_when_zero(holding.alloc_per_s, style);
		break;
	case COLUMN_FREE:
		units_bytes(text, holding.free_per_s);
		memory_dim_when_zero(holding.free_per_s, style);
		break;
	case COLUMN_OBJECTS:
		units_count(text, holding.objects);
		memory_dim_when_zero(holding.objects, style);
		break;
	case COLUMN_AVERAGE:
		units_bytes(text, holding.average);
		memory_dim_when_zero(holding.average, style);
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
	holding = memory_holding_of(memory->model, memory->tab, memory->rows->rows[index].id);
	series_spark(holding.trend, model_second(memory->model), SPARK_SHAPE, canvas);
	return true;
}

/* Whether the program sends lifetimes of some type. */
static bool has_lifetimes(const struct memory_table *memory)
{
	for (uint32_t i = 0; i < model_site_count(memory->model); i++)
		if (model_is_lifetime(model_site(memory->model, i)))
			return true;
	return false;
}

static bool has_column(const struct memory_table *memory, int column)
{
	switch (column) {
	case COLUMN_ALLOCATED:
	case COLUMN_FREED:
		return memory->tab != TAB_TYPE;
	case COLUMN_RATE:
		return memory->tab == TAB_TAG;
	case COLUMN_LIFE:
		return memory->tab == TAB_TYPE && has_lifetimes(memory);
	default:
		return true;
	}
}

void memory_draw_table(struct memory_table *memory, struct panel_view *view, int y, const struct canvas *canvas)
{
	static const int by_sort[SORT_COUNT] = {
		COLUMN_LIVE, COLUMN_MARK, COLUMN_ALLOC, COLUMN_FREE, COLUMN_OBJECTS, COLUMN_NAME,
	};
	static const struct table_column all[COLUMN_COUNT] = {
		[COLUMN_NAME] = { .width_cells = 9, .room = TABLE_NAME },
		[COLUMN_LIVE] = { .title = "live", .width_cells = 9, .right = true },
		[COLUMN_MARK] = { .title = "Δ mark", .width_cells = 9, .right = true, .drop = 2 },
		[COLUMN_ALLOCATED] = { .title = "allocated here", .width_cells = 14, .right = true, .drop = 1 },
		[COLUMN_FREED] = { .title = "freed here", .width_cells = 10, .right = true, .drop = 1 },
		[COLUMN_RATE] = { .title = "rate", .width_cells = 7, .right = true, .drop = 2 },
		[COLUMN_ALLOC] = { .title = "alloc/s", .width_cells = 8, .right = true, .drop = 3 },
		[COLUMN_FREE] = { .title = "free/s", .width_cells = 8, .right = true, .drop = 4 },
		[COLUMN_OBJECTS] = { .title = "objects", .width_cells = 7, .right = true, .drop = 6 },
		[COLUMN_AVERAGE] = { .title = "avg", .width_cells = 8, .right = true, .drop = 7 },
		[COLUMN_LIFE] = { .title = "life p50", .width_cells = 8, .right = true, .drop = 8 },
		[COLUMN_TREND] = { .title = "trend", .width_cells = 8, .drop = 5, .room = TABLE_PICTURE },
	};
	struct table_column columns[COLUMN_COUNT];
	int count = 0, sort_column = -1;

	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!has_column(memory, i))
			continue;
		columns[count] = all[i];
		if (i == COLUMN_NAME)
			columns[count].title = memory_tab_names[memory->tab];
		if ((i == COLUMN_ALLOCATED || i == COLUMN_FREED) && memory->tab == TAB_TASK)
			columns[count].drop = DROP_FIRST;
		if (i == by_sort[view->sort])
			sort_column = count;
		memory->columns[count++] = i;
	}
	list_draw(&(struct table){
		.columns = columns,
		.column_count = count,
		.sort_column = sort_column,
		.cell = table_cell,
		.draw = table_draw_cell,
		.arg = memory,
	}, memory->rows, view, y, canvas);
}
