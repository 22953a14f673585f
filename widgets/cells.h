/* cells.h -- the smaller and the larger of two sizes. */
#ifndef TELEM_WIDGETS_CELLS_H
#define TELEM_WIDGETS_CELLS_H

static inline int cells_min(int a, int b)
{
	return a < b ? a : b;
}

static inline int cells_max(int a, int b)
{
	return a > b ? a : b;
}
#endif
