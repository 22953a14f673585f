/* canvas_backing.h -- the cells behind a canvas, for the canvas_*.c files only.
 *
 * The cells are a grid, row after row. The second cell of a wide character has ch 0 and never
 * stands without its first: canvas.c ensures that. */
#ifndef TELEM_WIDGETS_CANVAS_BACKING_H
#define TELEM_WIDGETS_CANVAS_BACKING_H

#include "widgets/canvas.h"

struct canvas_backing {
	struct cell *cells;                  /* owned, width times height of them */
	int width_cells, height_cells;
	enum glyphs glyphs;
};

/* Makes blank cells; sizes below 0 count as 0. Returns NULL when memory is out; end with
 * canvas_backing_free(). */
struct canvas_backing *canvas_backing_new(int width_cells, int height_cells, enum glyphs glyphs);
#endif
