/* table.h -- rows and columns, with a cursor, scrolling and a sort mark.
 *
 *    span               rate     p50   p99▼  trend
 *  ! sql.query       1.24k/s  412 µs 8.31 ms  ▁▂█▆
 *  ▸ decode           310 /s 2.10 ms 4.02 ms  ▃▄▃▃
 *    3 not shown
 *
 * The widget keeps nothing: what it needs comes in struct table, what the next
 * frame needs goes out in struct table_drawn. */
#ifndef TELEM_WIDGETS_TABLE_H
#define TELEM_WIDGETS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "widgets/canvas.h"

enum {
	TABLE_COLUMNS_MAX = 16,      /* columns past it are not drawn; no screen holds as many */
	TABLE_GUTTER_CELLS = 3,      /* left of the first column: cursor, mark, blank */
	TABLE_MARK = -1              /* the cell callback's column for the mark, "!" */
};

struct table_column {
	const char *title;
	int width_cells;             /* the least; a stretching column shares what is over */
	bool right;                  /* alignment: figures to the right, names to the left */
	bool stretch;
	int drop;                    /* 0: stays; of the others the highest goes first */
};

struct table {
	const struct table_column *columns;
	int column_count;
	int row_count;
	int top;                     /* the first row to show, from the last table_drawn */
	int cursor;                  /* a row, or -1: no cursor */
	int sort_column;             /* the column sorted by, or -1 */
	bool sort_ascending;
	/* Text and, if it is not plain, style of one cell. out is empty and style plain
	 * before; text from outside must be clean. Not called for drawn cells. */
	void (*cell)(void *arg, int row, int column, char *out, size_t out_bytes, struct style *style);
	/* Draws a cell itself and returns true, or returns false for cell() to do it.
	 * NULL when no column draws. */
	bool (*draw)(void *arg, int row, int column, const struct canvas *canvas);
	void *arg;
};

struct table_drawn {
	int top;                     /* the first row shown; give it back in the next frame */
	int row_count;               /* rows shown: a page */
	int cursor_y;                /* the cursor's row of canvas, or -1 */
};

/* Draws head and rows. The cursor's row is always among those shown. When not
 * all rows are, the last line says how many are not. */
struct table_drawn table_draw(const struct table *table, const struct canvas *canvas);
#endif
