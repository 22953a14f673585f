#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "widgets/cells.h"
#include "widgets/table.h"
#include "widgets/text.h"

extern const struct panel panel_tasks;

enum {
	TREND_SECONDS = 60,
	TABLE_CELLS = 56             /* at this width and above tasks are a table, below they are lines */
};

/* Sorts tasks by the bytes they hold, or, in a program without typed memory, by how many events they have. */
static void collect_tasks(const struct model *model, const struct panel_view *view, struct panel_rows *rows)
{
	bool by_memory = model_has_typed_memory(model);

	(void)view;
	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);

		rows_add(rows, task->id, 0, by_memory ? task->live.bytes : task->events_per_s, task->name);
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
		live_text(text, &task->live);
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
		live_text(text, &task->live);
		canvas_text_right(canvas, width - 3, y, STYLE(ROLE_TEXT), text);
		canvas_text(canvas, width - 2, y, STYLE(ROLE_ACCENT),
			    trend_arrow(series_trend(task->trend, model_second(tasks->model), TREND_SECONDS)));
	}
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	static const struct table_column columns[] = {
		{ "task", 10, false, TABLE_NAME, 0 },
		{ "events", 7, true, TABLE_FIXED, 2 },
		{ "alloc/s", 8, true, TABLE_FIXED, 3 },
		{ "live", 9, true, TABLE_FIXED, 0 },
		{ "trend", 12, false, TABLE_PICTURE, 4 },
	};
	struct panel_rows rows = list_rows_plain(&task_list, model, 0);
	struct tasks tasks = { .model = model, .rows = &rows, .glyphs = canvas_glyphs(canvas) };
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1);
	char title[64], left[128];
	int active = 0;

	(void)view;
	for (int i = 0; i < rows.count; i++)
		active += model_task_by_id(model, rows.rows[i].id)->events_per_s > 0;
	panel_title(title, &panel_tasks);
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

static int count(const struct model *model)
{
	return (int)model_task_count(model);
}

const struct panel panel_tasks = {
	.name = "Tasks",
	.small = small,
	.count = count,
	.places = { [OVERVIEW_WIDE] = { 1, 3 }, [OVERVIEW_MEDIUM] = { 3, 1 }, [OVERVIEW_NARROW] = { 3, 1 } },
};
