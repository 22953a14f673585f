#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "widgets/cells.h"
#include "widgets/key.h"
#include "widgets/table.h"
#include "widgets/text.h"

enum { SORT_ORDER, SORT_EVENTS, SORT_COST, SORT_DROPPED, SORT_NAME, SORT_COUNT };
enum { SITE_SORT_RATE, SITE_SORT_EVENTS, SITE_SORT_LEVEL, SITE_SORT_NAME, SITE_SORT_COUNT };

#define LATE_NS 2000000000u          /* a request that waits longer reads "no answer" */

static const char *const sorts[SORT_COUNT] = { "order", "events", "cost", "dropped", "name" };
static const char *const site_sorts[SITE_SORT_COUNT] = { "rate", "streamed", "level", "name" };

static void collect(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	for (uint32_t id = 0; id < model_class_count(model); id++) {
		const struct model_class *class = model_class(model, id);
		double key = view->sort == SORT_EVENTS ? (class->level == LEVEL_ALL ? class->events_per_s : class->sum_per_s)
			   : view->sort == SORT_COST ? class->cost_share
			   : view->sort == SORT_DROPPED ? (double)(model_dropped(class) + class->lost)
			   : -(double)id;

		if (class->is_defined)
			rows_add(rows, id, 0, key, class->name);
	}
}

/* Adds the sites of the class in view->open_id. */
static void collect_sites(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		double key = view->sort == SITE_SORT_EVENTS ? site->streamed_per_s
			   : view->sort == SITE_SORT_LEVEL ? site->level : site->rate_per_s;

		if (site->class_id == view->open_id)
			rows_add(rows, site->id, 0, key, site->name);
	}
}

static const struct panel_list class_list = { collect, sorts, SORT_COUNT, SORT_NAME };
static const struct panel_list site_list = { collect_sites, site_sorts, SITE_SORT_COUNT, SITE_SORT_NAME };

static const struct panel_list *list_of(const struct panel_view *view)
{
	return view->is_open ? &site_list : &class_list;
}

/* ---- classes ---- */

enum {
	COLUMN_KEY, COLUMN_NAME, COLUMN_LEVEL, COLUMN_OWN, COLUMN_EVENTS, COLUMN_WIRE, COLUMN_COST, COLUMN_DROPPED,
	COLUMN_BY, COLUMN_COUNT
};

struct class_table {
	const struct model *model;
	const struct panel_view *view;
	const struct panel_rows *rows;
	enum glyphs glyphs;
	const struct canvas *canvas;
	/* Where notes belong: a row of a class that is off says across several columns what the class cost before. */
	struct { int x, y, row; } notes[LIMIT_CLASSES];
	int note_count;
};

static const struct panel_request *request_of(const struct panel_view *view, uint32_t class_id)
{
	return view->requests && class_id < LIMIT_CLASSES ? &view->requests[class_id] : NULL;
}

static uint64_t waited_ns(const struct panel_view *view, const struct panel_request *request)
{
	return view->now_ns > request->sent_ns ? view->now_ns - request->sent_ns : 0;
}

static void level_cell(const struct class_table *table, uint32_t id, char *out, size_t out_bytes, struct style *style)
{
	const struct panel_request *request = request_of(table->view, id);
	uint8_t level = model_class(table->model, id)->level;

	if (request && request->is_waiting) {
		bool is_late = waited_ns(table->view, request) >= LATE_NS;

		*style = STYLE(ROLE_WARN, ATTR_BOLD);
		if (is_late)
			snprintf(out, out_bytes, "no answer");
		else
			snprintf(out, out_bytes, "→%s", level_name(request->level));
		return;
	}
	if (level == LEVEL_ALL)
		*style = STYLE(ROLE_ACCENT, ATTR_BOLD);
	else if (level == LEVEL_OFF)
		*style = STYLE(ROLE_DIM);
	snprintf(out, out_bytes, "%s", level_name(level));
}

/* Says how many of the class's events the program streams: ", 1/100, 10.0k/s at most". */
static const char *class_limit_text(const struct model_class *class, char out[64])
{
	char sample[32] = "", rate[UNITS_BYTES], most[48] = "";

	if (class->sample > 1)
		snprintf(sample, sizeof sample, ", 1/%" PRIu64, class->sample);
	if (class->per_second) {
		units_rate(rate, (double)class->per_second);
		snprintf(most, sizeof most, ", %.20s at most", rate);
	}
	snprintf(out, 64, "%.30s%.30s", sample, most);
	return out;
}

