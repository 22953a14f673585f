#include "widgets/tabbar.h"

/* A name has a cell on each side for the brackets. */
static int cells_of(const struct canvas *canvas, const char *name)
{
	return canvas_text_width(canvas, name) + 2;
}

/* The first name to draw so that the chosen one still ends within width_cells. */
static int first_of(const struct canvas *canvas, const char *const *names, int active, int width_cells)
{
	int first = active;

	if (active < 0)
		return 0;
	width_cells -= cells_of(canvas, names[active]);
	while (first > 0 && cells_of(canvas, names[first - 1]) <= width_cells)
		width_cells -= cells_of(canvas, names[--first]);
	return first;
}

int tabbar_draw(const struct canvas *canvas, int x, int y, const char *const *names, int name_count, int active)
{
	for (int i = first_of(canvas, names, active, canvas->width_cells - x); i < name_count; i++) {
		int end = x + cells_of(canvas, names[i]);
		struct style style = i == active ? STYLE(ROLE_TEXT, ATTR_BOLD) : STYLE(ROLE_DIM);

		/* Part of a name is not worth showing, unless it is the chosen one. */
		if (end > canvas->width_cells && i != active)
			break;
		canvas_text(canvas, x + 1, y, style, names[i]);
		if (i == active) {
			canvas_put(canvas, x, y, style, '[');
			canvas_put(canvas, end - 1, y, style, ']');
		}
		x = end;
	}
	return x;
}
