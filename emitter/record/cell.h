/* cell.h -- a cell: the sums of one site in one thread and task.
 *
 * Its thread alone writes it, and others read it meanwhile; the structure is in telem.h, for the
 * instruments write it inline. */
#ifndef TELEM_EMITTER_RECORD_CELL_H
#define TELEM_EMITTER_RECORD_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/record/site.h"

/* Events, streamed or not. */
static inline uint64_t cell_count(const struct telem_cell *cell, unsigned kind)
{
	return __atomic_load_n(&cell->count, __ATOMIC_RELAXED) + __atomic_load_n(&cell->streamed, __ATOMIC_RELAXED) +
	       (kind == SITE_SPAN ? __atomic_load_n(&cell->begun, __ATOMIC_RELAXED) : 0);
}
static inline uint64_t cell_streamed_frees(const struct telem_cell *cell, unsigned kind)
{
	return kind == SITE_ALLOC ? __atomic_load_n(&cell->streamed_frees, __ATOMIC_RELAXED) : 0;
}

/* Adds a cell that no thread writes any more to another, and empties it. owns_gauge: the value of
 * a gauge is this cell's. Locked. */
void cell_fold(struct telem_cell *into, struct telem_cell *from, const struct site_entry *site, bool owns_gauge);
/* Figures of a cell as they are now, of one kind: all events are in count (and min, the frees),
 * streamed or not. */
struct telem_cell cell_read(const struct telem_cell *cell, unsigned kind);
#endif
