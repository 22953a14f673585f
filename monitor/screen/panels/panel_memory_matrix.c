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
	double bytes = NAN;

	if (column == 0) {
		memory_row_name(memory, row, out, out_bytes, style);
		return;
	}
	if (column < 0 || !site)
		return;
	if (column == 1) {
		bytes = (double)model_live_bytes(site->sum, site->max);
	} else if (column - 2 < memory->task_count) {
		const struct task_site *pair = model_task_site_of(memory->model, memory->tasks[column - 2], site->id);

		bytes = pair ? memory_pair_live(pair) : NAN;
	} else {
		bytes = (double)model_live_bytes(site->sum, site->max);
		for (int i = 0; i < memory->task_count; i++) {
			const struct task_site *pair = model_task_site_of(memory->model, memory->tasks[i], site->id);

			bytes -= pair ? memory_pair_live(pair) : 0;
		}
	}
	memory_bytes_text(out, out_bytes, bytes, site->is_rough);
	memory_dim_when_zero(bytes, style);
}

void memory_draw_matrix(struct memory_table *memory, struct panel_view *view, int y, const struct canvas *canvas)
{
	struct panel_rows tasks = list_rows_plain(memory_list_of(TAB_TASK), memory->model, SORT_LIVE);
	struct table_column columns[TABLE_COLUMNS_MAX] = {
		{ .title = "type", .width_cells = 12, .stretch = true },
		{ .title = "live", .width_cells = MATRIX_CELLS, .right = true },
	};
	char titles[MATRIX_TASKS_MAX][NAME_BYTES];
	int room = (canvas->width_cells - TABLE_GUTTER_CELLS - 12 - (1 + MATRIX_CELLS)) / (1 + MATRIX_CELLS);
	int count = 2;

	room = cells_max(0, cells_min(room, MATRIX_TASKS_MAX + 1));
	/* The last column is for all tasks that have none of their own, if there are any. */
	memory->task_count = cells_min(tasks.count <= room ? tasks.count : room - 1, MATRIX_TASKS_MAX);
	memory->task_count = cells_max(memory->task_count, 0);
	for (int i = 0; i < memory->task_count; i++) {
		char name[NAME_BYTES];

		memory->tasks[i] = tasks.rows[i].id;
		task_name_clean(name, sizeof name, memory->model, tasks.rows[i].id, memory->glyphs);
		text_fit(titles[i], sizeof titles[i], name, MATRIX_CELLS, memory->glyphs);
		columns[count++] = (struct table_column){ .title = titles[i], .width_cells = MATRIX_CELLS, .right = true };
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
