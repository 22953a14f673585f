/* series.h -- one number a second, for an hour. */
#ifndef TELEM_MONITOR_MODEL_SERIES_H
#define TELEM_MONITOR_MODEL_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"

struct series {
	float points[LIMIT_HISTORY_S];       /* a second is at index second % LIMIT_HISTORY_S; NAN: no data */
	int64_t last_second;                 /* the second of the newest point; -1: there is none yet */
};

void series_init(struct series *series);
/* Sets the value of the seconds from from_second to second, which are several when one tick brought them all. Seconds
 * between the newest point and from_second become gaps. */
void series_put(struct series *series, int64_t from_second, int64_t second, double value);
/* The value of a second; NAN when there never was one or it is too old. */
double series_at(const struct series *series, int64_t second);
/* Writes the values of the count seconds up to last, oldest first. */
void series_copy(const struct series *series, int64_t last, int count, double *out);
#endif
