#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_latency.h"
#include "widgets/cells.h"
#include "widgets/key.h"
#include "widgets/rule.h"
#include "widgets/text.h"

enum {
	PARTS_MAX = 3,
	BANDS_MAX = 4,
	BESIDE_CELLS = 76,           /* below this width bands show their first box only */
	MEDIUM_CELLS = 100, WIDE_CELLS = 160,
	PLAIN_CELLS = 40, PLAIN_ROWS = 2,    /* below these there are words only */
	GUEST_ROWS_MIN = 3,          /* a title, a head and one row */
	HOST_ROWS_MIN = 3,
	GUESTS_MAX = PANELS_MAX,
	UNBOUNDED = 1000
};

struct overview {
	const struct model *model;
	struct panel_view *view;
};

/* Boxes side by side, across the whole width. Rows include the title. */
struct band {
	int min, want, weight;
	bool is_bounded;             /* more rows than its boxes can fill are of no use */
	const struct panel *parts[PARTS_MAX];        /* from the left */
	int part_count;
	int rows;                    /* how many it was given */
};

struct layout {
	enum overview_layout kind;
	struct band bands[BANDS_MAX];
	int band_count, shown;
	/* Below this box stand the small forms that have no place of their own; NULL: nowhere. */
	const struct panel *host;
};

/* ---- which boxes stand where ---- */

static const struct layout layouts[OVERVIEW_LAYOUT_COUNT] = {
	[OVERVIEW_WIDE] = { .band_count = 4, .bands = {
		{ .min = 8, .want = 18, .weight = 3 },
		{ .min = 4, .want = 10, .weight = 2 },
		{ .min = 4, .want = 10, .weight = 1, .is_bounded = true },
		{ .min = 3, .want = 8, .weight = 2 },
	} },
	[OVERVIEW_MEDIUM] = { .band_count = 4, .bands = {
		{ .min = 6, .want = 11, .weight = 2 },
		{ .min = 4, .want = 9, .weight = 1 },
		{ .min = 3, .want = 7, .weight = 1, .is_bounded = true },
		{ .min = 3, .want = 9, .weight = 1 },
	} },
	[OVERVIEW_NARROW] = { .band_count = 4, .bands = {
		{ .min = 3, .want = 6, .weight = 1 },
		{ .min = 3, .want = 7, .weight = 3, .is_bounded = true },
		{ .min = 2, .want = 3, .weight = 2, .is_bounded = true },
		{ .min = 2, .want = 4, .weight = 2 },
	} },
};

/* Puts a box at its place in the band, between those to its left and right. */
static void band_add(struct band *band, const struct panel *box, enum overview_layout kind)
{
	int at = band->part_count;

	if (at == PARTS_MAX)
		return;
	for (; at > 0 && band->parts[at - 1]->places[kind].column > box->places[kind].column; at--)
		band->parts[at] = band->parts[at - 1];
	band->parts[at] = box;
	band->part_count++;
}

static struct layout layout_for(int width_cells)
{
	enum overview_layout kind = width_cells >= WIDE_CELLS ? OVERVIEW_WIDE
				  : width_cells >= MEDIUM_CELLS ? OVERVIEW_MEDIUM : OVERVIEW_NARROW;
	const struct panel *const *const tables[] = { panels, panel_boxes };
	struct layout layout = layouts[kind];

	layout.kind = kind;
	for (int i = 0; i < 2; i++)
		for (const struct panel *const *box = tables[i]; *box; box++) {
			int band = (*box)->places[kind].band;

			if ((*box)->small && band > 0 && band <= layout.band_count)
				band_add(&layout.bands[band - 1], *box, kind);
		}
	for (int i = 0; i < layout.band_count; i++)
		if (width_cells < BESIDE_CELLS)
			layout.bands[i].part_count = cells_min(layout.bands[i].part_count, 1);
	if (kind == OVERVIEW_WIDE && layout.bands[1].part_count > 0)
		layout.host = layout.bands[1].parts[layout.bands[1].part_count - 1];
	return layout;
}

