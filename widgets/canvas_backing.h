/* canvas_backing.h -- the cells behind a canvas; for the canvas_*.c files only.
 *
 * A grid, row after row. A wide character's second cell has ch 0, and never
 * stands without its first: canvas.c keeps that so. */
#ifndef TELEM_WIDGETS_CANVAS_BACKING_H
#define TELEM_WIDGETS_CANVAS_BACKING_H

#include "widgets/canvas.h"

struct canvas_backing {
	struct cell *cells;                  /* owned, width times height of them */
	int width_cells, height_cells;
	enum glyphs glyphs;
};

/* Blank cells; sizes below 0 count as 0. NULL when memory is out. */
struct canvas_backing *canvas_backing_new(int width_cells, int height_cells, enum glyphs glyphs);
#endif
