#include "widgets/table.h"

#include <string.h>

#include "widgets/cells.h"
#include "widgets/text.h"

enum {
	CELL_BYTES = 256,            /* bytes of a cell's text, before it is cut to its column */
	NAME_CELLS_MIN = 3,          /* a name shrinks to this when no other column can be dropped */
	MEASURED_ROWS_MAX = 500      /* so many names are measured, each frame */
};

/* Where the columns are on this canvas; a width of 0 means dropped. */
struct layout {
	int count;
	int x[TABLE_COLUMNS_MAX];
	int width[TABLE_COLUMNS_MAX];
};

/* The blanks before a column. A name after a figure needs one more, because the two texts meet there. */
static int gap_before(const struct table *table, const struct layout *layout, int column)
{
	for (int before = column - 1; before >= 0; before--)
		if (layout->width[before] > 0)
			return table->columns[before].right && !table->columns[column].right ? 2 : 1;
	return 0;
}

static int width_used(const struct table *table, const struct layout *layout)
{
	int used = TABLE_GUTTER_CELLS;

	for (int i = 0; i < layout->count; i++)
		if (layout->width[i] > 0)
			used += gap_before(table, layout, i) + layout->width[i];
	return used;
}

/* Drops the column that is dropped first. Returns false when all remaining columns must stay. */
static bool drop_one(const struct table *table, struct layout *layout)
{
	int victim = -1;

	for (int i = 0; i < layout->count; i++)
		if (layout->width[i] > 0 && table->columns[i].drop > 0 &&
		    (victim < 0 || table->columns[i].drop >= table->columns[victim].drop))
			victim = i;
	if (victim < 0)
		return false;
	layout->width[victim] = 0;
	return true;
}

/* On a narrow canvas names share what is left over, or missing. */
static void stretch(const struct table *table, struct layout *layout, int width_cells)
{
	int spare = width_cells - width_used(table, layout);
	int count = 0;

	for (int i = 0; i < layout->count; i++)
		count += layout->width[i] > 0 && table->columns[i].room == TABLE_NAME;
	for (int i = 0; i < layout->count; i++) {
		int share;

		if (layout->width[i] == 0 || table->columns[i].room != TABLE_NAME)
			continue;
		share = spare / count;
		if (layout->width[i] + share < NAME_CELLS_MIN)
			share = cells_min(0, NAME_CELLS_MIN - layout->width[i]);
		layout->width[i] += share;
		spare -= share;
		count--;
	}
}

static int longest_text(const struct table *table, int column, const struct canvas *canvas)
{
	int longest = canvas_text_width(canvas, table->columns[column].title) + (column == table->sort_column);

	for (int row = 0; row < cells_min(table->row_count, MEASURED_ROWS_MAX); row++) {
		struct style style = STYLE(ROLE_TEXT);
		char text[CELL_BYTES] = "";

		table->cell(table->arg, row, column, text, sizeof text, &style);
		longest = cells_max(longest, canvas_text_width(canvas, text));
	}
	return longest;
}

/* On a wide canvas names get what they need, and pictures what is left over. */
static void widen(const struct table *table, struct layout *layout, const struct canvas *canvas)
{
	int spare = canvas->width_cells - width_used(table, layout);

	for (int i = 0; i < layout->count; i++) {
		int more;

		if (layout->width[i] == 0 || table->columns[i].room != TABLE_NAME)
			continue;
		more = cells_min(cells_max(longest_text(table, i, canvas) - layout->width[i], 0), spare);
		layout->width[i] += more;
		spare -= more;
	}
	for (int i = 0; i < layout->count; i++)
		if (layout->width[i] > 0 && table->columns[i].room == TABLE_PICTURE) {
			layout->width[i] += spare;
			return;
		}
}

static struct layout layout_of(const struct table *table, const struct canvas *canvas)
{
	int width_cells = canvas->width_cells;
	struct layout layout = { .count = cells_min(table->column_count, TABLE_COLUMNS_MAX) };
	int x = TABLE_GUTTER_CELLS;

	for (int i = 0; i < layout.count; i++)
		layout.width[i] = cells_max(table->columns[i].width_cells, 1);
	while (width_used(table, &layout) > width_cells && drop_one(table, &layout))
		;
	if (width_cells >= TABLE_WIDE_CELLS && width_used(table, &layout) <= width_cells)
		widen(table, &layout, canvas);
	else
		stretch(table, &layout, width_cells);
	for (int i = 0; i < layout.count; i++) {
		if (layout.width[i] == 0)
			continue;
		layout.x[i] = x + gap_before(table, &layout, i);
		/* A column that still does not fit is cut at the right edge. */
		layout.width[i] = cells_min(layout.width[i], cells_max(width_cells - layout.x[i], 0));
		x = layout.x[i] + layout.width[i];
	}
	return layout;
}

