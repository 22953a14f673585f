#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/golden.h"
#include "widgets/canvas_backing.h"
#include "widgets/chart.h"
#include "widgets/dialog.h"
#include "widgets/heatmap.h"
#include "widgets/histogram.h"
#include "widgets/lineedit.h"
#include "widgets/points.h"
#include "widgets/rule.h"
#include "widgets/sparkline.h"
#include "widgets/tabbar.h"
#include "widgets/table.h"
#include "widgets/units.h"

#define COUNT(array) ((int)(sizeof (array) / sizeof (array)[0]))

static struct canvas_backing *backing;
static struct canvas canvas;

static void start(int width_cells, int height_cells, enum glyphs glyphs)
{
	backing = canvas_text_new(width_cells, height_cells, glyphs);
	assert_non_null(backing);
	canvas = canvas_of(backing);
}

static char *drawn(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	canvas_text_write(backing, out);
	fclose(out);
	canvas_backing_free(backing);
	return text;
}

static void check_shows(const char *expected)
{
	char *text = drawn();

	assert_string_equal(text, expected);
	free(text);
}

static void check_golden(const char *name)
{
	char *text = drawn();

	golden_check(name, text);
	free(text);
}

static struct cell cell_at(int x, int y)
{
	return backing->cells[y * backing->width_cells + x];
}

/* Draws at sizes that occur only on very small terminals. */
static void draw_at_all_sizes(void (*draw)(void))
{
	for (int glyphs = GLYPHS_BLOCKS; glyphs <= GLYPHS_ASCII; glyphs++)
		for (int width = 0; width <= 40; width++)
			for (int height = 0; height <= 12; height++) {
				struct canvas whole;

				start(width, height, (enum glyphs)glyphs);
				draw();
				/* Draws in a part that is larger than the canvas on all sides. */
				whole = canvas;
				canvas = canvas_part(&whole, -3, -1, width - 2, height - 2);
				draw();
				canvas = canvas_part(&whole, 5, 5, -width, -height);
				draw();
				canvas_backing_free(backing);
			}
}

/* ---- points ---- */

static void squeezed_columns_keep_the_peak_and_the_loss(void **state)
{
	static const double values[] = { 1, 9, 2, NAN, NAN, 5 };
	static const bool lost[] = { false, false, true, false, false, false };
	struct points points = { values, lost, COUNT(values) };

	(void)state;
	assert_true(points_column(&points, 0, 2).value == 9);
	assert_true(points_column(&points, 0, 2).lost);
	assert_true(points_column(&points, 1, 2).value == 5);
	assert_false(points_column(&points, 1, 2).lost);
}

static void stretched_columns_repeat_their_point(void **state)
{
	static const double values[] = { 1, 2 };
	struct points points = { values, NULL, COUNT(values) };

	(void)state;
	for (int x = 0; x < 5; x++)
		assert_true(points_column(&points, x, 5).value == (x < 3 ? 1 : 2));
}

static void columns_of_points_invert(void **state)
{
	(void)state;
	for (int count = 1; count < 50; count++)
		for (int width = 1; width < 50; width++)
			for (int i = 0; i < count; i++) {
				int x = points_column_of(i, count, width);
				int first = count * x / width, end = count * (x + 1) / width;

				assert_in_range(x, 0, width - 1);
				assert_true(i == first || (first < i && i < end));
				/* It is the first column of this point. */
				assert_true(x == 0 || count * (x - 1) / width < i);
			}
}

static void no_points_are_a_gap(void **state)
{
	struct points none = { NULL, NULL, 0 };
	static const double bad[] = { INFINITY, NAN, -INFINITY };
	struct points infinite = { bad, NULL, COUNT(bad) };

	(void)state;
	assert_true(isnan(points_at(&none, 0).value));
	assert_true(isnan(points_at(&none, -1).value));
	assert_true(isnan(points_column(&none, 3, 7).value));
	assert_true(points_max(&none) == 0);
	assert_true(isnan(points_column(&infinite, 0, 1).value));
	assert_true(points_max(&infinite) == 0);
}

/* ---- sparkline ---- */

static void sparkline_shows_the_newest_at_the_right(void **state)
{
	static const double values[] = { 100, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct sparkline sparkline = { .points = { values, NULL, COUNT(values) } };

	(void)state;
	start(8, 1, GLYPHS_BLOCKS);
	sparkline_draw(&sparkline, &canvas);
	check_shows("▁▂▃▄▅▆▇█\n");
	sparkline.points.count = 3;
	sparkline.max = 100;
	start(8, 1, GLYPHS_ASCII);
	sparkline_draw(&sparkline, &canvas);
	check_shows("     #__\n");
}

static void sparkline_tells_gap_loss_and_zero_apart(void **state)
{
	static const double values[] = { 8, NAN, 4, 0, INFINITY, -3 };
	static const bool lost[] = { false, false, true, false, false, false };
	struct sparkline sparkline = { .points = { values, lost, COUNT(values) } };

	(void)state;
	start(6, 1, GLYPHS_BLOCKS);
	sparkline_draw(&sparkline, &canvas);
	assert_int_equal(cell_at(2, 0).style.role, ROLE_WARN);
	check_shows("█ ?▁ ▁\n");
}

static void draw_sparkline(void)
{
	static const double values[] = { 1, NAN, 3, 0, 5, -1, 1e300, 8, 9, 10, 11, 12 };
	static const bool lost[COUNT(values)] = { [2] = true };

	sparkline_draw(&(struct sparkline){ .points = { values, lost, COUNT(values) } }, &canvas);
	sparkline_draw(&(struct sparkline){ .points = { NULL, NULL, 0 } }, &canvas);
}

static void sparkline_takes_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_sparkline);
}

/* ---- chart ---- */

enum { WINDOW = 300 };

/* Five minutes of memory that grows, peaks and falls, with a gap and a loss. */
static struct chart memory_chart(void)
{
	static double values[WINDOW];
	static bool lost[WINDOW];
	static const struct axis_mark marks[] = { { .age = 187, .text = "mark", .tick = true } };

