#include "monitor/screen/panels/panel_latency.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"
#include "widgets/key.h"
#include "widgets/table.h"

enum { SORT_P99, SORT_MAX, SORT_RATE, SORT_P50, SORT_P90, SORT_NAME, SORT_COUNT };

enum {
	WIDE_CELLS = 100,            /* at this width and above p90 and class have their columns */
	HEAT_ROWS_MIN = 8, HEAT_ROWS_MAX = 20        /* rows of the heat map below the table, with its title */
};

static const char *const sorts[SORT_COUNT] = { "p99", "max", "rate", "p50", "p90", "name" };
/* Sizes and lifetimes of allocations are distributions as well, but no latencies, so they have views of their own. */
enum { TAB_LATENCY, TAB_VALUE, TAB_LIFETIME, TAB_COUNT };
static const char *const tab_names[TAB_COUNT] = { "latency", "value", "lifetime" };

static int tab_of(const struct panel_view *view)
{
	return view->tab >= 0 && view->tab < TAB_COUNT ? view->tab : TAB_LATENCY;
}

static bool is_value(const struct model_site *site)
{
	return model_is_timed(site) && site_unit(site) != UNIT_NS;
}

static bool is_latency(const struct model_site *site)
{
	return model_is_timed(site) && !is_value(site) && !model_is_lifetime(site);
}

static const struct need needs[TAB_COUNT] = {
	{ is_latency, "span", "spans", "entered" },
	{ is_value, "value", "values", "recorded" },
	{ site_is_lifetime, "lifetime", "lifetimes", "sampled" },
};

static double sort_key(const struct model_site *site, int sort)
{
	static const enum window_figure figures[SORT_COUNT] = {
		[SORT_P99] = WINDOW_P99, [SORT_MAX] = WINDOW_MAX, [SORT_RATE] = WINDOW_RATE, [SORT_P50] = WINDOW_P50,
		[SORT_P90] = WINDOW_P90, [SORT_NAME] = WINDOW_P99,
	};

	return window_figure(site, figures[sort]);
}

static void collect_grouped(const struct model *model, const struct panel_view *view, bool gc_last, struct panel_rows *rows)
{
	uint32_t gc = (uint32_t)model_class_find(model, "gc");

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		/* Sizes and plain numbers cannot be compared, so they are groups of their own. */
		if (needs[tab_of(view)].wants(site))
			rows_add(rows, site->id, (view->sort != SORT_RATE && site_unit(site) == UNIT_NONE) ||
				 (gc_last && site->class_id == gc), sort_key(site, view->sort), site->name);
	}
}

static void collect(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	collect_grouped(model, view, false, rows);
}

/* The Overview has a box for the garbage collector, so the program's own spans come first there. */
static void collect_for_overview(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	collect_grouped(model, view, true, rows);
}

static const struct panel_list latency_list = { collect, sorts, SORT_COUNT, SORT_NAME };
const struct panel_list overview_latency_list = { collect_for_overview, sorts, SORT_COUNT, SORT_NAME };

static const struct panel_list *list_of(bool is_overview)
{
	return is_overview ? &overview_latency_list : &latency_list;
}

/* ---- the table ---- */

enum {
	COLUMN_NAME, COLUMN_CLASS, COLUMN_RATE, COLUMN_P50, COLUMN_P90, COLUMN_P99, COLUMN_CHANGE, COLUMN_MAX, COLUMN_TREND,
	COLUMN_COUNT
};

struct latency_table {
	const struct model *model;
	const struct panel_rows *rows;
	enum glyphs glyphs;
	int columns[COLUMN_COUNT];   /* which COLUMN_ stands in each column of the table */
};

