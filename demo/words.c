#include "demo/words.h"

#include <errno.h>
#include <string.h>

#include "demo/index.h"

static int compare_words(const void *a, const void *b)
{
	const struct word_ref *left = a, *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? -1 : 1;
	return memcmp(left->text, right->text, left->bytes);
}

/* The byte in lower case when it belongs to a word, 0 when it is between words. */
static char word_byte(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80)
		return c;
	return 0;
}

static uint32_t split(struct word_ref *refs, char *text, const char *end)
{
	uint32_t count = 0;

	for (; text < end; text++) {
		struct word_ref ref = { .text = text, .hash = 0x811c9dc5 };

		for (char c; text < end && (c = word_byte(*text)); text++) {
			*text = c;
			ref.hash = (ref.hash ^ (unsigned char)c) * 0x01000193;   /* FNV-1a */
		}
		ref.bytes = (uint32_t)(text - ref.text);
		if (ref.bytes > 0 && ref.bytes <= WORD_BYTES_MAX)
			refs[count++] = ref;
	}
	return count;
}

int words_split(struct words *out, char *text, size_t text_bytes)
{
	/* Memory allocated in this function has this tag, although it is freed elsewhere. */
	TELEM_ALLOC_TAG("tokenising");
	/* Room for the worst case: every other byte is a word. */
	struct word_ref *refs = telem_malloc(word list, (text_bytes / 2 + 1) * sizeof *refs);
	uint32_t count, kept_count = 0;

	/* The span ends when the function ends, at whichever return. */
	TELEM_SPAN_HERE(index, "tokenise");
	if (!refs)
		return -ENOMEM;
	count = split(refs, text, text + text_bytes);
	TELEM_COUNT(index, "words", count);
	qsort(refs, count, sizeof *refs, compare_words);
	for (uint32_t i = 0; i < count; i++)
		if (i == 0 || compare_words(&refs[i], &refs[kept_count - 1]) != 0)
			refs[kept_count++] = refs[i];
	*out = (struct words){ .refs = refs, .count = kept_count };
	return 0;
}

void words_free(struct words *words)
{
	telem_free(word list, words->refs);
}
