#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "monitor/screen/panels/panel_parts.h"
#include "widgets/cells.h"
#include "widgets/key.h"
#include "widgets/rule.h"
#include "widgets/text.h"

enum {
	PARTS_MAX = 3,
	BANDS_MAX = 4,
	BESIDE_CELLS = 76, NARROW_CELLS = 100, WIDE_CELLS = 160,
	PLAIN_CELLS = 40, PLAIN_ROWS = 2,    /* below, words only */
	FRAMES_ROWS_MIN = 3,         /* title, head and one of them */
	UNBOUNDED = 1000
};

struct overview {
	const struct model *model;
	struct panel_view *view;
	const struct model_site *chosen;     /* whose heat map is shown; or NULL */
};

/* One panel in small: how it is drawn, and how many rows it has to show. */
struct part {
	const char *name;
	char key;
	void (*draw)(const struct overview *overview, const struct canvas *canvas);
	int (*count)(const struct overview *overview);
};

/* Panels side by side, across the whole width. Rows include the title. */
struct band {
	const struct part *parts[PARTS_MAX];
	int min, want, weight;
	bool is_bounded;             /* of no use beyond what it has to show */
	int rows;                    /* what it got */
};

struct layout {
	struct band bands[BANDS_MAX];
	int band_count, shown;
};

/* ---- parts ---- */

static void draw_memory(const struct overview *overview, const struct canvas *canvas)
{
	memory_draw_small(overview->model, overview->view, canvas);
}

/* The chart takes what the table leaves, within reason. */
static void draw_memory_tasks(const struct overview *overview, const struct canvas *canvas)
{
	int rows = canvas->height_cells - 1, plot = rows - 1 - cells_min((int)model_task_count(overview->model), UNBOUNDED);

	plot = cells_max(cells_min(plot, rows * 3 / 4), cells_min(3, rows));
	memory_draw_tasks(overview->model, overview->view, plot, canvas);
}

static void draw_memory_types(const struct overview *overview, const struct canvas *canvas)
{
	memory_draw_types(overview->model, overview->view, canvas);
}

static void draw_latency(const struct overview *overview, const struct canvas *canvas)
{
	latency_draw_small(overview->model, overview->view, canvas);
}

static void draw_heat(const struct overview *overview, const struct canvas *canvas)
{
	struct canvas plot = canvas_part(canvas, 0, 1, canvas->width_cells, canvas->height_cells - 1);
	char name[NAME_BYTES], left[NAME_BYTES + 32] = "heat map";

	if (overview->chosen) {
		name_fit(name, sizeof name, overview->chosen->name, cells_min(32, canvas->width_cells - 16),
			 canvas_glyphs(canvas));
		snprintf(left, sizeof left, "heat map: %s", name);
	}
	title_draw(canvas, left, "1 column = 1 s", NULL);
	latency_draw_heat(overview->model, overview->chosen, &plot);
}

static void draw_tasks(const struct overview *overview, const struct canvas *canvas)
{
	tasks_draw_small(overview->model, overview->view, canvas);
}

static void draw_gc(const struct overview *overview, const struct canvas *canvas)
{
	gc_draw_small(overview->model, overview->view, canvas);
}

static void draw_counters(const struct overview *overview, const struct canvas *canvas)
{
	counters_draw_small(overview->model, overview->view, canvas);
}

static void draw_classes(const struct overview *overview, const struct canvas *canvas)
{
	classes_draw_small(overview->model, overview->view, canvas);
}

static void draw_link(const struct overview *overview, const struct canvas *canvas)
{
	link_draw_small(overview->model, overview->view, canvas);
}

static void draw_events(const struct overview *overview, const struct canvas *canvas)
{
	events_draw_small(overview->model, overview->view, canvas);
}

static int count_sites(const struct overview *overview, bool (*is_counted)(const struct model_site *site))
{
	int count = 0;

	for (uint32_t i = 0; i < model_site_count(overview->model); i++)
		count += is_counted(model_site(overview->model, i));
	return count;
}

static int count_tasks(const struct overview *overview)
{
	return cells_min((int)model_task_count(overview->model), UNBOUNDED);
}

static int count_timed(const struct overview *overview)
{
	return cells_min(count_sites(overview, site_is_timed), UNBOUNDED);
}

static int count_types(const struct overview *overview)
{
	return cells_min(count_sites(overview, site_is_alloc), UNBOUNDED);
}

static int count_figures(const struct overview *overview)
{
	return cells_min(count_sites(overview, site_is_figure), UNBOUNDED);
}

static int count_gc(const struct overview *overview)
{
	int gc = model_class_find(overview->model, "gc"), count = 0;

	for (uint32_t i = 0; gc >= 0 && i < model_site_count(overview->model); i++) {
		const struct model_site *site = model_site(overview->model, i);

		count += site->class_id == (uint32_t)gc && site->kind == SITE_SPAN;
	}
	return cells_min(count, UNBOUNDED);
}

