/* histogram.h -- how figures are spread, over logarithmic buckets.
 *
 * The buckets are laid out over the width, on an axis that is logarithmic as
 * they are: every bucket spans the same factor. A bucket that is not empty
 * shows at least the smallest glyph. Values and pointers stand in the last row
 * from HISTOGRAM_AXIS_ROWS rows on. */
#ifndef TELEM_WIDGETS_HISTOGRAM_H
#define TELEM_WIDGETS_HISTOGRAM_H

#include <stdint.h>

#include "widgets/canvas.h"
#include "widgets/units.h"

enum { HISTOGRAM_AXIS_ROWS = 3 };

/* A value to point at: "50" shows as ↑50. */
struct histogram_pointer {
	double value;
	const char *text;
};

struct histogram {
	const uint64_t *counts;      /* bucket_count of them, lowest values first */
	const uint64_t *shape;       /* another bucket_count, shown as dots on a scale of
				      * their own, to compare shapes with; or NULL */
	int bucket_count;
	double low, high;            /* lower bound of the first, upper bound of the last
				      * bucket; both above 0, else the axis has no values */
	enum unit unit;              /* of the values */
	bool log_y;
	const struct histogram_pointer *pointers;
	int pointer_count;
	struct style style;
};

void histogram_draw(const struct histogram *histogram, const struct canvas *canvas);
#endif
