/* text.h -- text that is safe and fits.
 *
 * text_clean() is the one gate for text from outside (names, log lines, error
 * texts from a stream): what passes it cannot move the cursor, turn the writing
 * direction, break a line or hide. After it every code point takes one column
 * or two, which is what a canvas can hold; combining marks become dots.
 *
 * Nothing here asks the locale: widths come from our own table. */
#ifndef TELEM_WIDGETS_TEXT_H
#define TELEM_WIDGETS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "widgets/theme.h"

enum { UTF8_BYTES = 4, UTF8_INVALID = 0xFFFD };

/* Reads one code point from in_bytes (at least 1) of in; returns the bytes it
 * took, never 0. What is no UTF-8 (overlong, surrogate, cut) gives UTF8_INVALID
 * and takes the bytes up to where a good code point can begin again. */
size_t utf8_decode(const char *in, size_t in_bytes, uint32_t *ch);
/* Writes one code point, without a NUL; returns its bytes, 1..4. What is no code
 * point is written as UTF8_INVALID. */
size_t utf8_encode(char out[UTF8_BYTES], uint32_t ch);

/* Columns a character takes: 1 or 2; 0 for what must never be drawn as it is
 * (controls, bidi controls, line breaks, combining and other invisible marks). */
int text_char_width(uint32_t ch);
/* Columns of a whole text. */
int text_width(const char *text);

/* Makes in safe to show. Characters that must not be drawn become a dot ('?' in
 * ASCII), bad UTF-8 becomes U+FFFD ('?'); in ASCII our own glyphs become their
 * twins and other letters '?'. The result is always ended by a NUL and never
 * ends within a code point; what does not fit in out_bytes is left off. Returns
 * the bytes written, without the NUL. */
size_t text_clean(char *out, size_t out_bytes, const char *in, size_t in_bytes, enum glyphs glyphs);

/* Copies clean text, cut in the middle to at most width_cells columns as drawn
 * with glyphs: "image.dec…chroma". Ended by a NUL, never within a code point;
 * out_bytes of UTF8_BYTES * width_cells + 1 always suffices. Returns the columns used. */
int text_fit(char *out, size_t out_bytes, const char *in, int width_cells, enum glyphs glyphs);
#endif