static void draw_text(const struct table *table, const struct layout *layout, const struct canvas *canvas,
		      int column, int y, struct style style, const char *text)
{
	char fit[CELL_BYTES];

	text_fit(fit, sizeof fit, text, layout->width[column], canvas_glyphs(canvas));
	if (table->columns[column].right)
		canvas_text_right(canvas, layout->x[column] + layout->width[column], y, style, fit);
	else
		canvas_text(canvas, layout->x[column], y, style, fit);
}

static void draw_head(const struct table *table, const struct layout *layout, const struct canvas *canvas)
{
	for (int i = 0; i < layout->count; i++) {
		char title[CELL_BYTES];

		if (layout->width[i] == 0)
			continue;
		if (i != table->sort_column) {
			draw_text(table, layout, canvas, i, 0, STYLE(ROLE_DIM), table->columns[i].title);
			continue;
		}
		/* The title is cut to leave room for the sort mark. */
		text_fit(title, sizeof title - UTF8_BYTES, table->columns[i].title, layout->width[i] - 1,
			 canvas_glyphs(canvas));
		strcat(title, table->sort_ascending ? "▲" : "▼");
		draw_text(table, layout, canvas, i, 0, STYLE(ROLE_TITLE), title);
	}
}

static void draw_cell(const struct table *table, const struct layout *layout, const struct canvas *canvas,
		      int row, int column, int y)
{
	struct canvas part = canvas_part(canvas, layout->x[column], y, layout->width[column], 1);
	struct style style = STYLE(ROLE_TEXT);
	char text[CELL_BYTES] = "";

	if (table->draw && table->draw(table->arg, row, column, &part))
		return;
	table->cell(table->arg, row, column, text, sizeof text, &style);
	draw_text(table, layout, canvas, column, y, style, text);
}

static void draw_row(const struct table *table, const struct layout *layout, const struct canvas *canvas,
		     int row, int y)
{
	struct canvas gutter = canvas_part(canvas, 0, y, TABLE_GUTTER_CELLS - 1, 1);
	struct style style = STYLE(ROLE_TEXT);
	char mark[CELL_BYTES] = "";

	table->cell(table->arg, row, TABLE_MARK, mark, sizeof mark, &style);
	canvas_text(&gutter, 1, 0, style, mark);
	for (int i = 0; i < layout->count; i++)
		if (layout->width[i] > 0)
			draw_cell(table, layout, canvas, row, i, y);
	if (row == table->cursor) {
		canvas_put(&gutter, mark[0] ? 0 : 1, 0, STYLE(ROLE_TEXT),
			   glyph(canvas_glyphs(canvas), GLYPH_CURSOR));
		canvas_row_attr(canvas, y, ATTR_REVERSE);
	}
}

/* The first row to show: the previous one, moved only as far as the cursor requires, and no further
 * than the end. */
static int top_of(const struct table *table, int shown)
{
	int top = table->top;

	if (table->cursor >= 0) {
		int cursor = cells_min(table->cursor, table->row_count - 1);

		top = cells_min(top, cursor);
		top = cells_max(top, cursor - shown + 1);
	}
	return cells_max(0, cells_min(top, table->row_count - shown));
}

struct table_drawn table_draw(const struct table *table, const struct canvas *canvas)
{
	struct table_drawn drawn = { .cursor_y = -1 };
	struct layout layout = layout_of(table, canvas);
	int below = cells_max(canvas->height_cells - 1, 0);    /* rows below the head */
	int shown = cells_min(table->row_count, below);
	/* The last line shows the count only while a row is left above it. */
	bool cut = shown < table->row_count && below >= 2;

	shown = cells_max(0, shown - cut);
	drawn.top = top_of(table, shown);
	drawn.row_count = shown;
	draw_head(table, &layout, canvas);
	for (int i = 0; i < shown; i++) {
		draw_row(table, &layout, canvas, drawn.top + i, 1 + i);
		if (drawn.top + i == table->cursor)
			drawn.cursor_y = 1 + i;
	}
	if (cut)
		canvas_printf(canvas, TABLE_GUTTER_CELLS, 1 + shown, STYLE(ROLE_DIM), "%d not shown",
			      table->row_count - shown);
	return drawn;
}
