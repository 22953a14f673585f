#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "monitor/screen/panels/panel_parts.h"
#include "protocol/histogram.h"
#include "widgets/cells.h"
#include "widgets/heatmap.h"
#include "widgets/histogram.h"
#include "widgets/key.h"
#include "widgets/rule.h"
#include "widgets/table.h"
#include "widgets/text.h"

enum { SORT_P99, SORT_MAX, SORT_RATE, SORT_P50, SORT_P90, SORT_NAME, SORT_COUNT };

enum {
	WIDE_CELLS = 100,            /* from here on p90 and class have their columns */
	BESIDE_CELLS = 70,           /* from here on the histogram stands beside the figures */
	FIGURES_CELLS = 38,
	FIGURES_ROWS = 8,
	BINS_MAX = 256,
	HEAT_LABEL_S = 60,           /* a clock time so often */
	HEAT_SPARE_ROWS = 3
};

static const char *const sorts[SORT_COUNT] = { "p99", "max", "rate", "p50", "p90", "name" };
static const struct need timed_need = { site_is_timed, "span", "spans", "entered" };

static double sort_key(const struct model_site *site, int sort)
{
	switch (sort) {
	case SORT_MAX:
		return figure_or_none(site->window.count, site->window.max);
	case SORT_RATE:
		return site->window.rate_per_s;
	case SORT_P50:
		return quantile_or_none(&site->window, site->window.p50);
	case SORT_P90:
		return quantile_or_none(&site->window, site->window.p90);
	default:
		return quantile_or_none(&site->window, site->window.p99);
	}
}

static void collect(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		enum unit unit;

		if (!model_is_timed(site))
			continue;
		/* Times, sizes and plain numbers are not compared, but how often they come is. How long
		 * allocations live is no latency of the program's, and mostly longer than all. */
		unit = site_unit(site);
		rows_add(rows, site->id, view->sort == SORT_RATE ? 0 : site_is_lifetime(model, site) ? 3
			 : unit == UNIT_NS ? 0 : unit == UNIT_BYTES ? 1 : 2, sort_key(site, view->sort), site->name);
	}
}

const struct panel_list latency_list = { collect, sorts, SORT_COUNT, SORT_NAME };

/* ---- the table ---- */

enum {
	COLUMN_NAME, COLUMN_CLASS, COLUMN_RATE, COLUMN_P50, COLUMN_P90, COLUMN_P99, COLUMN_CHANGE, COLUMN_MAX, COLUMN_TREND,
	COLUMN_COUNT
};

