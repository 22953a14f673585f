#include "widgets/canvas.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "widgets/canvas_backing.h"
#include "widgets/text.h"

enum { PRINTF_BYTES = 4001 };

static const struct cell blank = { .ch = ' ' };

static int clamp(long long value, long long low, long long high)
{
	if (value < low)
		value = low;
	return (int)(value > high ? high : value);
}

/* Positions may be any int, so sums of them are clamped to what an int holds. */
static int sum(int a, int b)
{
	return clamp((long long)a + b, INT_MIN, INT_MAX);
}

struct canvas_backing *canvas_backing_new(int width_cells, int height_cells, enum glyphs glyphs)
{
	struct canvas_backing *backing = calloc(1, sizeof *backing);
	size_t count;

	if (!backing)
		return NULL;
	backing->width_cells = clamp(width_cells, 0, INT_MAX);
	backing->height_cells = clamp(height_cells, 0, INT_MAX);
	backing->glyphs = glyphs;
	count = (size_t)backing->width_cells * (size_t)backing->height_cells;
	backing->cells = calloc(count > 0 ? count : 1, sizeof *backing->cells);
	if (!backing->cells) {
		free(backing);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		backing->cells[i] = blank;
	return backing;
}

void canvas_backing_free(struct canvas_backing *backing)
{
	if (!backing)
		return;
	free(backing->cells);
	free(backing);
}

struct canvas canvas_of(struct canvas_backing *backing)
{
	return (struct canvas){
		.backing = backing,
		.width_cells = backing->width_cells,
		.height_cells = backing->height_cells,
	};
}

struct canvas canvas_part(const struct canvas *canvas, int x, int y, int width_cells, int height_cells)
{
	int left = clamp(x, 0, canvas->width_cells);
	int top = clamp(y, 0, canvas->height_cells);
	int right = clamp((long long)x + width_cells, left, canvas->width_cells);
	int bottom = clamp((long long)y + height_cells, top, canvas->height_cells);

	return (struct canvas){
		.backing = canvas->backing,
		.x = canvas->x + left,
		.y = canvas->y + top,
		.width_cells = right - left,
		.height_cells = bottom - top,
	};
}

enum glyphs canvas_glyphs(const struct canvas *canvas)
{
	return canvas->backing ? canvas->backing->glyphs : GLYPHS_ASCII;
}

/* The cells of row y from this canvas's column 0 on, or NULL when there are none. */
static struct cell *row_at(const struct canvas *canvas, int y)
{
	const struct canvas_backing *backing = canvas->backing;

