#include "widgets/sparkline.h"

#include <math.h>

void sparkline_draw(const struct sparkline *sparkline, const struct canvas *canvas)
{
	struct points points = sparkline->points;
	int left = canvas->width_cells - points.count;
	double max;

	/* Only the newest points fit. */
	if (left < 0) {
		points.values -= left;
		points.lost = points.lost ? points.lost - left : NULL;
		points.count += left;
		left = 0;
	}
	max = sparkline->max > 0 ? sparkline->max : points_max(&points);
	for (int i = 0; i < points.count; i++) {
		struct point point = points_at(&points, i);

		if (point.lost)
			canvas_put(canvas, left + i, 0, STYLE(ROLE_WARN), '?');
		else if (!isnan(point.value))
			canvas_put(canvas, left + i, 0, sparkline->style,
				   glyph_bar(canvas_glyphs(canvas), points_eighths(point.value, max, 1)));
	}
}