struct latency_table {
	const struct model *model;
	const struct panel_rows *rows;
	enum glyphs glyphs;
	int columns[COLUMN_COUNT];   /* what stands in the table's columns */
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
		units_rate(text, window->rate_per_s);
		break;
	case COLUMN_P50:
		site_figure(text, site, quantile_or_none(window, window->p50));
		break;
	case COLUMN_P90:
		site_figure(text, site, quantile_or_none(window, window->p90));
		break;
	case COLUMN_P99:
		site_figure(text, site, quantile_or_none(window, window->p99));
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
		site_figure(text, site, figure_or_none(window->count, window->max));
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

static struct table_drawn draw_table(const struct model *model, const struct panel_rows *rows,
				     const struct panel_view *view, const struct canvas *canvas)
{
	static const int by_sort[SORT_COUNT] = {
		COLUMN_P99, COLUMN_MAX, COLUMN_RATE, COLUMN_P50, COLUMN_P90, COLUMN_NAME,
	};
	static const struct table_column all[COLUMN_COUNT] = {
		[COLUMN_NAME] = { "span", 12, false, true, 0 },
		[COLUMN_CLASS] = { "class", 9, false, false, 8 },
		[COLUMN_RATE] = { "rate", 7, true, false, 2 },
		[COLUMN_P50] = { "p50", 8, true, false, 4 },
		[COLUMN_P90] = { "p90", 8, true, false, 7 },
		[COLUMN_P99] = { "p99", 8, true, false, 0 },
		[COLUMN_CHANGE] = { "Δ p99", 7, true, false, 10 },
		[COLUMN_MAX] = { "max", 8, true, false, 5 },
		[COLUMN_TREND] = { "trend of p99", 16, false, false, 9 },
	};
	struct latency_table latency = { .model = model, .rows = rows, .glyphs = canvas_glyphs(canvas) };
	struct table_column columns[COLUMN_COUNT];
	bool is_wide = canvas->width_cells >= WIDE_CELLS;
	int count = 0, sort_column = -1, figure_cells = 7;

	/* One more for ~, where there is an estimate. */
	for (int i = 0; i < rows->count; i++) {
		const struct model_site *site = model_site_by_id(model, rows->rows[i].id);

		/* And sizes are wider than times. */
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
		if (i == COLUMN_NAME && canvas->width_cells < 75)
			columns[count].width_cells = 10;
		if (i == COLUMN_TREND) {
			columns[count].width_cells = is_wide ? cells_min(canvas->width_cells / 4, 60)
						   : canvas->width_cells >= 75 ? 16 : 9;
			if (columns[count].width_cells < 12)
				columns[count].title = "p99 trend";
		}
		if (i == by_sort[view->sort])
			sort_column = count;
		latency.columns[count++] = i;
	}
	return table_draw(&(struct table){
		.columns = columns,
		.column_count = count,
		.row_count = rows->count,
		.top = view->top,
		.cursor = view->cursor,
		.sort_column = sort_column,
		.sort_ascending = view->is_ascending,
		.cell = cell,
		.draw = draw_cell,
		.arg = &latency,
	}, canvas);
}

/* The title and, below it, reasons and table; the same on the panel and in small. */
static void draw_list(const struct model *model, struct panel_view *view, const char *title_right,
		      const struct canvas *canvas)
{
	struct panel_rows rows = list_rows(&latency_list, model, view);
	char title[64], filter[256], left[384], text[NAME_BYTES * 2];
	struct canvas part;
	int y = 1;

	panel_title(title, '2', "Latency");
	filter_label(filter, sizeof filter, view, rows.count, rows.all_count, canvas_glyphs(canvas));
	snprintf(left, sizeof left, "%s%s", title, filter);
	title_draw(canvas, left, title_right, window_name(model_window(model)));
	if (reason_text(text, sizeof text, model, view, &timed_need, canvas_glyphs(canvas)))
		y = text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
	y = no_match_draw(view, rows.count, rows.all_count, "spans", y, canvas);
	part = canvas_part(canvas, 0, y, canvas->width_cells - 1, canvas->height_cells - y);
	view->cursor_x = view->cursor_y = -1;
	if (rows.count > 0) {
		struct table_drawn drawn = draw_table(model, &rows, view, &part);

		view->top = drawn.top;
		view->page = drawn.row_count;
		if (drawn.cursor_y >= 0) {
			view->cursor_x = 0;
			view->cursor_y = y + drawn.cursor_y;
		}
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

void latency_draw_small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	char right[160];

	list_right(right, sizeof right, model, view, false);
	draw_list(model, view, right, canvas);
}

const struct model_site *latency_chosen(const struct model *model, struct panel_view *view)
{
	struct panel_rows rows = list_rows(&latency_list, model, view);
	const struct model_site *site = NULL;

	if (rows.count > 0)
		site = model_site_by_id(model, view->cursor >= 0 ? view->cursor_id : rows.rows[0].id);
	rows_free(&rows);
	return site;
}

/* ---- one span opened: heat map ---- */

struct heat_range { int low, high; };        /* rows in use; low > high: none */

static struct heat_range heat_range(const struct heat *heat, int64_t first, int64_t last)
{
	struct heat_range range = { MODEL_HEAT_ROWS, -1 };

	for (int64_t second = first; second <= last; second++)
		for (int row = 0; row < MODEL_HEAT_ROWS; row++) {
			if (heat->counts[second % MODEL_WINDOW_S_MAX][row] == 0)
				continue;
			range.low = cells_min(range.low, row);
			range.high = cells_max(range.high, row);
		}
	return range;
}

/* Some rows on either side while there is room, so that the picture does not jump with
 * every slow call. */
static void heat_widen(struct heat_range *range, int rows)
{
	for (int i = 0; i < HEAT_SPARE_ROWS; i++) {
		if (range->high - range->low + 1 < rows && range->high < MODEL_HEAT_ROWS - 1)
			range->high++;
		if (range->high - range->low + 1 < rows && range->low > 0)
			range->low--;
	}
}

/* The upper bound of a row; the topmost has none. */
static void heat_label(char out[UNITS_BYTES], const struct model_site *site, int row)
{
	char text[UNITS_BYTES];
	bool is_last = row == MODEL_HEAT_ROWS - 1;

	units_tick(text, site_unit(site), ldexp(1, 6 + row - is_last));
	snprintf(out, UNITS_BYTES, "%s%.16s", is_last ? "≥" : "", text);
}

static void heat_shares(const struct heat *heat, const struct heat_range *range, int64_t first, int64_t last,
			int64_t newest, float *shares)
{
	for (int64_t second = first; second <= last; second++) {
		bool is_kept = second >= 0 && second <= newest && second > newest - MODEL_WINDOW_S_MAX;
		const uint32_t *counts = heat->counts[is_kept ? second % MODEL_WINDOW_S_MAX : 0];
		double total = 0;

		for (int row = 0; is_kept && row < MODEL_HEAT_ROWS; row++)
			total += counts[row];
		for (int row = range->low; row <= range->high; row++)
			*shares++ = is_kept && total > 0 ? (float)(counts[row] / total) : NAN;
	}
}

void latency_draw_heat(const struct model *model, const struct model_site *site, const struct canvas *canvas)
{
	float shares[MODEL_WINDOW_S_MAX * MODEL_HEAT_ROWS];
	char texts[MODEL_HEAT_ROWS][UNITS_BYTES], clocks[MODEL_WINDOW_S_MAX / HEAT_LABEL_S + 2][UNITS_BYTES + 4];
	const char *labels[MODEL_HEAT_ROWS];
	struct axis_mark marks[MODEL_WINDOW_S_MAX / HEAT_LABEL_S + 2];
	int64_t last = model_second(model), newest, first;
	struct heat_range range;
	int mark_count = 0;

	if (!site || !site->heat || site->heat->last_second < 0) {
		text_wrap(canvas, 1, 0, STYLE(ROLE_DIM), !site ? "No span was chosen: none is declared."
			  : !site->heat ? "No room is left to keep this one second by second." : "Nothing to show yet.");
		return;
	}
	newest = site->heat->last_second;
	first = last - MODEL_WINDOW_S_MAX + 1;
	range = heat_range(site->heat, newest - MODEL_WINDOW_S_MAX + 1 > 0 ? newest - MODEL_WINDOW_S_MAX + 1 : 0, newest);
	if (range.low > range.high) {
		text_wrap(canvas, 1, 0, STYLE(ROLE_DIM), "Nothing happened in the last 5 minutes.");
		return;
	}
	heat_widen(&range, canvas->height_cells - 1);
	heat_shares(site->heat, &range, first, last, newest, shares);
	for (int row = range.low; row <= range.high; row++) {
		heat_label(texts[row], site, row);
		labels[row - range.low] = texts[row];
	}
	for (int age = 0; age < MODEL_WINDOW_S_MAX; age += HEAT_LABEL_S) {
		char clock[UNITS_BYTES];

		if ((uint64_t)age * 1000000000u > model_time_ns(model))
			break;
		clock_text(clock, model, model_time_ns(model) - (uint64_t)age * 1000000000u, 0);
		snprintf(clocks[mark_count], sizeof *clocks, "%s%s", age == 0 ? "now " : "", clock);
		marks[mark_count] = (struct axis_mark){ .age = age, .text = clocks[mark_count], .tick = age == 0 };
		mark_count++;
	}
	heatmap_draw(&(struct heatmap){
		.shares = shares,
		.row_count = range.high - range.low + 1,
		.column_count = MODEL_WINDOW_S_MAX,
		.row_labels = labels,
		.marks = marks,
		.mark_count = mark_count,
	}, canvas);
}

/* ---- one span opened: histogram ---- */

/* 1, 3, 10, 30, … or powers of 4: the next one down or up. */
static double round_bound(double value, bool is_bytes, bool up)
{
	double bound = 1;

	for (int i = 0; bound < value; i++)
		bound *= is_bytes ? 4 : i % 2 == 0 ? 3 : 10.0 / 3;
	if (!up && bound > value)
		bound /= is_bytes ? 4 : 10.0 / 3;
	return bound;
}

/* Shares a bucket out over the bins it covers; all on a logarithmic scale. */
static void bin_add(double *bins, int bin_count, double low, double high, double bucket_low, double bucket_high,
		    double count)
{
	double scale = bin_count / log(high / low);
	double start = log(fmax(bucket_low, low) / low) * scale, end = log(fmax(bucket_high, low) / low) * scale;

	if (!(end > start + 1e-9)) {
		bins[cells_max(0, cells_min((int)start, bin_count - 1))] += count;
		return;
	}
	for (int i = cells_max(0, (int)start); i < bin_count && i < end; i++) {
		double part = fmin(end, i + 1) - fmax(start, i);

		if (part > 0)
			bins[i] += count * part / (end - start);
	}
}

static void draw_histogram(const struct model *model, const struct model_site *site, bool log_y, const struct canvas *canvas)
{
	uint64_t buckets[HISTOGRAM_BUCKETS], counts[BINS_MAX];
	double bins[BINS_MAX] = { 0 }, low, high;
	int first = 0, last = HISTOGRAM_BUCKETS - 1;
	/* As many as the widget has columns, beside its labels: none is divided once more. */
	int labels = canvas->width_cells >= 24 ? 9 : 0,
		bin_count = cells_max(1, cells_min(canvas->width_cells - labels, BINS_MAX));
	double sum = 0;
	struct histogram_pointer pointers[] = {
		{ (double)site->window.p50, "50" }, { (double)site->window.p90, "90" }, { (double)site->window.p99, "99" },
	};
	bool is_bytes = site_unit(site) == UNIT_BYTES;

	if (!model_window_buckets(model, site, buckets)) {
		text_wrap(canvas, 1, 0, STYLE(ROLE_DIM), "No histogram: no room is left to keep one.");
		return;
	}
	while (first < HISTOGRAM_BUCKETS && buckets[first] == 0)
		first++;
	while (last > first && buckets[last] == 0)
		last--;
	if (first == HISTOGRAM_BUCKETS) {
		text_wrap(canvas, 1, 0, STYLE(ROLE_DIM), "Nothing happened in this window.");
		return;
	}
	low = round_bound(fmax(1, (double)histogram_low((uint32_t)first)), is_bytes, false);
	high = round_bound(fmax(low * 3, (double)histogram_low((uint32_t)last + 1)), is_bytes, true);
	for (int i = first; i <= last; i++)
		if (buckets[i])
			bin_add(bins, bin_count, low, high, (double)histogram_low((uint32_t)i),
				(double)histogram_low((uint32_t)i + 1), (double)buckets[i]);
	/* Whole events again: what is over in one bin goes to the next, so that none is lost. */
	for (int i = 0; i < bin_count; i++) {
		double before = floor(sum + 0.5);

		sum += bins[i];
		counts[i] = (uint64_t)fmin(floor(sum + 0.5) - before, 1e18);
	}
	histogram_draw(&(struct histogram){
		.counts = counts,
		.bucket_count = bin_count,
		.low = low,
		.high = high,
		.unit = site_unit(site),
		.log_y = log_y,
		.pointers = pointers,
		.pointer_count = 3,
		.style = STYLE(ROLE_SERIES1),
	}, canvas);
}

/* ---- one span opened: figures ---- */

static void draw_figure(const struct model *model, const struct model_site *site, int y, const char *label, enum unit unit,
			double now, double mark, const struct canvas *canvas)
{
	char text[UNITS_BYTES], rough[UNITS_BYTES];
	bool is_bad = is_worse(mark, now) && unit != UNIT_PER_S;

	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), label);
	units_value(text, unit, now);
	snprintf(rough, sizeof rough, "%s%.20s", site->is_rough && !isnan(now) && unit != UNIT_PER_S ? "~" : "", text);
	canvas_text_right(canvas, 17, y, STYLE(ROLE_TEXT), rough);
	if (model_mark_ns(model) == 0)
		return;
	units_value(text, unit, mark);
	canvas_text_right(canvas, 27, y, STYLE(ROLE_DIM), text);
	units_change_percent(text, mark, now);
	canvas_text_right(canvas, 36, y, is_bad ? STYLE(ROLE_BAD) : STYLE(ROLE_TEXT), text);
	if (is_bad)
		canvas_text(canvas, 37, y, STYLE(ROLE_BAD, ATTR_BOLD), "!");
}

