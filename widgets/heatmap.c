#include "widgets/heatmap.h"

#include <math.h>
#include <string.h>

#include "widgets/cells.h"
#include "widgets/text.h"

enum {
	FIGURE_CELLS = 7,            /* "2.10 ms"; "≤" comes before it, and a blank behind it */
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

/* The rows that are shown. Rows below low are added up in low, and rows above high in high. */
struct heat_rows { int low, high; };

static struct heat_rows rows_shown(const struct heatmap *heatmap, int rows)
{
	int spare = rows - (heatmap->keep_high - heatmap->keep_low + 1);
	int high = heatmap->keep_high + cells_max((spare + 1) / 2, 0);

	high = cells_min(cells_max(high, rows - 1), heatmap->row_count - 1);
	return (struct heat_rows){ high - rows + 1, high };
}

static int label_cells(const struct canvas *canvas)
{
	return canvas_text_width(canvas, "≤") + FIGURE_CELLS + 1;
}

static void draw_label(const struct heatmap *heatmap, const struct canvas *canvas, int y, int row,
		       const struct heat_rows *shown)
{
	bool is_below = row == shown->low && row > 0;
	bool is_above = row == shown->high && row < heatmap->row_count - 1;
	const char *sign = is_below ? "≤" : is_above ? "≥" : "";
	/* The lower bound of a row is the upper bound of the row below. */
	const char *name = heatmap->row_labels[is_above ? row - 1 : row];
	int width = label_cells(canvas) - 1, x;
	char label[(FIGURE_CELLS + 2) * UTF8_BYTES];

	/* The only row of all stands for every value. */
	if (is_below && is_above)
		return;
	if (strncmp(name, sign, strlen(sign)) == 0)
		sign = "";
	text_fit(label, sizeof label, name, width - canvas_text_width(canvas, sign), canvas_glyphs(canvas));
	x = canvas_text_right(canvas, width, y, STYLE(ROLE_DIM), label);
	canvas_text_right(canvas, x, y, STYLE(ROLE_DIM), sign);
}

static void draw_columns(const struct heatmap *heatmap, const struct canvas *plot, const struct heat_rows *shown)
{
	int skipped = heatmap->column_count - plot->width_cells;    /* the oldest columns do not fit; below 0:
								     * blank columns at the left */

	for (int x = skipped < 0 ? -skipped : 0; x < plot->width_cells; x++) {
		int column = x + skipped;

		for (int y = 0; y < plot->height_cells; y++) {
			int row = shown->high - y;

			if (heatmap->lost && heatmap->lost[column])
				canvas_put(plot, x, y, STYLE(ROLE_WARN), '?');
			else
				draw_share(plot, x, y, share_of(heatmap, column, row == shown->low ? 0 : row,
								row == shown->high ? heatmap->row_count - 1 : row));
		}
	}
}

void heatmap_draw(const struct heatmap *heatmap, const struct canvas *canvas)
{
	bool times = heatmap->mark_count > 0 && canvas->height_cells > 1;
	int rows = cells_min(heatmap->row_count, canvas->height_cells - times);
	struct heat_rows shown = rows_shown(heatmap, rows);
	bool labels = canvas->width_cells >= 3 * label_cells(canvas);
	int left = labels ? label_cells(canvas) : 0;
	struct canvas plot = canvas_part(canvas, left, 0, canvas->width_cells - left, rows);

	for (int y = 0; labels && y < rows; y++)
		draw_label(heatmap, canvas, y, shown.high - y, &shown);
	draw_columns(heatmap, &plot, &shown);
	if (times) {
		struct axis axis = axis_start(canvas, &plot);

		axis_marks(&axis, heatmap->marks, heatmap->mark_count, plot.width_cells);
	}
}
