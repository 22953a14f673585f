#include "monitor/screen/panels/panel_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"
#include "widgets/table.h"
#include "widgets/text.h"

enum {
	TREND_SECONDS = 60,
	TABLE_CELLS = 56,            /* from here on tasks are a table */
	COUNTER_CELLS = 19,          /* "conns 41.0 ▲" */
	COUNTER_SPARK_CELLS = 40,    /* from here on with a trend */
	EVENT_WIDE_CELLS = 100       /* from here on with the task */
};

/* ---- tasks ---- */

/* By what they hold; where nothing is known of that, by what they do. */
static void collect_tasks(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	bool by_memory = model_has_typed_memory(model);

	(void)view;
	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);

		rows_add(rows, task->id, 0, by_memory ? (double)task->live_bytes : task->events_per_s, task->name);
	}
}

static const char *const task_sorts[] = { "live" };
static const struct panel_list task_list = { collect_tasks, task_sorts, 1, -1 };

struct tasks {
	const struct model *model;
	const struct panel_rows *rows;
	enum glyphs glyphs;
};

static void task_cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct tasks *tasks = arg;
	const struct model_task *task = model_task_by_id(tasks->model, tasks->rows->rows[index].id);
	char text[UNITS_BYTES] = "";

	if (!task)
		return;
	switch (column) {
	case 0:
		task_name_clean(out, out_bytes, tasks->model, task->id, tasks->glyphs);
		return;
	case 1:
		units_rate(text, task->events_per_s);
		break;
	case 2:
		units_bytes(text, task->alloc_per_s);
		break;
	case 3:
		units_bytes(text, (double)task->live_bytes);
		break;
	default:
		return;
	}
	if (strcmp(text, "0") == 0 || strcmp(text, "0 /s") == 0)
		*style = STYLE(ROLE_DIM);
	snprintf(out, out_bytes, "%s", text);
}

static bool task_draw(void *arg, int index, int column, const struct canvas *canvas)
{
	const struct tasks *tasks = arg;
	const struct model_task *task = model_task_by_id(tasks->model, tasks->rows->rows[index].id);

	if (column != 4)
		return false;
	if (task)
		series_spark(task->trend, model_second(tasks->model), SPARK_SHAPE, canvas);
	return true;
}

static void draw_task_lines(const struct tasks *tasks, const struct canvas *canvas)
{
	int width = canvas->width_cells, shown = cells_min(tasks->rows->count, canvas->height_cells);

	for (int y = 0; y < shown; y++) {
		const struct model_task *task = model_task_by_id(tasks->model, tasks->rows->rows[y].id);
		char name[NAME_BYTES], fit[NAME_BYTES], text[UNITS_BYTES];

		if (!task)
			continue;
		task_name_clean(name, sizeof name, tasks->model, task->id, tasks->glyphs);
		text_fit(fit, sizeof fit, name, cells_max(width - 23, 4), tasks->glyphs);
		canvas_text(canvas, 1, y, STYLE(ROLE_TEXT), fit);
		units_rate(text, task->events_per_s);
		canvas_text_right(canvas, width - 13, y, STYLE(ROLE_TEXT), text);
		units_bytes(text, (double)task->live_bytes);
		canvas_text_right(canvas, width - 3, y, STYLE(ROLE_TEXT), text);
		canvas_text(canvas, width - 2, y, STYLE(ROLE_ACCENT),
			    trend_arrow(series_trend(task->trend, model_second(tasks->model), TREND_SECONDS)));
	}
}

void tasks_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	static const struct table_column columns[] = {
		{ "task", 10, false, true, 0 }, { "events", 7, true, false, 2 }, { "alloc/s", 8, true, false, 3 },
		{ "live", 9, true, false, 0 },  { "trend", 12, false, false, 4 },
	};
	struct panel_rows rows = list_rows_plain(&task_list, model, 0);
	struct tasks tasks = { .model = model, .rows = &rows, .glyphs = canvas_glyphs(canvas) };
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1);
	char title[64], left[128];
	int active = 0;

	(void)view;
	for (int i = 0; i < rows.count; i++)
		active += model_task_by_id(model, rows.rows[i].id)->events_per_s > 0;
	panel_title(title, '4', "Tasks");
	snprintf(left, sizeof left, "%s %d active / %d", title, active, rows.count);
	if (rows.count == 0) {
		title_draw(canvas, title, NULL, NULL);
		text_wrap(&part, 1, 0, STYLE(ROLE_DIM), "No task is known yet.");
	} else if (canvas->width_cells >= TABLE_CELLS && canvas->height_cells >= 4) {
		title_draw(canvas, left, NULL, NULL);
		table_draw(&(struct table){
			.columns = columns,
			.column_count = (int)(sizeof columns / sizeof *columns),
			.row_count = rows.count,
			.cursor = -1,
			.sort_column = model_has_typed_memory(model) ? 3 : 1,
			.cell = task_cell,
			.draw = task_draw,
			.arg = &tasks,
		}, &part);
	} else {
		title_draw(canvas, left, "events, live", NULL);
		draw_task_lines(&tasks, &part);
	}
	rows_free(&rows);
}

