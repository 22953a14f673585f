/* index.h -- an inverted index: which documents have this word?
 *
 * Three types of object in one collected heap: a document keeps its postings alive,
 * and a posting its word. The references the other way are weak: forgotten when the
 * document dies. The newest documents are the roots.
 *
 *	document --> posting (type "posting list") --> word (type "string")
 *
 * Words are spread over shards with a lock each, so that threads seldom meet. */
#ifndef TELEM_DEMO_INDEX_H
#define TELEM_DEMO_INDEX_H

#include "demo/heap.h"
#include "demo/words.h"
#include "emitter/telem.h"

TELEM_CLASS_DECLARE(index);

enum { INDEX_SHARDS = 64, INDEX_BUCKETS = 1024 };

struct index_word {
	struct heap_object object;
	struct index_word *next;              /* in its bucket; weak */
	struct index_posting *newest;         /* weak */
	uint32_t hash, bytes;
	char text[];
};

struct index_posting {                        /* this word is in that document */
	struct heap_object object;
	struct index_word *word;
	struct index_posting *older;          /* of the same word; weak */
	struct index_document *document;      /* weak */
};

struct index_document {
	struct heap_object object;
	struct index_document *older;         /* weak: so the oldest can go */
	char *path;                           /* own, type "string" */
	uint32_t posting_count;
	struct index_posting *postings[];     /* one for each distinct word */
};

struct index_shard {
	pthread_mutex_t lock;                 /* over the words and their postings */
	struct index_word *buckets[INDEX_BUCKETS];
};

struct index {
	struct heap heap;                     /* first */
	struct index_shard shards[INDEX_SHARDS];
	pthread_mutex_t lock;                 /* over the documents' list */
	struct index_document *newest;
	_Atomic uint32_t document_count;
};

void index_init(struct index *index, size_t heap_limit_bytes);
/* Takes path. Evicts old documents when the heap has got too big. 0 or -ENOMEM, when
 * the document may be there with a part of its words. */
int index_insert(struct index *index, char *path, const struct words *words);
/* Inside heap_enter(): the newest document but skip_count, or the oldest, or NULL. */
const struct index_document *index_recent(struct index *index, uint32_t skip_count);
/* Inside. Copies out up to out_max documents with word, newest first; how many. */
uint32_t index_find(struct index *index, const struct index_word *word,
		    const struct index_document **out, uint32_t out_max);
void index_fini(struct index *index);
#endif
