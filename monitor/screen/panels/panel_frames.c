#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "widgets/cells.h"
#include "widgets/chart.h"
#include "widgets/key.h"
#include "widgets/table.h"
#include "widgets/text.h"

enum {
	SORT_P99, SORT_MAX, SORT_RATE, SORT_P50, SORT_OVER, SORT_HEAP, SORT_PEAK, SORT_ALLOCATIONS, SORT_LOGS, SORT_NAME,
	SORT_COUNT
};

enum {
	LABEL_CELLS = 11,            /* "log lines" */
	TABLE_ROWS_MIN = 4,          /* head, two names, "not shown" */
	CHOSEN_ROWS = 10,            /* rows for the chosen name, when there is room: title, words, some bars */
	BARS_ROWS_MIN = 3, BARS_ROWS_MAX = 16,       /* rows of bars, with their title */
	BUDGET_DWARFS = 8            /* a linear axis for both would leave the longest frame an eighth of the height */
};

static const char *const sorts[SORT_COUNT] = { "p99", "max", "rate", "p50", "over", "heap", "peak", "allocs", "logs",
					       "name" };
static const struct need frame_need = { site_is_frame, "frame", "frames", "ended" };

/* What the model knows from FRAME messages of this name; NULL when none came yet. */
static const struct model_frame *frame_of(const struct model *model, uint32_t site)
{
	for (uint32_t i = 0; i < model_frame_count(model); i++)
		if (model_frame(model, i)->site == site)
			return model_frame(model, i);
	return NULL;
}

static double log_lines(const struct model_frame *frame)
{
	double lines = 0;

	for (int i = 0; i < SEVERITY_COUNT; i++)
		lines += (double)frame->logs[i];
	return lines;
}

/* ---- the list ---- */

static double sort_key(const struct model_site *site, const struct model_frame *frame, int sort)
{
	switch (sort) {
	case SORT_MAX:
		return window_figure(site, WINDOW_MAX);
	case SORT_RATE:
		return window_figure(site, WINDOW_RATE);
	case SORT_P50:
		return window_figure(site, WINDOW_P50);
	case SORT_OVER:
		return frame ? (double)frame->broken : NAN;
	case SORT_HEAP:
		return frame ? (double)frame->heap_bytes : NAN;
	case SORT_PEAK:
		return frame ? (double)frame->heap_peak : NAN;
	case SORT_ALLOCATIONS:
		return frame ? (double)frame->allocations : NAN;
	case SORT_LOGS:
		return frame ? log_lines(frame) : NAN;
	default:
		return window_figure(site, WINDOW_P99);
	}
}

static void collect(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		const struct model_frame *frame = site->kind == SITE_SPAN ? frame_of(model, site->id) : NULL;

		if (frame || site_is_frame(site))
			rows_add(rows, site->id, 0, sort_key(site, frame, view->sort), site->name);
	}
}

static const struct panel_list frame_list = { collect, sorts, SORT_COUNT, SORT_NAME };

/* ---- the table ---- */

enum {
	COLUMN_NAME, COLUMN_RATE, COLUMN_P50, COLUMN_P99, COLUMN_MAX, COLUMN_BUDGET, COLUMN_OVER, COLUMN_HEAP, COLUMN_PEAK,
	COLUMN_ALLOCATIONS, COLUMN_LOGS, COLUMN_COUNT
};

struct frames {
	const struct model *model;
	const struct panel_rows *rows;
	enum glyphs glyphs;
};

/* Whether a frame broke its budget within the window. */
static bool was_over_lately(const struct model *model, const struct model_frame *frame)
{
	uint64_t now_ns = model_time_ns(model), window_s = (uint64_t)model_window(model);

	return frame->broken > 0 &&
	       (window_s == 0 || frame->broken_ns >= now_ns || now_ns - frame->broken_ns < window_s * 1000000000u);
}