/* ---- GC ---- */

/* A figure that ends at column end, if it is wanted; returns where the one before it ends. */
static int gc_figure(const struct canvas *canvas, int end, int y, const char *label, const char *text, bool is_wanted)
{
	if (!is_wanted)
		return end;
	canvas_text_right(canvas, end, y, STYLE(ROLE_TEXT), text);
	if (!label[0])
		return end - 8;
	canvas_text(canvas, end - 11, y, STYLE(ROLE_DIM), label);
	return end - 12;
}

static void gc_row(const struct model_site *site, int y, const struct canvas *canvas)
{
	const struct quantiles *window = &site->window;
	char name[NAME_BYTES], rate[UNITS_BYTES], p99[UNITS_BYTES], max[UNITS_BYTES];
	int end = canvas->width_cells - 1;

	/* From the right: max, p99, rate; what would leave no name goes. */
	units_rate(rate, window->rate_per_s);
	site_figure(p99, site, figure_or_none(window->count, window->p99));
	site_figure(max, site, figure_or_none(window->count, window->max));
	end = gc_figure(canvas, end, y, "max", max, end >= 38);
	end = gc_figure(canvas, end, y, "p99", p99, end >= 20);
	end = gc_figure(canvas, end, y, "", rate, end >= 14);
	name_fit(name, sizeof name, site->name, end - 1, canvas_glyphs(canvas));
	canvas_text(canvas, 1, y, STYLE(ROLE_TEXT), name);
}

void gc_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	int gc = model_class_find(model, "gc"), y = 1;
	char title[64], share[UNITS_BYTES], right[64];

	(void)view;
	panel_title(title, '5', "GC");
	units_percent(share, model_totals(model)->gc_share);
	snprintf(right, sizeof right, "paused %s", share);
	/* The pauses first, then what they are made of. */
	for (int pauses = 1; pauses >= 0; pauses--)
		for (uint32_t i = 0; i < model_site_count(model); i++) {
			const struct model_site *site = model_site(model, i);

			if (gc >= 0 && site->class_id == (uint32_t)gc && site->kind == SITE_SPAN &&
			    (site->detail == SPAN_IS_PAUSE) == pauses)
				gc_row(site, y++, canvas);
		}
	title_draw(canvas, title, y > 1 ? right : NULL, y > 1 ? share : NULL);
	if (y == 1)
		text_wrap(canvas, 1, 1, STYLE(ROLE_DIM), "The target declares no span of class gc.");
}

/* ---- counters and gauges ---- */

static void counter_value(char out[UNITS_BYTES], const struct model_site *site)
{
	enum unit unit = site_unit(site);

	if (site->kind == SITE_GAUGE)
		units_value(out, unit, (double)(int64_t)site->sum);
	else if (unit == UNIT_BYTES)
		units_byte_rate(out, site->sum_per_s);
	else
		units_rate(out, site->sum_per_s);
}

static void draw_counter(const struct model *model, const struct model_site *site, int x, int y, int width,
			 const struct canvas *canvas)
{
	bool has_spark = width >= COUNTER_SPARK_CELLS;
	int spark = has_spark ? cells_min(width - 30, 30) : 0, end = width - 2 - (has_spark ? spark + 2 : 0);
	int value_cells = 10, trend = series_trend(site->trend, model_second(model), TREND_SECONDS);
	struct style style = site->level == LEVEL_OFF ? STYLE(ROLE_DIM) : STYLE(ROLE_TEXT);
	char name[NAME_BYTES], value[UNITS_BYTES];

	counter_value(value, site);
	if (!has_spark)
		value_cells = canvas_text_width(canvas, value);
	name_fit(name, sizeof name, site->name, end - 2 - value_cells, canvas_glyphs(canvas));
	canvas_text(canvas, x + 1, y, style, name);
	canvas_text_right(canvas, x + end, y, style, value);
	canvas_text(canvas, x + end + 1, y, STYLE(ROLE_ACCENT), trend_arrow(trend));
	if (has_spark) {
		struct canvas part = canvas_part(canvas, x + end + 3, y, spark, 1);

		series_spark(site->trend, model_second(model), SPARK_SHAPE, &part);
	}
}