static void draw_figures(const struct model *model, const struct model_site *site, const struct canvas *canvas)
{
	const struct quantiles *now = &site->window, *mark = &site->mark;
	bool has_mark = model_mark_ns(model) > 0;
	enum unit unit = site_unit(site);
	struct { const char *label; enum unit unit; double now, mark; } rows[] = {
		{ "p99", unit, quantile_or_none(now, now->p99), quantile_or_none(mark, mark->p99) },
		{ "rate", UNIT_PER_S, now->rate_per_s, mark->rate_per_s },
		{ "min", unit, figure_or_none(now->count, now->min), figure_or_none(mark->count, mark->min) },
		{ "p50", unit, quantile_or_none(now, now->p50), quantile_or_none(mark, mark->p50) },
		{ "p90", unit, quantile_or_none(now, now->p90), quantile_or_none(mark, mark->p90) },
		{ "p99", unit, quantile_or_none(now, now->p99), quantile_or_none(mark, mark->p99) },
		{ "p99.9", unit, quantile_or_none(now, now->p999), quantile_or_none(mark, mark->p999) },
		{ "max", unit, figure_or_none(now->count, now->max), figure_or_none(mark->count, mark->max) },
		{ "count", UNIT_NONE, (double)now->count, (double)mark->count },
	};
	int count = (int)(sizeof rows / sizeof *rows);

	/* With one row only, the worst figure. */
	if (canvas->height_cells == 1) {
		draw_figure(model, site, 0, rows[0].label, rows[0].unit, rows[0].now, rows[0].mark, canvas);
		return;
	}
	canvas_text_right(canvas, 17, 0, STYLE(ROLE_DIM), "now");
	if (has_mark) {
		canvas_text_right(canvas, 27, 0, STYLE(ROLE_DIM), "mark");
		canvas_text_right(canvas, 36, 0, STYLE(ROLE_DIM), "Δ");
	}
	for (int i = 1; i < count; i++)
		draw_figure(model, site, i, rows[i].label, rows[i].unit, rows[i].now, rows[i].mark, canvas);
}