static void cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct latency_table *latency = arg;
	const struct panel_row *row = &latency->rows->rows[index];
	const struct model_site *site = model_site_by_id(latency->model, row->id);
	const struct quantiles *window;
	char text[UNITS_BYTES] = "";
	bool is_bad;

	if (!site) {
		*style = STYLE(ROLE_DIM);
		if (column == 0)
			snprintf(out, out_bytes, "site %" PRIu32, row->id);
		return;
	}
	window = &site->window;
	is_bad = model_mark_ns(latency->model) > 0 && is_worse((double)site->mark.p99, (double)window->p99);
	if (window->count == 0 || site->level == LEVEL_OFF)
		*style = STYLE(ROLE_DIM);
	if (column == TABLE_MARK) {
		if (is_bad) {
			snprintf(out, out_bytes, "!");
			*style = STYLE(ROLE_BAD, ATTR_BOLD);
		}
		return;
	}
	switch (latency->columns[column]) {
	case COLUMN_NAME:
		name_clean(out, out_bytes, site->name, latency->glyphs);
		return;
	case COLUMN_CLASS:
		class_name_clean(out, out_bytes, latency->model, site->class_id, latency->glyphs);
		return;
	case COLUMN_RATE:
		if (site->level == LEVEL_OFF)
			snprintf(text, sizeof text, "off");
		else
			window_figure_text(text, site, WINDOW_RATE);
		break;
	case COLUMN_P50:
		window_figure_text(text, site, WINDOW_P50);
		break;
	case COLUMN_P90:
		window_figure_text(text, site, WINDOW_P90);
		break;
	case COLUMN_P99:
		window_figure_text(text, site, WINDOW_P99);
		if (is_bad)
			*style = STYLE(ROLE_BAD);
		break;
	case COLUMN_CHANGE:
		units_change_percent(text, site->mark.count > 0 ? (double)site->mark.p99 : NAN,
				     quantile_or_none(window, window->p99));
		if (is_bad)
			*style = STYLE(ROLE_BAD);
		break;
	case COLUMN_MAX:
		window_figure_text(text, site, WINDOW_MAX);
		break;
	default:
		break;
	}
	snprintf(out, out_bytes, "%s", text);
}

static bool draw_cell(void *arg, int index, int column, const struct canvas *canvas)
{
	const struct latency_table *latency = arg;
	const struct model_site *site;

	if (latency->columns[column] != COLUMN_TREND)
		return false;
	site = model_site_by_id(latency->model, latency->rows->rows[index].id);
	if (site)
		series_spark(site->trend, model_second(latency->model), SPARK_FROM_ZERO, canvas);
	return true;
}

/* Draws the table from row y of the panel on. */
static void draw_table(const struct model *model, const struct panel_rows *rows, struct panel_view *view, int y,
		       const struct canvas *canvas)
{
	static const int by_sort[SORT_COUNT] = {
		COLUMN_P99, COLUMN_MAX, COLUMN_RATE, COLUMN_P50, COLUMN_P90, COLUMN_NAME,
	};
	static const struct table_column all[COLUMN_COUNT] = {
		[COLUMN_NAME] = { NULL, 12, false, TABLE_NAME, 0 },
		[COLUMN_CLASS] = { "class", 9, false, TABLE_FIXED, 8 },
		[COLUMN_RATE] = { "rate", 7, true, TABLE_FIXED, 2 },
		[COLUMN_P50] = { "p50", 8, true, TABLE_FIXED, 4 },
		[COLUMN_P90] = { "p90", 8, true, TABLE_FIXED, 7 },
		[COLUMN_P99] = { "p99", 8, true, TABLE_FIXED, 0 },
		[COLUMN_CHANGE] = { "Δ p99", 7, true, TABLE_FIXED, 10 },
		[COLUMN_MAX] = { "max", 8, true, TABLE_FIXED, 5 },
		[COLUMN_TREND] = { "trend of p99", 16, false, TABLE_PICTURE, 9 },
	};
	struct latency_table latency = { .model = model, .rows = rows, .glyphs = canvas_glyphs(canvas) };
	struct table_column columns[COLUMN_COUNT];
	bool is_wide = canvas->width_cells >= WIDE_CELLS;
	int count = 0, sort_column = -1, figure_cells = 7;

	/* Figures have one cell more when one of them is an estimate, for the ~, or is a size, for sizes are wider than
	 * times. */
	for (int i = 0; i < rows->count; i++) {
		const struct model_site *site = model_site_by_id(model, rows->rows[i].id);

		if (site && (site->is_rough || site_unit(site) == UNIT_BYTES))
			figure_cells = 8;
	}
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (!is_wide && (i == COLUMN_CLASS || i == COLUMN_P90))
			continue;
		if (i == COLUMN_CHANGE && model_mark_ns(model) == 0)
			continue;
		columns[count] = all[i];
		if (i == COLUMN_P50 || i == COLUMN_P90 || i == COLUMN_P99 || i == COLUMN_MAX)
			columns[count].width_cells = figure_cells;
		if (i == COLUMN_NAME)
			columns[count].title = tab_of(view) == TAB_LATENCY ? "span" : tab_names[tab_of(view)];
		if (i == COLUMN_NAME && canvas->width_cells < 75)
			columns[count].width_cells = 10;
		if (i == COLUMN_TREND && canvas->width_cells < 75) {
			columns[count].width_cells = 9;
			columns[count].title = "p99 trend";
		}
		if (i == by_sort[view->sort])
			sort_column = count;
		latency.columns[count++] = i;
	}
	list_draw(&(struct table){
		.columns = columns,
		.column_count = count,
		.sort_column = sort_column,
		.cell = cell,
		.draw = draw_cell,
		.arg = &latency,
	}, rows, view, y, canvas);
}

