/* table.h -- rows and columns, with a cursor, scrolling and a mark at the column sorted by.
 *
 *	   span               rate     p50   p99▼  trend
 *	 ! sql.query       1.24k/s  412 µs 8.31 ms  ▁▂█▆
 *	 ▸ decode           310 /s 2.10 ms 4.02 ms  ▃▄▃▃
 *	   3 not shown
 *
 * The widget has no state: its input is struct table, and what the next frame needs is returned in
 * struct table_drawn. */
#ifndef TELEM_WIDGETS_TABLE_H
#define TELEM_WIDGETS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "widgets/canvas.h"

enum {
	TABLE_COLUMNS_MAX = 16,      /* further columns are not drawn; no screen has room for so many */
	TABLE_WIDE_CELLS = 100,      /* a canvas of this width has more room than most tables need */
	TABLE_GUTTER_CELLS = 3,      /* left of the first column: cursor, mark, blank */
	TABLE_MARK = -1              /* the column for which cell() is asked for the mark, "!" */
};

enum table_room {
	TABLE_FIXED,
	TABLE_NAME,                  /* shares what is left over, but from TABLE_WIDE_CELLS on it is only as wide as its
				      * longest text, so that figures stand near their names */
	TABLE_PICTURE                /* takes what is left over from TABLE_WIDE_CELLS on */
};

struct table_column {
	const char *title;
	int width_cells;             /* the least width */
	bool right;                  /* whether text is aligned to the right, as figures are; names are aligned
				      * to the left */
	enum table_room room;
	int drop;                    /* 0: always shown; of the others, the highest is dropped first when there
				      * is no room */
};

struct table {
	const struct table_column *columns;
	int column_count;
	int row_count;
	int top;                     /* the first row to show, from the table_drawn of the last frame */
	int cursor;                  /* a row, or -1 for no cursor */
	int sort_column;             /* the column that rows are sorted by, or -1 */
	bool sort_ascending;
	/* Writes the text and, if it is not plain, the style of one cell. Before the call out is
	 * empty and *style is plain. Text from outside must be clean. Not called for a cell that
	 * draw() has drawn. */
	void (*cell)(void *arg, int row, int column, char *out, size_t out_bytes, struct style *style);
	/* Draws one cell and returns true, or returns false to have cell() asked for its text. NULL
	 * when no column needs it. */
	bool (*draw)(void *arg, int row, int column, const struct canvas *canvas);
	void *arg;
};

struct table_drawn {
	int top;                     /* the first row shown, to pass in for the next frame */
	int row_count;               /* how many rows are shown: one page */
	int cursor_y;                /* the canvas row of the cursor, or -1 */
};

/* Draws the head and the rows. The row of the cursor is always shown. When some rows are not shown,
 * the last line says how many. */
struct table_drawn table_draw(const struct table *table, const struct canvas *canvas);
#endif
