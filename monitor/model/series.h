/* series.h -- one number a second, for an hour. */
#ifndef TELEM_MONITOR_MODEL_SERIES_H
#define TELEM_MONITOR_MODEL_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"

struct series {
	float points[LIMIT_HISTORY_S];       /* NAN: no data */
	int64_t last_second;                 /* of the newest point; -1: none yet */
};

void series_init(struct series *series);
/* The value of a second and, when some seconds came in one tick, of those before it back
 * to from_second. Seconds between the last point and from_second become gaps. */
void series_put(struct series *series, int64_t from_second, int64_t second, double value);
/* The value of a second; NAN when it is not kept or never was. */
double series_at(const struct series *series, int64_t second);
/* The count seconds up to last, oldest first. */
void series_copy(const struct series *series, int64_t last, int count, double *out);
#endif