	if (y < 0 || y >= canvas->height_cells || canvas->width_cells == 0)
		return NULL;
	return &backing->cells[(size_t)(canvas->y + y) * (size_t)backing->width_cells + (size_t)canvas->x];
}

/* Stores into a cell, and blanks the other half of a wide character that it was part of. That half
 * may lie outside this part, so the column is that of the backing. */
static void store(const struct canvas *canvas, struct cell *row, int x, struct cell cell)
{
	int column = canvas->x + x;

	if (row[x].ch == 0 && column > 0)
		row[x - 1].ch = ' ';
	if (column + 1 < canvas->backing->width_cells && row[x + 1].ch == 0)
		row[x + 1].ch = ' ';
	row[x] = cell;
}

static uint32_t drawable(const struct canvas *canvas, uint32_t ch)
{
	const char *twin;

	if (ch >= 0x20 && ch < 0x7F)
		return ch;
	if (canvas_glyphs(canvas) == GLYPHS_BLOCKS)
		return text_char_width(ch) > 0 ? ch : glyph(GLYPHS_BLOCKS, GLYPH_DOT);
	twin = glyph_twin(ch);
	return twin ? (unsigned char)twin[0] : '?';
}

/* Draws one character and returns the columns it takes. */
static int put(const struct canvas *canvas, int x, int y, struct style style, uint32_t ch)
{
	struct cell *row = row_at(canvas, y);
	int width;

	ch = drawable(canvas, ch);
	width = text_char_width(ch);
	if (!row || x >= canvas->width_cells || x < 1 - width)
		return width;
	if (width == 1) {
		store(canvas, row, x, (struct cell){ ch, style });
	} else if (x >= 0 && x + 1 < canvas->width_cells) {
		store(canvas, row, x, (struct cell){ ch, style });
		store(canvas, row, x + 1, (struct cell){ ' ', style });
		row[x].ch = ch;
		row[x + 1].ch = 0;
	} else {
		/* Only one half of the wide character is inside. */
		store(canvas, row, x < 0 ? 0 : x, (struct cell){ ' ', style });
	}
	return width;
}

void canvas_put(const struct canvas *canvas, int x, int y, struct style style, uint32_t ch)
{
	put(canvas, x, y, style, ch);
}

void canvas_clear(const struct canvas *canvas)
{
	int last = canvas->width_cells - 1;

	for (int y = 0; y < canvas->height_cells; y++) {
		struct cell *row = row_at(canvas, y);

		if (!row)
			return;
		/* A wide character may cross the left or the right edge; store() blanks its other half. */
		store(canvas, row, 0, blank);
		store(canvas, row, last, blank);
		for (int x = 1; x < last; x++)
			row[x] = blank;
	}
}

int canvas_text(const struct canvas *canvas, int x, int y, struct style style, const char *text)
{
	size_t left = strlen(text);
	int start = x;

	while (left > 0) {
		uint32_t ch;
		size_t step = utf8_decode(text, left, &ch);
		const char *twin = NULL;

		if (ch >= 0x80 && canvas_glyphs(canvas) == GLYPHS_ASCII)
			twin = glyph_twin(ch);
		if (!twin)
			x = sum(x, put(canvas, x, y, style, ch));
		for (; twin && *twin; twin++)
			x = sum(x, put(canvas, x, y, style, (unsigned char)*twin));
		text += step;
		left -= step;
	}
	/* Nobody takes a part for the whole. */
	if (start < canvas->width_cells && x > canvas->width_cells)
		put(canvas, canvas->width_cells - 1, y, style, glyph(canvas_glyphs(canvas), GLYPH_ELLIPSIS));
	return x;
}

int canvas_text_width(const struct canvas *canvas, const char *text)
{
	struct canvas nowhere = canvas_part(canvas, 0, 0, 0, 0);

	return canvas_text(&nowhere, 0, 0, STYLE(ROLE_TEXT), text);
}

int canvas_printf(const struct canvas *canvas, int x, int y, struct style style, const char *format, ...)
{
	char text[PRINTF_BYTES];
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (bytes < 0)
		return x;
	if ((size_t)bytes >= sizeof text) {
		size_t end = sizeof text - 1;

		/* Cut before the code point that may have lost its last bytes. */
		while (end > 0 && (text[end - 1] & 0xC0) == 0x80)
			end--;
		if (end > 0 && (text[end - 1] & 0x80))
			end--;
		text[end] = '\0';
	}
	return canvas_text(canvas, x, y, style, text);
}

int canvas_text_right(const struct canvas *canvas, int x_end, int y, struct style style, const char *text)
{
	int x = sum(x_end, -canvas_text_width(canvas, text));

	canvas_text(canvas, x, y, style, text);
	return x;
}

void canvas_fill(const struct canvas *canvas, int x, int y, struct style style, uint32_t ch, int count)
{
	int end = clamp((long long)x + count, 0, canvas->width_cells);

	for (x = clamp(x, 0, canvas->width_cells); x < end; x++)
		put(canvas, x, y, style, ch);
}

void canvas_row_attr(const struct canvas *canvas, int y, unsigned attr)
{
	struct cell *row = row_at(canvas, y);

	for (int x = 0; row && x < canvas->width_cells; x++)
		row[x].style.attrs = (uint8_t)(row[x].style.attrs | attr);
}
