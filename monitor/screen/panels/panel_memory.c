#include "monitor/screen/panels/panel_memory.h"

#include <string.h>

#include "widgets/cells.h"
#include "widgets/key.h"

static void draw_title(const struct model *model, const struct panel_view *view, const struct panel_rows *rows,
		       const struct canvas *canvas)
{
	char title[64], filter[256], left[512], longer[256], shorter[128], sort[64], clock[UNITS_BYTES];
	int tab = memory_tab_of(view), tabs_x;

	panel_title(title, &panel_memory);
	filter_label(filter, sizeof filter, view, rows->count, rows->all_count, canvas_glyphs(canvas));
	snprintf(left, sizeof left, "%s%s", title, filter);
	tabs_x = tabs_label(left, sizeof left, memory_tab_names, TAB_COUNT, tab, canvas);
	list_sort_label(sort, memory_list_of(tab), view);
	/* When it gets narrow, what is unusual stays longest: that rows are held, then what Δ is against. */
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
	tabs_draw(left, tabs_x, memory_tab_names, TAB_COUNT, tab, canvas);
}

enum { PROCESS_HEIGHT = 16 };        /* from this height on there is a row for the whole process */

/* The chart also has half of the rows, when the table needs less than the other half. */
static int chart_rows(int height_cells, int table_rows)
{
	if (height_cells < 10)
		return 0;
	if (height_cells < 16)
		return 2;
	return cells_max(cells_max(4, height_cells / 4 - 1), cells_min(height_cells / 2, height_cells - table_rows));
}

/* Draws why the table is empty or lacks rows; returns the row after the text. */
static int draw_reasons(const struct model *model, const struct panel_view *view, const struct panel_rows *rows, int y,
			const struct canvas *canvas)
{
	static const char *const rows_of[TAB_COUNT] = { "tasks", "types", "types", "tags" };
	const struct need *need = memory_tab_of(view) == TAB_TAG ? &memory_tag_need : &memory_alloc_need;
	char text[NAME_BYTES * 2];

	if (reason_text(text, sizeof text, model, view, need, canvas_glyphs(canvas))) {
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
		if (!view->nothing && !model_has_typed_memory(model))
			y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT),
				      "The chart shows resident memory, as the kernel counts it.");
	}
	return no_match_draw(view, rows->count, rows->all_count, rows_of[memory_tab_of(view)], y, canvas);
}

/* What the process holds, as the kernel and malloc() count it; returns the row after it. */
static int draw_process(const struct model *model, int y, const struct canvas *canvas)
{
	static const struct { const char *site, *text; } parts[] = {
		{ "process/rss", "resident" }, { "process/pss", "proportional" },
		{ "malloc/allocated", "malloc: allocated" }, { "malloc/free", "free" }, { "malloc/mapped", "mapped" },
		{ "malloc/held", "held" },
	};
	char text[400] = "", value[UNITS_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (uint32_t at = 0; at < model_site_count(model); at++) {
			const struct model_site *site = model_site(model, at);

			if (strcmp(site->name, parts[i].site) || !model_is_reported(model, site))
				continue;
			figure_text(value, model, site);
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? "  " : "process: ",
						 parts[i].text, value);
			break;                   /* a stream may define many sites of one name */
		}
	if (!text[0])
		return y;
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), text);
	return y + 1;
}

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows(memory_list_of(memory_tab_of(view)), model, view);
	struct memory_table memory = { .model = model, .rows = &rows, .tab = memory_tab_of(view),
				       .glyphs = canvas_glyphs(canvas) };
	int height = canvas->height_cells, plot_rows = chart_rows(height, rows.count + 5), y = 1;
	bool has_holders = height >= 10 && rows.count > 0 && model_has_typed_memory(model);
	struct canvas part;

	canvas_clear(canvas);
	view->cursor_x = view->cursor_y = -1;
	view->wants_costly = false;
	view->wants_held = view->is_open && !view->nothing;
	if (view->wants_held) {
		memory_draw_open(model, view, canvas);
		rows_free(&rows);
		return;
	}
	draw_title(model, view, &rows, canvas);
	if (!view->nothing && plot_rows > 0) {
		part = canvas_part(canvas, 0, 1, canvas->width_cells - 1, plot_rows);
		series_chart(model, memory_chart_series(model), CHART_SECONDS, UNIT_BYTES, true, &part);
		y += plot_rows;
	}
	/* A small panel has no row for them, so they are not asked for either. */
	view->wants_costly = !view->nothing && height >= PROCESS_HEIGHT;
	if (view->wants_costly)
		y = draw_process(model, y, canvas);
	y = draw_reasons(model, view, &rows, y, canvas);
	part = canvas_part(canvas, 0, y, canvas->width_cells, height - y - has_holders);
	if (rows.count > 0 && memory.tab == TAB_MATRIX)
		memory_draw_matrix(&memory, view, y, &part);
	else if (rows.count > 0)
		memory_draw_table(&memory, view, y, &part);
	if (has_holders) {
		/* The row stands right below the table, or at the bottom when the table fills the canvas. */
		int below = y + 1 + cells_max(rows.count, 0);

		memory_draw_holders(&memory, view, cells_min(below, height - 1), canvas);
	}
	rows_free(&rows);
}