static int count_classes(const struct overview *overview)
{
	int count = 0;

	for (uint32_t id = 0; id < model_class_count(overview->model); id++)
		count += model_class(overview->model, id)->is_defined;
	return count;
}

static int count_lines(const struct overview *overview)
{
	return (int)model_line_count(overview->model);
}

static int count_link(const struct overview *overview)
{
	(void)overview;
	return 9;
}

/* The turns of the program take what collections leave. */
static void draw_gc_and_frames(const struct overview *overview, const struct canvas *canvas)
{
	int gc = cells_max(3, 1 + count_gc(overview)), frames = canvas->height_cells - gc;
	struct canvas part = *canvas;

	if (frames >= FRAMES_ROWS_MIN && count_sites(overview, site_is_frame) > 0) {
		part = canvas_part(canvas, 0, gc, canvas->width_cells, frames);
		frames_draw_small(overview->model, overview->view, &part);
		part = canvas_part(canvas, 0, 0, canvas->width_cells, gc);
	}
	gc_draw_small(overview->model, overview->view, &part);
}

static const struct part memory = { "Memory", '1', draw_memory, count_tasks };
static const struct part memory_tasks = { "Memory", '1', draw_memory_tasks, count_tasks };
static const struct part memory_types = { "Memory by type", '1', draw_memory_types, count_types };
static const struct part latency = { "Latency", '2', draw_latency, count_timed };
static const struct part heat = { "Heat map", '2', draw_heat, NULL };
static const struct part classes = { "Classes", '3', draw_classes, count_classes };
static const struct part tasks = { "Tasks", '4', draw_tasks, count_tasks };
static const struct part gc = { "GC", '5', draw_gc, count_gc };
static const struct part gc_and_frames = { "GC", '5', draw_gc_and_frames, count_gc };
static const struct part events = { "Events", '6', draw_events, count_lines };
static const struct part counters = { "Counters", '7', draw_counters, count_figures };
static const struct part link_part = { "Link", '8', draw_link, count_link };

/* ---- how many rows each gets ---- */

static struct layout layout_for(int width_cells)
{
	if (width_cells >= WIDE_CELLS)
		return (struct layout){ .band_count = 4, .bands = {
			{ { &memory_tasks, &latency, &tasks }, .min = 8, .want = 18, .weight = 3 },
			{ { &memory_types, &heat, &gc_and_frames }, .min = 4, .want = 10, .weight = 2 },
			{ { &counters, &classes, &link_part }, .min = 4, .want = 10, .weight = 1, .is_bounded = true },
			{ { &events }, .min = 3, .want = 8, .weight = 2 },
		} };
	if (width_cells >= NARROW_CELLS)
		return (struct layout){ .band_count = 4, .bands = {
			{ { &memory_tasks, &latency }, .min = 6, .want = 11, .weight = 2 },
			{ { &heat }, .min = 4, .want = 9, .weight = 1 },
			{ { &tasks, &gc, &counters }, .min = 3, .want = 7, .weight = 1, .is_bounded = true },
			{ { &events }, .min = 3, .want = 9, .weight = 1 },
		} };
	return (struct layout){ .band_count = 4, .bands = {
		{ { &memory }, .min = 3, .want = 6, .weight = 1 },
		{ { &latency }, .min = 3, .want = 7, .weight = 3, .is_bounded = true },
		{ { &tasks, width_cells >= BESIDE_CELLS ? &gc : NULL }, .min = 2, .want = 3, .weight = 2,
		  .is_bounded = true },
		{ { &events }, .min = 2, .want = 4, .weight = 2 },
	} };
}

static int part_count(const struct band *band)
{
	int count = 0;

	while (count < PARTS_MAX && band->parts[count])
		count++;
	return count;
}

/* Beyond this many rows the band would be blank. */
static int band_max(const struct band *band, const struct overview *overview)
{
	int max = band->want;

	if (!band->is_bounded)
		return UNBOUNDED;
	for (int i = 0; i < part_count(band); i++)
		if (band->parts[i]->count)
			max = cells_max(max, 2 + band->parts[i]->count(overview));
	return max;
}

/* Panels go from the bottom, leaving a row that says so; rows that are over go first to
 * what each band wants, then by weight. */
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
		/* Not even the first: it takes what there is. */
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

