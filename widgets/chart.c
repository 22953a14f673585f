#include "widgets/chart.h"

#include <math.h>

/* How many eighths of a cell a value fills in a plot with max at its top. */
static int eighths_of(const struct chart *chart, double value, double max, int rows)
{
	if (chart->low > 0 && value > 0)
		return points_eighths(log(value / chart->low), log(max / chart->low), rows);
	return points_eighths(value, max, rows);
}

/* The row of the limit in the plot, counted from the bottom, or -1 when there is none to show. */
static int limit_row(const struct chart *chart, int rows, double max)
{
	if (!(chart->limit > 0) || chart->limit > max)
		return -1;
	return (eighths_of(chart, chart->limit, max, rows) - 1) / 8;
}

/* In the row of the limit a column fills the whole cell when its value is above the limit, and
 * nothing of it otherwise: 1/8 steps inside that one row could not tell above from below. */
static int eighths_at_limit(int eighths, int row, bool is_past)
{
	if (is_past)
		return eighths > 8 * (row + 1) ? eighths : 8 * (row + 1);
	return eighths < 8 * row ? eighths : 8 * row;
}

static void draw_column(const struct chart *chart, const struct canvas *plot, int x, double max, int limit)
{
	enum glyphs glyphs = canvas_glyphs(plot);
	struct point point = points_column(&chart->points, x, plot->width_cells);
	bool is_past = limit >= 0 && point.value > chart->limit;
	int eighths;

	if (isnan(point.value) && !point.lost)
		return;
	eighths = eighths_of(chart, point.value, max, plot->height_cells);
	if (limit > 0 || is_past)
		eighths = eighths_at_limit(eighths, limit, is_past);
	for (int y = plot->height_cells - 1; y >= 0 && eighths > 0; y--, eighths -= 8) {
		if (point.lost)
			canvas_put(plot, x, y, STYLE(ROLE_WARN), '?');
		else
			canvas_put(plot, x, y, is_past ? STYLE(ROLE_BAD) : chart->style, glyph_bar(glyphs, eighths));
	}
}

/* Draws the limit's line and label. Columns are drawn over it later. */
static void draw_limit(const struct chart *chart, const struct canvas *canvas, const struct canvas *plot, int row)
{
	int y = plot->height_cells - 1 - row, label_end = plot->x - canvas->x - 1;
	char text[UNITS_BYTES];

	canvas_fill(plot, 0, y, STYLE(ROLE_DIM), glyph(canvas_glyphs(plot), GLYPH_RULE), plot->width_cells);
	if (label_end <= 0 || y == 0 || row == 0)
		return;
	units_value(text, chart->unit, chart->limit);
	canvas_text_right(canvas, label_end, y, STYLE(ROLE_DIM), text);
}

void chart_draw(const struct chart *chart, const struct canvas *canvas)
{
	bool times = chart->point_s > 0 && canvas->height_cells >= CHART_TIME_ROWS;
	int rows = canvas->height_cells - times, limit;
	double max = chart->max > 0 ? chart->max : fmax(points_max(&chart->points), chart->limit);
	struct canvas plot = axis_values(canvas, rows, chart->unit, chart->low, max);

	limit = limit_row(chart, rows, max);
	if (limit >= 0)
		draw_limit(chart, canvas, &plot, limit);
	for (int x = 0; x < plot.width_cells; x++)
		draw_column(chart, &plot, x, max, limit);
	if (times) {
		struct axis axis = axis_start(canvas, &plot);

		axis_marks(&axis, chart->marks, chart->mark_count, chart->points.count);
		axis_time(&axis, chart->point_s * chart->points.count);
	}
}