/* ---- one span opened: by task ---- */

/* Of the site in view->open_id. */
static void collect_tasks(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	for (uint32_t i = 0; i < model_task_site_count(model); i++) {
		const struct task_site *pair = model_task_site(model, i);
		const struct model_task *task = model_task_by_id(model, pair->task);

		if (pair->site == view->open_id && pair->count > 0)
			rows_add(rows, pair->task, 0, (double)pair->max, task ? task->name : "");
	}
}

static const char *const task_sorts[] = { "max" };
static const struct panel_list task_list = { collect_tasks, task_sorts, 1, -1 };

struct by_task {
	const struct model *model;
	const struct model_site *site;
	const struct panel_rows *rows;
	enum glyphs glyphs;
};

static double pair_quantile(const struct task_site *pair, uint32_t permille)
{
	uint64_t total = 0;

	for (int i = 0; pair->buckets && i < HISTOGRAM_BUCKETS; i++)
		total += pair->buckets[i];
	/* A program with many tasks goes on telling their counts, but no buckets: those are old
	 * then. The latest value or two may still be on their way into them. */
	if (total == 0 || total + 2 < pair->previous_count)
		return NAN;
	/* In the middle of its bucket, but never past what was really seen. */
	return fmax(fmin((double)histogram_quantile(pair->buckets, total, permille), (double)pair->max), (double)pair->min);
}