	for (int i = 0; i < WINDOW; i++) {
		double share = i < 240 ? 0.3 + 0.7 * i / 240 : 1 - (i - 240) * 0.003;

		values[i] = share * 340 * 1048576;
		lost[i] = false;
	}
	for (int i = 60; i < 72; i++)
		values[i] = NAN;
	lost[150] = true;
	return (struct chart){
		.points = { values, lost, WINDOW },
		.unit = UNIT_BYTES,
		.point_s = 1,
		.marks = marks,
		.mark_count = COUNT(marks),
		.style = STYLE(ROLE_SERIES1),
	};
}

static void chart_fills_an_area_with_labels(void **state)
{
	struct chart chart = memory_chart();

	(void)state;
	start(80, 4, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_golden("widgets_chart_4");
	start(80, 10, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_golden("widgets_chart_10");
}

static void chart_draws_in_ascii(void **state)
{
	struct chart chart = memory_chart();

	(void)state;
	start(60, 6, GLYPHS_ASCII);
	chart_draw(&chart, &canvas);
	check_golden("widgets_chart_ascii");
}

static void low_chart_leaves_times_out(void **state)
{
	struct chart chart = memory_chart();

	(void)state;
	start(40, 3, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_golden("widgets_chart_3");
}

static void narrow_chart_leaves_labels_out(void **state)
{
	static const double values[] = { 1, 2, 4 };
	struct chart chart = { .points = { values, NULL, COUNT(values) }, .unit = UNIT_NS };

	(void)state;
	start(6, 2, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_shows("    ██\n▄▄████\n");
}

static void chart_without_a_positive_value_has_no_top(void **state)
{
	static const double values[] = { 0, 0, NAN, NAN };
	struct chart chart = { .points = { values, NULL, COUNT(values) }, .unit = UNIT_NS };

	(void)state;
	start(29, 2, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_shows("\n       0 ▁▁▁▁▁▁▁▁▁▁\n");
	chart.points.count = 0;
	start(29, 2, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_shows("\n       0\n");
}

static void chart_with_a_given_top_keeps_it(void **state)
{
	static const double values[] = { 2e6, 5e6, 50e6 };
	struct chart chart = { .points = { values, NULL, COUNT(values) }, .unit = UNIT_NS, .max = 4e6 };

	(void)state;
	start(30, 1, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_shows(" 4.00 ms ▄▄▄▄▄▄▄██████████████\n");
}

static void lost_columns_stand_as_high_as_their_bound(void **state)
{
	static const double values[] = { 4, 2, NAN };
	static const bool lost[] = { false, true, true };
	struct chart chart = { .points = { values, lost, COUNT(values) } };

	(void)state;
	start(3, 4, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_shows("█\n█\n█?\n█??\n");
}

static void chart_columns_break_the_line_of_a_limit_exactly_when_past_it(void **state)
{
	static const double values[] = { 1, 10, 11, 5, 20, 0, NAN, 9.9, 10.1 };
	struct chart chart = { .points = { values, NULL, COUNT(values) }, .unit = UNIT_NS, .limit = 10 };

	(void)state;
	start(9, 4, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	for (int x = 0; x < 9; x++) {
		bool is_past = values[x] > 10;

		/* The row of the limit has the line or a whole column in each cell, and nothing in between. */
		assert_int_equal(cell_at(x, 2).ch, is_past ? 0x2588 : 0x2500);
		assert_int_equal(cell_at(x, 2).style.role, is_past ? ROLE_BAD : ROLE_DIM);
		assert_true(cell_at(x, 3).style.role == ROLE_BAD || !is_past);
	}
	check_shows("    █\n  ▂ █\n──█─█───█\n▂████▁ ██\n");
}

static void chart_shows_a_limit_above_all_points_too(void **state)
{
	static const double values[] = { 2e6, 4e6 };
	struct chart chart = { .points = { values, NULL, COUNT(values) }, .unit = UNIT_NS, .limit = 16e6 };

	(void)state;
	start(29, 4, GLYPHS_ASCII);
	chart_draw(&chart, &canvas);
	check_shows(" 16.0 ms --------------------\n\n\n       0 ==========##########\n");
	/* When the caller sets the maximum, the limit may be outside of the chart. */
	chart.max = 8e6;
	start(29, 2, GLYPHS_ASCII);
	chart_draw(&chart, &canvas);
	check_shows(" 8.00 ms\n       0 ==========##########\n");
}

static void chart_says_what_its_limit_is_where_there_is_a_row(void **state)
{
	static const double values[] = { 10e6, 40e6, 12e6, 20e6, 9e6 };
	struct chart chart = { .points = { values, NULL, COUNT(values) }, .unit = UNIT_NS, .limit = 16.7e6,
			       .style = STYLE(ROLE_SERIES1) };

	(void)state;
	start(60, 8, GLYPHS_BLOCKS);
	chart_draw(&chart, &canvas);
	check_golden("widgets_chart_limit");
}

/* 10 µs, 100 µs and 1 ms are as far from each other as 1 ms is from the limit of 10 ms. */
static void chart_with_a_logarithmic_axis_begins_at_its_lowest_value(void **state)
{
	static const double values[] = { 10e3, 100e3, 1e6, 1e3 };
	struct chart chart = { .points = { values, NULL, COUNT(values) }, .unit = UNIT_NS, .low = 10e3, .limit = 10e6 };

	(void)state;
	start(29, 6, GLYPHS_ASCII);
	chart_draw(&chart, &canvas);
	check_shows(" 10.0 ms --------------------\n\n         "
		    "          #####\n         "
		    "          #####\n         "
		    "     ##########\n"
		    " 10.0 us _____##########_____\n");
}

static void draw_chart(void)
{
	static const double limits[] = { 1, 100e6, 340e6 * 1.1, 1e300, INFINITY, NAN, -1 };
	struct chart chart = memory_chart();

	chart_draw(&chart, &canvas);
	for (int i = 0; i < COUNT(limits); i++) {
		chart.limit = limits[i];
		chart_draw(&chart, &canvas);
	}
	chart.points.count = 0;
	chart_draw(&chart, &canvas);
	chart.points.count = 1;
	chart.unit = UNIT_BYTES_PER_S;
	chart.point_s = 1e300;
	chart_draw(&chart, &canvas);
	chart.point_s = 86400;
	chart_draw(&chart, &canvas);
}

static void chart_takes_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_chart);
}

/* ---- axis ---- */

static void time_axis_steps_as_people_count(void **state)
{
	static const double windows[] = { 10, 60, 90, 300, 3600, 86400, 40 * 86400.0 };

	(void)state;
	start(72, COUNT(windows), GLYPHS_BLOCKS);
	for (int i = 0; i < COUNT(windows); i++) {
		struct canvas plot = canvas_part(&canvas, 0, i, canvas.width_cells, 0);
		struct axis axis = axis_start(&canvas, &plot);

		axis_time(&axis, windows[i]);
	}
	check_golden("widgets_axis_time");
}

static void first_label_keeps_its_place(void **state)
{
	struct canvas plot;
	struct axis axis;

	(void)state;
	start(20, 1, GLYPHS_BLOCKS);
	plot = canvas_part(&canvas, 0, 0, 20, 0);
	axis = axis_start(&canvas, &plot);
	assert_true(axis_label(&axis, 5, STYLE(ROLE_TEXT), "first"));
	assert_false(axis_label(&axis, 10, STYLE(ROLE_TEXT), "touches"));
	assert_false(axis_label(&axis, 3, STYLE(ROLE_TEXT), "under"));
	assert_true(axis_label(&axis, 11, STYLE(ROLE_TEXT), "next"));
	assert_true(axis_pointer(&axis, 19, STYLE(ROLE_TEXT), '^', "9"));
	assert_false(axis_label(&axis, -1, STYLE(ROLE_TEXT), "x"));
	check_shows("     first next   9^\n");
}

static void endless_labels_are_left_out(void **state)
{
	struct canvas plot;
	struct axis axis;
	int placed = 0;

	(void)state;
	start(400, 1, GLYPHS_BLOCKS);
	plot = canvas_part(&canvas, 0, 0, 400, 0);
	axis = axis_start(&canvas, &plot);
	for (int x = 0; x < 400; x += 2)
		placed += axis_label(&axis, x, STYLE(ROLE_TEXT), "x");
	assert_int_equal(placed, AXIS_LABELS_MAX);
	canvas_backing_free(backing);
}

static void marks_outside_the_window_are_not_drawn(void **state)
{
	static const struct axis_mark marks[] = { { 10, "old", true }, { -1, "new", true }, { 9, "in", true } };
	struct canvas plot;
	struct axis axis;

	(void)state;
	start(20, 1, GLYPHS_BLOCKS);
	plot = canvas_part(&canvas, 0, 0, 20, 0);
	axis = axis_start(&canvas, &plot);
	axis_marks(&axis, marks, COUNT(marks), 10);
	check_shows("╵in\n");
}

/* ---- histogram ---- */

enum { BUCKETS = 160 };

/* From 10 µs to 100 ms: a broad hill, a lower one to the right, and a few values in between. */
static struct histogram latency_histogram(void)
{
	static uint64_t counts[BUCKETS], shape[BUCKETS];
	static const struct histogram_pointer pointers[] = {
		{ 412e3, "50" }, { 1.9e6, "90" }, { 18.31e6, "99" },
	};

	for (int i = 0; i < BUCKETS; i++) {
		double hill = exp(-pow((i - 55) / 16.0, 2)), second = 0.12 * exp(-pow((i - 128) / 6.0, 2));

		counts[i] = (uint64_t)(10500 * (hill + second)) + (i > 20 && i < 150 && i % 9 == 0);
		shape[i] = (uint64_t)(8000 * exp(-pow((i - 45) / 20.0, 2)));
	}
	return (struct histogram){
		.counts = counts,
		.shape = shape,
		.bucket_count = BUCKETS,
		.low = 10e3,
		.high = 100e6,
		.unit = UNIT_NS,
		.pointers = pointers,
		.pointer_count = COUNT(pointers),
		.style = STYLE(ROLE_SERIES1),
	};
}

static void histogram_shows_hills_values_and_pointers(void **state)
{
	struct histogram histogram = latency_histogram();

	(void)state;
	start(66, 8, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_golden("widgets_histogram");
	start(66, 8, GLYPHS_ASCII);
	histogram_draw(&histogram, &canvas);
	check_golden("widgets_histogram_ascii");
}

static void log_y_lifts_the_few(void **state)
{
	struct histogram histogram = latency_histogram();

	(void)state;
	histogram.log_y = true;
	histogram.shape = NULL;
	start(66, 8, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_golden("widgets_histogram_log");
}

static void one_in_a_million_is_not_blank(void **state)
{
	static const uint64_t counts[] = { 1000000000, 0, 1, 0 };
	struct histogram histogram = { .counts = counts, .bucket_count = COUNT(counts) };

	(void)state;
	start(4, 2, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_shows("█\n█ ▁\n");
}

static void few_buckets_stretch_and_many_add_up(void **state)
{
	static const uint64_t few[] = { 1, 2 }, many[] = { 1, 1, 1, 1, 4, 4, 0, 0 };
	struct histogram histogram = { .counts = few, .bucket_count = COUNT(few) };

	(void)state;
	start(6, 1, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_shows("▄▄▄███\n");
	histogram.counts = many;
	histogram.bucket_count = COUNT(many);
	start(4, 1, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_shows("▂▂█\n");
}

static void histogram_of_bytes_counts_in_powers_of_two(void **state)
{
	static const uint64_t counts[] = { 1, 2, 4, 8, 4, 2, 1, 1 };
	struct histogram histogram = {
		.counts = counts, .bucket_count = COUNT(counts), .low = 16, .high = 4194304, .unit = UNIT_BYTES,
	};

	(void)state;
	start(60, 3, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_golden("widgets_histogram_bytes");
}

static void histogram_without_bounds_or_buckets_has_no_values(void **state)
{
	static const uint64_t counts[] = { 1, 2 };
	static const struct histogram_pointer bad[] = { { NAN, "a" }, { 0, "b" }, { -1, "c" } };
	struct histogram histogram = {
		.counts = counts, .bucket_count = COUNT(counts), .low = 0, .high = INFINITY,
		.pointers = bad, .pointer_count = COUNT(bad),
	};

	(void)state;
	start(12, 3, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_shows("      ██████\n████████████\n\n");
	histogram.bucket_count = 0;
	start(12, 3, GLYPHS_BLOCKS);
	histogram_draw(&histogram, &canvas);
	check_shows("\n\n\n");
}

static void draw_histogram(void)
{
	struct histogram histogram = latency_histogram();

	histogram_draw(&histogram, &canvas);
	histogram.bucket_count = 1;
	histogram.log_y = true;
	histogram.low = 1e-300;
	histogram.high = 1e300;
	histogram_draw(&histogram, &canvas);
}

static void histogram_takes_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_histogram);
}

/* ---- heatmap ---- */

enum { HEAT_COLUMNS = 96, HEAT_ROWS = 8 };

static struct heatmap latency_heatmap(void)
{
	static float shares[HEAT_COLUMNS * HEAT_ROWS];
	static bool lost[HEAT_COLUMNS];
	static const char *const labels[HEAT_ROWS] = {
		"≤250µs", "500µs", "1ms", "2ms", "4ms", "8ms", "16ms", "≥32ms",
	};
	static const struct axis_mark marks[] = {
		{ 0, "now 10:42:07", true }, { 94, "10:40:32", false }, { 47, "10:41:20", false },
		{ 74, "?: 200 lost", false },
	};

	for (int column = 0; column < HEAT_COLUMNS; column++) {
		float *cells = &shares[column * HEAT_ROWS];
		float late = column < 76 ? 0 : (float)exp(-pow((column - 86) / 6.0, 2));

		cells[0] = 0.2f;
		cells[1] = 0.5f + (column % 7 == 0 ? 0.15f : 0) - 0.3f * late;
		cells[2] = 0.2f;
		cells[3] = 0.05f;
		cells[4] = column % 5 == 0 ? 0.01f : 0;
		cells[4] += 0.1f * late;
		cells[5] = 0.15f * late > 0.02f ? 0.15f * late : 0;
		cells[6] = 0.3f * late > 0.1f ? 0.3f * late : 0;
		cells[7] = late > 0.95f ? 0.03f : 0;
		lost[column] = column == 32;
		for (int row = 0; column >= 50 && column < 53 && row < HEAT_ROWS; row++)
			cells[row] = NAN;
	}
	return (struct heatmap){
		.shares = shares,
		.lost = lost,
		.row_count = HEAT_ROWS,
		.column_count = HEAT_COLUMNS,
		.row_labels = labels,
		.keep_low = 2,
		.keep_high = 4,
		.marks = marks,
		.mark_count = COUNT(marks),
	};
}

static void heatmap_shades_shares_over_time(void **state)
{
	struct heatmap heatmap = latency_heatmap();

	(void)state;
	start(120, 9, GLYPHS_BLOCKS);
	heatmap_draw(&heatmap, &canvas);
	check_golden("widgets_heatmap");
	start(80, 9, GLYPHS_ASCII);
	heatmap_draw(&heatmap, &canvas);
	check_golden("widgets_heatmap_ascii");
}

/* Values far from those that are kept do not take rows away from them. */
static void rows_that_do_not_fit_are_added_up_at_both_ends(void **state)
{
	struct heatmap heatmap = latency_heatmap();

	(void)state;
	start(60, 6, GLYPHS_BLOCKS);
	heatmap_draw(&heatmap, &canvas);
	check_golden("widgets_heatmap_low");
	start(60, 6, GLYPHS_ASCII);
	heatmap_draw(&heatmap, &canvas);
	check_golden("widgets_heatmap_low_ascii");
	heatmap.keep_low = 0;
	start(60, 4, GLYPHS_BLOCKS);
	heatmap_draw(&heatmap, &canvas);
	check_golden("widgets_heatmap_lower");
}

static void shade_and_heat_grow_together(void **state)
{
	static const float shares[] = { 0, 0.001f, 0.06f, 0.3f, 0.7f, 1, 7, -1, NAN };
	struct heatmap heatmap = { .shares = shares, .row_count = 1, .column_count = COUNT(shares) };
	static const char *const label[] = { "" };

	(void)state;
	heatmap.row_labels = label;
	start(COUNT(shares), 1, GLYPHS_BLOCKS);
	heatmap_draw(&heatmap, &canvas);
	assert_int_equal(cell_at(1, 0).style.role, ROLE_HEAT0);
	assert_int_equal(cell_at(3, 0).style.role, ROLE_HEAT4);
	assert_int_equal(cell_at(6, 0).style.role, ROLE_HEAT7);
	check_shows(" ░░▓███\n");
}

static void draw_heatmap(void)
{
	struct heatmap heatmap = latency_heatmap();

	heatmap_draw(&heatmap, &canvas);
	heatmap.mark_count = 0;
	heatmap.column_count = 1;
	heatmap_draw(&heatmap, &canvas);
	heatmap.column_count = 0;
	heatmap.row_count = 0;
	heatmap_draw(&heatmap, &canvas);
}

static void heatmap_takes_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_heatmap);
}

/* ---- rule and tabbar ---- */

static void rule_carries_both_texts(void **state)
{
	(void)state;
	start(40, 3, GLYPHS_BLOCKS);
	rule_draw(&canvas, 0, "1 Memory", "60 s ─ max 340 MiB");
	rule_draw(&canvas, 1, "6 Events", NULL);
	rule_draw(&canvas, 2, NULL, "60 s");
	assert_int_equal(cell_at(2, 0).style.role, ROLE_TITLE);
	check_shows("─ 1 Memory ──────── 60 s ─ max 340 MiB ─\n"
		    "─ 6 Events ─────────────────────────────\n"
		    "───────────────────────────────── 60 s ─\n");
}

static void narrow_rule_drops_right_then_cuts_left(void **state)
{
	(void)state;
	start(19, 4, GLYPHS_BLOCKS);
	for (int y = 0; y < 4; y++) {
		static const int widths[] = { 19, 18, 10, 4 };
		struct canvas part = canvas_part(&canvas, 0, y, widths[y], 1);

		rule_draw(&part, 0, "1 Memory", "60 s");
	}
	check_shows("─ 1 Memory ─ 60 s ─\n─ 1 Memory ───────\n─ 1 M…ry ─\n────\n");
}

static void rules_meet_in_tees(void **state)
{
	struct canvas part;

	(void)state;
	start(20, 3, GLYPHS_BLOCKS);
	rule_draw(&canvas, 0, "4 Tasks", NULL);
	rule_draw(&canvas, 2, "6 Events", NULL);
	part = canvas_part(&canvas, 0, 1, 20, 1);
	rule_vertical(&part, 14);
	rule_tee(&canvas, 14, 0, GLYPH_TEE_DOWN);
	rule_tee(&canvas, 14, 2, GLYPH_TEE_UP);
	rule_tee(&canvas, 17, 2, GLYPH_CROSS);
	rule_tee(&canvas, 99, 2, GLYPH_CROSS);
	check_shows("─ 4 Tasks ────┬─────\n              │\n─ 6 Events ───┴──┼──\n");
}

static const char *const windows[] = { "10 s", "60 s", "5 min", "all" };

static void tabbar_brackets_the_chosen_name(void **state)
{
	(void)state;
	start(30, 2, GLYPHS_BLOCKS);
	assert_int_equal(tabbar_draw(&canvas, 1, 0, windows, COUNT(windows), 1), 25);
	tabbar_draw(&canvas, 0, 1, windows, COUNT(windows), -1);
	assert_int_equal(cell_at(8, 0).style.attrs, ATTR_BOLD);
	check_shows("  10 s [60 s] 5 min  all\n 10 s  60 s  5 min  all\n");
}

static void narrow_tabbar_keeps_the_chosen_name(void **state)
{
	(void)state;
	start(13, 3, GLYPHS_BLOCKS);
	tabbar_draw(&canvas, 0, 0, windows, COUNT(windows), 3);
	tabbar_draw(&canvas, 0, 1, windows, COUNT(windows), 0);
	tabbar_draw(&canvas, 10, 2, windows, COUNT(windows), 2);
	check_shows(" 5 min [all]\n[10 s] 60 s\n          [5…\n");
}

static void draw_rules_and_tabs(void)
{
	rule_draw(&canvas, 0, "1 Memory", "60 s ─ max 340 MiB");
	rule_draw(&canvas, 1, NULL, NULL);
	rule_draw(&canvas, -1, "日本語", "日本語");
	rule_vertical(&canvas, 7);
	rule_vertical(&canvas, -7);
	for (int active = -1; active < COUNT(windows); active++)
		tabbar_draw(&canvas, active, 0, windows, COUNT(windows), active);
	tabbar_draw(&canvas, 0, 0, NULL, 0, -1);
}

static void rules_and_tabs_take_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_rules_and_tabs);
}

/* ---- table ---- */

enum { SPAN, RATE, P50, P99, MAX, TREND };

static const struct table_column span_columns[] = {
	[SPAN] = { .title = "span", .width_cells = 12, .room = TABLE_NAME },
	[RATE] = { .title = "rate", .width_cells = 7, .right = true, .drop = 2 },
	[P50] = { .title = "p50", .width_cells = 7, .right = true, .drop = 1 },
	[P99] = { .title = "p99", .width_cells = 7, .right = true },
	[MAX] = { .title = "max", .width_cells = 7, .right = true, .drop = 3 },
	[TREND] = { .title = "trend of p99", .width_cells = 16, .drop = 4, .room = TABLE_PICTURE },
};

static const struct {
	const char *name;
	double rate, p50, p99, max;
} spans[] = {
	{ "sql.query", 1240, 412e3, 8.31e6, 41e6 },
	{ "accept→reply", 298, 3.91e6, 14.2e6, 52.3e6 },
	{ "decode", 310, 2.1e6, 4.02e6, 6.6e6 },
	{ "flush", 12.04, 88e3, 140e3, 210e3 },
	{ "image.decode.jpeg.chroma.upsample", 12.04, 88e3, 140e3, 210e3 },
	{ "日本語のスパンの名前", 1, 1e3, 2e3, 3e3 },
	{ "compact", 0, NAN, NAN, NAN },
};

static void span_cell(void *arg, int row, int column, char *out, size_t out_bytes, struct style *style)
{
	char text[UNITS_BYTES] = "";

	(void)arg;
	switch (column) {
	case TABLE_MARK:
		if (row == 0) {
			*style = STYLE(ROLE_BAD);
			snprintf(out, out_bytes, "!");
		}
		return;
	case SPAN:
		snprintf(out, out_bytes, "%s", spans[row % COUNT(spans)].name);
		return;
	case RATE:
		units_rate(text, spans[row % COUNT(spans)].rate);
		break;
	case P50:
		units_time(text, spans[row % COUNT(spans)].p50);
		break;
	case P99:
		units_time(text, spans[row % COUNT(spans)].p99);
		break;
	case MAX:
		units_time(text, spans[row % COUNT(spans)].max);
		break;
	default:
		fail_msg("column %d asked for", column);
	}
	snprintf(out, out_bytes, "%s", text);
}

static bool span_draw(void *arg, int row, int column, const struct canvas *cell)
{
	static const double values[] = { 1, 2, 1, 1, 2, 1, 1, 3, 1, 1, 5, 7, 8, 6, 3, 1 };

	(void)arg;
	if (column != TREND)
		return false;
	if (row % COUNT(spans) != COUNT(spans) - 1)
		sparkline_draw(&(struct sparkline){ .points = { values, NULL, COUNT(values) } }, cell);
	return true;
}

static struct table span_table(void)
{
	return (struct table){
		.columns = span_columns,
		.column_count = COUNT(span_columns),
		.row_count = COUNT(spans),
		.cursor = -1,
		.sort_column = P99,
		.cell = span_cell,
		.draw = span_draw,
	};
}

static void table_lines_names_and_figures_up(void **state)
{
	struct table table = span_table();
	struct table_drawn shown;

	(void)state;
	start(80, 9, GLYPHS_BLOCKS);
	shown = table_draw(&table, &canvas);
	assert_int_equal(shown.top, 0);
	assert_int_equal(shown.row_count, COUNT(spans));
	assert_int_equal(shown.cursor_y, -1);
	assert_int_equal(cell_at(1, 1).style.role, ROLE_BAD);
	check_golden("widgets_table_80");
	start(80, 9, GLYPHS_ASCII);
	table.cursor = 2;
	table_draw(&table, &canvas);
	check_golden("widgets_table_ascii");
}

static void narrow_table_drops_columns_in_order(void **state)
{
	struct table table = span_table();

	(void)state;
	start(60, 20, GLYPHS_BLOCKS);
	for (int i = 0; i < 5; i++) {
		static const int widths[] = { 57, 45, 37, 29, 14 };
		struct canvas part = canvas_part(&canvas, 0, 4 * i, widths[i], 3);

		table.row_count = 2;
		table_draw(&table, &part);
	}
	check_golden("widgets_table_narrow");
}

/* Figures do not stand at the far side of the screen. */
static void names_of_a_wide_table_take_what_they_need_and_pictures_the_rest(void **state)
{
	struct table table = span_table();

	(void)state;
	start(160, 9, GLYPHS_BLOCKS);
	table_draw(&table, &canvas);
	check_golden("widgets_table_wide");
}

static void cursor_row_is_marked_reversed_and_told(void **state)
{
	struct table table = span_table();
	struct table_drawn shown;

	(void)state;
	start(50, 9, GLYPHS_BLOCKS);
	table.cursor = 2;
	shown = table_draw(&table, &canvas);
	assert_int_equal(shown.cursor_y, 3);
	assert_true(cell_at(0, 3).style.attrs & ATTR_REVERSE);
	assert_true(cell_at(49, 3).style.attrs & ATTR_REVERSE);
	assert_false(cell_at(0, 2).style.attrs & ATTR_REVERSE);
	assert_int_equal(cell_at(1, 3).ch, 0x25B8);
	/* The mark has its place beside the cursor. */
	table.cursor = 0;
	table_draw(&table, &canvas);
	assert_int_equal(cell_at(0, 1).ch, 0x25B8);
	assert_int_equal(cell_at(1, 1).ch, '!');
	canvas_backing_free(backing);
}

static void scrolling_keeps_the_cursor_in_view(void **state)
{
	struct table table = span_table();
	struct table_drawn shown = { 0 };

	(void)state;
	table.row_count = 100;
	start(30, 8, GLYPHS_BLOCKS);
	/* While the cursor goes down, the table scrolls only when it must. */
	for (table.cursor = 0; table.cursor < 100; table.cursor++) {
		table.top = shown.top;
		shown = table_draw(&table, &canvas);
		assert_int_equal(shown.row_count, 6);
		assert_int_equal(shown.top, table.cursor < 6 ? 0 : table.cursor - 5);
		assert_int_equal(shown.cursor_y, 1 + table.cursor - shown.top);
	}
	/* The same holds while it goes up. */
	for (table.cursor = 99; table.cursor >= 0; table.cursor--) {
		table.top = shown.top;
		shown = table_draw(&table, &canvas);
		assert_int_equal(shown.top, table.cursor < 94 ? table.cursor : 94);
	}
	canvas_backing_free(backing);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct table table = span_table();

	(void)state;
	table.row_count = 100;
	table.cursor = 50;
	table.top = 48;
	start(30, 6, GLYPHS_BLOCKS);
	table_draw(&table, &canvas);
	check_golden("widgets_table_cut");
}

static void wrong_scroll_and_cursor_are_put_right(void **state)
{
	static const int wrong[] = { INT_MIN + 100, -7, 3, 99, INT_MAX - 100 };
	struct table table = span_table();

	(void)state;
	start(30, 6, GLYPHS_BLOCKS);
	for (int i = 0; i < COUNT(wrong); i++)
		for (int j = 0; j < COUNT(wrong); j++) {
			struct table_drawn shown;

			table.top = wrong[i];
			table.cursor = wrong[j];
			shown = table_draw(&table, &canvas);
			assert_in_range(shown.top, 0, COUNT(spans) - shown.row_count);
			assert_int_equal(shown.cursor_y > 0, table.cursor == 3);
		}
	table.row_count = 0;
	assert_int_equal(table_draw(&table, &canvas).row_count, 0);
	canvas_backing_free(backing);
}

static void sorted_head_has_its_direction(void **state)
{
	struct table table = span_table();

	(void)state;
	table.row_count = 0;
	start(40, 2, GLYPHS_BLOCKS);
	for (int y = 0; y < 2; y++) {
		struct canvas part = canvas_part(&canvas, 0, y, 40, 1);

		table.sort_column = y ? SPAN : P99;
		table.sort_ascending = y == 1;
		table_draw(&table, &part);
	}
	assert_int_equal(cell_at(7, 1).style.role, ROLE_TITLE);
	check_shows("   span             rate     p50    p99▼\n"
		    "   span▲            rate     p50     p99\n");
}

static void draw_table(void)
{
	struct table table = span_table();

	table_draw(&table, &canvas);
	table.cursor = 3;
	table_draw(&table, &canvas);
	table.row_count = 1000;
	table.cursor = 999;
	table_draw(&table, &canvas);
	table.column_count = 0;
	table.row_count = 0;
	table_draw(&table, &canvas);
}

static void table_takes_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_table);
}

/* ---- dialog ---- */

static const char *const help_lines[] = {
	"This panel                            Everywhere",
	"s r    sort by next column, reverse   0-9    panel         space  freeze",
	"/      filter (sub, !not, /regex/)    c m    class level   ← →    time",
	"⏎ Esc  open, back                     m M    mark, unmark  R      record",
	"",
	"Figures: ~ estimate   ≥ some events lost   – no data   dim + age: old",
};

static struct dialog help_dialog(void)
{
	return (struct dialog){
		.title = "Help: Latency (2)",
		.hint = "? again: all keys",
		.lines = help_lines,
		.line_count = COUNT(help_lines),
	};
}

static void draw_ground(void)
{
	for (int y = 0; y < canvas.height_cells; y++)
		canvas_fill(&canvas, 0, y, STYLE(ROLE_DIM), '.', canvas.width_cells);
}

static void dialog_stands_in_the_middle(void **state)
{
	struct dialog dialog = help_dialog();
	struct dialog_drawn shown;

	(void)state;
	start(90, 12, GLYPHS_BLOCKS);
	draw_ground();
	shown = dialog_draw(&dialog, &canvas);
	assert_int_equal(shown.line_count, COUNT(help_lines));
	check_golden("widgets_dialog");
	start(90, 12, GLYPHS_ASCII);
	draw_ground();
	dialog_draw(&dialog, &canvas);
	check_golden("widgets_dialog_ascii");
}

static void small_dialog_cuts_and_counts(void **state)
{
	struct dialog dialog = help_dialog();
	struct dialog_drawn shown;

	(void)state;
	start(44, 6, GLYPHS_BLOCKS);
	draw_ground();
	dialog.top = 99;
	shown = dialog_draw(&dialog, &canvas);
	assert_int_equal(shown.top, 2);
	assert_int_equal(shown.line_count, 4);
	check_golden("widgets_dialog_small");
	start(44, 6, GLYPHS_BLOCKS);
	dialog.top = -99;
	assert_int_equal(dialog_draw(&dialog, &canvas).top, 0);
	canvas_backing_free(backing);
}

static void question_leaves_room_for_its_answer(void **state)
{
	static const char *const lines[] = { "Record to which file?" };
	struct dialog dialog = { .title = "Record", .lines = lines, .line_count = 1, .extra_rows = 1 };
	struct dialog_drawn shown;
	struct lineedit edit;
	char text[64] = "run.telem";

	(void)state;
	start(40, 6, GLYPHS_BLOCKS);
	shown = dialog_draw(&dialog, &canvas);
	lineedit_init(&edit, text, sizeof text);
	assert_int_equal(lineedit_draw(&edit, &shown.extra, 0, 0, "> "), 11);
	check_golden("widgets_dialog_question");
}

static void draw_dialog(void)
{
	struct dialog dialog = help_dialog();
	struct dialog_drawn shown;

	dialog_draw(&dialog, &canvas);
	dialog.extra_rows = 3;
	dialog.top = 2;
	dialog.hint = NULL;
	shown = dialog_draw(&dialog, &canvas);
	canvas_text(&shown.extra, 0, 0, STYLE(ROLE_TEXT), "answer");
	dialog.line_count = 0;
	dialog.extra_rows = 0;
	dialog_draw(&dialog, &canvas);
}

static void dialog_takes_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_dialog);
}

/* ---- lineedit ---- */

static struct lineedit edit;
static char edit_text[16];

static int setup_edit(void **state)
{
	(void)state;
	strcpy(edit_text, "");
	lineedit_init(&edit, edit_text, sizeof edit_text);
	return 0;
}

static void type(const char *keys)
{
	for (; *keys; keys++)
		assert_int_equal(lineedit_key(&edit, (unsigned char)*keys), LINEEDIT_MORE);
}

static void typing_inserts_at_the_cursor(void **state)
{
	(void)state;
	type("sl");
	lineedit_key(&edit, KEYCODE_LEFT);
	type("q");
	assert_string_equal(edit_text, "sql");
	lineedit_key(&edit, KEYCODE_END);
	lineedit_key(&edit, 0x65E5);
	lineedit_key(&edit, KEYCODE_HOME);
	lineedit_key(&edit, 0xE9);
	assert_string_equal(edit_text, "ésql日");
}

static void deleting_takes_whole_characters(void **state)
{
	(void)state;
	type("a");
	lineedit_key(&edit, 0x65E5);
	lineedit_key(&edit, 0xE9);
	lineedit_key(&edit, KEYCODE_BACKSPACE);
	assert_string_equal(edit_text, "a日");
	lineedit_key(&edit, KEYCODE_LEFT);
	lineedit_key(&edit, KEYCODE_DELETE);
	assert_string_equal(edit_text, "a");
	type("bc");
	lineedit_key(&edit, KEYCODE_LEFT);
	lineedit_key(&edit, KEYCODE_CTRL('U'));
	assert_string_equal(edit_text, "c");
	assert_int_equal(edit.cursor, 0);
}

static void deleting_nothing_does_nothing(void **state)
{
	(void)state;
	lineedit_key(&edit, KEYCODE_BACKSPACE);
	lineedit_key(&edit, KEYCODE_DELETE);
	lineedit_key(&edit, KEYCODE_CTRL('U'));
	lineedit_key(&edit, KEYCODE_LEFT);
	lineedit_key(&edit, KEYCODE_RIGHT);
	assert_string_equal(edit_text, "");
	assert_int_equal(edit.cursor, 0);
}

static void enter_and_escape_end_it(void **state)
{
	(void)state;
	type("x");
	assert_int_equal(lineedit_key(&edit, KEYCODE_ENTER), LINEEDIT_DONE);
	assert_int_equal(lineedit_key(&edit, KEYCODE_ESCAPE), LINEEDIT_CANCELLED);
	assert_string_equal(edit_text, "x");
}

static void full_line_takes_no_more(void **state)
{
	(void)state;
	for (int i = 0; i < 14; i++)
		type("x");
	lineedit_key(&edit, 0x65E5);
	lineedit_key(&edit, 0xE9);
	assert_int_equal(strlen(edit_text), 14);
	type("yz");
	assert_string_equal(edit_text, "xxxxxxxxxxxxxxy");
}

static void unprintable_keys_insert_nothing(void **state)
{
	static const int keys[] = {
		KEYCODE_NONE, KEYCODE_UP, KEYCODE_F0 + 3, KEYCODE_HANGUP, KEYCODE_UNKNOWN,
		0, 0x1F, 0x9B, 0x202E, 0x0301, 0xD800, INT_MIN, INT_MAX,
	};

	(void)state;
	for (int i = 0; i < COUNT(keys); i++)
		assert_int_equal(lineedit_key(&edit, keys[i]), LINEEDIT_MORE);
	assert_string_equal(edit_text, "");
}

static void long_line_scrolls_with_its_cursor(void **state)
{
	(void)state;
	type("abcdefghij");
	start(8, 2, GLYPHS_BLOCKS);
	assert_int_equal(lineedit_draw(&edit, &canvas, 0, 0, "/"), 7);
	lineedit_key(&edit, KEYCODE_HOME);
	assert_int_equal(lineedit_draw(&edit, &canvas, 0, 1, "/"), 1);
	check_shows("/efghij\n/abcdef…\n");
}

static void draw_lineedit(void)
{
	struct lineedit wide;
	char text[] = "日本語 text";

	lineedit_init(&wide, text, sizeof text);
	for (int i = 0; i < 9; i++) {
		lineedit_draw(&wide, &canvas, i - 3, 0, "filter: ");
		lineedit_key(&wide, KEYCODE_LEFT);
	}
}

static void lineedit_takes_any_size(void **state)
{
	(void)state;
	draw_at_all_sizes(draw_lineedit);
}

#define EDIT_TEST(name) cmocka_unit_test_setup(name, setup_edit)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(squeezed_columns_keep_the_peak_and_the_loss),
		cmocka_unit_test(stretched_columns_repeat_their_point),
		cmocka_unit_test(columns_of_points_invert),
		cmocka_unit_test(no_points_are_a_gap),
		cmocka_unit_test(sparkline_shows_the_newest_at_the_right),
		cmocka_unit_test(sparkline_tells_gap_loss_and_zero_apart),
		cmocka_unit_test(sparkline_takes_any_size),
		cmocka_unit_test(chart_fills_an_area_with_labels),
		cmocka_unit_test(chart_draws_in_ascii),
		cmocka_unit_test(low_chart_leaves_times_out),
		cmocka_unit_test(narrow_chart_leaves_labels_out),
		cmocka_unit_test(chart_without_a_positive_value_has_no_top),
		cmocka_unit_test(chart_with_a_given_top_keeps_it),
		cmocka_unit_test(lost_columns_stand_as_high_as_their_bound),
		cmocka_unit_test(chart_columns_break_the_line_of_a_limit_exactly_when_past_it),
		cmocka_unit_test(chart_shows_a_limit_above_all_points_too),
		cmocka_unit_test(chart_says_what_its_limit_is_where_there_is_a_row),
		cmocka_unit_test(chart_with_a_logarithmic_axis_begins_at_its_lowest_value),
		cmocka_unit_test(chart_takes_any_size),
		cmocka_unit_test(time_axis_steps_as_people_count),
		cmocka_unit_test(first_label_keeps_its_place),
		cmocka_unit_test(endless_labels_are_left_out),
		cmocka_unit_test(marks_outside_the_window_are_not_drawn),
		cmocka_unit_test(histogram_shows_hills_values_and_pointers),
		cmocka_unit_test(log_y_lifts_the_few),
		cmocka_unit_test(one_in_a_million_is_not_blank),
		cmocka_unit_test(few_buckets_stretch_and_many_add_up),
		cmocka_unit_test(histogram_of_bytes_counts_in_powers_of_two),
		cmocka_unit_test(histogram_without_bounds_or_buckets_has_no_values),
		cmocka_unit_test(histogram_takes_any_size),
		cmocka_unit_test(heatmap_shades_shares_over_time),
		cmocka_unit_test(rows_that_do_not_fit_are_added_up_at_both_ends),
		cmocka_unit_test(shade_and_heat_grow_together),
		cmocka_unit_test(heatmap_takes_any_size),
		cmocka_unit_test(rule_carries_both_texts),
		cmocka_unit_test(narrow_rule_drops_right_then_cuts_left),
		cmocka_unit_test(rules_meet_in_tees),
		cmocka_unit_test(tabbar_brackets_the_chosen_name),
		cmocka_unit_test(narrow_tabbar_keeps_the_chosen_name),
		cmocka_unit_test(rules_and_tabs_take_any_size),
		cmocka_unit_test(table_lines_names_and_figures_up),
		cmocka_unit_test(narrow_table_drops_columns_in_order),
		cmocka_unit_test(names_of_a_wide_table_take_what_they_need_and_pictures_the_rest),
		cmocka_unit_test(cursor_row_is_marked_reversed_and_told),
		cmocka_unit_test(scrolling_keeps_the_cursor_in_view),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(wrong_scroll_and_cursor_are_put_right),
		cmocka_unit_test(sorted_head_has_its_direction),
		cmocka_unit_test(table_takes_any_size),
		cmocka_unit_test(dialog_stands_in_the_middle),
		cmocka_unit_test(small_dialog_cuts_and_counts),
		cmocka_unit_test(question_leaves_room_for_its_answer),
		cmocka_unit_test(dialog_takes_any_size),
		EDIT_TEST(typing_inserts_at_the_cursor),
		EDIT_TEST(deleting_takes_whole_characters),
		EDIT_TEST(deleting_nothing_does_nothing),
		EDIT_TEST(enter_and_escape_end_it),
		EDIT_TEST(full_line_takes_no_more),
		EDIT_TEST(unprintable_keys_insert_nothing),
		EDIT_TEST(long_line_scrolls_with_its_cursor),
		EDIT_TEST(lineedit_takes_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
