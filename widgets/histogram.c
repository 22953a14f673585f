#include "widgets/histogram.h"

#include <math.h>

#include "widgets/axis.h"
#include "widgets/points.h"

static long long min(long long a, long long b)
{
	return a < b ? a : b;
}

static long long max(long long a, long long b)
{
	return a > b ? a : b;
}

/* The events in one column: those of its bucket when a bucket is at least one column wide,
 * otherwise the sum of its buckets. Of a bucket that crosses the column's edge only the part inside
 * counts, because whole buckets would make the bars jump between two and three buckets. Positions
 * are counted in units of 1 / width_cells of a bucket. */
static double column_count(const uint64_t *counts, int bucket_count, int x, int width_cells)
{
	long long start = (long long)bucket_count * x, end = start + bucket_count;
	double sum = 0;

	if (bucket_count <= 0)
		return 0;
	if (bucket_count <= width_cells)
		return (double)counts[start / width_cells];
	for (long long i = start / width_cells; i * width_cells < end; i++) {
		long long part = min(end, (i + 1) * width_cells) - max(start, i * width_cells);

		sum += (double)counts[i] * (double)part / width_cells;
	}
	return sum;
}

static double columns_most(const uint64_t *counts, int bucket_count, int width_cells)
{
	double most = 0;

	for (int x = 0; x < width_cells; x++)
		most = fmax(most, column_count(counts, bucket_count, x, width_cells));
	return most;
}

static int eighths_of(const struct histogram *histogram, double count, double most, int rows)
{
	if (!(count > 0))
		return 0;
	if (histogram->log_y)
		return points_eighths(log1p(count), log1p(most), rows);
	return points_eighths(count, most, rows);
}

static void draw_bars(const struct histogram *histogram, const struct canvas *plot, double most)
{
	enum glyphs glyphs = canvas_glyphs(plot);

	for (int x = 0; x < plot->width_cells; x++) {
		double count = column_count(histogram->counts, histogram->bucket_count, x, plot->width_cells);
		int eighths = eighths_of(histogram, count, most, plot->height_cells);

		for (int y = plot->height_cells - 1; eighths > 0; y--, eighths -= 8)
			canvas_put(plot, x, y, histogram->style, glyph_bar(glyphs, eighths));
	}
}

/* Dots are drawn only above the bars: where the other shape is lower, a bar covers it. */
static void draw_shape(const struct histogram *histogram, const struct canvas *plot, double most)
{
	double shape_most = columns_most(histogram->shape, histogram->bucket_count, plot->width_cells);
	uint32_t dot = glyph(canvas_glyphs(plot), GLYPH_DOT);

	for (int x = 0; x < plot->width_cells; x++) {
		double count = column_count(histogram->counts, histogram->bucket_count, x, plot->width_cells);
		double shape = column_count(histogram->shape, histogram->bucket_count, x, plot->width_cells);
		int bar_rows = (eighths_of(histogram, count, most, plot->height_cells) + 7) / 8;
		int dot_rows = (eighths_of(histogram, shape, shape_most, plot->height_cells) + 7) / 8;

		if (dot_rows > bar_rows)
			canvas_put(plot, x, plot->height_cells - dot_rows, STYLE(ROLE_DIM), dot);
	}
}

/* The column of a value; a value outside the buckets gets the nearest column. */
static int column_of(const struct histogram *histogram, double value, int width_cells)
{
	double share = log(value / histogram->low) / log(histogram->high / histogram->low);

	if (!(share > 0))
		return 0;
	return share * width_cells < width_cells ? (int)(share * width_cells) : width_cells - 1;
}

static void draw_axis(const struct histogram *histogram, struct axis *axis)
{
	bool bytes = histogram->unit == UNIT_BYTES || histogram->unit == UNIT_BYTES_PER_S;
	double factor = bytes ? 16 : 10;    /* 16 B, 256 B, 4 KiB, 64 KiB, 1 MiB: all are round */
	int width = axis->row.width_cells;

	if (!(histogram->low > 0) || !(histogram->high > histogram->low) || isinf(histogram->high) || width == 0)
		return;
	for (int i = 0; i < histogram->pointer_count; i++) {
		const struct histogram_pointer *pointer = &histogram->pointers[i];
		uint32_t arrow = canvas_glyphs(&axis->row) == GLYPHS_ASCII ? '^' : 0x2191;

		if (pointer->value > 0)
			axis_pointer(axis, column_of(histogram, pointer->value, width), STYLE(ROLE_TEXT), arrow,
				     pointer->text);
	}
	/* The tolerance keeps the label of a bound of 10 µs that was computed as 9999.9 ns. */
	for (double value = pow(factor, ceil(log(histogram->low) / log(factor) - 1e-9));
	     value <= histogram->high; value *= factor) {
		char text[UNITS_BYTES];

		units_tick(text, histogram->unit, value);
		axis_label(axis, column_of(histogram, value, width), STYLE(ROLE_DIM), text);
	}
}

void histogram_draw(const struct histogram *histogram, const struct canvas *canvas)
{
	bool labels = canvas->height_cells >= HISTOGRAM_AXIS_ROWS;
	int rows = canvas->height_cells - labels;
	struct canvas plot = axis_values(canvas, rows, UNIT_NONE, 0, 0);
	double most = columns_most(histogram->counts, histogram->bucket_count, plot.width_cells);

	axis_values(canvas, rows, UNIT_NONE, 0, ceil(most));
	draw_bars(histogram, &plot, most);
	if (histogram->shape)
		draw_shape(histogram, &plot, most);
	if (labels) {
		struct axis axis = axis_start(canvas, &plot);

		draw_axis(histogram, &axis);
	}
}
