#include "widgets/text.h"

#include <stdbool.h>
#include <string.h>

/* Collects text in the caller's buffer. The first piece that does not fit ends it. */
struct writer {
	char *out;
	size_t out_bytes;
	size_t bytes;
	bool full;
};

static void write_piece(struct writer *writer, const char *piece, size_t piece_bytes)
{
	if (writer->full || piece_bytes >= writer->out_bytes - writer->bytes) {
		writer->full = true;
		return;
	}
	memcpy(writer->out + writer->bytes, piece, piece_bytes);
	writer->bytes += piece_bytes;
}

static void write_char(struct writer *writer, uint32_t ch)
{
	char piece[UTF8_BYTES];

	write_piece(writer, piece, utf8_encode(piece, ch));
}

/* Writes by code points, so that a short buffer cuts between two of them. */
static void write_text(struct writer *writer, const char *text, size_t bytes)
{
	while (bytes > 0 && !writer->full) {
		uint32_t ch;
		size_t step = utf8_decode(text, bytes, &ch);

		write_piece(writer, text, step);
		text += step;
		bytes -= step;
	}
}

/* How many bytes follow the first byte, and the range of the second one. That range alone rules out
 * overlong forms, surrogates and code points above U+10FFFF. */
static int sequence_of(unsigned char first, unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xBF;
	if (first >= 0xC2 && first <= 0xDF)
		return 1;
	if (first >= 0xE0 && first <= 0xEF) {
		if (first == 0xE0)
			*low = 0xA0;
		if (first == 0xED)
			*high = 0x9F;
		return 2;
	}
	if (first >= 0xF0 && first <= 0xF4) {
		if (first == 0xF0)
			*low = 0x90;
		if (first == 0xF4)
			*high = 0x8F;
		return 3;
	}
	return 0;
}

size_t utf8_decode(const char *in, size_t in_bytes, uint32_t *ch)
{
	const unsigned char *bytes = (const unsigned char *)in;
	unsigned char low, high;
	int following;
	size_t at = 1;
	uint32_t value;

	if (bytes[0] < 0x80) {
		*ch = bytes[0];
		return 1;
	}
	*ch = UTF8_INVALID;
	following = sequence_of(bytes[0], &low, &high);
	if (following == 0)
		return 1;
	value = bytes[0] & (0x3Fu >> following);
	for (; following > 0; following--) {
		if (at == in_bytes || bytes[at] < low || bytes[at] > high)
			return at;
		value = value << 6 | (bytes[at] & 0x3F);
		at++;
		low = 0x80;
		high = 0xBF;
	}
	*ch = value;
	return at;
}

size_t utf8_encode(char out[UTF8_BYTES], uint32_t ch)
{
	if (ch > 0x10FFFF || (ch >= 0xD800 && ch <= 0xDFFF))
		ch = UTF8_INVALID;
	if (ch < 0x80) {
		out[0] = (char)ch;
		return 1;
	}
	if (ch < 0x800) {
		out[0] = (char)(0xC0 | ch >> 6);
		out[1] = (char)(0x80 | (ch & 0x3F));
		return 2;
	}
	if (ch < 0x10000) {
		out[0] = (char)(0xE0 | ch >> 12);
		out[1] = (char)(0x80 | (ch >> 6 & 0x3F));
		out[2] = (char)(0x80 | (ch & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | ch >> 18);
	out[1] = (char)(0x80 | (ch >> 12 & 0x3F));
	out[2] = (char)(0x80 | (ch >> 6 & 0x3F));
	out[3] = (char)(0x80 | (ch & 0x3F));
	return 4;
}

/* The columns as drawn: an ASCII canvas draws the twins of glyphs, which may be longer, and one '?'
 * for a wide character. */
static int drawn_width(uint32_t ch, enum glyphs glyphs)
{
	const char *twin;
	int width = text_char_width(ch);

	if (glyphs == GLYPHS_BLOCKS || ch < 0x80)
		return width > 0 ? width : 1;
	twin = glyph_twin(ch);
	return twin ? (int)strlen(twin) : 1;
}

static int width_of(const char *text, enum glyphs glyphs)
{
	size_t left = strlen(text);
	int width = 0;

	while (left > 0) {
		uint32_t ch;
		size_t step = utf8_decode(text, left, &ch);

		width += drawn_width(ch, glyphs);
		text += step;
		left -= step;
	}
	return width;
}

int text_width(const char *text)
{
	return width_of(text, GLYPHS_BLOCKS);
}

static void write_clean(struct writer *writer, uint32_t ch, enum glyphs glyphs)
{
	const char *twin;

	if (glyphs == GLYPHS_BLOCKS) {
		write_char(writer, text_char_width(ch) > 0 ? ch : glyph(glyphs, GLYPH_DOT));
		return;
	}
	if (ch < 0x80) {
		write_char(writer, text_char_width(ch) > 0 ? ch : '?');
		return;
	}
	twin = glyph_twin(ch);
	write_piece(writer, twin ? twin : "?", twin ? strlen(twin) : 1);
}

size_t text_clean(char *out, size_t out_bytes, const char *in, size_t in_bytes, enum glyphs glyphs)
{
	struct writer writer = { .out = out, .out_bytes = out_bytes };

	if (out_bytes == 0)
		return 0;
	while (in_bytes > 0 && !writer.full) {
		uint32_t ch;
		size_t step = utf8_decode(in, in_bytes, &ch);

		write_clean(&writer, ch, glyphs);
		in += step;
		in_bytes -= step;
	}
	out[writer.bytes] = '\0';
	return writer.bytes;
}

/* How many bytes from the start of text take at most width columns. */
static size_t bytes_within(const char *text, size_t bytes, int width, enum glyphs glyphs)
{
	size_t at = 0;

	while (at < bytes) {
		uint32_t ch;
		size_t step = utf8_decode(text + at, bytes - at, &ch);

		width -= drawn_width(ch, glyphs);
		if (width < 0)
			break;
		at += step;
	}
	return at;
}

/* Where the last part of text starts that takes at most width columns; the whole text takes total. */
static size_t tail_start(const char *text, size_t bytes, int total, int width, enum glyphs glyphs)
{
	size_t at = 0;

	while (at < bytes && total > width) {
		uint32_t ch;

		at += utf8_decode(text + at, bytes - at, &ch);
		total -= drawn_width(ch, glyphs);
	}
	return at;
}

int text_fit(char *out, size_t out_bytes, const char *in, int width_cells, enum glyphs glyphs)
{
	struct writer writer = { .out = out, .out_bytes = out_bytes };
	size_t in_bytes = strlen(in), head_bytes, tail_at;
	int total = width_of(in, glyphs), head_cells;

	if (out_bytes == 0)
		return 0;
	if (total <= width_cells) {
		write_text(&writer, in, in_bytes);
	} else if (width_cells > 0) {
		/* The start of a name says more than its end: three parts to two. */
		head_cells = ((width_cells - 1) * 3 + 4) / 5;
		head_bytes = bytes_within(in, in_bytes, head_cells, glyphs);
		tail_at = tail_start(in, in_bytes, total, width_cells - 1 - head_cells, glyphs);
		write_text(&writer, in, head_bytes);
		write_char(&writer, glyph(glyphs, GLYPH_ELLIPSIS));
		write_text(&writer, in + tail_at, in_bytes - tail_at);
	}
	out[writer.bytes] = '\0';
	return width_of(out, glyphs);
}
