#include "widgets/rule.h"

#include "widgets/text.h"

enum {
	AROUND_CELLS = 4,            /* "─ " before a text and " ─" after it */
	LEFT_BYTES = 1024
};

/* Draws a text into the line, with a blank on each side. */
static void draw_text(const struct canvas *canvas, int x, int y, struct style style, const char *text)
{
	canvas_put(canvas, x - 1, y, STYLE(ROLE_DIM), ' ');
	canvas_put(canvas, canvas_text(canvas, x, y, style, text), y, STYLE(ROLE_DIM), ' ');
}

void rule_draw(const struct canvas *canvas, int y, const char *left, const char *right)
{
	int width = canvas->width_cells;
	int left_cells = left ? canvas_text_width(canvas, left) + AROUND_CELLS : 0;
	int right_cells = right ? canvas_text_width(canvas, right) : 0;
	char cut[LEFT_BYTES];

	canvas_fill(canvas, 0, y, STYLE(ROLE_DIM), glyph(canvas_glyphs(canvas), GLYPH_RULE), width);
	if (left && width > AROUND_CELLS) {
		text_fit(cut, sizeof cut, left, width - AROUND_CELLS, canvas_glyphs(canvas));
		draw_text(canvas, 2, y, STYLE(ROLE_TITLE), cut);
	}
	/* The two texts may share the cell of line that is between them. */
	if (right && right_cells + AROUND_CELLS + left_cells - (left_cells > 0) <= width)
		draw_text(canvas, width - 2 - right_cells, y, STYLE(ROLE_DIM), right);
}

void rule_vertical(const struct canvas *canvas, int x)
{
	uint32_t line = glyph(canvas_glyphs(canvas), GLYPH_VERTICAL);

	for (int y = 0; y < canvas->height_cells; y++)
		canvas_put(canvas, x, y, STYLE(ROLE_DIM), line);
}

void rule_tee(const struct canvas *canvas, int x, int y, enum glyph tee)
{
	canvas_put(canvas, x, y, STYLE(ROLE_DIM), glyph(canvas_glyphs(canvas), tee));
}
