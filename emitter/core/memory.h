/* memory.h -- the emitter's memory, which comes from mmap(), and how many bytes of it are held.
 *
 * The emitter never calls malloc(): that function may be the program's own, and may report its
 * allocations to the emitter while it holds a lock of its own. */
#ifndef TELEM_EMITTER_CORE_MEMORY_H
#define TELEM_EMITTER_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Returns zeroed pages, counted in memory_mapped_bytes(); NULL when memory is out. Any thread. */
void *memory_map(size_t bytes);
/* pages may be NULL. */
void memory_unmap(void *pages, size_t bytes);
/* Returns zeroed pages for a large table, whose pages take memory only when they are used: the caller counts
 * what it uses with memory_use(). NULL when memory is out. */
void *memory_reserve(size_t bytes);
/* Does the same for a table of *count items of so many bytes. Where limits of the process (RLIMIT_AS, RLIMIT_DATA) leave
 * little room, it halves *count, but not below least, until at most half of that room is taken: the rest is for the program
 * and for our other tables. */
void *memory_reserve_most(size_t item_bytes, uint32_t *count, uint32_t least);
void memory_use(size_t bytes);
/* Returns at most 64 KiB of zeroed memory that is never freed; NULL when memory is out. Call with the lock held. */
void *memory_keep(size_t bytes);
/* Gives all of it back, for the code that uses it is about to be unloaded. No other thread may use the emitter. */
void memory_give_back(void);
/* Returns how many bytes the emitter holds now. Any thread. */
uint64_t memory_mapped_bytes(void);
#endif
