#include "emitter/core/memory.h"

#include <assert.h>
#include <stdbool.h>
#include <sys/mman.h>

/* What is mapped, so that all of it can be given back. Pages are changed by one atomic step, from any thread. */
enum { HOLD_PLACES = 255 };
struct hold {
	struct hold *next;
	struct { void *pages; size_t bytes; } places[HOLD_PLACES];
};

static struct hold *holds;           /* atomic */
static size_t mapped_bytes;          /* atomic */

static void *map(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

static bool hold_in(struct hold *hold, void *pages, size_t bytes)
{
	for (int i = 0; i < HOLD_PLACES; i++) {
		void *none = NULL;

		if (!__atomic_load_n(&hold->places[i].pages, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&hold->places[i].pages, &none, pages, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			hold->places[i].bytes = bytes;
			return true;
		}
	}
	return false;
}

static bool hold(void *pages, size_t bytes)
{
	struct hold *more;

	for (struct hold *at = __atomic_load_n(&holds, __ATOMIC_ACQUIRE); at; at = at->next)
		if (hold_in(at, pages, bytes))
			return true;
	more = map(sizeof *more);
	if (!more)
		return false;
	hold_in(more, pages, bytes);
	more->next = __atomic_load_n(&holds, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&holds, &more->next, more, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return true;
}

static void let_go(void *pages)
{
	for (struct hold *at = __atomic_load_n(&holds, __ATOMIC_ACQUIRE); at; at = at->next)
		for (int i = 0; i < HOLD_PLACES; i++)
			if (__atomic_load_n(&at->places[i].pages, __ATOMIC_RELAXED) == pages) {
				__atomic_store_n(&at->places[i].pages, NULL, __ATOMIC_RELEASE);
				return;
			}
}

void memory_give_back(void)
{
	struct hold *next;

	for (struct hold *at = holds; at; at = next) {
		next = at->next;
		for (int i = 0; i < HOLD_PLACES; i++)
			if (at->places[i].pages)
				munmap(at->places[i].pages, at->places[i].bytes);
		munmap(at, sizeof *at);
	}
	holds = NULL;
}

void *memory_reserve(size_t bytes)
{
	void *pages = map(bytes);

	if (pages && !hold(pages, bytes)) {
		munmap(pages, bytes);
		pages = NULL;
	}
	return pages;
}

void *memory_reserve_most(size_t item_bytes, uint32_t *count, uint32_t least)
{
	for (;;) {
		size_t bytes = item_bytes * *count;
		bool is_least = *count / 2 < least;
		void *room = is_least ? NULL : map(2 * bytes);

		if (room)
			munmap(room, 2 * bytes);
		if (room || is_least)
			return memory_reserve(bytes);
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
	let_go(pages);
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
