#include "monitor/screen/picker.h"

#include <stdio.h>
#include <string.h>

#include "monitor/screen/panels/panel_list.h"
#include "widgets/cells.h"
#include "widgets/key.h"
#include "widgets/table.h"
#include "widgets/text.h"
#include "widgets/units.h"

static void choose_rows(struct picker *picker)
{
	struct filter filter;

	filter_init(&filter, picker->filter);
	picker->row_count = 0;
	for (int i = 0; i < picker->count; i++)
		if (filter_match(&filter, picker->found[i].program))
			picker->rows[picker->row_count++] = i;
	filter_fini(&filter);
	picker->cursor = cells_max(cells_min(picker->cursor, picker->row_count - 1), 0);
}

void picker_scan(struct picker *picker)
{
	picker->count = discovery_list(picker->found, PICKER_MAX, false);
	picker->chosen = -1;
	choose_rows(picker);
}

static void cell(void *arg, int row, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct picker *picker = arg;
	const struct found *found = &picker->found[picker->rows[row]];
	char uptime[UNITS_BYTES];

	(void)style;
	switch (column) {
	case 0: snprintf(out, out_bytes, "%d", row + 1); break;
	case 1: snprintf(out, out_bytes, "%d", (int)found->pid); break;
	case 2: snprintf(out, out_bytes, "%s", found->user); break;
	case 3: text_clean(out, out_bytes, found->program, strlen(found->program), GLYPHS_BLOCKS); break;
	case 4:
		units_uptime(uptime, (double)found->uptime_ns);
		snprintf(out, out_bytes, "%s", uptime);
		break;
	case 5: snprintf(out, out_bytes, "%s", found->is_permitted ? "ok" : "no permission"); break;
	default: out[0] = '\0'; break;
	}
}

static void draw_last(const struct picker *picker, const struct canvas *canvas, int y)
{
	static const char keys[] = "1-9 or Enter open   / filter   q quit";

	if (picker->is_filtering)
		lineedit_draw(&picker->edit, canvas, 0, y, "filter: ");
	else if (picker->filter[0])
		canvas_printf(canvas, 0, y, STYLE(ROLE_DIM), "filter %s: %d of %d, Esc clears it   %s", picker->filter,
			      picker->row_count, picker->count, keys);
	else
		canvas_text(canvas, 0, y, STYLE(ROLE_DIM), keys);
}

void picker_draw(struct picker *picker, const struct canvas *canvas)
{
	static const struct table_column columns[] = {
		{ .title = "", .width_cells = 3, .right = true, .drop = 4 },
		{ .title = "PID", .width_cells = 8, .right = true },
		{ .title = "user", .width_cells = 10, .drop = 3 },
		{ .title = "program", .width_cells = 12, .room = TABLE_NAME },
		{ .title = "uptime", .width_cells = 8, .right = true, .drop = 2 },
		{ .title = "socket", .width_cells = 14, .drop = 1 },
	};
	struct table table = { .columns = columns, .column_count = 6, .row_count = picker->row_count, .top = picker->top,
			       .cursor = picker->cursor, .sort_column = -1, .cell = cell, .arg = picker };
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells, canvas->height_cells - 2);
	struct table_drawn drawn;

	canvas_clear(canvas);
	canvas_printf(canvas, 0, 0, STYLE(ROLE_TITLE, ATTR_BOLD), "telemtop: %d monitored programs", picker->count);
	canvas_text_right(canvas, canvas->width_cells, 0, STYLE(ROLE_DIM), "^R rescan");
	drawn = table_draw(&table, &part);
	picker->top = drawn.top;
	picker->cursor_y = part.y + drawn.cursor_y;
	draw_last(picker, canvas, canvas->height_cells - 1);
}

static void choose(struct picker *picker, int row)
{
	if (row < picker->row_count)
		picker->chosen = picker->rows[row];
}

static void filter_key(struct picker *picker, int key)
{
	switch (lineedit_key(&picker->edit, key)) {
	case LINEEDIT_MORE:
		break;
	case LINEEDIT_CANCELLED:
		picker->filter[0] = '\0';
		picker->is_filtering = false;
		break;
	case LINEEDIT_DONE:
		picker->is_filtering = false;
		break;
	}
	picker->cursor = 0;
	choose_rows(picker);
}

bool picker_key_quits(int key)
{
	return key == 'q' || key == KEYCODE_CTRL('C') || key == KEYCODE_HANGUP || key == KEYCODE_F0 + 10;
}

void picker_key(struct picker *picker, int key)
{
	if (picker->is_filtering && key != KEYCODE_CTRL('C') && key != KEYCODE_HANGUP) {
		filter_key(picker, key);
		return;
	}
	switch (key) {
	case KEYCODE_UP: case 'k':
		picker->cursor -= picker->cursor > 0;
		break;
	case KEYCODE_DOWN: case 'j':
		picker->cursor += picker->cursor + 1 < picker->row_count;
		break;
	case KEYCODE_ENTER:
		choose(picker, picker->cursor);
		break;
	case '/':
		picker->is_filtering = true;
		lineedit_init(&picker->edit, picker->filter, sizeof picker->filter);
		break;
	case KEYCODE_ESCAPE:
		picker->filter[0] = '\0';
		choose_rows(picker);
		break;
	case KEYCODE_CTRL('R'):
		picker_scan(picker);
		break;
	default:
		picker->quit = picker_key_quits(key);
		if (key >= '1' && key <= '9')
			choose(picker, key - '1');
		break;
	}
}
