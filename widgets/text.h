/* text.h -- text that is safe to show, and that fits.
 *
 * All text from outside (names, log lines, error texts from a stream) passes text_clean(). After
 * that it cannot move the cursor, change the writing direction, break a line or be invisible. Every
 * code point then takes one or two columns, which is what a canvas can hold; combining marks become
 * dots.
 *
 * No function here depends on the locale: widths come from a table of our own. */
#ifndef TELEM_WIDGETS_TEXT_H
#define TELEM_WIDGETS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "widgets/theme.h"

enum { UTF8_BYTES = 4, UTF8_INVALID = 0xFFFD };

/* Reads one code point from the in_bytes bytes (at least 1) of in, and returns how many bytes it
 * took, never 0. Bytes that are not UTF-8 (overlong, surrogate, cut) give UTF8_INVALID and take the
 * bytes up to where a valid code point can start. */
size_t utf8_decode(const char *in, size_t in_bytes, uint32_t *ch);
/* Writes one code point, without a NUL, and returns its bytes, 1 to 4. A value that is not a code
 * point is written as UTF8_INVALID. */
size_t utf8_encode(char out[UTF8_BYTES], uint32_t ch);

/* The columns that a character takes, 1 or 2; 0 for a character that must never be drawn as it is
 * (control characters, bidi controls, line breaks, combining and other invisible marks). */
int text_char_width(uint32_t ch);
/* The columns that a whole text takes. */
int text_width(const char *text);

/* Writes in to out so that it is safe to show. Characters that must not be drawn become a dot ('?'
 * in ASCII) and invalid UTF-8 becomes U+FFFD ('?'); in ASCII the glyphs of theme.h become their
 * twins and other characters '?'. The result always ends in a NUL and never inside a code point;
 * what does not fit into out_bytes is left out. Returns the bytes written, without the NUL. */
size_t text_clean(char *out, size_t out_bytes, const char *in, size_t in_bytes, enum glyphs glyphs);

/* Copies clean text, cut in the middle to at most width_cells columns as drawn with glyphs:
 * "image.dec…chroma". The result ends in a NUL and never inside a code point; UTF8_BYTES *
 * width_cells + 1 bytes always suffice. Returns the columns it takes. */
int text_fit(char *out, size_t out_bytes, const char *in, int width_cells, enum glyphs glyphs);
#endif