static int count_of(const struct overview *overview, const struct panel *box)
{
	return box->count ? cells_min(box->count(overview->model), UNBOUNDED) : 0;
}

/* ---- how many rows each band gets ---- */

/* Rows beyond this number would stay blank. */
static int band_max(const struct band *band, const struct overview *overview)
{
	int max = band->want;

	if (!band->is_bounded)
		return UNBOUNDED;
	for (int i = 0; i < band->part_count; i++)
		if (band->parts[i]->count)
			max = cells_max(max, 2 + count_of(overview, band->parts[i]));
	return max;
}

/* Bands that do not fit are left out from the bottom up, and a row is kept that says so. Rows that are left over first
 * bring each band to what it wants, then they go to bands by weight. */
static void layout_rows(struct layout *layout, const struct overview *overview, int height_cells)
{
	int left = height_cells, max[BANDS_MAX];

	for (layout->shown = layout->band_count; layout->shown > 0; layout->shown--) {
		left = height_cells - (layout->shown < layout->band_count);
		for (int i = 0; i < layout->shown; i++)
			left -= layout->bands[i].min;
		if (left >= 0)
			break;
	}
	if (layout->shown == 0) {
		/* Not even the first band fits: it takes all rows. */
		layout->shown = 1;
		layout->bands[0].rows = height_cells;
		return;
	}
	for (int i = 0; i < layout->shown; i++) {
		layout->bands[i].rows = layout->bands[i].min;
		max[i] = band_max(&layout->bands[i], overview);
	}
	for (; left > 0; left--) {
		int best = -1;

		for (int i = 0; i < layout->shown; i++) {
			const struct band *a = &layout->bands[i], *b = &layout->bands[cells_max(best, 0)];

			if (a->rows < a->want && (best < 0 || a->rows * b->want < b->rows * a->want))
				best = i;
		}
		for (int i = 0; best < 0 && i < layout->shown; i++) {
			if (layout->bands[i].rows >= max[i])
				continue;
			best = i;
			for (int j = i + 1; j < layout->shown; j++) {
				const struct band *a = &layout->bands[j], *b = &layout->bands[best];

				if (a->rows < max[j] && (a->rows - a->want) * b->weight < (b->rows - b->want) * a->weight)
					best = j;
			}
		}
		if (best < 0)
			return;
		layout->bands[best].rows++;
	}
}

/* ---- drawing ---- */

/* Writes the columns of the lines between count boxes; returns how many lines there are. */
static int separators(int width_cells, int count, int out[PARTS_MAX])
{
	if (count == 2) {
		out[0] = (width_cells - 1) / 2;
	} else if (count == 3 && width_cells >= WIDE_CELLS) {
		/* The box in the middle is the widest. */
		out[0] = (width_cells - 2) * 32 / 99;
		out[1] = width_cells - 1 - out[0];
	} else if (count == 3) {
		out[0] = (width_cells - 2 + 2) / 3;
		out[1] = out[0] + 1 + (width_cells - 2 + 1) / 3;
	}
	return cells_max(count - 1, 0);
}

