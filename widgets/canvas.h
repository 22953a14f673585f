/* canvas.h -- a rectangle of character cells to draw on: a terminal, or plain text.
 *
 * Everything on the screen is drawn through this one interface, so that the same drawing code fills
 * a terminal (canvas_curses.c) and a golden file (canvas_text.c). A canvas is a value:
 * canvas_part() returns a view of a part of it, with its own origin. Drawing outside a canvas is
 * clipped and never an error: no size is too small to draw on.
 *
 * Text drawn here must already be clean: text.h makes it so for text from outside. A character that
 * must not reach a terminal is still drawn as a dot. On an ASCII canvas a character that is not
 * ASCII is drawn as its ASCII twin (theme.h) or as '?'. */
#ifndef TELEM_WIDGETS_CANVAS_H
#define TELEM_WIDGETS_CANVAS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "widgets/theme.h"

/* One cell: a character of one column and its style. A wide character takes its cell and the next
 * one, whose ch is then 0. */
struct cell {
	uint32_t ch;         /* Unicode code point */
	struct style style;
};

struct canvas_backing;       /* the cells behind a canvas, shared by its parts */

struct canvas {
	struct canvas_backing *backing;
	int x, y;            /* where this canvas starts in the backing */
	int width_cells, height_cells;   /* never negative */
};

/* Makes a canvas of plain text in memory, blank at first; sizes below 0 count as 0, and glyphs says
 * which characters it can show. Returns NULL when memory is out. End with canvas_backing_free(). */
struct canvas_backing *canvas_text_new(int width_cells, int height_cells, enum glyphs glyphs);
void canvas_backing_free(struct canvas_backing *backing);
/* The canvas over the whole backing. It and its parts are valid until the backing is freed or resized. */
struct canvas canvas_of(struct canvas_backing *backing);
/* Writes the cells as UTF-8 lines, without blanks at their ends, each ended by '\n'. */
void canvas_text_write(const struct canvas_backing *backing, FILE *out);

/* The part of canvas at x, y of the given size, clipped to canvas; sizes below 0 count as 0. */
struct canvas canvas_part(const struct canvas *canvas, int x, int y, int width_cells, int height_cells);
/* Fills the canvas with blanks. */
void canvas_clear(const struct canvas *canvas);
/* Draws one character. A wide one that does not fit whole is drawn as a blank. */
void canvas_put(const struct canvas *canvas, int x, int y, struct style style, uint32_t ch);
/* Draws UTF-8 text from column x on. A text that the right edge cuts ends in "…" there. Returns the
 * column after it, or where that would be without the edge. */
int canvas_text(const struct canvas *canvas, int x, int y, struct style style, const char *text);
/* The columns that text takes on this canvas: what canvas_text() adds to x. */
int canvas_text_width(const struct canvas *canvas, const char *text);
/* Like canvas_text() with a printf format; the text is cut to 4000 bytes. */
int canvas_printf(const struct canvas *canvas, int x, int y, struct style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Draws text that ends just before column x_end. Returns the column it starts at. */
int canvas_text_right(const struct canvas *canvas, int x_end, int y, struct style style, const char *text);
/* Draws ch, of one column, count times from x to the right. */
void canvas_fill(const struct canvas *canvas, int x, int y, struct style style, uint32_t ch, int count);
/* Adds an attribute to all cells of a row: ATTR_REVERSE for the row of a cursor. */
void canvas_row_attr(const struct canvas *canvas, int y, unsigned attr);
enum glyphs canvas_glyphs(const struct canvas *canvas);
#endif
