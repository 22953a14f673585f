/* name.h -- names and texts, which are cut where they are longer than a table or message has room for. */
#ifndef TELEM_PROTOCOL_NAME_H
#define TELEM_PROTOCOL_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

/* Returns the length of a text, of which nothing more is known, without a last character of UTF-8 that was cut in two. */
uint32_t whole_characters(const char *text, uint32_t length);
/* Copies a name up to its first NUL. One that does not fit is cut between two characters and ends in "…", which says so.
 * out_bytes is at least 8. */
void name_copy(char *out, size_t out_bytes, const char *name);
/* The same for a text of a message. */
void text_copy(char *out, size_t out_bytes, const struct text *text);

/* Returns the FNV-1a hash of a name, which continues the hash of what came before it; NAME_HASH when nothing did. */
#define NAME_HASH 2166136261u
static inline uint32_t name_hash(const char *name, uint32_t hash)
{
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return hash;
}
#endif