static void by_cell(const struct class_table *table, uint32_t id, char *out, size_t out_bytes, struct style *style)
{
	const struct panel_request *request = request_of(table->view, id);
	const struct model_class *class = model_class(table->model, id);
	char limit[64];
	uint64_t waited = request && request->is_waiting ? waited_ns(table->view, request) / 100000000u : 0;

	if (request && request->is_waiting) {
		/* The time is in tenths of a second, so that the user sees it tick. */
		if (waited < 100)
			snprintf(out, out_bytes, "you, %" PRIu64 ".%" PRIu64 " s ago", waited / 10, waited % 10);
		else
			snprintf(out, out_bytes, "you, %" PRIu64 " s ago", waited / 10);
	} else if (request && request->answer[0]) {
		*style = STYLE(ROLE_BAD);
		text_clean(out, out_bytes, request->answer, strnlen(request->answer, sizeof request->answer), table->glyphs);
	} else if (class->leases > 0) {
		bool is_us = table->view->own_name && !strcmp(class->set_by, table->view->own_name);
		const char *who = is_us ? "you" : class->set_by;
		size_t used = text_clean(out, out_bytes, who, strnlen(who, sizeof class->set_by), table->glyphs);

		if (used == 0)
			snprintf(out, out_bytes, "%" PRIu32 " viewer%s", class->leases, class->leases == 1 ? "" : "s");
		else if (class->leases > 1 && used < out_bytes)
			snprintf(out + used, out_bytes - used, ", %" PRIu32 " other%s", class->leases - 1,
				 class->leases == 2 ? "" : "s");
	} else {
		*style = STYLE(ROLE_DIM);
		snprintf(out, out_bytes, "program%s", class_limit_text(class, limit));
	}
}

/* The rate, bytes and cost of a class's events. Only a class at level all streams events; one at sum counts them. */
static void figure_cell(const struct model_class *class, int column, char *out, size_t out_bytes, struct style *style)
{
	bool is_all = class->level == LEVEL_ALL, is_off = class->level == LEVEL_OFF, has_loss = class->drops_per_s > 0;
	char text[UNITS_BYTES];

	if (!is_all)
		*style = STYLE(ROLE_DIM);
	if (column == COLUMN_EVENTS)
		units_rate(text, is_off ? NAN : is_all ? class->events_per_s : class->sum_per_s);
	else if (column == COLUMN_WIRE)
		units_bytes(text, is_all ? class->bytes_per_s : NAN);
	else
		units_percent(text, is_off ? NAN : class->cost_share);
	snprintf(out, out_bytes, "%s%s", is_all && has_loss && column != COLUMN_COST ? "≥" : "", text);
}

static void cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct class_table *table = arg;
	uint32_t id = table->rows->rows[index].id;
	const struct model_class *class;
	uint64_t losses;

	if (id >= model_class_count(table->model) || !model_class(table->model, id)->is_defined)
		return;
	class = model_class(table->model, id);
	losses = model_dropped(class) + class->lost;
	switch (column) {
	case COLUMN_KEY:
		if (table->view->class_keys && table->view->class_keys[id] > ' ' && table->view->class_keys[id] < 0x7F)
			snprintf(out, out_bytes, "%c", table->view->class_keys[id]);
		break;
	case COLUMN_NAME:
		name_clean(out, out_bytes, class->name, table->glyphs);
		if (class->level == LEVEL_OFF)
			*style = STYLE(ROLE_DIM);
		break;
	case COLUMN_LEVEL:
		level_cell(table, id, out, out_bytes, style);
		break;
	case COLUMN_OWN:
		snprintf(out, out_bytes, "%s", level_name(class->own_level));
		break;
	case COLUMN_EVENTS: case COLUMN_WIRE: case COLUMN_COST:
		figure_cell(class, column, out, out_bytes, style);
		break;
	case COLUMN_DROPPED:
		{
			char text[UNITS_BYTES];

			units_count(text, (double)losses);
			snprintf(out, out_bytes, "%s", text);
			*style = losses > 0 ? STYLE(ROLE_WARN) : STYLE(ROLE_DIM);
		}
		break;
	case COLUMN_BY:
		by_cell(table, id, out, out_bytes, style);
		break;
	default:
		break;
	}
}

/* Whether the row has a note in place of its figures: the class is off and once was at level all. A request of ours is shown
 * in the row's last column, so such a row has no note. */
static bool has_note(const struct class_table *table, uint32_t id)
{
	const struct panel_request *request = request_of(table->view, id);

	return id < model_class_count(table->model) && model_class(table->model, id)->level == LEVEL_OFF &&
	       model_class(table->model, id)->last_events_per_s > 0 &&
	       !(request && (request->is_waiting || request->answer[0]));
}

