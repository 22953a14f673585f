/* words.h -- the distinct words of one text.
 *
 * A word is a run of ASCII letters, digits, '_' and bytes above 127 (so UTF-8 stays
 * whole), lower-cased, at most WORD_BYTES_MAX long. */
#ifndef TELEM_DEMO_WORDS_H
#define TELEM_DEMO_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Longer ones are keys and packed data, which nobody searches for. */
enum { WORD_BYTES_MAX = 64 };

struct word_ref {
	const char *text;                     /* in the text that was split */
	uint32_t bytes, hash;
};

struct words {
	struct word_ref *refs;                /* own, type "word list" */
	uint32_t count;
};

/* Lower-cases text in place; the words are valid as long as it is. 0 or -ENOMEM. */
int words_split(struct words *out, char *text, size_t text_bytes);
void words_free(struct words *words);
#endif
