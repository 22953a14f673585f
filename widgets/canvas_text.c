#include "widgets/canvas.h"

#include "widgets/canvas_backing.h"
#include "widgets/text.h"

struct canvas_backing *canvas_text_new(int width_cells, int height_cells, enum glyphs glyphs)
{
	return canvas_backing_new(width_cells, height_cells, glyphs);
}

static void write_row(const struct cell *row, int width_cells, FILE *out)
{
	while (width_cells > 0 && row[width_cells - 1].ch == ' ')
		width_cells--;
	for (int x = 0; x < width_cells; x++) {
		char bytes[UTF8_BYTES];

		if (row[x].ch != 0)
			fwrite(bytes, 1, utf8_encode(bytes, row[x].ch), out);
	}
	fputc('\n', out);
}

void canvas_text_write(const struct canvas_backing *backing, FILE *out)
{
	size_t width = (size_t)backing->width_cells;

	for (int y = 0; y < backing->height_cells; y++)
		write_row(&backing->cells[(size_t)y * width], backing->width_cells, out);
}
