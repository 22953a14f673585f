/* memory.h -- pages of the emitter's own, and how many bytes of them it holds.
 *
 * The emitter never calls malloc(): that function may be the program's own, and may report its
 * allocations to the emitter while it holds a lock of its own. */
#ifndef TELEM_EMITTER_CORE_MEMORY_H
#define TELEM_EMITTER_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed pages, counted in memory_mapped_bytes(); NULL when there are none. Any thread. */
void *memory_map(size_t bytes);
/* pages may be NULL. */
void memory_unmap(void *pages, size_t bytes);
/* Zeroed pages for a large table that is touched bit by bit: the caller counts what is used of
 * it with memory_use(). NULL when there are none. */
void *memory_reserve(size_t bytes);
void memory_use(size_t bytes);
/* Zeroed memory that is never freed; at most 64 KiB. NULL when there is none. Under the
 * emitter's lock. */
void *memory_keep(size_t bytes);
/* What the emitter holds now. Any thread. */
uint64_t memory_mapped_bytes(void);
#endif
