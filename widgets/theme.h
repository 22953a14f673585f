/* theme.h -- colours by role, and glyphs by use.
 *
 * Code says what a thing is (ROLE_BAD) and never which colour it has; the canvas of the terminal
 * maps roles to what the terminal can show. Everything is readable without colours, because a word
 * or glyph always says the same as the colour. */
#ifndef TELEM_WIDGETS_THEME_H
#define TELEM_WIDGETS_THEME_H

#include <stdint.h>

enum role {
	ROLE_TEXT, ROLE_DIM, ROLE_TITLE, ROLE_OK, ROLE_WARN, ROLE_BAD, ROLE_ACCENT,
	ROLE_SERIES1, ROLE_SERIES2, ROLE_SERIES3, ROLE_SERIES4, ROLE_SERIES5, ROLE_SERIES6,
	ROLE_HEAT0, ROLE_HEAT1, ROLE_HEAT2, ROLE_HEAT3, ROLE_HEAT4, ROLE_HEAT5, ROLE_HEAT6, ROLE_HEAT7,
	ROLE_COUNT
};

enum { ATTR_BOLD = 1, ATTR_DIM = 2, ATTR_REVERSE = 4, ATTR_UNDERLINE = 8 };

struct style {
	uint8_t role;        /* an enum role */
	uint8_t attrs;       /* a sum of ATTR_… values */
};
/* Makes a style: STYLE(ROLE_DIM), or STYLE(ROLE_BAD, ATTR_BOLD | ATTR_REVERSE). */
#define STYLE(role_, ...) ((struct style){ .role = (role_), ##__VA_ARGS__ })

/* Which set of characters a canvas can show. */
enum glyphs { GLYPHS_BLOCKS, GLYPHS_ASCII };

enum glyph {
	GLYPH_RULE, GLYPH_VERTICAL, GLYPH_TEE_DOWN, GLYPH_TEE_UP, GLYPH_UP, GLYPH_DOWN, GLYPH_CURSOR,
	GLYPH_MARK, GLYPH_NOW, GLYPH_ARROW, GLYPH_ELLIPSIS, GLYPH_NONE /* –, for no data */, GLYPH_DOT,
	GLYPH_CROSS, GLYPH_TOP_LEFT, GLYPH_TOP_RIGHT, GLYPH_BOTTOM_LEFT, GLYPH_BOTTOM_RIGHT,
	GLYPH_COUNT
};

/* The code point of a glyph in a set. */
uint32_t glyph(enum glyphs glyphs, enum glyph which);
/* The ASCII twin of a character: the text that replaces it on an ASCII canvas, "->" for an arrow.
 * NULL when it has none. */
const char *glyph_twin(uint32_t ch);
/* The bar that fills eighths (1 to 8) of a cell; 0 and below is a blank, above 8 is a full cell. */
uint32_t glyph_bar(enum glyphs glyphs, int eighths);
/* The shade for level 0 (blank) to 4 (full); other levels are clamped. */
uint32_t glyph_shade(enum glyphs glyphs, int level);
#endif