/* The columns that are filled from FRAME messages. */
static void frame_cell(const struct model_frame *frame, int column, char text[UNITS_BYTES], struct style *style)
{
	switch (column) {
	case COLUMN_BUDGET:
		units_time(text, frame && frame->budget_ns ? (double)frame->budget_ns : NAN);
		break;
	case COLUMN_OVER:
		units_count(text, frame ? (double)frame->broken : NAN);
		if (frame && frame->broken > 0)
			*style = STYLE(ROLE_BAD);
		break;
	case COLUMN_HEAP:
		units_bytes(text, frame ? (double)frame->heap_bytes : NAN);
		break;
	case COLUMN_PEAK:
		units_bytes(text, frame ? (double)frame->heap_peak : NAN);
		break;
	case COLUMN_ALLOCATIONS:
		units_count(text, frame ? (double)frame->allocations : NAN);
		break;
	case COLUMN_LOGS:
		units_count(text, frame ? log_lines(frame) : NAN);
		break;
	default:
		break;
	}
}

static void cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct frames *frames = arg;
	const struct panel_row *row = &frames->rows->rows[index];
	const struct model_site *site = model_site_by_id(frames->model, row->id);
	const struct model_frame *frame = frame_of(frames->model, row->id);
	char text[UNITS_BYTES] = "";

	if (!site) {
		*style = STYLE(ROLE_DIM);
		if (column == COLUMN_NAME)
			snprintf(out, out_bytes, "site %" PRIu32, row->id);
		return;
	}
	if (site->window.count == 0 || site->level == LEVEL_OFF)
		*style = STYLE(ROLE_DIM);
	switch (column) {
	case TABLE_MARK:
		if (!frame || !was_over_lately(frames->model, frame))
			return;
		*style = STYLE(ROLE_BAD, ATTR_BOLD);
		snprintf(text, sizeof text, "!");
		break;
	case COLUMN_NAME:
		name_clean(out, out_bytes, site->name, frames->glyphs);
		return;
	case COLUMN_RATE:
		window_figure_text(text, site, WINDOW_RATE);
		break;
	case COLUMN_P50:
		window_figure_text(text, site, WINDOW_P50);
		break;
	case COLUMN_P99:
		window_figure_text(text, site, WINDOW_P99);
		break;
	case COLUMN_MAX:
		window_figure_text(text, site, WINDOW_MAX);
		break;
	default:
		frame_cell(frame, column, text, style);
		break;
	}
	snprintf(out, out_bytes, "%s", text);
}

/* Draws the table from row y of the panel on. */
static void draw_table(const struct model *model, const struct panel_rows *rows, struct panel_view *view, int y,
		       const struct canvas *canvas)
{
	static const int by_sort[SORT_COUNT] = {
		COLUMN_P99, COLUMN_MAX, COLUMN_RATE, COLUMN_P50, COLUMN_OVER, COLUMN_HEAP, COLUMN_PEAK, COLUMN_ALLOCATIONS,
		COLUMN_LOGS, COLUMN_NAME,
	};
	/* Times have one cell more, for the ~ of an estimate. */
	static const struct table_column columns[COLUMN_COUNT] = {
		[COLUMN_NAME] = { "frame", 9, false, TABLE_NAME, 0 },
		[COLUMN_RATE] = { "rate", 7, true, TABLE_FIXED, 3 },
		[COLUMN_P50] = { "p50", 8, true, TABLE_FIXED, 5 },
		[COLUMN_P99] = { "p99", 8, true, TABLE_FIXED, 0 },
		[COLUMN_MAX] = { "max", 8, true, TABLE_FIXED, 6 },
		[COLUMN_BUDGET] = { "budget", 7, true, TABLE_FIXED, 2 },
		[COLUMN_OVER] = { "over", 5, true, TABLE_FIXED, 1 },
		[COLUMN_HEAP] = { "heap", 8, true, TABLE_FIXED, 8 },
		[COLUMN_PEAK] = { "peak", 8, true, TABLE_FIXED, 7 },
		[COLUMN_ALLOCATIONS] = { "allocs", 6, true, TABLE_FIXED, 9 },
		[COLUMN_LOGS] = { "logs", 5, true, TABLE_FIXED, 10 },
	};
	struct frames frames = { .model = model, .rows = rows, .glyphs = canvas_glyphs(canvas) };

	list_draw(&(struct table){
		.columns = columns,
		.column_count = COLUMN_COUNT,
		.sort_column = by_sort[view->sort],
		.cell = cell,
		.arg = &frames,
	}, rows, view, y, canvas);
}

/* ---- one name: in words ---- */