static bool draw_cell(void *arg, int index, int column, const struct canvas *canvas)
{
	struct class_table *table = arg;

	if (column < COLUMN_EVENTS || !has_note(table, table->rows->rows[index].id))
		return false;
	if (column == COLUMN_EVENTS && table->note_count < LIMIT_CLASSES) {
		table->notes[table->note_count].x = canvas->x - table->canvas->x;
		table->notes[table->note_count].y = canvas->y - table->canvas->y;
		table->notes[table->note_count++].row = index;
	}
	return true;
}

static void draw_notes(const struct class_table *table, int cursor)
{
	for (int i = 0; i < table->note_count; i++) {
		const struct model_class *class = model_class(table->model, table->rows->rows[table->notes[i].row].id);
		char events[UNITS_BYTES], wire[UNITS_BYTES], cost[UNITS_BYTES];
		struct style style = STYLE(ROLE_DIM);

		if (table->notes[i].row == cursor)
			style.attrs |= ATTR_REVERSE;
		units_rate(events, class->last_events_per_s);
		units_byte_rate(wire, class->last_bytes_per_s);
		units_percent(cost, class->last_cost_share);
		canvas_printf(table->canvas, table->notes[i].x, table->notes[i].y, style, "(when last all: %s %s %s)",
			      events, wire, cost);
	}
}

/* The table stands from row 1 of the panel on, below the title; so does that of the sites. */
static void draw_classes(const struct model *model, struct panel_view *view, const struct panel_rows *rows,
			 const struct canvas *canvas)
{
	static const struct table_column columns[COLUMN_COUNT] = {
		[COLUMN_KEY] = { "key", 3, false, TABLE_FIXED, 4 },
		[COLUMN_NAME] = { "class", 8, false, TABLE_NAME, 0 },
		[COLUMN_LEVEL] = { "level", 9, false, TABLE_FIXED, 0 },
		[COLUMN_OWN] = { "own", 3, false, TABLE_FIXED, 6 },
		[COLUMN_EVENTS] = { "events", 8, true, TABLE_FIXED, 1 },
		[COLUMN_WIRE] = { "wire/s", 9, true, TABLE_FIXED, 7 },
		[COLUMN_COST] = { "cost", 6, true, TABLE_FIXED, 2 },
		[COLUMN_DROPPED] = { "dropped", 7, true, TABLE_FIXED, 3 },
		[COLUMN_BY] = { "level set by", 15, false, TABLE_FIXED, 5 },
	};
	static const int by_sort[SORT_COUNT] = { -1, COLUMN_EVENTS, COLUMN_COST, COLUMN_DROPPED, COLUMN_NAME };
	struct class_table table = { .model = model, .view = view, .rows = rows, .glyphs = canvas_glyphs(canvas),
				     .canvas = canvas };
	struct table_column wide[COLUMN_COUNT];

	memcpy(wide, columns, sizeof columns);
	if (canvas->width_cells >= 100)
		wide[COLUMN_BY].width_cells = 30;
	list_draw(&(struct table){
		.columns = wide,
		.column_count = COLUMN_COUNT,
		.sort_column = by_sort[view->sort],
		.cell = cell,
		.draw = draw_cell,
		.arg = &table,
	}, rows, view, 1, canvas);
	draw_notes(&table, view->cursor);
}

/* ---- the sites of one class ---- */

static void site_cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct class_table *table = arg;
	const struct model_site *site = model_site_by_id(table->model, table->rows->rows[index].id);
	char text[UNITS_BYTES];

	if (!site)
		return;
	if (site->level == LEVEL_OFF)
		*style = STYLE(ROLE_DIM);
	switch (column) {
	case 0:
		name_clean(out, out_bytes, site->name, table->glyphs);
		break;
	case 1:
		snprintf(out, out_bytes, "%s", site_kind_name(site->kind));
		break;
	case 2:
		snprintf(out, out_bytes, "%s", level_name(site->level));
		break;
	case 3:
		snprintf(out, out_bytes, "%s", site->own_level == LEVEL_OWN ? "class" : level_name(site->own_level));
		break;
	case 4:
		units_rate(text, site->level == LEVEL_OFF ? NAN : site->rate_per_s);
		snprintf(out, out_bytes, "%s", text);
		break;
	case 5:
		units_rate(text, site->level == LEVEL_ALL ? site->streamed_per_s : NAN);
		snprintf(out, out_bytes, "%s", text);
		break;
	case 6:
		if (site->file[0]) {
			size_t used = text_clean(out, out_bytes, site->file, strlen(site->file), table->glyphs);

			if (used < out_bytes)
				snprintf(out + used, out_bytes - used, ":%" PRIu32, site->line);
		}
		*style = STYLE(ROLE_DIM);
		break;
	default:
		break;
	}
}

