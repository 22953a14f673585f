/* query.h -- which documents contain all of these words?
 *
 * The words are one to three random words of the same recent document, so that there is something
 * to find. */
#ifndef TELEM_DEMO_QUERY_H
#define TELEM_DEMO_QUERY_H

#include "demo/index.h"

/* QUERY_HITS_MAX: how many of its newest documents are compared for each word. */
enum { QUERY_WORDS_MAX = 3, QUERY_HITS_MAX = 4096 };

struct query {                                /* one for each worker; 64 KiB */
	const struct index_document *hits[QUERY_HITS_MAX], *others[QUERY_HITS_MAX];
	unsigned seed;                        /* seed of rand_r() */
};

/* Searches for one random query, or does nothing when the index is empty. */
void query_run(struct query *query, struct index *index);
#endif
