#include "monitor/model/series.h"

#include <math.h>

void series_init(struct series *series)
{
	for (int i = 0; i < LIMIT_HISTORY_S; i++)
		series->points[i] = NAN;
	series->last_second = -1;
}

void series_put(struct series *series, int64_t from_second, int64_t second, double value)
{
	if (from_second > second || from_second < second - LIMIT_HISTORY_S)
		from_second = second;
	if (series->last_second >= 0 && from_second > series->last_second + 1) {
		int64_t gap = series->last_second + 1;

		if (from_second - gap > LIMIT_HISTORY_S)
			gap = from_second - LIMIT_HISTORY_S;
		for (; gap < from_second; gap++)
			series->points[gap % LIMIT_HISTORY_S] = NAN;
	}
	for (int64_t at = from_second; at <= second; at++)
		series->points[at % LIMIT_HISTORY_S] = (float)value;
	if (second > series->last_second)
		series->last_second = second;
}

double series_at(const struct series *series, int64_t second)
{
	if (second < 0 || second > series->last_second || second <= series->last_second - LIMIT_HISTORY_S)
		return NAN;
	return (double)series->points[second % LIMIT_HISTORY_S];
}

void series_copy(const struct series *series, int64_t last, int count, double *out)
{
	for (int i = 0; i < count; i++)
		out[i] = series_at(series, last - count + 1 + i);
}
