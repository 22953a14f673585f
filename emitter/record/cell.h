/* cell.h -- a cell: the sums of one site in one thread and task.
 *
 * Only its thread writes a cell, while other threads may read it. The structure is in telem_inline.h, because
 * the instruments write it inline. */
#ifndef TELEM_EMITTER_RECORD_CELL_H
#define TELEM_EMITTER_RECORD_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/record/site.h"

/* Returns how many events the cell has counted, streamed or not. */
static inline uint64_t cell_count(const struct telem_cell *cell, unsigned kind)
{
	return __atomic_load_n(&cell->count, __ATOMIC_RELAXED) + __atomic_load_n(&cell->streamed, __ATOMIC_RELAXED) +
	       (kind == SITE_SPAN ? __atomic_load_n(&cell->begun, __ATOMIC_RELAXED) : 0);
}
static inline uint64_t cell_streamed_frees(const struct telem_cell *cell, unsigned kind)
{
	return kind == SITE_ALLOC ? __atomic_load_n(&cell->streamed_frees, __ATOMIC_RELAXED) : 0;
}

/* Adds a cell that no thread writes any more to another, and empties it. owns_gauge says that this cell, and not
 * the other, has the latest value of a gauge. Call with the lock held. */
void cell_fold(struct telem_cell *into, struct telem_cell *from, const struct site_entry *site, bool owns_gauge);
/* Reads a cell of a site of this kind while its thread may write it. In the result, count is all events,
 * streamed or not, and min of an allocation site is all frees. */
struct telem_cell cell_read(const struct telem_cell *cell, unsigned kind);
#endif
