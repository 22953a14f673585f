#include "monitor/screen/panels/panel_memory.h"

#include <math.h>

#include "widgets/cells.h"
#include "widgets/text.h"

enum { MATRIX_CELLS = 9 };

static void matrix_cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct memory_table *memory = arg;
	const struct panel_row *row = &memory->rows->rows[index];
	const struct model_site *site = model_site_by_id(memory->model, row->id);
	struct live live = { 0 };
	double bytes;

	if (column == 0) {
		memory_row_name(memory, row, out, out_bytes, style);
		return;
	}
	if (column < 0 || !site)
		return;
	if (column == 1) {
		live_add(&live, &site->live);
	} else if (column - 2 < memory->task_count) {
		const struct task_site *pair = model_task_site_of(memory->model, memory->tasks[column - 2], site->id);

		if (pair)
			live_add(&live, &pair->live);
	} else {
		live_add(&live, &site->live);
		for (int i = 0; i < memory->task_count; i++) {
			const struct task_site *pair = model_task_site_of(memory->model, memory->tasks[i], site->id);

			live.bytes -= pair ? pair->live.bytes : 0;
			live.is_rough |= pair && pair->live.is_rough;
		}
	}
	/* A difference of estimates may be a little below 0. */
	bytes = live.is_known ? fmax(live.bytes, 0) : NAN;
	bytes_text(out, out_bytes, bytes, live.is_rough);
	memory_dim_when_zero(bytes, style);
}

void memory_draw_matrix(struct memory_table *memory, struct panel_view *view, int y, const struct canvas *canvas)
{
	struct panel_rows tasks = list_rows_plain(memory_list_of(TAB_TASK), memory->model, SORT_LIVE);
	struct table_column columns[TABLE_COLUMNS_MAX] = {
		{ .title = "type", .width_cells = 12, .room = TABLE_NAME },
		{ .title = "live", .width_cells = MATRIX_CELLS, .right = true },
	};
	char titles[MATRIX_TASKS_MAX][NAME_BYTES];
	int room = (canvas->width_cells - TABLE_GUTTER_CELLS - 12 - (1 + MATRIX_CELLS)) / (1 + MATRIX_CELLS);
	int count = 2, most;

	room = cells_max(0, cells_min(room, MATRIX_TASKS_MAX + 1));
	/* The last column is for all tasks that have none of their own, if there are any. */
	most = cells_max(0, cells_min(tasks.count <= room ? tasks.count : room - 1, MATRIX_TASKS_MAX));
	memory->task_count = 0;
	for (int i = 0; i < tasks.count && memory->task_count < most; i++) {
		char name[NAME_BYTES], *title = titles[memory->task_count];

		/* What no sample tells the holder of is in the last column. */
		if (tasks.rows[i].id == TASK_ALL)
			continue;
		memory->tasks[memory->task_count++] = tasks.rows[i].id;
		task_name_clean(name, sizeof name, memory->model, tasks.rows[i].id, memory->glyphs);
		text_fit(title, NAME_BYTES, name, MATRIX_CELLS, memory->glyphs);
		columns[count++] = (struct table_column){ .title = title, .width_cells = MATRIX_CELLS, .right = true };
	}
	if (tasks.count > memory->task_count && room > 0)
		columns[count++] = (struct table_column){ .title = "others", .width_cells = MATRIX_CELLS, .right = true };
	rows_free(&tasks);
	list_draw(&(struct table){
		.columns = columns,
		.column_count = count,
		.sort_column = view->sort == SORT_LIVE ? 1 : view->sort == SORT_NAME ? 0 : -1,
		.cell = matrix_cell,
		.arg = memory,
	}, memory->rows, view, y, canvas);
}
