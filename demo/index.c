#include "demo/index.h"

#include <errno.h>
#include <string.h>

TELEM_CLASS(index, "reading files and indexing their words", TELEM_SUM);

enum { KIND_DOCUMENT, KIND_POSTING, KIND_WORD };

/* ---- what the collector calls ---- */

static void mark_document(struct heap *heap, struct index_document *document)
{
	heap_mark(heap, &document->object);
	for (uint32_t i = 0; i < document->posting_count; i++) {
		heap_mark(heap, &document->postings[i]->object);
		heap_mark(heap, &document->postings[i]->word->object);
	}
}

/* Marks the newest documents, up to half of the limit, so that the next collection is far away. */
static void mark_newest(struct heap *heap)
{
	struct index *index = (struct index *)heap;
	struct index_document **link = &index->newest;
	uint32_t kept_count = 0;

	for (; *link && heap->marked_bytes < heap->limit_bytes / 2; link = &(*link)->older) {
		mark_document(heap, *link);
		kept_count++;
	}
	if (*link)
		TELEM_LOG(TELEM_INFO, "evicting %u of %u documents, up to %s",
			  index->document_count - kept_count, index->document_count, (*link)->path);
	*link = NULL;
	index->document_count = kept_count;
	TELEM_GAUGE(index, "documents", kept_count);
}

static void forget_dead(struct heap *heap)
{
	struct index *index = (struct index *)heap;

	for (uint32_t i = 0; i < INDEX_SHARDS * INDEX_BUCKETS; i++) {
		struct index_word **link = &index->shards[i / INDEX_BUCKETS].buckets[i % INDEX_BUCKETS];

		while (*link) {
			struct index_posting **posting = &(*link)->newest;

			while (*posting)
				if ((*posting)->object.marked)
					posting = &(*posting)->older;
				else
					*posting = (*posting)->older;
			if ((*link)->object.marked)
				link = &(*link)->next;
			else
				*link = (*link)->next;
		}
	}
}

/* Frees each object under the type it was allocated with, so that the sums of that type balance. */
static void free_object(struct heap_object *object)
{
	switch (object->kind) {
	case KIND_DOCUMENT:
		telem_free(string, ((struct index_document *)object)->path);
		telem_free(document, object);
		break;
	case KIND_POSTING:
		telem_free(posting list, object);
		break;
	case KIND_WORD:
		telem_free(string, object);
		break;
	}
}

/* ---- life ---- */

void index_init(struct index *index, size_t heap_limit_bytes)
{
	*index = (struct index){ .heap = {
		.mark = mark_newest, .forget_dead = forget_dead, .free_object = free_object,
		.limit_bytes = heap_limit_bytes,
	} };
	heap_init(&index->heap);
	pthread_mutex_init(&index->lock, NULL);
	for (int i = 0; i < INDEX_SHARDS; i++)
		pthread_mutex_init(&index->shards[i].lock, NULL);
}

void index_fini(struct index *index)
{
	heap_fini(&index->heap);
	for (int i = 0; i < INDEX_SHARDS; i++)
		pthread_mutex_destroy(&index->shards[i].lock);
	pthread_mutex_destroy(&index->lock);
}

/* ---- inserting ---- */

static struct index_shard *shard_of(struct index *index, uint32_t hash)
{
	/* The upper bits choose the shard; the lower bits choose the bucket. */
	return &index->shards[(hash >> 16) % INDEX_SHARDS];
}

static struct index_word *find_or_add_word(struct index *index, struct index_shard *shard,
					   const struct word_ref *ref)
{
	struct index_word **bucket = &shard->buckets[ref->hash % INDEX_BUCKETS], *word;

	for (word = *bucket; word; word = word->next)
		if (word->hash == ref->hash && word->bytes == ref->bytes &&
		    memcmp(word->text, ref->text, ref->bytes) == 0)
			return word;
	word = telem_malloc(string, sizeof *word + ref->bytes);
	if (!word)
		return NULL;
	*word = (struct index_word){ .object.kind = KIND_WORD, .next = *bucket,
				     .hash = ref->hash, .bytes = ref->bytes };
	memcpy(word->text, ref->text, ref->bytes);
	heap_adopt(&index->heap, &word->object, malloc_usable_size(word));
	*bucket = word;
	return word;
}

static int post(struct index *index, struct index_document *document, const struct word_ref *ref)
{
	struct index_shard *shard = shard_of(index, ref->hash);
	struct index_posting *posting = telem_malloc(posting list, sizeof *posting);
	struct index_word *word;

	if (!posting)
		return -ENOMEM;
	pthread_mutex_lock(&shard->lock);
	word = find_or_add_word(index, shard, ref);
	if (word) {
		*posting = (struct index_posting){ .object.kind = KIND_POSTING, .word = word,
						   .older = word->newest, .document = document };
		heap_adopt(&index->heap, &posting->object, malloc_usable_size(posting));
		word->newest = posting;
		document->postings[document->posting_count++] = posting;
	}
	pthread_mutex_unlock(&shard->lock);
	if (!word)
		telem_free(posting list, posting);
	return word ? 0 : -ENOMEM;
}

static int insert(struct index *index, char *path, const struct words *words)
{
	struct index_document *document =
		telem_malloc(document, sizeof *document + words->count * sizeof *document->postings);
	int err = 0;

	if (!document) {
		telem_free(string, path);
		return -ENOMEM;
	}
	*document = (struct index_document){ .object.kind = KIND_DOCUMENT, .path = path };
	heap_adopt(&index->heap, &document->object, malloc_usable_size(document) + malloc_usable_size(path));
	for (uint32_t i = 0; i < words->count && !err; i++)
		err = post(index, document, &words->refs[i]);

	pthread_mutex_lock(&index->lock);
	document->older = index->newest;
	index->newest = document;
	/* This is not done in the macro: it does not evaluate its arguments when its class is off. */
	index->document_count++;
	TELEM_GAUGE(index, "documents", index->document_count);
	pthread_mutex_unlock(&index->lock);
	return err;
}

int index_insert(struct index *index, char *path, const struct words *words)
{
	int err = 0;

	TELEM_SPAN(index, "insert") {
		heap_enter(&index->heap);
		err = insert(index, path, words);
		heap_leave(&index->heap);
	}
	heap_collect_if_full(&index->heap);
	return err;
}

/* ---- searching ---- */

const struct index_document *index_recent(struct index *index, uint32_t skip_count)
{
	const struct index_document *document;

	pthread_mutex_lock(&index->lock);
	document = index->newest;
	pthread_mutex_unlock(&index->lock);
	for (; skip_count > 0 && document && document->older; skip_count--)
		document = document->older;
	return document;
}

uint32_t index_find(struct index *index, const struct index_word *word,
		    const struct index_document **out, uint32_t out_max)
{
	struct index_shard *shard = shard_of(index, word->hash);
	const struct index_posting *posting;
	uint32_t count = 0;

	TELEM_SPAN(index, "find") {
		pthread_mutex_lock(&shard->lock);
		for (posting = word->newest; posting && count < out_max; posting = posting->older)
			out[count++] = posting->document;
		pthread_mutex_unlock(&shard->lock);
	}
	return count;
}
