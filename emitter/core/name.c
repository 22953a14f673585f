#include "emitter/core/name.h"

#include <string.h>

#define CUT "…"

void name_copy(char *out, size_t out_bytes, const char *name)
{
	size_t length = strnlen(name, out_bytes);

	if (length < out_bytes) {
		memcpy(out, name, length + 1);
		return;
	}
	length = out_bytes - sizeof CUT;
	/* A byte of the form 10xxxxxx goes on with a character that began before it. */
	while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
		length--;
	memcpy(out, name, length);
	memcpy(out + length, CUT, sizeof CUT);
}
