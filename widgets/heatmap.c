#include "widgets/heatmap.h"

#include <math.h>
#include <string.h>

#include "widgets/text.h"

enum {
	LABEL_CELLS = 8,             /* as wide as the labels of the other plots */
	SHADES = 4,
	HEATS = ROLE_HEAT7 - ROLE_HEAT0
};

/* The share of rows first..last of a column, or NaN when all of them are unknown. */
static double share_of(const struct heatmap *heatmap, int column, int first, int last)
{
	const float *shares = heatmap->shares + (size_t)column * (size_t)heatmap->row_count;
	double sum = NAN;

	for (int row = first; row <= last; row++)
		if (isfinite(shares[row]))
			sum = isnan(sum) ? (double)shares[row] : sum + (double)shares[row];
	return sum;
}

/* The square root makes small shares easier to tell apart: the slow calls that matter are few. */
static void draw_share(const struct canvas *plot, int x, int y, double share)
{
	double root;

	if (!(share > 0))
		return;
	root = share < 1 ? sqrt(share) : 1;
	canvas_put(plot, x, y, STYLE((uint8_t)(ROLE_HEAT0 + lround(root * HEATS))),
		   glyph_shade(canvas_glyphs(plot), (int)ceil(root * SHADES)));
}

static void draw_label(const struct heatmap *heatmap, const struct canvas *canvas, int y, int row, bool merged)
{
	const char *name = heatmap->row_labels[row];
	bool prefix = merged && strncmp(name, "≤", strlen("≤")) != 0;
	char label[LABEL_CELLS * UTF8_BYTES];
	int x;

	text_fit(label, sizeof label, name, LABEL_CELLS - 1 - prefix, canvas_glyphs(canvas));
	x = canvas_text_right(canvas, LABEL_CELLS - 1, y, STYLE(ROLE_DIM), label);
	if (prefix)
		canvas_text_right(canvas, x, y, STYLE(ROLE_DIM), "≤");
}

static void draw_columns(const struct heatmap *heatmap, const struct canvas *plot, int merged)
{
	int skipped = heatmap->column_count - plot->width_cells;    /* the oldest columns do not fit; below 0:
								     * blank columns at the left */

	for (int x = skipped < 0 ? -skipped : 0; x < plot->width_cells; x++) {
		int column = x + skipped;

		for (int y = 0; y < plot->height_cells; y++) {
			int row = heatmap->row_count - 1 - y;

			if (heatmap->lost && heatmap->lost[column])
				canvas_put(plot, x, y, STYLE(ROLE_WARN), '?');
			else
				draw_share(plot, x, y, share_of(heatmap, column, row == merged ? 0 : row, row));
		}
	}
}

void heatmap_draw(const struct heatmap *heatmap, const struct canvas *canvas)
{
	bool times = heatmap->mark_count > 0 && canvas->height_cells > 1;
	int fit = canvas->height_cells - times;
	int rows = heatmap->row_count < fit ? heatmap->row_count : fit;
	int merged = heatmap->row_count - rows;      /* rows 0..merged are added up in the lowest line */
	bool labels = canvas->width_cells >= 3 * LABEL_CELLS;
	int left = labels ? LABEL_CELLS : 0;
	struct canvas plot = canvas_part(canvas, left, 0, canvas->width_cells - left, rows);

	for (int y = 0; labels && y < rows; y++) {
		int row = heatmap->row_count - 1 - y;

		draw_label(heatmap, canvas, y, row, merged > 0 && row == merged);
	}
	draw_columns(heatmap, &plot, merged);
	if (times) {
		struct axis axis = axis_start(canvas, &plot);

		axis_marks(&axis, heatmap->marks, heatmap->mark_count, plot.width_cells);
	}
}
