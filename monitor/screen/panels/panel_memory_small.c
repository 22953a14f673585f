#include "monitor/screen/panels/panel_memory.h"

#include <math.h>

#include "widgets/cells.h"
#include "widgets/text.h"

extern const struct panel panel_memory_tasks, panel_memory_types;

enum {
	SMALL_SECONDS = 60,
	TREND_SECONDS = 60,
	TOP_CELLS = 18,              /* "decoder  148 MiB▲ " */
	TOP_MAX = 32
};

const struct series *memory_chart_series(const struct model *model)
{
	return model_series(model, model_has_typed_memory(model) ? MODEL_MEMORY : MODEL_RSS);
}

/* "60 s ─ max 340 MiB"; "60 s" when there is no maximum. */
static void chart_label(char out[96], const struct model *model, int seconds)
{
	double max = series_max(memory_chart_series(model), model_second(model), seconds);
	char text[UNITS_BYTES];

	units_bytes(text, max);
	snprintf(out, 96, "%s%s%s", window_name(seconds), isnan(max) ? "" : " ─ max ", isnan(max) ? "" : text);
}

/* Draws the biggest ones in one row: " task  decoder  148 MiB▲ cache   96.0 MiB  11 more 36.8 MiB". */
static void draw_top(const struct model *model, int tab, int y, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows_plain(memory_list_of(tab), model, SORT_LIVE);
	int cells = cells_max(1, cells_min((canvas->width_cells - 7) / TOP_CELLS, TOP_MAX));
	int named = rows.count <= cells ? rows.count : cells - 1;
	enum glyphs glyphs = canvas_glyphs(canvas);
	double rest = 0;
	bool is_rough = false;
	char text[NAME_BYTES], bytes[UNITS_BYTES];

	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), memory_tab_names[tab]);
	for (int i = 0; i < named; i++) {
		struct holding holding = memory_holding_of(model, tab, rows.rows[i].id);
		char name[NAME_BYTES];
		int x = 7 + i * TOP_CELLS, trend = series_trend(holding.trend, model_second(model), TREND_SECONDS);

		if (tab == TAB_TASK && rows.rows[i].id == TASK_ALL)
			snprintf(text, sizeof text, MEMORY_OF_NOBODY);
		else if (tab == TAB_TASK)
			task_name_clean(text, sizeof text, model, rows.rows[i].id, glyphs);
		else
			name_clean(text, sizeof text, rows.rows[i].name, glyphs);
		bytes_text(bytes, sizeof bytes, holding.live, holding.is_rough);
		text_fit(name, sizeof name, text, TOP_CELLS - 3 - cells_max(8, canvas_text_width(canvas, bytes)), glyphs);
		canvas_text(canvas, x, y, STYLE(ROLE_TEXT), name);
		canvas_text_right(canvas, x + TOP_CELLS - 2, y, STYLE(ROLE_TEXT), bytes);
		canvas_text(canvas, x + TOP_CELLS - 2, y, STYLE(ROLE_ACCENT), trend_arrow(trend));
	}
	for (int i = named; i < rows.count; i++) {
		struct holding holding = memory_holding_of(model, tab, rows.rows[i].id);

		rest += isnan(holding.live) ? 0 : holding.live;
		is_rough |= holding.is_rough;
	}
	if (rows.count > named) {
		int x = 7 + named * TOP_CELLS;

		snprintf(text, sizeof text, "%d more", rows.count - named);
		canvas_text(canvas, x, y, STYLE(ROLE_DIM), text);
		bytes_text(bytes, sizeof bytes, rest, is_rough);
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

	panel_title(title, &panel_memory);
	snprintf(left, sizeof left, "%s%s", title, model_has_typed_memory(model) ? by : " (resident)");
	chart_label(label, model, seconds);
	title_draw(canvas, left, label, window_name(seconds));
}

void memory_draw_small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	bool has_types = model_has_typed_memory(model);
	int lines = canvas->height_cells < 5 ? 0 : canvas->height_cells < 6 ? 1 : 2;
	struct canvas plot;

	(void)view;
	draw_chart_title(model, "", SMALL_SECONDS, canvas);
	plot = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1 - lines);
	series_chart(model, memory_chart_series(model), SMALL_SECONDS, UNIT_BYTES, plot.height_cells > 5, &plot);
	if (lines > 0)
		draw_top(model, has_types ? TAB_TASK : TAB_TYPE, canvas->height_cells - lines, canvas);
	if (lines > 1)
		draw_top(model, has_types ? TAB_TYPE : TAB_TASK, canvas->height_cells - 1, canvas);
}

static void draw_list(const struct model *model, int tab, int y, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows_plain(memory_list_of(tab), model, SORT_LIVE);
	struct memory_table memory = { .model = model, .rows = &rows, .tab = tab, .glyphs = canvas_glyphs(canvas) };
	struct panel_view plain;
	struct canvas part = canvas_part(canvas, 0, y, canvas->width_cells - 1, canvas->height_cells - y);

	panel_view_init(&plain);
	if (rows.count > 0)
		memory_draw_table(&memory, &plain, y, &part);
	rows_free(&rows);
}

static int count_tasks(const struct model *model)
{
	return (int)model_task_count(model);
}

static int count_types(const struct model *model)
{
	int types = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++)
		types += site_is_alloc(model_site(model, i));
	return types;
}

/* The chart of five minutes has the rows that the table of tasks leaves, but no less than three and no more than three
 * quarters of all. */
static void draw_tasks(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	int rows = canvas->height_cells - 1, plot_rows = rows - 1 - count_tasks(model);
	struct canvas plot;

	(void)view;
	plot_rows = cells_max(cells_min(plot_rows, rows * 3 / 4), cells_min(3, rows));
	plot = canvas_part(canvas, 0, 1, canvas->width_cells - 1, plot_rows);
	draw_chart_title(model, " by task", CHART_SECONDS, canvas);
	series_chart(model, memory_chart_series(model), CHART_SECONDS, UNIT_BYTES, true, &plot);
	draw_list(model, TAB_TASK, 1 + plot_rows, canvas);
}

static void draw_types(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	char title[64], text[NAME_BYTES * 2];
	int y = 1;

	panel_title(title, &panel_memory_types);
	title_draw(canvas, title, NULL, NULL);
	if (reason_text(text, sizeof text, model, view, &memory_alloc_need, canvas_glyphs(canvas)))
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
	draw_list(model, TAB_TYPE, y, canvas);
}

/* A wider Overview shows this form in place of memory_draw_small(). */
const struct panel panel_memory_tasks = {
	.name = "Memory",
	.of = &panel_memory,
	.small = draw_tasks,
	.count = count_tasks,
	.places = { [OVERVIEW_WIDE] = { 1, 1 }, [OVERVIEW_MEDIUM] = { 1, 1 } },
};

const struct panel panel_memory_types = {
	.name = "Memory by type",
	.of = &panel_memory,
	.small = draw_types,
	.count = count_types,
	.places = { [OVERVIEW_WIDE] = { 2, 1 } },
};
