/* heatmap.h -- how a distribution changes over time: a column for each time, a row for each range
 * of values.
 *
 * A cell shows its share of the column by shade and colour; a share above 0 is never blank. Each
 * point in time is one column, the newest at the right edge. A column with loss consists of '?',
 * one without data is blank. When there are more rows than fit, those that are to be kept stay, and
 * those far above and far below them are added up in a row each, labelled "≥" and "≤". */
#ifndef TELEM_WIDGETS_HEATMAP_H
#define TELEM_WIDGETS_HEATMAP_H

#include "widgets/axis.h"
#include "widgets/canvas.h"

struct heatmap {
	const float *shares;         /* column_count times row_count shares from 0 to 1, NaN for no data: column
				      * by column, oldest first, and in a column the lowest values first */
	const bool *lost;            /* one for each column, or NULL when nothing was lost */
	int row_count, column_count;
	const char *const *row_labels;       /* row_count upper bounds, lowest values first */
	int keep_low, keep_high;     /* rows keep_low..keep_high are kept when not all fit, the highest first */
	const struct axis_mark *marks;       /* drawn in the last row; without marks the plot takes that row too */
	int mark_count;
};

void heatmap_draw(const struct heatmap *heatmap, const struct canvas *canvas);
#endif
