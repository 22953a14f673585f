#include "monitor/screen/panels/panel_latency.h"

#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "protocol/histogram.h"
#include "widgets/cells.h"
#include "widgets/histogram.h"
#include "widgets/rule.h"
#include "widgets/table.h"

enum {
	BESIDE_CELLS = 70,           /* at this width and above the histogram stands beside the figures */
	FIGURES_CELLS = 38,
	FIGURES_ROWS = 8,
	BINS_MAX = 256
};

/* ---- histogram ---- */

/* Rounds down or up to one of 1, 3, 10, 30, …, or for bytes to a power of 4. */
static double round_bound(double value, bool is_bytes, bool up)
{
	double bound = 1;

	for (int i = 0; bound < value; i++)
		bound *= is_bytes ? 4 : i % 2 == 0 ? 3 : 10.0 / 3;
	if (!up && bound > value)
		bound /= is_bytes ? 4 : 10.0 / 3;
	return bound;
}

/* Divides the count of a bucket among the bins that it covers. The bins are equal on a logarithmic scale. */
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
	/* There are as many bins as the widget has columns beside its labels, so that the widget divides no bin again. */
	int labels = canvas->width_cells >= 24 ? 9 : 0,
		bin_count = cells_max(1, cells_min(canvas->width_cells - labels, BINS_MAX));
	double sum = 0;
	struct histogram_pointer pointers[] = {
		{ (double)site->window.p50, "50" }, { (double)site->window.p90, "90" }, { (double)site->window.p99, "99" },
	};
	bool is_bytes = site_unit(site) == UNIT_BYTES;

	if (!model_window_buckets(model, site, buckets)) {
		text_wrap(canvas, 1, 0, STYLE(ROLE_DIM), "No histogram: telemtop has no memory left for one.");
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
	/* Counts become whole again: the fraction left over in one bin goes to the next, so that no event is lost. */
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

/* ---- figures ---- */

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

	/* A single row shows the worst figure. */
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

/* ---- by task ---- */

/* Adds the tasks that have figures of the site in view->open_id. */
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
	/* A program with many tasks sends counts but no more buckets, so buckets that sum to less than the count are old.
	 * The latest value or two may not be in the buckets yet. */
	if (total == 0 || total + 2 < pair->previous_count)
		return NAN;
	/* A quantile is the middle of its bucket, which may be past the least or the greatest value that was seen. */
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
		{ "task", 10, false, TABLE_NAME, 0 },
		{ "rate", 7, true, TABLE_FIXED, 2 },
		{ "count", 5, true, TABLE_FIXED, 4 },
		{ "p50", 8, true, TABLE_FIXED, 3 },
		{ "p99", 8, true, TABLE_FIXED, 1 },
		{ "max", 8, true, TABLE_FIXED, 0 },
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
		canvas_text(&part, 1, 0, STYLE(ROLE_DIM), "The target sent no figures by task.");
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

/* ---- the whole view ---- */

static void draw_open_title(const struct model *model, const struct panel_view *view, const struct model_site *site,
			    const struct canvas *canvas)
{
	static const int windows[] = { 10, 60, 300, 0 };
	char title[64], name[NAME_BYTES], left[NAME_BYTES + 128], longer[256], shorter[160] = "", clock[UNITS_BYTES];

	panel_title(title, &panel_latency);
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

/* The title ends before column end, where a line comes down from above. */
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

void latency_draw_open(const struct model *model, struct panel_view *view, const struct model_site *site,
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
	/* Fewer than three rows say nothing. When it gets tight, the tasks go before the heat map. */
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