static void task_cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct by_task *by_task = arg;
	uint32_t task = by_task->rows->rows[index].id;
	const struct task_site *pair = model_task_site_of(by_task->model, task, by_task->site->id);
	enum unit unit = site_unit(by_task->site);
	char text[UNITS_BYTES] = "";

	(void)style;
	if (!pair)
		return;
	switch (column) {
	case 0:
		task_name_clean(out, out_bytes, by_task->model, task, by_task->glyphs);
		return;
	case 1:
		units_rate(text, pair->rate_per_s);
		break;
	case 2:
		units_count(text, (double)pair->count);
		break;
	case 3:
		units_value(text, unit, pair_quantile(pair, 500));
		break;
	case 4:
		units_value(text, unit, pair_quantile(pair, 990));
		break;
	case 5:
		units_value(text, unit, (double)pair->max);
		break;
	default:
		break;
	}
	snprintf(out, out_bytes, "%s", text);
}

static void draw_by_task(const struct model *model, const struct model_site *site, const struct canvas *canvas)
{
	static const struct table_column columns[] = {
		{ "task", 10, false, true, 0 }, { "rate", 7, true, false, 2 }, { "count", 5, true, false, 4 },
		{ "p50", 8, true, false, 3 },   { "p99", 8, true, false, 1 },  { "max", 8, true, false, 0 },
	};
	struct panel_view plain;
	struct panel_rows rows;
	struct by_task by_task = { .model = model, .site = site, .rows = &rows, .glyphs = canvas_glyphs(canvas) };
	struct canvas part = canvas_part(canvas, 0, 1, cells_min(canvas->width_cells, 90), canvas->height_cells - 1);

	panel_view_init(&plain);
	plain.open_id = site->id;
	rows = list_rows(&task_list, model, &plain);
	title_draw(canvas, "by task", "since the start", NULL);
	if (rows.count == 0)
		canvas_text(&part, 1, 0, STYLE(ROLE_DIM), "The target told no figures by task.");
	else
		table_draw(&(struct table){
			.columns = columns,
			.column_count = (int)(sizeof columns / sizeof *columns),
			.row_count = rows.count,
			.cursor = -1,
			.sort_column = 5,
			.cell = task_cell,
			.arg = &by_task,
		}, &part);
	rows_free(&rows);
}

