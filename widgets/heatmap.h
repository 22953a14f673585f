/* heatmap.h -- how a spread changes with time: columns of time, rows of value.
 *
 * A cell is a share of its column, shown by shade and by heat; a share above 0
 * is never blank. One point of time is one column, the newest at the right edge.
 * A column with loss is drawn of '?', one without data is blank. When there are
 * more rows than fit, the lowest are drawn as one, labelled "≤". */
#ifndef TELEM_WIDGETS_HEATMAP_H
#define TELEM_WIDGETS_HEATMAP_H

#include "widgets/axis.h"
#include "widgets/canvas.h"

struct heatmap {
	const float *shares;         /* column_count times row_count, column by column,
				      * oldest first, within it the lowest value first;
				      * 0..1, NaN for no data */
	const bool *lost;            /* per column; NULL when nothing was lost */
	int row_count, column_count;
	const char *const *row_labels;       /* row_count of them, lowest first */
	const struct axis_mark *marks;       /* in the last row; none: it is plot too */
	int mark_count;
};

void heatmap_draw(const struct heatmap *heatmap, const struct canvas *canvas);
#endif