static bool contains(const int *list, int count, int value)
{
	for (int i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* A guest is a panel whose small form has no place of its own, and has something to show. */
static bool is_guest(const struct overview *overview, const struct panel *panel)
{
	for (int i = 0; i < OVERVIEW_LAYOUT_COUNT; i++)
		if (panel->places[i].band > 0)
			return false;
	return panel->small && count_of(overview, panel) > 0;
}

/* The host gets the rows that it can fill; its guests share the others, as many of them as have room. */
static void draw_host(const struct overview *overview, const struct panel *host, const struct canvas *canvas)
{
	int rows = cells_max(HOST_ROWS_MIN, 1 + count_of(overview, host)), guest_count = 0, y = rows;
	const struct panel *guests[GUESTS_MAX];
	struct canvas part = *canvas;

	for (int i = 0; panels[i] && guest_count < GUESTS_MAX; i++)
		if (is_guest(overview, panels[i]))
			guests[guest_count++] = panels[i];
	guest_count = cells_min(guest_count, (canvas->height_cells - rows) / GUEST_ROWS_MIN);
	for (int i = 0; i < guest_count; i++) {
		int height = (canvas->height_cells - y) / (guest_count - i);

		part = canvas_part(canvas, 0, y, canvas->width_cells, height);
		guests[i]->small(overview->model, overview->view, &part);
		y += height;
	}
	if (guest_count > 0)
		part = canvas_part(canvas, 0, 0, canvas->width_cells, rows);
	host->small(overview->model, overview->view, &part);
}

/* When the box sets the view's cursor, it is moved to where it stands on the whole canvas. */
static void draw_box(const struct overview *overview, const struct layout *layout, const struct panel *box, int x, int y,
		     const struct canvas *canvas)
{
	struct panel_view *view = overview->view;
	int cursor_x = view->cursor_x, cursor_y = view->cursor_y;

	view->cursor_x = view->cursor_y = -1;
	if (box == layout->host)
		draw_host(overview, box, canvas);
	else
		box->small(overview->model, view, canvas);
	if (view->cursor_y >= 0) {
		view->cursor_x += x;
		view->cursor_y += y;
	} else {
		view->cursor_x = cursor_x;
		view->cursor_y = cursor_y;
	}
}

static void draw_band(const struct overview *overview, const struct layout *layout, const struct band *band, int y,
		      const struct canvas *canvas)
{
	int lines[PARTS_MAX], line_count = separators(canvas->width_cells, band->part_count, lines), x = 0;

	for (int i = 0; i < band->part_count; i++) {
		int end = i < line_count ? lines[i] : canvas->width_cells;
		struct canvas part = canvas_part(canvas, x, y, end - x, band->rows);

		draw_box(overview, layout, band->parts[i], x, y, &part);
		if (i < line_count) {
			part = canvas_part(canvas, end, y, 1, band->rows);
			rule_vertical(&part, 0);
		}
		x = end + 1;
	}
}

/* Draws the corners where lines meet titles, once all boxes are drawn. */
static void draw_corners(const struct layout *layout, const struct canvas *canvas)
{
	int above[PARTS_MAX], above_count = 0, y = 0;

	for (int i = 0; i < layout->shown; i++) {
		const struct band *band = &layout->bands[i];
		int lines[PARTS_MAX], count = separators(canvas->width_cells, band->part_count, lines);

		for (int j = 0; j < count; j++)
			rule_tee(canvas, lines[j], y, contains(above, above_count, lines[j]) ? GLYPH_CROSS : GLYPH_TEE_DOWN);
		for (int j = 0; j < above_count; j++)
			if (!contains(lines, count, above[j]))
				rule_tee(canvas, above[j], y, GLYPH_TEE_UP);
		memcpy(above, lines, sizeof above);
		above_count = count;
		y += band->rows;
	}
}

/* "+ 6 Events (5 hidden, press 6)" for each box that is left out, one after the other. */
static void draw_hidden(const struct overview *overview, const struct layout *layout, int y, const struct canvas *canvas)
{
	char text[512] = "", fit[NAME_BYTES];
	size_t used = 0;

	for (int i = layout->shown; i < layout->band_count; i++)
		for (int j = 0; j < layout->bands[i].part_count; j++) {
			const struct panel *box = layout->bands[i].parts[j];
			char title[64], press[16] = "";

			panel_title(title, box);
			if (panel_digit(box))
				snprintf(press, sizeof press, ", press %c", panel_digit(box));
			if (used < sizeof text)
				used += (size_t)snprintf(text + used, sizeof text - used, "%s+ %s", used ? "  " : "", title);
			if (used < sizeof text && box->count)
				used += (size_t)snprintf(text + used, sizeof text - used, " (%d hidden%s)",
							 count_of(overview, box), press);
		}
	text_fit(fit, sizeof fit, text, cells_max(canvas->width_cells - 1, 0), canvas_glyphs(canvas));
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), fit);
}

/* ---- too small for panels ---- */

