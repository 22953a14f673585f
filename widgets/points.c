#include "widgets/points.h"

#include <math.h>

struct point points_at(const struct points *points, int index)
{
	struct point point = { .value = NAN };

	if (index < 0 || index >= points->count)
		return point;
	if (isfinite(points->values[index]))
		point.value = points->values[index];
	point.lost = points->lost && points->lost[index];
	return point;
}

struct point points_column(const struct points *points, int column, int column_count)
{
	long long count = points->count;
	long long first = count * column / column_count;
	long long end = count * (column + 1) / column_count;
	struct point all = points_at(points, (int)first);

	for (first++; first < end; first++) {
		struct point point = points_at(points, (int)first);

		all.value = fmax(all.value, point.value);    /* fmax() prefers a number to a NaN */
		all.lost = all.lost || point.lost;
	}
	return all;
}

int points_column_of(int index, int count, int column_count)
{
	long long start = ((long long)index * column_count + count - 1) / count;
	long long last = ((long long)(index + 1) * column_count + count - 1) / count - 1;

	/* With more points than columns the next point may have the same column. */
	return (int)(start < last ? start : last);
}

double points_max(const struct points *points)
{
	double max = 0;

	for (int i = 0; i < points->count; i++)
		max = fmax(max, points_at(points, i).value);
	return max;
}

int points_eighths(double value, double max, int rows)
{
	double eighths;

	if (!(max > 0) || !(value > 0))
		return 1;
	eighths = round(value / max * rows * 8);
	if (eighths < 1)
		return 1;
	return eighths < rows * 8.0 ? (int)eighths : rows * 8;
}
