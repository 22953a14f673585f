#include "widgets/chart.h"

#include <math.h>

static void draw_column(const struct chart *chart, const struct canvas *plot, int x, double max)
{
	enum glyphs glyphs = canvas_glyphs(plot);
	struct point point = points_column(&chart->points, x, plot->width_cells);
	int eighths;

	if (isnan(point.value) && !point.lost)
		return;
	eighths = points_eighths(point.value, max, plot->height_cells);
	for (int y = plot->height_cells - 1; y >= 0 && eighths > 0; y--, eighths -= 8) {
		if (point.lost)
			canvas_put(plot, x, y, STYLE(ROLE_WARN), '?');
		else
			canvas_put(plot, x, y, chart->style, glyph_bar(glyphs, eighths));
	}
}

void chart_draw(const struct chart *chart, const struct canvas *canvas)
{
	bool times = chart->point_s > 0 && canvas->height_cells >= CHART_TIME_ROWS;
	int rows = canvas->height_cells - times;
	double max = chart->max > 0 ? chart->max : points_max(&chart->points);
	struct canvas plot = axis_values(canvas, rows, chart->unit, max);

	for (int x = 0; x < plot.width_cells; x++)
		draw_column(chart, &plot, x, max);
	if (times) {
		struct axis axis = axis_start(canvas, &plot);

		axis_marks(&axis, chart->marks, chart->mark_count, chart->points.count);
		axis_time(&axis, chart->point_s * chart->points.count);
	}
}