void counters_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	int count = 0, rows = cells_max(canvas->height_cells - 1, 1), columns, per_column, at = 0;
	char title[64], hidden[32] = "";

	(void)view;
	for (uint32_t i = 0; i < model_site_count(model); i++)
		count += site_is_figure(model_site(model, i));
	panel_title(title, '7', canvas->width_cells >= TABLE_CELLS ? "Counters and gauges" : "Counters");
	/* As few columns as show them all, so that each has the most room. */
	columns = cells_max(1, cells_min((count + rows - 1) / rows, canvas->width_cells / COUNTER_CELLS));
	per_column = cells_max(1, canvas->width_cells / columns);
	for (uint32_t i = 0; i < model_site_count(model) && at < rows * columns; i++) {
		const struct model_site *site = model_site(model, i);

		if (!site_is_figure(site))
			continue;
		draw_counter(model, site, at / rows * per_column, 1 + at % rows, per_column, canvas);
		at++;
	}
	if (at < count)
		snprintf(hidden, sizeof hidden, "%d not shown", count - at);
	title_draw(canvas, title, hidden, NULL);
	if (count == 0)
		text_wrap(canvas, 1, 1, STYLE(ROLE_DIM), "The target declares no counter or gauge.");
}

/* ---- events ---- */

static const char *line_word(const struct model_line *line, struct style *style)
{
	static const enum role roles[] = { ROLE_DIM, ROLE_TEXT, ROLE_WARN, ROLE_BAD, ROLE_BAD };

	switch (line->kind) {
	case LINE_LOG:
		*style = STYLE((uint8_t)(line->severity < 5 ? roles[line->severity] : ROLE_TEXT));
		return severity_name(line->severity);
	case LINE_EVENT:
		return "event";
	case LINE_MARK:
		return "mark";
	case LINE_LOST:
		*style = STYLE(ROLE_WARN, ATTR_BOLD);
		return "lost";
	case LINE_LEVEL:
		*style = STYLE(ROLE_ACCENT);
		return "level";
	}
	return "?";
}

/* "  (+1,234 more like it)" behind a line that stands for others as well, shorter where that
 * would leave it little room; returns its width. */
static int more_text(char out[64], const struct model_line *line, const struct canvas *canvas, int room_cells)
{
	char count[32];

	out[0] = '\0';
	if (line->folded == 0)
		return 0;
	digits_text(count, line->folded);
	snprintf(out, 64, "  (+%s more like it)", count);
	if (2 * canvas_text_width(canvas, out) > room_cells)
		snprintf(out, 64, " (+%s)", count);
	return canvas_text_width(canvas, out);
}

static void draw_event(const struct model *model, const struct model_line *line, int y, const struct canvas *canvas)
{
	enum glyphs glyphs = canvas_glyphs(canvas);
	bool is_wide = canvas->width_cells >= EVENT_WIDE_CELLS;
	int x = is_wide ? 41 : 31;
	struct style style = STYLE(ROLE_TEXT);
	char clock[UNITS_BYTES], name[NAME_BYTES], fit[NAME_BYTES], text[NAME_BYTES];
	const char *word = line_word(line, &style);
	char more[64];
	int end = canvas->width_cells - more_text(more, line, canvas, canvas->width_cells - x);

	clock_text(clock, model, line->time_ns, 3);
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), clock);
	canvas_text(canvas, 15, y, style, word);
	class_name_clean(name, sizeof name, model, line->class_id, glyphs);
	text_fit(fit, sizeof fit, name, 8, glyphs);
	canvas_text(canvas, 22, y, STYLE(ROLE_TEXT), fit);
	if (is_wide) {
		task_name_clean(name, sizeof name, model, line->task, glyphs);
		text_fit(fit, sizeof fit, line->task == TASK_ALL ? "" : name, 9, glyphs);
		canvas_text(canvas, 31, y, STYLE(ROLE_TEXT), fit);
	}
	text_clean(text, sizeof text, line->text, strnlen(line->text, sizeof line->text), glyphs);
	text_fit(fit, sizeof fit, text, cells_max(end - x, 0), glyphs);
	canvas_text(canvas, canvas_text(canvas, x, y, style, fit), y, STYLE(ROLE_DIM), more);
}

/* Without lines it is good to know what keeps them away. */
static void draw_no_events(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	int log = model_class_find(model, "log");
	char letter = log >= 0 && view->class_keys ? view->class_keys[log] : '\0', text[256];

	if (log >= 0 && model_class(model, (uint32_t)log)->level != LEVEL_ALL) {
		snprintf(text, sizeof text, "Class log is at level %s: lines are not sent.",
			 level_name(model_class(model, (uint32_t)log)->level));
		if (view->may_control && letter > ' ' && letter < 0x7F) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof text - used, " Press c then %c until it reads all.", letter);
		}
	} else {
		snprintf(text, sizeof text, "No log line and no event came so far.");
	}
	text_wrap(canvas, 1, 1, STYLE(ROLE_DIM), text);
}

void events_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	int rows = canvas->height_cells - 1, count = cells_min(rows, (int)model_line_count(model));
	char title[64];

	panel_title(title, '6', "Events");
	title_draw(canvas, title, NULL, NULL);
	if (model_line_count(model) == 0)
		draw_no_events(model, view, canvas);
	/* The newest at the bottom, as in a log. */
	for (int age = 0; age < count; age++)
		draw_event(model, model_line(model, (uint32_t)age), count - age, canvas);
}
