#include "demo/query.h"

TELEM_CLASS(query, "searching the index", TELEM_SUM);

enum { RECENT_DOCUMENTS = 64 };

static uint32_t random_below(struct query *query, uint32_t bound)
{
	return (uint32_t)rand_r(&query->seed) % bound;
}

/* Orders documents by address. Any order will do, as long as both lists have the same one. */
static int compare_hits(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)*(const struct index_document *const *)a;
	uintptr_t right = (uintptr_t)*(const struct index_document *const *)b;

	return (left > right) - (left < right);
}

/* Removes from hits what is not in others; both are sorted. Returns how many are left. */
static uint32_t intersect(const struct index_document **hits, uint32_t hits_count,
			  const struct index_document **others, uint32_t others_count)
{
	uint32_t kept_count = 0, at = 0;

	for (uint32_t i = 0; i < hits_count; i++) {
		while (at < others_count && compare_hits(&others[at], &hits[i]) < 0)
			at++;
		if (at < others_count && others[at] == hits[i])
			hits[kept_count++] = hits[i];
	}
	return kept_count;
}

static void ask(struct query *query, struct index *index, const struct index_document *document)
{
	uint32_t word_count = 1 + random_below(query, QUERY_WORDS_MAX);
	uint32_t hits_count = 0, postings_count = 0;

	for (uint32_t i = 0; i < word_count; i++) {
		const struct index_word *word = document->postings[random_below(query, document->posting_count)]->word;
		const struct index_document **found = i == 0 ? query->hits : query->others;
		uint32_t count = index_find(index, word, found, QUERY_HITS_MAX);

		qsort(found, count, sizeof *found, compare_hits);
		hits_count = i == 0 ? count : intersect(query->hits, hits_count, found, count);
		postings_count += count;
	}
	/* At level all the whole event is sent; at level sum it is only counted. */
	TELEM_EVENT(query, "query", TELEM_F("words", word_count), TELEM_F("hits", hits_count),
		    TELEM_F("postings", postings_count));
}

void query_run(struct query *query, struct index *index)
{
	const struct index_document *document;

	/* The span includes waiting for a collection to end, because a user would wait for it too. */
	TELEM_SPAN(query, "query") {
		heap_enter(&index->heap);
		document = index_recent(index, random_below(query, RECENT_DOCUMENTS));
		if (document && document->posting_count > 0)
			ask(query, index, document);
		heap_leave(&index->heap);
	}
}
