/* chart.h -- one figure over time as a filled area, in eighths of a cell.
 *
 * All points are laid out over the width: give it the window to be seen. A gap
 * is blank; a column with loss is drawn of '?' as high as its lower bound; zero
 * is the lowest bar. A limit is a line that just those columns break that are
 * past it. Labels appear where there is room: max, limit and 0 at the left,
 * times in the last row from CHART_TIME_ROWS rows on. */
#ifndef TELEM_WIDGETS_CHART_H
#define TELEM_WIDGETS_CHART_H

#include "widgets/axis.h"
#include "widgets/canvas.h"
#include "widgets/points.h"

enum { CHART_TIME_ROWS = 4 };

struct chart {
	struct points points;
	enum unit unit;
	double max;                  /* the top; 0: the greatest point, or the limit */
	double limit;                /* what points are held against; 0: nothing */
	double point_s;              /* seconds from point to point; 0: no times */
	const struct axis_mark *marks;
	int mark_count;
	struct style style;
};

void chart_draw(const struct chart *chart, const struct canvas *canvas);
#endif
