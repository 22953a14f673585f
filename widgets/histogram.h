/* histogram.h -- how values are distributed, as bars over logarithmic buckets.
 *
 * The buckets are spread over the width on a logarithmic axis: every bucket spans the same factor.
 * A bucket that is not empty shows at least the smallest bar. When there are at least
 * HISTOGRAM_AXIS_ROWS rows, the last one shows values and pointers. */
#ifndef TELEM_WIDGETS_HISTOGRAM_H
#define TELEM_WIDGETS_HISTOGRAM_H

#include <stdint.h>

#include "widgets/canvas.h"
#include "widgets/units.h"

enum { HISTOGRAM_AXIS_ROWS = 3 };

/* A value to point at: text "50" is drawn as ↑50. */
struct histogram_pointer {
	double value;
	const char *text;
};

struct histogram {
	const uint64_t *counts;      /* bucket_count of them, lowest values first */
	const uint64_t *shape;       /* another bucket_count counts, drawn as dots on a scale of their own to
				      * compare the two shapes; or NULL */
	int bucket_count;
	double low, high;            /* lower bound of the first and upper bound of the last bucket; unless both
				      * are above 0, the axis shows no values */
	enum unit unit;              /* the unit of the values */
	bool log_y;
	const struct histogram_pointer *pointers;
	int pointer_count;
	struct style style;
};

void histogram_draw(const struct histogram *histogram, const struct canvas *canvas);
#endif
