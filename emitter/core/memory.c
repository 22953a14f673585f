#include "emitter/core/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <sys/mman.h>

static size_t mapped_bytes;          /* atomic */

void *memory_reserve(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

void *memory_reserve_most(size_t item_bytes, uint32_t *count, uint32_t least)
{
	for (;;) {
		size_t bytes = item_bytes * *count;
		bool is_least = *count / 2 < least;
		void *pages = memory_reserve(is_least ? bytes : 2 * bytes);

		if (pages && !is_least) {
			munmap(pages, 2 * bytes);
			pages = memory_reserve(bytes);
		}
		if (pages || is_least)
			return pages;
		*count /= 2;
	}
}

void memory_use(size_t bytes)
{
	__atomic_fetch_add(&mapped_bytes, bytes, __ATOMIC_RELAXED);
}

void *memory_map(size_t bytes)
{
	void *pages = memory_reserve(bytes);

	if (pages)
		memory_use(bytes);
	return pages;
}

void memory_unmap(void *pages, size_t bytes)
{
	if (!pages)
		return;
	munmap(pages, bytes);
	__atomic_fetch_sub(&mapped_bytes, bytes, __ATOMIC_RELAXED);
}

void *memory_keep(size_t bytes)
{
	enum { STEP = 64 << 10 };
	static uint8_t *at;
	static size_t left;
	uint8_t *kept;

	assert(bytes <= STEP);
	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > left) {
		at = bytes <= STEP ? memory_map(STEP) : NULL;
		left = at ? STEP : 0;
		if (!at)
			return NULL;
	}
	kept = at;
	at += bytes;
	left -= bytes;
	return kept;
}

uint64_t memory_mapped_bytes(void)
{
	return __atomic_load_n(&mapped_bytes, __ATOMIC_RELAXED);
}
