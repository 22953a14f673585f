/* sqlite_told.h -- goes into SQLite's mem1.c behind its allocator: tells libtelem of each allocation. */
#ifndef TELEM_TESTS_REAL_SQLITE_TOLD_H
#define TELEM_TESTS_REAL_SQLITE_TOLD_H

#include <telem.h>

static void *told_malloc(int bytes)
{
	void *now = sqlite3MemMalloc(bytes);

	if (now)
		telem_heap_alloc(TELEM_TYPE(sqlite), now, (uint64_t)sqlite3MemSize(now));
	return now;
}

static void told_free(void *prior)
{
	telem_heap_free(prior, (uint64_t)sqlite3MemSize(prior));
	sqlite3MemFree(prior);
}

static void *told_realloc(void *prior, int bytes)
{
	uint64_t before = (uint64_t)sqlite3MemSize(prior);
	void *now = sqlite3MemRealloc(prior, bytes);

	if (now)
		telem_heap_realloc(TELEM_TYPE(sqlite), prior, before, now, (uint64_t)sqlite3MemSize(now));
	return now;
}
#endif
