/* sparkline.h -- a row of bars, one for each of the newest points.
 *
 * The newest stands at the right edge. A gap is blank, a point with loss a '?',
 * zero the lowest bar. */
#ifndef TELEM_WIDGETS_SPARKLINE_H
#define TELEM_WIDGETS_SPARKLINE_H

#include "widgets/canvas.h"
#include "widgets/points.h"

struct sparkline {
	struct points points;
	double max;                  /* the full bar; 0: the greatest point that is drawn */
	struct style style;
};

/* Into the first row of canvas. */
void sparkline_draw(const struct sparkline *sparkline, const struct canvas *canvas);
#endif
