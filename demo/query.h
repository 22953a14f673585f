/* query.h -- which documents have all of these words?
 *
 * The words are random known ones: one to three of the same recent document, so that
 * there is something to find. */
#ifndef TELEM_DEMO_QUERY_H
#define TELEM_DEMO_QUERY_H

#include "demo/index.h"

/* QUERY_HITS_MAX: of each word, only that many of its newest documents are looked at. */
enum { QUERY_WORDS_MAX = 3, QUERY_HITS_MAX = 4096 };

struct query {                                /* one per worker: 64 KiB */
	const struct index_document *hits[QUERY_HITS_MAX], *others[QUERY_HITS_MAX];
	unsigned seed;                        /* of rand_r() */
};

/* Asks one random question; none when the index is empty. */
void query_run(struct query *query, struct index *index);
#endif