/* Rows of words: "312 MiB", "sql.query 8.31 ms", "drop 0", then the next worst spans as long as there are rows. */
static void draw_plain(const struct overview *overview, const struct canvas *canvas)
{
	struct model_memory memory = model_memory(overview->model);
	struct panel_rows rows = list_rows_plain(&overview_latency_list, overview->model, 0);
	enum glyphs glyphs = canvas_glyphs(canvas);
	char text[UNITS_BYTES], name[NAME_BYTES], figure[UNITS_BYTES];
	int y = 0;

	units_bytes(text, memory.bytes);
	canvas_printf(canvas, 0, y++, STYLE(ROLE_TEXT), "%s%s", memory.prefix, text);
	for (int i = 0; i < rows.count && y < canvas->height_cells; i++) {
		const struct model_site *site = model_site_by_id(overview->model, rows.rows[i].id);

		site_figure(figure, site, figure_or_none(site->window.count, site->window.p99));
		name_fit(name, sizeof name, site->name, canvas->width_cells - 9, glyphs);
		canvas_text(canvas, canvas_text(canvas, 0, y, STYLE(ROLE_TEXT), name) + 1, y, STYLE(ROLE_TEXT), figure);
		y++;
		if (i > 0)
			continue;
		units_count(text, (double)(model_link(overview->model)->lost_events +
					   model_link(overview->model)->dropped_events));
		canvas_printf(canvas, 0, y++, STYLE(ROLE_TEXT), "drop %s", text);
	}
	if (rows.count == 0) {
		units_count(text, (double)(model_link(overview->model)->lost_events +
					   model_link(overview->model)->dropped_events));
		canvas_printf(canvas, 0, y, STYLE(ROLE_TEXT), "drop %s", text);
	}
	rows_free(&rows);
}

/* ---- the panel ---- */

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	struct overview overview = { .model = model, .view = view };
	struct layout layout = layout_for(canvas->width_cells);
	int y = 0;

	canvas_clear(canvas);
	view->cursor_x = view->cursor_y = -1;
	if (nothing_draw(&panel_overview, view, canvas))
		return;
	if (canvas->width_cells < PLAIN_CELLS || canvas->height_cells < PLAIN_ROWS) {
		draw_plain(&overview, canvas);
		return;
	}
	layout_rows(&layout, &overview, canvas->height_cells);
	for (int i = 0; i < layout.shown; i++) {
		draw_band(&overview, &layout, &layout.bands[i], y, canvas);
		y += layout.bands[i].rows;
	}
	draw_corners(&layout, canvas);
	if (layout.shown < layout.band_count && y < canvas->height_cells)
		draw_hidden(&overview, &layout, canvas->height_cells - 1, canvas);
}

/* Opens in Latency the span whose heat map is shown. */
static bool open_span(const struct model *model, struct panel_view *view)
{
	const struct model_site *site = latency_chosen(model, view);

	view->go = &panel_latency;
	view->go_id = site ? site->id : 0;
	return true;
}

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	return list_key(&overview_latency_list, model, view, key);
}

static const struct panel_key keys[] = {
	{ KEYCODE_DOWN, .help_keys = "↑ ↓", .help = "choose a span: its heat map is shown" },
	{ KEYCODE_ENTER, .footer = "⏎ open", .help_keys = "⏎", .help = "open it in Latency", .run = open_span },
	{ '/', .footer = "/ filter" },
	{ 's', .footer = "s sort", .help_keys = "s r", .help = "sort by next column, reverse" },
	{ 'o', .help_keys = "o", .help = "hold, let go the order" },
	{ '/', .help_keys = "/", .help = "filter (sub, !not, /regex/)" },
	{ 'x', .help_keys = "x X", .help = "next level of the span, off", .run = list_level_up },
	{ 'X', .run = list_level_off },
	{ 0 }
};

const struct panel panel_overview = {
	.name = "Overview",
	.digit = '0',
	.help = "everything at a glance",
	.keys = keys,
	.draw = draw,
	.key = on_key,
};
