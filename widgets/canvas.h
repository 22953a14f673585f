/* canvas.h -- a rectangle of character cells to draw on: a terminal, or plain text.
 *
 * Everything on the screen is drawn through this one interface, so that the
 * same drawing code fills a terminal (canvas_curses.c) and a golden file
 * (canvas_text.c). A canvas is a value: canvas_part() gives a clipped view of
 * a part of it, with its own origin. Whatever lies outside is clipped, never an
 * error: no size is too small to draw on.
 *
 * Text given here must be clean already: see text.h for text from outside. Still,
 * a character that must not reach a terminal is drawn as a dot, and on an ASCII
 * canvas whatever is not ASCII as its twin (theme.h) or '?'. */
#ifndef TELEM_WIDGETS_CANVAS_H
#define TELEM_WIDGETS_CANVAS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "widgets/theme.h"

/* One cell: a character of one column and how it looks. A wide character fills
 * its cell and the next, whose ch is then 0. */
struct cell {
	uint32_t ch;         /* Unicode code point */
	struct style style;
};

struct canvas_backing;       /* the cells behind a canvas; shared by its parts */

struct canvas {
	struct canvas_backing *backing;
	int x, y;            /* of our origin in the backing */
	int width_cells, height_cells;   /* never negative */
};

/* Plain text in memory, blank at first; sizes below 0 count as 0. NULL only when
 * memory is out. Ends with canvas_backing_free(). glyphs says which characters
 * may be drawn. */
struct canvas_backing *canvas_text_new(int width_cells, int height_cells, enum glyphs glyphs);
void canvas_backing_free(struct canvas_backing *backing);
/* The whole of it, valid like its parts until the backing is freed or resized. */
struct canvas canvas_of(struct canvas_backing *backing);
/* Writes the cells as UTF-8 lines, trailing blanks cut, one '\n' a line. */
void canvas_text_write(const struct canvas_backing *backing, FILE *out);

/* A part, clipped to canvas: x, y relative to it; sizes below 0 count as 0. */
struct canvas canvas_part(const struct canvas *canvas, int x, int y, int width_cells, int height_cells);
/* Fills with blanks. */
void canvas_clear(const struct canvas *canvas);
/* One character; a wide one that does not fit whole is a blank. */
void canvas_put(const struct canvas *canvas, int x, int y, struct style style, uint32_t ch);
/* UTF-8 text from x on, clipped at the right edge; returns the column after it
 * (also when clipped: where it would have ended). */
int canvas_text(const struct canvas *canvas, int x, int y, struct style style, const char *text);
/* The columns text takes here: what canvas_text() would add to x. */
int canvas_text_width(const struct canvas *canvas, const char *text);
/* As canvas_text(); more than 4000 bytes are cut. */
int canvas_printf(const struct canvas *canvas, int x, int y, struct style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Text whose last character stands just before column x_end; returns the column it starts at. */
int canvas_text_right(const struct canvas *canvas, int x_end, int y, struct style style, const char *text);
/* count times ch, of one column, to the right. */
void canvas_fill(const struct canvas *canvas, int x, int y, struct style style, uint32_t ch, int count);
/* Adds an attribute to a whole row (the cursor's row: ATTR_REVERSE). */
void canvas_row_attr(const struct canvas *canvas, int y, unsigned attr);
enum glyphs canvas_glyphs(const struct canvas *canvas);
#endif
