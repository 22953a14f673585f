/* points.h -- figures over time, in the form that widgets take.
 *
 * The points are evenly spaced, oldest first; the last one is now. A value that is not a finite
 * number is a gap: nothing is known about that moment. A lost point is a lower bound, because some
 * events of that moment did not arrive. */
#ifndef TELEM_WIDGETS_POINTS_H
#define TELEM_WIDGETS_POINTS_H

#include <stdbool.h>

struct points {
	const double *values;
	const bool *lost;            /* one for each value, or NULL when nothing was lost */
	int count;
};

struct point {
	double value;                /* NaN for a gap */
	bool lost;
};

/* The point at index; a gap when index is outside 0..count-1. */
struct point points_at(const struct points *points, int index);
/* What one column shows when all points are spread over column_count columns: the greatest of the
 * points that fall into it, so that no peak is hidden; lost when one of them is lost. With fewer
 * points than columns each point fills several columns. */
struct point points_column(const struct points *points, int column, int column_count);
/* The first column that point index (0..count-1) falls into. */
int points_column_of(int index, int count, int column_count);
/* The greatest value, or 0 when no value is above 0. */
double points_max(const struct points *points);
/* How many eighths of a cell a value fills in `rows` cells on a scale from 0 to max: at least 1, so
 * that zero does not look like a gap, and at most rows * 8. */
int points_eighths(double value, double max, int rows);
#endif
