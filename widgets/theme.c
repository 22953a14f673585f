#include "widgets/theme.h"

#include <assert.h>
#include <stddef.h>

enum { TWIN_BYTES = 6 };

struct twin {
	uint32_t ch;
	char ascii[TWIN_BYTES];
};

/* Bars and shades both use the full block, so they share its twin. */
static const struct twin twins[] = {
	{ 0x2581, "_" }, { 0x2582, "." }, { 0x2583, "-" }, { 0x2584, "=" },
	{ 0x2585, "+" }, { 0x2586, "*" }, { 0x2587, "%" }, { 0x2588, "#" },
	{ 0x2591, "." }, { 0x2592, "+" }, { 0x2593, "*" },
	{ 0x2500, "-" }, { 0x2502, "|" }, { 0x252C, "+" }, { 0x2534, "+" }, { 0x253C, "+" },
	{ 0x251C, "+" }, { 0x2524, "+" },
	{ 0x250C, "+" }, { 0x2510, "+" }, { 0x2514, "+" }, { 0x2518, "+" },
	{ 0x25B2, "^" }, { 0x25BC, "v" }, { 0x25B8, ">" }, { 0x2575, "|" }, { 0x25CF, "@" },
	{ 0x2192, "->" }, { 0x2190, "<-" }, { 0x2191, "^" }, { 0x2193, "v" }, { 0x23CE, "Enter" },
	{ 0x2026, "~" }, { 0x2013, "-" }, { 0x2014, "-" }, { 0x2212, "-" }, { 0x00B7, "." },
	{ 0x00B5, "u" }, { 0x03BC, "u" }, { 0x0394, "d" }, { 0x00D7, "x" },
	{ 0x2264, "<=" }, { 0x2265, ">=" }, { 0x00B1, "+-" }, { 0x00A0, " " },
};

static const struct {
	uint16_t block;
	char ascii;
} glyphs_table[GLYPH_COUNT] = {
	[GLYPH_RULE] = { 0x2500, '-' },        [GLYPH_VERTICAL] = { 0x2502, '|' },
	[GLYPH_TEE_DOWN] = { 0x252C, '+' },    [GLYPH_TEE_UP] = { 0x2534, '+' },
	[GLYPH_CROSS] = { 0x253C, '+' },
	[GLYPH_TOP_LEFT] = { 0x250C, '+' },    [GLYPH_TOP_RIGHT] = { 0x2510, '+' },
	[GLYPH_BOTTOM_LEFT] = { 0x2514, '+' }, [GLYPH_BOTTOM_RIGHT] = { 0x2518, '+' },
	[GLYPH_UP] = { 0x25B2, '^' },          [GLYPH_DOWN] = { 0x25BC, 'v' },
	[GLYPH_CURSOR] = { 0x25B8, '>' },      [GLYPH_MARK] = { 0x2575, '|' },
	[GLYPH_NOW] = { 0x25CF, '@' },         [GLYPH_ARROW] = { 0x2192, '>' },
	[GLYPH_ELLIPSIS] = { 0x2026, '~' },    [GLYPH_NONE] = { 0x2013, '-' },
	[GLYPH_DOT] = { 0x00B7, '.' },
};

static int clamp(int value, int max)
{
	if (value < 0)
		return 0;
	return value > max ? max : value;
}

uint32_t glyph(enum glyphs glyphs, enum glyph which)
{
	assert((unsigned)which < GLYPH_COUNT);
	if (glyphs == GLYPHS_ASCII)
		return (unsigned char)glyphs_table[which].ascii;
	return glyphs_table[which].block;
}

const char *glyph_twin(uint32_t ch)
{
	for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
		if (twins[i].ch == ch)
			return twins[i].ascii;
	return NULL;
}

uint32_t glyph_bar(enum glyphs glyphs, int eighths)
{
	static const char ascii[] = " _.-=+*%#";

	eighths = clamp(eighths, 8);
	if (glyphs == GLYPHS_ASCII || eighths == 0)
		return (unsigned char)ascii[eighths];
	return 0x2580 + (uint32_t)eighths;
}

uint32_t glyph_shade(enum glyphs glyphs, int level)
{
	static const char ascii[] = " .+*#";
	static const uint16_t blocks[] = { ' ', 0x2591, 0x2592, 0x2593, 0x2588 };

	level = clamp(level, 4);
	return glyphs == GLYPHS_ASCII ? (uint32_t)(unsigned char)ascii[level] : blocks[level];
}