/* Draws the title, the reasons for missing rows and the table; the panel and its small form share this. */
static void draw_list(const struct model *model, struct panel_view *view, bool has_tabs, const char *title_right,
		      const char *title_shorter, const struct canvas *canvas)
{
	static const char *const rows_of[TAB_COUNT] = { "spans", "values", "lifetimes" };
	struct panel_rows rows = list_rows(list_of(!has_tabs), model, view);
	char title[64], filter[256], left[384], text[NAME_BYTES * 2];
	struct canvas part;
	int y = 1, tab = tab_of(view), tabs_x = 0, spare;
	uint32_t chosen;

	panel_title(title, &panel_latency);
	filter_label(filter, sizeof filter, view, rows.count, rows.all_count, canvas_glyphs(canvas));
	snprintf(left, sizeof left, "%s%s", title, filter);
	if (has_tabs)
		tabs_x = tabs_label(left, sizeof left, tab_names, TAB_COUNT, tab, canvas);
	title_draw(canvas, left, title_right, title_shorter);
	if (has_tabs)
		tabs_draw(left, tabs_x, tab_names, TAB_COUNT, tab, canvas);
	if (reason_text(text, sizeof text, model, view, &needs[tab], canvas_glyphs(canvas)))
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
	y = no_match_draw(view, rows.count, rows.all_count, rows_of[tab], y, canvas);
	part = canvas_part(canvas, 0, y, canvas->width_cells - 1, canvas->height_cells - y);
	view->cursor_x = view->cursor_y = -1;
	if (rows.count > 0)
		draw_table(model, &rows, view, y, &part);
	/* What the table leaves of the panel shows how the row of the cursor, or the first, came about. */
	y += 1 + rows.count;
	spare = canvas->height_cells - y;
	if (has_tabs && rows.count > 0 && spare >= HEAT_ROWS_MIN) {
		part = canvas_part(canvas, 0, y, canvas->width_cells, cells_min(spare, HEAT_ROWS_MAX));
		chosen = view->cursor >= 0 ? view->cursor_id : rows.rows[0].id;
		latency_draw_named_heat(model, model_site_by_id(model, chosen), &part);
	}
	rows_free(&rows);
}