/* ---- one span opened ---- */

static void draw_open_title(const struct model *model, const struct panel_view *view, const struct model_site *site,
			    const struct canvas *canvas)
{
	static const int windows[] = { 10, 60, 300, 0 };
	char title[64], name[NAME_BYTES], left[NAME_BYTES + 128], longer[256], shorter[160] = "", clock[UNITS_BYTES];

	panel_title(title, '2', "Latency");
	name_fit(name, sizeof name, site->name, cells_max(12, canvas->width_cells - 60), canvas_glyphs(canvas));
	snprintf(left, sizeof left, "%s ▸ %s", title, name);
	for (int i = 0; i < 4; i++) {
		size_t used = strlen(shorter);

		snprintf(shorter + used, sizeof shorter - used, windows[i] == model_window(model) ? "[%s]" : " %s ",
			 window_name(windows[i]));
	}
	snprintf(longer, sizeof longer, "%swindow %s", view->log_y ? "log y ─ " : "", shorter);
	if (model_mark_ns(model) > 0) {
		size_t used = strlen(longer);

		clock_text(clock, model, model_mark_ns(model), 0);
		snprintf(longer + used, sizeof longer - used, "─ against mark %s", clock);
	}
	title_draw(canvas, left, longer, shorter);
}

/* Ends before column end, where a line from above comes down. */
static void draw_heat_title(const struct canvas *canvas, int end)
{
	static const char *const lefts[] = {
		"heat map ─ 1 column = 1 s ─ shade = share of the second's calls", "heat map ─ 1 column = 1 s", "heat map",
	};
	int chosen = 0;

	while (chosen < 2 && canvas_text_width(canvas, lefts[chosen]) + 4 > end)
		chosen++;
	title_draw(canvas, lefts[chosen], NULL, NULL);
	if (chosen < 2)
		canvas_text(canvas, 2 + (int)strlen("heat map"), 0, STYLE(ROLE_DIM), lefts[chosen] + strlen("heat map"));
}