/* Where the lines between count panels stand. */
static int separators(int width_cells, int count, int out[PARTS_MAX])
{
	if (count == 2) {
		out[0] = (width_cells - 1) / 2;
	} else if (count == 3 && width_cells >= WIDE_CELLS) {
		/* The middle one, with latency and classes, is the widest. */
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

static void draw_band(const struct overview *overview, const struct band *band, int y, const struct canvas *canvas)
{
	int lines[PARTS_MAX], count = part_count(band), line_count = separators(canvas->width_cells, count, lines), x = 0;

	for (int i = 0; i < count; i++) {
		int end = i < line_count ? lines[i] : canvas->width_cells;
		struct canvas part = canvas_part(canvas, x, y, end - x, band->rows);

		band->parts[i]->draw(overview, &part);
		/* The list is the Overview's own: where its cursor stands is for the whole canvas. */
		if (band->parts[i] == &latency && overview->view->cursor_y >= 0) {
			overview->view->cursor_x += x;
			overview->view->cursor_y += y;
		}
		if (i < line_count) {
			part = canvas_part(canvas, end, y, 1, band->rows);
			rule_vertical(&part, 0);
		}
		x = end + 1;
	}
}

/* The corners where lines meet titles, once all is drawn. */
static void draw_corners(const struct layout *layout, const struct canvas *canvas)
{
	int above[PARTS_MAX], above_count = 0, y = 0;

	for (int i = 0; i < layout->shown; i++) {
		const struct band *band = &layout->bands[i];
		int lines[PARTS_MAX], count = separators(canvas->width_cells, part_count(band), lines);

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

/* "+ 6 Events (5 hidden, press 6)", one after the other. */
static void draw_hidden(const struct overview *overview, const struct layout *layout, int y, const struct canvas *canvas)
{
	char text[512] = "", fit[NAME_BYTES];
	size_t used = 0;

	for (int i = layout->shown; i < layout->band_count; i++)
		for (int j = 0; j < part_count(&layout->bands[i]); j++) {
			const struct part *part = layout->bands[i].parts[j];
			char title[64], press[16] = "";

			panel_title(title, part->key, part->name);
			if (panel_find(part->key))
				snprintf(press, sizeof press, ", press %c", part->key);
			if (used < sizeof text)
				used += (size_t)snprintf(text + used, sizeof text - used, "%s+ %s", used ? "  " : "", title);
			if (used < sizeof text && part->count)
				used += (size_t)snprintf(text + used, sizeof text - used, " (%d hidden%s)",
							 part->count(overview), press);
		}
	text_fit(fit, sizeof fit, text, cells_max(canvas->width_cells - 1, 0), canvas_glyphs(canvas));
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), fit);
}

/* ---- too small for panels ---- */

/* "312 MiB", "sql.query 8.31 ms", "drop 0", and the next worst as long as there are rows. */
static void draw_plain(const struct overview *overview, const struct canvas *canvas)
{
	const struct model_totals *totals = model_totals(overview->model);
	struct panel_rows rows = list_rows_plain(&latency_list, overview->model, 0);
	enum glyphs glyphs = canvas_glyphs(canvas);
	char text[UNITS_BYTES], name[NAME_BYTES], figure[UNITS_BYTES];
	int y = 0;

	units_bytes(text, model_has_typed_memory(overview->model) ? (double)totals->live_bytes : (double)totals->rss_bytes);
	canvas_text(canvas, 0, y++, STYLE(ROLE_TEXT), text);
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
	char text[NAME_BYTES];
	int y = 0;

	canvas_clear(canvas);
	view->cursor_x = view->cursor_y = -1;
	if (view->nothing) {
		char title[64];

		panel_title(title, '0', "Overview");
		title_draw(canvas, title, NULL, NULL);
		text_clean(text, sizeof text, view->nothing, strlen(view->nothing), canvas_glyphs(canvas));
		text_wrap(canvas, 1, canvas->height_cells > 1, STYLE(ROLE_TEXT), text);
		return;
	}
	if (canvas->width_cells < PLAIN_CELLS || canvas->height_cells < PLAIN_ROWS) {
		draw_plain(&overview, canvas);
		return;
	}
	overview.chosen = latency_chosen(model, view);
	layout_rows(&layout, &overview, canvas->height_cells);
	for (int i = 0; i < layout.shown; i++) {
		draw_band(&overview, &layout.bands[i], y, canvas);
		y += layout.bands[i].rows;
	}
	draw_corners(&layout, canvas);
	if (layout.shown < layout.band_count && y < canvas->height_cells)
		draw_hidden(&overview, &layout, canvas->height_cells - 1, canvas);
}

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	const struct model_site *site;

	if (key == KEYCODE_ENTER) {
		site = latency_chosen(model, view);
		view->go = '2';
		view->go_id = site ? site->id : 0;
		return true;
	}
	if (key == 'x' || key == 'X') {
		site = view->cursor >= 0 ? model_site_by_id(model, view->cursor_id) : NULL;
		return site_level_key(model, view, site, key);
	}
	return list_key(&latency_list, model, view, key);
}

static const char *const keys[] = {
	"↑ ↓\tchoose a span: its heat map is shown",
	"⏎\topen it in Latency",
	"s r\tsort by next column, reverse",
	"o\thold, let go the order",
	"/\tfilter (sub, !not, /regex/)",
	"x X\tnext level of the span, off",
	NULL
};

const struct panel panel_overview = {
	.name = "Overview",
	.digit = '0',
	.help = "everything at a glance",
	.keys = keys,
	.footer = "⏎ open  / filter  s sort",
	.draw = draw,
	.key = on_key,
};
