/* words.h -- the distinct words of one text.
 *
 * A word is a run of ASCII letters, digits, '_' and bytes above 127 (so that UTF-8 stays whole), in
 * lower case, of at most WORD_BYTES_MAX bytes. */
#ifndef TELEM_DEMO_WORDS_H
#define TELEM_DEMO_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Longer words are keys and packed data, which nobody searches for. */
enum { WORD_BYTES_MAX = 64 };

struct word_ref {
	const char *text;                     /* points into the text that was split */
	uint32_t bytes, hash;
};

struct words {
	struct word_ref *refs;                /* owned, type "word list" */
	uint32_t count;
};

/* Changes text to lower case in place and finds its words, which are valid as long as text is.
 * Returns 0 or -ENOMEM. */
int words_split(struct words *out, char *text, size_t text_bytes);
void words_free(struct words *words);
#endif