static void draw_sites(const struct model *model, struct panel_view *view, const struct panel_rows *rows,
		       const struct canvas *canvas)
{
	struct table_column columns[] = {
		{ "site", 12, false, TABLE_NAME, 0 },
		{ "kind", 7, false, TABLE_FIXED, 3 },
		{ "level", 5, false, TABLE_FIXED, 0 },
		{ "own", 5, false, TABLE_FIXED, 4 },
		{ "rate", 7, true, TABLE_FIXED, 1 },
		{ "streamed", 8, true, TABLE_FIXED, 2 },
		{ "where", 16, false, TABLE_FIXED, 5 },
	};
	static const int by_sort[SITE_SORT_COUNT] = { 4, 5, 2, 0 };
	struct class_table table = { .model = model, .view = view, .rows = rows, .glyphs = canvas_glyphs(canvas),
				     .canvas = canvas };

	if (canvas->width_cells >= 100)
		columns[6].width_cells = 36;
	list_draw(&(struct table){
		.columns = columns,
		.column_count = (int)(sizeof columns / sizeof *columns),
		.sort_column = by_sort[view->sort],
		.cell = site_cell,
		.arg = &table,
	}, rows, view, 1, canvas);
}

/* ---- the panel ---- */

static void draw_title(const struct model *model, const struct panel_view *view, const struct panel_rows *rows,
		       const struct canvas *canvas)
{
	const char *lease = !view->may_control ? "levels cannot be set on this connection"
			  : view->keep ? "kept: levels stay as they are on leaving"
				       : "leased: back to the program's own levels on leaving";
	const char *short_lease = !view->may_control ? "read-only" : view->keep ? "kept" : "leased";
	char title[64], filter[256], left[NAME_BYTES + 512], sort[64] = "", right[256];

	panel_title(title, &panel_classes);
	filter_label(filter, sizeof filter, view, rows->count, rows->all_count, canvas_glyphs(canvas));
	if (view->is_open) {
		char name[NAME_BYTES], fit[NAME_BYTES];

		class_name_clean(name, sizeof name, model, view->open_id, canvas_glyphs(canvas));
		text_fit(fit, sizeof fit, name, 30, canvas_glyphs(canvas));
		snprintf(left, sizeof left, "%s ▸ %s%s", title, fit, filter);
	} else {
		snprintf(left, sizeof left, "%s%s", title, filter);
	}
	if (view->sort != 0 || view->is_ascending || view->is_open)
		list_sort_label(sort, list_of(view), view);
	else if (view->is_held)
		snprintf(sort, sizeof sort, "held");
	snprintf(right, sizeof right, "%s%s%s", sort, sort[0] ? " ─ " : "", lease);
	/* When it gets narrow, the sort label goes before the lease, because the lease is a promise to the user. */
	if (!title_fits(canvas, left, right))
		snprintf(right, sizeof right, "%s%s%s", sort, sort[0] ? " ─ " : "", short_lease);
	title_draw(canvas, left, right, short_lease);
}

static void draw_empty(const struct panel_view *view, const struct panel_rows *rows, const struct canvas *canvas)
{
	char text[NAME_BYTES * 2];

	if (view->nothing) {
		text_clean(text, sizeof text, view->nothing, strlen(view->nothing), canvas_glyphs(canvas));
	} else if (rows->all_count > 0) {
		no_match_text(text, sizeof text, view, rows->all_count, view->is_open ? "sites" : "classes",
			      canvas_glyphs(canvas));
	} else {
		snprintf(text, sizeof text, view->is_open ? "The target declares no site of this class."
							  : "The target declares no class.");
	}
	text_wrap(canvas, 1, 1, STYLE(ROLE_TEXT), text);
}

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	struct panel_rows rows;
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells, canvas->height_cells - 1);

	canvas_clear(canvas);
	view->cursor_x = view->cursor_y = -1;
	if (view->is_open && (view->open_id >= model_class_count(model) || !model_class(model, view->open_id)->is_defined)) {
		view->is_open = false;
		list_leave(view);
	}
	rows = list_rows(list_of(view), model, view);
	draw_title(model, view, &rows, canvas);
	if (rows.count == 0 || view->nothing)
		draw_empty(view, &rows, canvas);
	else if (view->is_open)
		draw_sites(model, view, &rows, &part);
	else
		draw_classes(model, view, &rows, &part);
	rows_free(&rows);
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	struct panel_view plain = *view;
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1);
	struct panel_rows rows;

	/* The view is the Overview's: its requests and letters hold here, but its cursor, sort and filter are of another
	 * list. */
	plain.sort = 0;
	plain.is_ascending = plain.is_open = false;
	plain.filter[0] = '\0';
	plain.top = 0;
	list_leave(&plain);
	rows = list_rows(&class_list, model, &plain);
	draw_title(model, &plain, &rows, canvas);
	if (rows.count == 0)
		draw_empty(&plain, &rows, canvas);
	else
		draw_classes(model, &plain, &rows, &part);
	rows_free(&rows);
}