static void draw_open(const struct model *model, struct panel_view *view, const struct model_site *site,
		      const struct canvas *canvas)
{
	int width = canvas->width_cells, height = canvas->height_cells;
	int top = cells_min(cells_max(FIGURES_ROWS, height * 3 / 10), cells_max(height - 1, 0));
	int rest = height - 1 - top, heat, tasks, split = width - FIGURES_CELLS - 1;
	struct canvas part;
	bool is_beside = width >= BESIDE_CELLS;

	view->cursor_x = view->cursor_y = -1;
	draw_open_title(model, view, site, canvas);
	if (is_beside) {
		part = canvas_part(canvas, 0, 1, split - 1, top);
		draw_histogram(model, site, view->log_y, &part);
		part = canvas_part(canvas, split, 1, 1, top);
		rule_vertical(&part, 0);
		part = canvas_part(canvas, split + 1, 1, FIGURES_CELLS, top);
		draw_figures(model, site, &part);
	} else {
		part = canvas_part(canvas, 0, 1, width, top);
		draw_figures(model, site, &part);
	}
	/* Three rows are the least that says something; tasks go first. */
	tasks = rest >= 6 ? cells_max(3, rest * 2 / 5) : 0;
	heat = rest - tasks;
	if (heat >= 3) {
		part = canvas_part(canvas, 0, 1 + top, width, heat);
		draw_heat_title(&part, is_beside ? split : width);
		part = canvas_part(&part, 0, 1, width, heat - 1);
		latency_draw_heat(model, site, &part);
	}
	if (is_beside && rest > 0)
		rule_tee(canvas, split, 1 + top, heat >= 3 ? GLYPH_TEE_UP : GLYPH_VERTICAL);
	if (tasks > 0) {
		part = canvas_part(canvas, 0, 1 + top + heat, width, tasks);
		draw_by_task(model, site, &part);
	}
}

/* ---- the panel ---- */

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	const struct model_site *site = view->is_open ? model_site_by_id(model, view->open_id) : NULL;
	char right[192];

	canvas_clear(canvas);
	if (view->is_open && (!site || !model_is_timed(site) || view->nothing))
		view->is_open = false;
	if (view->is_open) {
		draw_open(model, view, site, canvas);
		return;
	}
	list_right(right, sizeof right, model, view, true);
	draw_list(model, view, right, canvas);
}

/* Goes into the list if need be, and opens what the cursor is on. */
static void open_row(const struct model *model, struct panel_view *view)
{
	if (view->cursor < 0)
		list_key(&latency_list, model, view, KEYCODE_DOWN);
	if (view->cursor < 0 || !model_site_by_id(model, view->cursor_id))
		return;
	view->is_open = true;
	view->open_id = view->cursor_id;
}

static bool on_key(const struct model *model, struct panel_view *view, int key)
{
	const struct model_site *site = NULL;

	if (key == 'L') {
		view->log_y = !view->log_y;
		return true;
	}
	if (key == KEYCODE_ENTER && !view->is_open) {
		open_row(model, view);
		return true;
	}
	if (key == 'x' || key == 'X') {
		if (view->is_open || view->cursor >= 0)
			site = model_site_by_id(model, view->is_open ? view->open_id : view->cursor_id);
		return site_level_key(model, view, site, key);
	}
	if (!view->is_open)
		return list_key(&latency_list, model, view, key);
	if (key == KEYCODE_ESCAPE) {
		view->is_open = false;
		return true;
	}
	/* Opened, the arrows go on to the next one. */
	if (!list_key(&latency_list, model, view, key))
		return false;
	if (view->cursor >= 0)
		view->open_id = view->cursor_id;
	return true;
}

static const char *const keys[] = {
	"⏎ Esc\topen, back",
	"s r\tsort by next column, reverse",
	"o\thold, let go the order",
	"/\tfilter (sub, !not, /regex/)",
	"w L\twindow, log scale",
	"x X\tnext level of the span, off",
	NULL
};

const struct panel panel_latency = {
	.name = "Latency",
	.digit = '2',
	.help = "how long spans and latencies take, worst first",
	.keys = keys,
	.footer = "⏎ open  w window  s sort  / filter  L log y",
	.footer_open = "Esc back  ↑↓ next span  w window  L log y",
	.draw = draw,
	.key = on_key,
};
