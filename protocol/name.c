#include "protocol/name.h"

#include <string.h>

#define CUT "…"

uint32_t whole_characters(const char *text, uint32_t length)
{
	for (uint32_t back = 1; back <= 3 && back <= length; back++) {
		uint8_t byte = (uint8_t)text[length - back];
		uint32_t wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;

		if ((byte & 0xc0) != 0x80)
			return wanted > back ? length - back : length;
	}
	return length;
}

void text_copy(char *out, size_t out_bytes, const struct text *text)
{
	size_t length = text->length ? strnlen(text->bytes, text->length) : 0;

	if (length < out_bytes) {
		if (length > 0)
			memcpy(out, text->bytes, length);
		out[length] = '\0';
		return;
	}
	/* A byte of the form 10xxxxxx goes on with a character that began before it. */
	for (length = out_bytes - sizeof CUT; length > 0 && ((uint8_t)text->bytes[length] & 0xc0) == 0x80; length--)
		;
	memcpy(out, text->bytes, length);
	memcpy(out + length, CUT, sizeof CUT);
}

void name_copy(char *out, size_t out_bytes, const char *name)
{
	text_copy(out, out_bytes, &(struct text){ name, (uint32_t)strnlen(name, out_bytes) });
}
