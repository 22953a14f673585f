/* sparkline.h -- one row of bars, one for each of the newest points.
 *
 * The newest point is at the right edge. A gap is blank, a point with loss is '?', and zero is the
 * lowest bar. */
#ifndef TELEM_WIDGETS_SPARKLINE_H
#define TELEM_WIDGETS_SPARKLINE_H

#include "widgets/canvas.h"
#include "widgets/points.h"

struct sparkline {
	struct points points;
	double max;                  /* the value of a full bar; 0: the greatest point that is drawn */
	struct style style;
};

/* Draws into the first row of canvas. */
void sparkline_draw(const struct sparkline *sparkline, const struct canvas *canvas);
#endif
