#include "monitor/screen/picker.h"

#include <stdio.h>
#include <string.h>

#include "widgets/key.h"
#include "widgets/table.h"
#include "widgets/text.h"
#include "widgets/units.h"

void picker_scan(struct picker *picker)
{
	picker->count = discovery_list(picker->found, PICKER_MAX, false);
	picker->chosen = -1;
	if (picker->cursor >= picker->count)
		picker->cursor = picker->count ? picker->count - 1 : 0;
}

/* Returns the program in this row of the filtered list; -1 when the list is shorter. */
static int shown(const struct picker *picker, int row)
{
	for (int i = 0; i < picker->count; i++)
		if (strstr(picker->found[i].program, picker->filter) && row-- == 0)
			return i;
	return -1;
}

static int shown_count(const struct picker *picker)
{
	int count = 0;

	while (shown(picker, count) >= 0)
		count++;
	return count;
}

static void cell(void *arg, int row, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct picker *picker = arg;
	const struct found *found = &picker->found[shown(picker, row)];
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

void picker_draw(struct picker *picker, const struct canvas *canvas)
{
	static const struct table_column columns[] = {
		{ .title = "", .width_cells = 3, .right = true, .drop = 4 },
		{ .title = "PID", .width_cells = 8, .right = true },
		{ .title = "user", .width_cells = 10, .drop = 3 },
		{ .title = "program", .width_cells = 12, .stretch = true },
		{ .title = "uptime", .width_cells = 8, .right = true, .drop = 2 },
		{ .title = "socket", .width_cells = 14, .drop = 1 },
	};
	struct table table = { .columns = columns, .column_count = 6, .row_count = shown_count(picker), .top = picker->top,
			       .cursor = picker->cursor, .sort_column = -1, .cell = cell, .arg = picker };
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells, canvas->height_cells - 2);
	struct table_drawn drawn;

	canvas_clear(canvas);
	canvas_printf(canvas, 0, 0, STYLE(ROLE_TITLE, ATTR_BOLD), "telemtop: %d monitored programs", picker->count);
	canvas_text_right(canvas, canvas->width_cells, 0, STYLE(ROLE_DIM), "/ filter  ^R rescan");
	drawn = table_draw(&table, &part);
	picker->top = drawn.top;
	picker->cursor_y = part.y + drawn.cursor_y;
	if (picker->is_filtering)
		canvas_printf(canvas, 0, canvas->height_cells - 1, STYLE(ROLE_TEXT), "filter: %s", picker->filter);
	else
		canvas_text(canvas, 0, canvas->height_cells - 1, STYLE(ROLE_DIM), "1-9 or Enter open   q quit");
}

static void filter_key(struct picker *picker, int key)
{
	size_t length = strlen(picker->filter);

	if (key == KEYCODE_ENTER || key == KEYCODE_ESCAPE)
		picker->is_filtering = false;
	if (key == KEYCODE_ESCAPE)
		picker->filter[0] = '\0';
	else if (key == KEYCODE_BACKSPACE && length > 0)
		picker->filter[length - 1] = '\0';
	else if (key > ' ' && key < 0x7f && length + 1 < sizeof picker->filter)
		picker->filter[length] = (char)key, picker->filter[length + 1] = '\0';
	picker->cursor = 0;
}

void picker_key(struct picker *picker, int key)
{
	if (picker->is_filtering) {
		filter_key(picker, key);
		return;
	}
	switch (key) {
	case KEYCODE_UP: case 'k':
		picker->cursor -= picker->cursor > 0;
		break;
	case KEYCODE_DOWN: case 'j':
		picker->cursor += picker->cursor + 1 < shown_count(picker);
		break;
	case KEYCODE_ENTER:
		picker->chosen = shown(picker, picker->cursor);
		break;
	case '/':
		picker->is_filtering = true;
		break;
	case KEYCODE_CTRL('R'):
		picker_scan(picker);
		break;
	case 'q': case KEYCODE_CTRL('C'): case KEYCODE_HANGUP: case KEYCODE_F0 + 10:
		picker->quit = true;
		break;
	default:
		if (key >= '1' && key <= '9')
			picker->chosen = shown(picker, key - '1');
		break;
	}
}
