/* points.h -- figures over time, as the widgets take them.
 *
 * Evenly spaced, oldest first, the last one now. A value that is no finite number
 * is a gap: nothing is known of that moment. A lost one is a lower bound, for
 * some events of that moment did not arrive. */
#ifndef TELEM_WIDGETS_POINTS_H
#define TELEM_WIDGETS_POINTS_H

#include <stdbool.h>

struct points {
	const double *values;
	const bool *lost;            /* per value; NULL when nothing was lost */
	int count;
};

struct point {
	double value;                /* NaN: a gap */
	bool lost;
};

/* Point index; outside 0..count-1 a gap. */
struct point points_at(const struct points *points, int index);
/* What column of column_count shows when all points are laid out over them: the
 * greatest of the points that fall into it (a peak is never hidden), lost when
 * one of them is. With fewer points than columns each fills several. */
struct point points_column(const struct points *points, int column, int column_count);
/* The first of the columns that point index (0..count-1) falls into. */
int points_column_of(int index, int count, int column_count);
/* The greatest value; 0 when there is none above. */
double points_max(const struct points *points);
/* How many eighths of rows cells a value fills on a scale of 0 to max: 1 at least,
 * so that zero does not look like a gap, and rows * 8 at most. */
int points_eighths(double value, double max, int rows);
#endif