static bool next_tab(const struct model *model, struct panel_view *view)
{
	(void)model;
	view->tab = (memory_tab_of(view) + 1) % TAB_COUNT;
	view->top = 0;
	list_leave(view);
	return true;
}

/* Asks for a level of the type or tag that the cursor is on: the next one, or off. */
static bool wish_chosen(const struct model *model, struct panel_view *view, bool off)
{
	struct panel_rows rows;
	const struct model_site *site = NULL;

	if (memory_tab_of(view) == TAB_TASK) {
		snprintf(view->message, sizeof view->message, "Types have levels, tasks do not: v shows types.");
		return true;
	}
	rows = list_rows(memory_list_of(memory_tab_of(view)), model, view);
	if (view->cursor >= 0 && rows.count > 0)
		site = model_site_by_id(model, view->cursor_id);
	rows_free(&rows);
	return off ? wish_site_off(view, site) : wish_site_next(view, site);
}

static bool open_row(const struct model *model, struct panel_view *view)
{
	return list_open(memory_list_of(memory_tab_of(view)), model, view);
}

static bool level_up(const struct model *model, struct panel_view *view) { return wish_chosen(model, view, false); }
static bool level_off(const struct model *model, struct panel_view *view) { return wish_chosen(model, view, true); }

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	if (!list_key(memory_list_of(memory_tab_of(view)), model, view, key))
		return false;
	/* While one is open, the arrows open the next one. */
	if (view->is_open && view->cursor >= 0)
		view->open_id = view->cursor_id;
	return true;
}

static int count(const struct model *model)
{
	return (int)model_task_count(model);
}

static const struct panel_key keys[] = {
	{ KEYCODE_ENTER, .applies = PANEL_WHILE_CLOSED, .footer = "⏎ open", .help_keys = "⏎ Esc",
	  .help = "who holds it, since when; back", .run = open_row },
	{ KEYCODE_ESCAPE, .applies = PANEL_WHILE_OPEN, .footer = "Esc back", .run = list_close },
	{ 'v', .applies = PANEL_WHILE_CLOSED, .footer = "v view", .help_keys = "v",
	  .help = "by task, type, task×type, tag", .run = next_tab },
	{ 's', .applies = PANEL_WHILE_CLOSED, .footer = "s sort", .help_keys = "s r",
	  .help = "sort by next column, reverse" },
	{ 'o', .help_keys = "o", .help = "hold, let go the order" },
	{ '/', .footer = "/ filter", .help_keys = "/", .help = "filter (sub, !not, /regex/)" },
	{ 'm', .footer = "m mark" },
	{ 'x', .help_keys = "x X", .help = "next level of the type, off", .run = level_up },
	{ 'X', .run = level_off },
	{ 0 }
};

const struct panel panel_memory = {
	.name = "Memory",
	.digit = '1',
	.help = "live bytes by task, by type and by tag",
	.keys = keys,
	.draw = draw,
	.key = on_key,
	.small = memory_draw_small,
	.count = count,
	.places = { [OVERVIEW_NARROW] = { 1, 1 } },
};
