#include "widgets/dialog.h"

#include "widgets/cells.h"
#include "widgets/rule.h"
#include "widgets/text.h"

enum {
	FRAME_CELLS = 4,             /* the frame's line and a blank, on both sides */
	FRAME_ROWS = 2,
	TITLE_CELLS = 6,             /* what rule_draw() puts around a title, and blanks at the corners */
	LINE_BYTES = 1024
};

/* The columns of the box that show all its text. */
static int width_wanted(const struct dialog *dialog, const struct canvas *canvas)
{
	int width = canvas_text_width(canvas, dialog->title) + TITLE_CELLS - FRAME_CELLS;

	if (dialog->hint)
		width += canvas_text_width(canvas, dialog->hint) + TITLE_CELLS;
	for (int i = 0; i < dialog->line_count; i++)
		width = cells_max(width, canvas_text_width(canvas, dialog->lines[i]));
	return width + FRAME_CELLS;
}

static struct canvas centred(const struct canvas *canvas, int width_cells, int height_cells)
{
	width_cells = cells_min(width_cells, canvas->width_cells);
	height_cells = cells_min(height_cells, canvas->height_cells);
	return canvas_part(canvas, (canvas->width_cells - width_cells) / 2,
			   (canvas->height_cells - height_cells) / 2, width_cells, height_cells);
}

static void draw_frame(const struct dialog *dialog, const struct canvas *box, int hidden)
{
	enum glyphs glyphs = canvas_glyphs(box);
	int right = box->width_cells - 1, bottom = box->height_cells - 1;
	char count[32];

	canvas_clear(box);
	rule_vertical(box, 0);
	rule_vertical(box, right);
	snprintf(count, sizeof count, "%d not shown", hidden);
	rule_draw(box, bottom, NULL, hidden > 0 ? count : NULL);
	rule_draw(box, 0, dialog->title, dialog->hint);
	if (bottom < 1)
		return;
	canvas_put(box, 0, 0, STYLE(ROLE_DIM), glyph(glyphs, GLYPH_TOP_LEFT));
	canvas_put(box, right, 0, STYLE(ROLE_DIM), glyph(glyphs, GLYPH_TOP_RIGHT));
	canvas_put(box, 0, bottom, STYLE(ROLE_DIM), glyph(glyphs, GLYPH_BOTTOM_LEFT));
	canvas_put(box, right, bottom, STYLE(ROLE_DIM), glyph(glyphs, GLYPH_BOTTOM_RIGHT));
}

struct dialog_drawn dialog_draw(const struct dialog *dialog, const struct canvas *canvas)
{
	int height = cells_min(dialog->line_count + dialog->extra_rows + FRAME_ROWS, canvas->height_cells);
	struct canvas box = centred(canvas, width_wanted(dialog, canvas), height);
	struct canvas inside = canvas_part(&box, 2, 1, box.width_cells - FRAME_CELLS,
					   box.height_cells - FRAME_ROWS);
	/* The answer to a question is drawn in the extra rows, so they are given up last. */
	int extra = cells_min(dialog->extra_rows, inside.height_cells);
	int shown = cells_min(dialog->line_count, inside.height_cells - extra);
	int top = cells_max(0, cells_min(dialog->top, dialog->line_count - shown));

	draw_frame(dialog, &box, dialog->line_count - shown);
	for (int y = 0; y < shown; y++) {
		char line[LINE_BYTES];

		text_fit(line, sizeof line, dialog->lines[top + y], inside.width_cells, canvas_glyphs(&box));
		canvas_text(&inside, 0, y, STYLE(ROLE_TEXT), line);
	}
	return (struct dialog_drawn){
		.extra = canvas_part(&inside, 0, shown, inside.width_cells, extra),
		.top = top,
		.line_count = shown,
	};
}