/* Draws a line of text behind its label, over as many rows as it needs; returns the row after it. */
static int draw_line(const struct canvas *canvas, int y, const char *label, struct style style, const char *text)
{
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), label);
	return text_wrap(canvas, LABEL_CELLS, y, style, text);
}

static int line_budget(const struct model *model, const struct model_frame *frame, int y, const struct canvas *canvas)
{
	static const char *const parts[] = { "time", "heap", "log lines", "counter" };
	char time[UNITS_BYTES], count[32], at[UNITS_BYTES], text[512];
	size_t used;

	units_time(time, frame->budget_ns ? (double)frame->budget_ns : NAN);
	digits_text(count, frame->broken);
	used = (size_t)snprintf(text, sizeof text, "time %s   broken by %s", time, frame->broken ? count : "none");
	digits_text(count, frame->seen);
	used += (size_t)snprintf(text + used, sizeof text - used, " of %s frame%s", count, frame->seen == 1 ? "" : "s");
	for (int i = 0; i < 4 && frame->broken > 0; i++) {
		digits_text(count, frame->broke[i]);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s", i ? "," : ":", parts[i], count);
	}
	if (frame->broken > 0) {
		clock_text(at, model, frame->broken_ns, 0);
		snprintf(text + used, sizeof text - used, "; last at %s", at);
	}
	return draw_line(canvas, y, "budget", frame->broken > 0 ? STYLE(ROLE_BAD) : STYLE(ROLE_TEXT), text);
}

static int line_latest(const struct model *model, const struct model_frame *frame, int y, const struct canvas *canvas)
{
	char number[32], at[UNITS_BYTES], time[UNITS_BYTES], heap[UNITS_BYTES], peak[UNITS_BYTES], allocations[32],
		text[512];
	bool is_over = frame->broken > 0 && frame->broken_ns == frame->time_ns;

	digits_text(number, frame->number);
	clock_text(at, model, frame->time_ns, 3);
	units_time(time, (double)frame->duration_ns);
	units_bytes(heap, (double)frame->heap_bytes);
	units_bytes(peak, (double)frame->heap_peak);
	digits_text(allocations, frame->allocations);
	snprintf(text, sizeof text, "frame %s at %s: %s%s, heap %s, peak %s, %s allocation%s", number, at, time,
		 is_over ? ", over budget" : "", heap, peak, allocations, frame->allocations == 1 ? "" : "s");
	return draw_line(canvas, y, "latest", is_over ? STYLE(ROLE_BAD) : STYLE(ROLE_TEXT), text);
}

static int line_logs(const struct model_frame *frame, int y, const struct canvas *canvas)
{
	char count[32], text[256];
	size_t used = 0;

	for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
		digits_text(count, frame->logs[i]);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", i ? ", " : "", severity_name(i), count);
	}
	return draw_line(canvas, y, "log lines", STYLE(ROLE_TEXT), text);
}

/* The counters that the program chose for its frames: "net.requests +12, net.bytes out +1.20 KiB". */
static int line_counters(const struct model *model, const struct model_frame *frame, int y, const struct canvas *canvas)
{
	enum glyphs glyphs = canvas_glyphs(canvas);
	char text[LIMIT_COUNTERS_A_FRAME * 256];
	size_t used = 0;

	for (uint32_t i = 0; i < frame->counter_count && used < sizeof text; i++) {
		const struct model_site *site = model_site_by_id(model, frame->counters[i].site);
		char class_name[NAME_BYTES] = "", fit[NAME_BYTES] = "", name[NAME_BYTES], growth[32];

		if (site) {
			class_name_clean(class_name, sizeof class_name, model, site->class_id, glyphs);
			text_fit(fit, sizeof fit, class_name, 16, glyphs);
			name_fit(name, sizeof name, site->name, 24, glyphs);
		} else {
			snprintf(name, sizeof name, "site %" PRIu32, frame->counters[i].site);
		}
		if (site && site_unit(site) == UNIT_BYTES)
			units_bytes(growth, (double)frame->counters[i].sum);
		else
			digits_text(growth, frame->counters[i].sum);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s +%s", i ? ", " : "", fit,
					 site ? "." : "", name, growth);
	}
	return frame->counter_count > 0 ? draw_line(canvas, y, "counters", STYLE(ROLE_TEXT), text) : y;
}

/* ---- one name: as bars ---- */

