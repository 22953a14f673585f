/* index.h -- an inverted index: which documents contain this word?
 *
 * One collected heap has three types of object. A document keeps its postings alive, and a posting
 * keeps its word alive. The references in the other direction are weak: they are removed when the
 * document is freed. The newest documents are the roots.
 *
 *	document --> posting (type "posting list") --> word (type "string")
 *
 * Words are spread over shards that have one lock each, so that threads seldom wait for each other. */
#ifndef TELEM_DEMO_INDEX_H
#define TELEM_DEMO_INDEX_H

#include "demo/heap.h"
#include "demo/words.h"
#include "emitter/telem.h"

TELEM_CLASS_DECLARE(index);

enum { INDEX_SHARDS = 64, INDEX_BUCKETS = 1024 };

struct index_word {
	struct heap_object object;
	struct index_word *next;              /* next in its bucket; weak */
	struct index_posting *newest;         /* its newest posting; weak */
	uint32_t hash, bytes;
	char text[];
};

struct index_posting {                        /* word is in document */
	struct heap_object object;
	struct index_word *word;
	struct index_posting *older;          /* previous posting of the same word; weak */
	struct index_document *document;      /* weak */
};

struct index_document {
	struct heap_object object;
	struct index_document *older;         /* the previous document; weak, so that the oldest can be freed */
	char *path;                           /* owned, type "string" */
	uint32_t posting_count;
	struct index_posting *postings[];     /* one for each distinct word */
};

struct index_shard {
	pthread_mutex_t lock;                 /* protects the words and their postings */
	struct index_word *buckets[INDEX_BUCKETS];
};

struct index {
	struct heap heap;                     /* must be first: the collector casts */
	struct index_shard shards[INDEX_SHARDS];
	pthread_mutex_t lock;                 /* protects the list of documents */
	struct index_document *newest;
	_Atomic uint32_t document_count;
};

void index_init(struct index *index, size_t heap_limit_bytes);
/* Indexes one text. Takes path. Evicts old documents when the heap has grown too large. Returns 0,
 * or -ENOMEM: then the document may be in the index with only some of its words. */
int index_insert(struct index *index, char *path, const struct words *words);
/* Call inside heap_enter(). Returns the newest document after skipping skip_count newer ones; the
 * oldest when there are fewer; NULL when there are none. Valid until heap_leave(). */
const struct index_document *index_recent(struct index *index, uint32_t skip_count);
/* Call inside heap_enter(). Copies out up to out_max documents that contain word, newest first.
 * Returns how many. */
uint32_t index_find(struct index *index, const struct index_word *word,
		    const struct index_document **out, uint32_t out_max);
void index_fini(struct index *index);
#endif