static int count(const struct model *model)
{
	int defined = 0;

	for (uint32_t id = 0; id < model_class_count(model); id++)
		defined += model_class(model, id)->is_defined;
	return defined;
}

static bool close_sites(const struct model *model, struct panel_view *view)
{
	(void)model;
	/* A filter is a layer of its own: the list clears it before the class is closed. */
	if (view->filter[0])
		return false;
	view->is_open = false;
	list_leave(view);
	view->sort = 0;
	view->is_ascending = false;
	view->top = 0;
	view->filter[0] = '\0';
	/* The cursor returns to the class whose sites were open. */
	view->cursor = 0;
	view->cursor_id = view->open_id;
	view->is_held = false;
	return true;
}

static bool open_sites(const struct model *model, struct panel_view *view)
{
	if (view->cursor < 0)
		list_key(&class_list, model, view, KEYCODE_DOWN);
	if (view->cursor < 0 || view->cursor_id >= model_class_count(model))
		return true;
	view->open_id = view->cursor_id;
	view->is_open = true;
	list_leave(view);
	view->sort = 0;
	view->is_ascending = false;
	view->top = 0;
	view->filter[0] = '\0';
	return true;
}

/* Asks for a level of the chosen class or site: the next one, or off. */
static bool wish_chosen(const struct model *model, struct panel_view *view, bool off)
{
	uint32_t id = view->cursor_id;
	const struct panel_request *request = request_of(view, id);
	uint8_t level;

	if (view->is_open) {
		const struct model_site *site = view->cursor >= 0 ? model_site_by_id(model, id) : NULL;

		return off ? wish_site_off(view, site) : wish_site_next(view, site);
	}
	if (view->cursor < 0 || id >= model_class_count(model) || !model_class(model, id)->is_defined) {
		snprintf(view->message, sizeof view->message, "Choose a row first: ↓.");
		return true;
	}
	/* Pressed again before the answer came, the key goes on from the level that was asked for. */
	level = request && request->is_waiting ? request->level : model_class(model, id)->level;
	wish_level(view, id, 0, off ? LEVEL_OFF : level_next(level));
	return true;
}

static bool level_up(const struct model *model, struct panel_view *view) { return wish_chosen(model, view, false); }
static bool level_off(const struct model *model, struct panel_view *view) { return wish_chosen(model, view, true); }

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	return list_key(list_of(view), model, view, key);
}

static const struct panel_key keys[] = {
	{ 'x', .footer = "x next level", .help_keys = "x X", .help = "next level (off, sum, all), off", .run = level_up },
	{ 'X', .footer = "X off", .run = level_off },
	{ KEYCODE_ENTER, .applies = PANEL_WHILE_CLOSED, .footer = "⏎ sites", .help_keys = "⏎ Esc",
	  .help = "the class's sites, back", .run = open_sites },
	{ KEYCODE_ESCAPE, .applies = PANEL_WHILE_OPEN, .footer = "Esc back", .run = close_sites },
	{ 'c', .help_keys = "c m", .help = "class by its letter: next level" },
	{ 'c', .help_keys = "c a s n", .help = "all classes: all, sum, none" },
	{ 'c', .help_keys = "c r", .help = "all back to the program's own" },
	{ 's', .help_keys = "s r", .help = "sort by next column, reverse" },
	{ 0 }
};

const struct panel panel_classes = {
	.name = "Classes",
	.digit = '3',
	.help = "what is recorded, and what that costs",
	.keys = keys,
	.draw = draw,
	.key = on_key,
	.small = small,
	.count = count,
	.places = { [OVERVIEW_WIDE] = { 3, 2 } },
};