/* The value at the bottom of a logarithmic axis, for frames so far below their budget that they would be a line at the
 * bottom of a linear one; else 0. */
static double axis_low(double least, double most, double budget)
{
	if (!(least > 0) || budget < BUDGET_DWARFS * most)
		return 0;
	return pow(10, floor(log10(least)));
}

/* The newest frame is at the right. When several frames share a column, it shows the longest. */
static void draw_bars(const struct model_frame *frame, const struct canvas *canvas)
{
	double values[MODEL_FRAMES], min = INFINITY, max = 0, low;
	int count = (int)(frame->seen < MODEL_FRAMES ? frame->seen : MODEL_FRAMES);
	char left[64], text[UNITS_BYTES], budget[UNITS_BYTES], right[96];
	struct canvas plot = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1);

	for (int i = 0; i < MODEL_FRAMES; i++)
		values[i] = NAN;
	for (int age = 0; age < count; age++) {
		values[MODEL_FRAMES - 1 - age] =
			(double)frame->durations_ns[(frame->seen - 1 - (uint64_t)age) % MODEL_FRAMES];
		max = fmax(max, values[MODEL_FRAMES - 1 - age]);
		min = fmin(min, values[MODEL_FRAMES - 1 - age]);
	}
	low = axis_low(min, max, (double)frame->budget_ns);
	snprintf(left, sizeof left, "last %d frame%s", count, count == 1 ? "" : "s");
	units_time(text, max);
	units_time(budget, (double)frame->budget_ns);
	snprintf(right, sizeof right, "max %s%s%s%s", text, frame->budget_ns ? " ─ budget " : "",
		 frame->budget_ns ? budget : "", low > 0 ? " ─ log axis" : "");
	title_draw(canvas, left, right, text);
	chart_draw(&(struct chart){
		.points = { .values = values, .count = MODEL_FRAMES },
		.unit = UNIT_NS,
		.low = low,
		.limit = (double)frame->budget_ns,
		.style = STYLE(ROLE_SERIES1),
	}, &plot);
}

static void draw_chosen(const struct model *model, const struct model_site *site, const struct canvas *canvas)
{
	const struct model_frame *frame = frame_of(model, site->id);
	char name[NAME_BYTES], seen[32], missed[32], longer[96] = "", shorter[64] = "";
	int y = 1;

	name_fit(name, sizeof name, site->name, cells_max(12, canvas->width_cells - 40), canvas_glyphs(canvas));
	if (!frame) {
		title_draw(canvas, name, NULL, NULL);
		text_wrap(canvas, 1, 1, STYLE(ROLE_DIM),
			  "No single frame was sent yet: budget, heap, log lines and bars come with the "
			  "first. The target sends them while a viewer inspects frames.");
		return;
	}
	digits_text(seen, frame->seen);
	digits_text(missed, frame->missed);
	snprintf(longer, sizeof longer, "%s seen", seen);
	if (frame->missed > 0) {
		snprintf(longer, sizeof longer, "%s seen, %s not sent", seen, missed);
		snprintf(shorter, sizeof shorter, "%s not sent", missed);
	}
	title_draw(canvas, name, longer, shorter);
	y = line_budget(model, frame, y, canvas);
	y = line_latest(model, frame, y, canvas);
	y = line_logs(frame, y, canvas);
	y = line_counters(model, frame, y, canvas);
	if (canvas->height_cells - y >= BARS_ROWS_MIN) {
		struct canvas part = canvas_part(canvas, 0, y, canvas->width_cells,
						 cells_min(canvas->height_cells - y, BARS_ROWS_MAX));

		draw_bars(frame, &part);
	}
}

/* ---- the panel ---- */

static void draw_title(const struct model *model, const struct panel_view *view, const struct panel_rows *rows,
		       const struct canvas *canvas)
{
	char title[64], filter[256], left[384], sort[64], right[160];

	panel_title(title, &panel_frames);
	filter_label(filter, sizeof filter, view, rows->count, rows->all_count, canvas_glyphs(canvas));
	snprintf(left, sizeof left, "%s%s", title, filter);
	list_sort_label(sort, &frame_list, view);
	snprintf(right, sizeof right, "%s ─ %s", window_name(model_window(model)), sort);
	title_draw(canvas, left, right, window_name(model_window(model)));
}

