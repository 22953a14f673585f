/* redis_zmalloc_told.h -- goes into Redis's zmalloc.c where it has the C library's malloc(): tells libtelem of each
 * allocation, with the size that the allocator really gave, which is what Redis counts. */
#ifndef TELEM_TESTS_REAL_REDIS_ZMALLOC_TOLD_H
#define TELEM_TESTS_REAL_REDIS_ZMALLOC_TOLD_H

#include <malloc.h>
#include <stdlib.h>
#include <telem.h>

static void *told(void *now)
{
	telem_heap_alloc(TELEM_TYPE(redis), now, malloc_usable_size(now));
	return now;
}
static void *told_malloc(size_t bytes) { return told(malloc(bytes)); }
static void *told_calloc(size_t count, size_t bytes) { return told(calloc(count, bytes)); }
static void *told_realloc(void *prior, size_t bytes)
{
	size_t before = malloc_usable_size(prior);
	void *now = realloc(prior, bytes);

	if (now)
		telem_heap_realloc(TELEM_TYPE(redis), prior, before, now, malloc_usable_size(now));
	return now;
}
static void told_free(void *prior)
{
	telem_heap_free(prior, malloc_usable_size(prior));
	free(prior);
}
#define malloc(bytes) told_malloc(bytes)
#define calloc(count, bytes) told_calloc(count, bytes)
#define realloc(prior, bytes) told_realloc(prior, bytes)
#define free(prior) told_free(prior)
#endif