static void list_right(char *out, size_t out_bytes, const struct model *model, const struct panel_view *view, bool with_mark)
{
	char sort[64], clock[UNITS_BYTES];

	list_sort_label(sort, &latency_list, view);
	snprintf(out, out_bytes, "%s ─ %s", window_name(model_window(model)), sort);
	if (with_mark && model_mark_ns(model) > 0) {
		size_t used = strlen(out);

		clock_text(clock, model, model_mark_ns(model), 0);
		snprintf(out + used, out_bytes - used, " ─ against mark %s", clock);
	}
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	char right[160];

	list_right(right, sizeof right, model, view, false);
	draw_list(model, view, false, right, window_name(model_window(model)), canvas);
}

const struct model_site *latency_chosen(const struct model *model, struct panel_view *view)
{
	struct panel_rows rows = list_rows(&overview_latency_list, model, view);
	const struct model_site *site = NULL;

	if (rows.count > 0)
		site = model_site_by_id(model, view->cursor >= 0 ? view->cursor_id : rows.rows[0].id);
	rows_free(&rows);
	return site;
}

/* ---- the panel ---- */

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	const struct model_site *site = view->is_open ? model_site_by_id(model, view->open_id) : NULL;
	char right[192], shorter[192];

	canvas_clear(canvas);
	if (view->is_open && (!site || !model_is_timed(site) || view->nothing))
		view->is_open = false;
	if (view->is_open) {
		latency_draw_open(model, view, site, canvas);
		return;
	}
	list_right(right, sizeof right, model, view, true);
	list_right(shorter, sizeof shorter, model, view, false);
	draw_list(model, view, true, right, shorter, canvas);
}

static bool open_row(const struct model *model, struct panel_view *view)
{
	return list_open(&latency_list, model, view);
}

static bool next_tab(const struct model *model, struct panel_view *view)
{
	(void)model;
	view->tab = (tab_of(view) + 1) % TAB_COUNT;
	view->top = 0;
	list_leave(view);
	return true;
}

static bool toggle_log(const struct model *model, struct panel_view *view)
{
	(void)model;
	view->log_y = !view->log_y;
	return true;
}

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	if (!list_key(&latency_list, model, view, key))
		return false;
	/* While a span is open, the arrows open the next one. */
	if (view->is_open && view->cursor >= 0)
		view->open_id = view->cursor_id;
	return true;
}

static const struct panel_key keys[] = {
	{ KEYCODE_ENTER, .applies = PANEL_WHILE_CLOSED, .footer = "⏎ open", .help_keys = "⏎ Esc", .help = "open, back",
	  .run = open_row },
	{ KEYCODE_ESCAPE, .applies = PANEL_WHILE_OPEN, .footer = "Esc back", .run = list_close },
	{ KEYCODE_DOWN, .applies = PANEL_WHILE_OPEN, .footer = "↑↓ next span" },
	{ 'v', .applies = PANEL_WHILE_CLOSED, .footer = "v view", .help_keys = "v", .help = "latencies, values, lifetimes",
	  .run = next_tab },
	{ 'w', .footer = "w window" },
	{ 's', .applies = PANEL_WHILE_CLOSED, .footer = "s sort", .help_keys = "s r",
	  .help = "sort by next column, reverse" },
	{ 'o', .help_keys = "o", .help = "hold, let go the order" },
	{ '/', .applies = PANEL_WHILE_CLOSED, .footer = "/ filter", .help_keys = "/",
	  .help = "filter (sub, !not, /regex/)" },
	{ 'L', .footer = "L log y", .help_keys = "w L", .help = "window, log scale", .run = toggle_log },
	{ 'x', .help_keys = "x X", .help = "next level of the span, off", .run = list_level_up },
	{ 'X', .run = list_level_off },
	{ 0 }
};

static int count(const struct model *model)
{
	int timed = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++)
		timed += is_latency(model_site(model, i));
	return timed;
}

const struct panel panel_latency = {
	.name = "Latency",
	.digit = '2',
	.help = "how long spans and latencies take, worst first",
	.keys = keys,
	.draw = draw,
	.key = on_key,
	.small = small,
	.count = count,
	.places = { [OVERVIEW_WIDE] = { 1, 2 }, [OVERVIEW_MEDIUM] = { 1, 2 }, [OVERVIEW_NARROW] = { 2, 1 } },
};