/* Draws why there is no row, or not every row; returns the row after the text. */
static int draw_reasons(const struct model *model, const struct panel_view *view, const struct panel_rows *rows, int y,
			const struct canvas *canvas)
{
	char text[NAME_BYTES * 2];

	if (reason_text(text, sizeof text, model, view, &frame_need, canvas_glyphs(canvas)))
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
	if (!view->nothing && rows->all_count == 0)
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT),
			      "A program ends one with telem_frame(\"name\"), once each turn of a loop.");
	return no_match_draw(view, rows->count, rows->all_count, "frames", y, canvas);
}

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows(&frame_list, model, view);
	const struct model_site *chosen = NULL;
	struct canvas part;
	int y = 1, left, table;

	canvas_clear(canvas);
	view->cursor_x = view->cursor_y = -1;
	draw_title(model, view, &rows, canvas);
	y = draw_reasons(model, view, &rows, y, canvas);
	if (rows.count > 0) {
		left = canvas->height_cells - y;
		table = cells_min(1 + rows.count, cells_max(cells_min(left, TABLE_ROWS_MIN), left - CHOSEN_ROWS));
		part = canvas_part(canvas, 0, y, canvas->width_cells - 1, table);
		draw_table(model, &rows, view, y, &part);
		/* The name that the cursor is on, else the first of the list: with the usual order the worst. */
		chosen = model_site_by_id(model, view->cursor >= 0 ? view->cursor_id : rows.rows[0].id);
		y += table;
	}
	if (chosen) {
		part = canvas_part(canvas, 0, y, canvas->width_cells, canvas->height_cells - y);
		draw_chosen(model, chosen, &part);
	}
	rows_free(&rows);
}

/* Opens in Latency the span of the name that the cursor is on, or else of the first name. */
static bool open_span(const struct model *model, struct panel_view *view)
{
	struct panel_rows rows = list_rows(&frame_list, model, view);
	uint32_t id = view->cursor >= 0 ? view->cursor_id : rows.count > 0 ? rows.rows[0].id : LIST_NONE;

	if (model_site_by_id(model, id)) {
		view->go = &panel_latency;
		view->go_id = id;
	}
	rows_free(&rows);
	return true;
}

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	return list_key(&frame_list, model, view, key);
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	struct panel_rows rows = list_rows_plain(&frame_list, model, SORT_P99);
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1);
	uint64_t broken = 0;
	struct panel_view plain;
	char title[64], count[32], right[64];

	(void)view;
	for (uint32_t i = 0; i < model_frame_count(model); i++)
		broken += model_frame(model, i)->broken;
	panel_title(title, &panel_frames);
	digits_text(count, broken);
	snprintf(right, sizeof right, "over budget %s", count);
	title_draw(canvas, title, broken > 0 ? right : NULL, NULL);
	panel_view_init(&plain);
	if (rows.count > 0)
		draw_table(model, &rows, &plain, 1, &part);
	else
		text_wrap(&part, 1, 0, STYLE(ROLE_DIM), "The target declares no frame.");
	rows_free(&rows);
}

static int count(const struct model *model)
{
	int declared = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++)
		declared += site_is_frame(model_site(model, i));
	return declared;
}

static const struct panel_key keys[] = {
	{ KEYCODE_DOWN, .help_keys = "↑ ↓", .help = "choose one, shown below" },
	{ KEYCODE_ENTER, .footer = "⏎ open", .help_keys = "⏎", .help = "open its span in Latency", .run = open_span },
	{ 'w', .footer = "w window" },
	{ 's', .footer = "s sort", .help_keys = "s r", .help = "sort by next column, reverse" },
	{ 'o', .help_keys = "o", .help = "hold, let go the order" },
	{ '/', .footer = "/ filter", .help_keys = "/", .help = "filter (sub, !not, /regex/)" },
	{ 'w', .help_keys = "w", .help = "window of rate, p50, p99, max" },
	{ 'x', .help_keys = "x X", .help = "next level of its span, off", .run = list_level_up },
	{ 'X', .run = list_level_off },
	{ 0 }
};

const struct panel panel_frames = {
	.name = "Frames",
	.digit = '9',
	.help = "turns of the program: how long, and against their budgets",
	.keys = keys,
	.draw = draw,
	.key = on_key,
	.small = small,
	.count = count,
};
