#include "monitor/screen/panels/panel.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"
#include "widgets/text.h"

enum {
	BESIDE_CELLS = 76,           /* at this width and above both lists of keys stand side by side */
	KEYS_CELLS = 7,
	COLUMN_CELLS = 21,           /* the width of a column of keys that work everywhere */
	TEXT_BYTES = 256
};

static const char *const legend[] = {
	"Figures: ~ estimate   ≥ some events lost   – no data   dim: off, old or zero",
	"Marks: ! worse than the mark, over budget   ▲ ▼ rose, fell in a minute   ? loss",
};

static void draw_key(const struct canvas *canvas, int x, int y, int width_cells, const char *keys, const char *does)
{
	struct canvas part = canvas_part(canvas, x, y, width_cells, 1);
	int after = canvas_text(&part, 0, 0, STYLE(ROLE_ACCENT), keys);
	char fit[TEXT_BYTES];

	x = cells_max(KEYS_CELLS, after + 1);
	text_fit(fit, sizeof fit, does, cells_max(part.width_cells - x, 0), canvas_glyphs(canvas));
	canvas_text(&part, x, 0, STYLE(ROLE_TEXT), fit);
}

/* Returns the row after the keys. */
static int draw_panel_keys(const struct panel *panel, int x, int y, int width_cells, const struct canvas *canvas)
{
	canvas_text(canvas, x, y++, STYLE(ROLE_TITLE), "This panel");
	for (const struct panel_key *row = panel->keys; row && row->key; row++)
		if (row->help_keys && row->help)
			draw_key(canvas, x, y++, width_cells, row->help_keys, row->help);
	return y;
}

/* The keys stand in as many columns as there is room for, filled row by row. Returns the row after them. */
static int draw_everywhere(const struct help_key *everywhere, bool all_keys, int x, int y, const struct canvas *canvas)
{
	int columns = cells_max(1, (canvas->width_cells - x) / COLUMN_CELLS), at = 0;

	canvas_text(canvas, x, y++, STYLE(ROLE_TITLE), "Everywhere");
	for (const struct help_key *key = everywhere; key->keys; key++) {
		int width = COLUMN_CELLS - 1;

		if (!all_keys && !key->is_main)
			continue;
		/* A long text has a row of its own. */
		if (KEYS_CELLS + canvas_text_width(canvas, key->does) > width) {
			width = columns * COLUMN_CELLS - 1;
			at = (at + columns - 1) / columns * columns;
		}
		draw_key(canvas, x + at % columns * COLUMN_CELLS, y + at / columns, width, key->keys, key->does);
		at += width < COLUMN_CELLS ? 1 : columns;
	}
	return y + (at + columns - 1) / columns;
}

void help_draw(const struct panel *panel, const struct help_key *everywhere, bool all_keys, const struct canvas *canvas)
{
	char title[TEXT_BYTES], digit[8] = "";
	int left = cells_min(canvas->width_cells / 2 - 2, 44), y, legend_rows = (int)(sizeof legend / sizeof *legend);
	struct canvas below = *canvas;

	canvas_clear(canvas);
	if (panel->digit)
		snprintf(digit, sizeof digit, " (%c)", panel->digit);
	snprintf(title, sizeof title, "Help: %s%s – %s", panel->name, digit, panel->help);
	if (canvas_text_width(canvas, title) + 24 > canvas->width_cells)
		snprintf(title, sizeof title, "Help: %s%s", panel->name, digit);
	title_draw(canvas, title, all_keys ? "all keys" : "? again: all keys", NULL);
	if (canvas->width_cells >= BESIDE_CELLS) {
		int panel_end = draw_panel_keys(panel, 1, 1, left - 2, canvas),
			end = draw_everywhere(everywhere, all_keys, left, 1, canvas);

		/* The legend goes below both lists, or when that is too low, below the list of this panel alone. */
		y = cells_max(panel_end, end);
		if (y + legend_rows > canvas->height_cells) {
			y = panel_end + 1;
			below = canvas_part(canvas, 0, 0, left - 2, canvas->height_cells);
		}
	} else {
		y = draw_panel_keys(panel, 1, 1, canvas->width_cells - 1, canvas);
		y = draw_everywhere(everywhere, all_keys, 1, y, canvas);
	}
	for (int i = 0; i < legend_rows; i++)
		y = text_wrap(&below, 1, y, STYLE(ROLE_DIM), legend[i]);
}
