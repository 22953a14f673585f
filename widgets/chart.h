/* chart.h -- one figure over time, drawn as a filled area in steps of 1/8 cell.
 *
 * All points are spread over the width, so the caller passes only those that should be seen. A gap
 * is blank. A column with loss consists of '?', as high as its lower bound. Zero is the lowest bar.
 * A limit is a horizontal line that only columns above the limit cross. Labels appear where there
 * is room: max, limit and 0 or low at the left, and times in the last row when there are at least
 * CHART_TIME_ROWS rows. */
#ifndef TELEM_WIDGETS_CHART_H
#define TELEM_WIDGETS_CHART_H

#include "widgets/axis.h"
#include "widgets/canvas.h"
#include "widgets/points.h"

enum { CHART_TIME_ROWS = 4 };

struct chart {
	struct points points;
	enum unit unit;
	double max;                  /* the value at the top; 0: the greatest point or the limit, whichever is higher */
	double low;                  /* the value at the bottom of a logarithmic axis; 0: the axis is linear, from 0 on */
	double limit;                /* the value that points should not exceed; 0: none */
	double point_s;              /* seconds between two points; 0: draw no times */
	const struct axis_mark *marks;
	int mark_count;
	struct style style;
};

void chart_draw(const struct chart *chart, const struct canvas *canvas);
#endif
