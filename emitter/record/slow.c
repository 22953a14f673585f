/* slow.c -- the instruments that telem.h writes inline, for threads that have no cell of the site, or never get one. */
#include "emitter/core/api.h"

#include "emitter/record/cell_shared.h"
#include "emitter/record/heap.h"
#include "emitter/record/shard.h"
#include "emitter/record/thread.h"

/* Runs at most once for a thread and site, so the compiler keeps it apart from code that runs often. */
#define COLD __attribute__((cold))

/* Makes the cell. Returns false for a site that is off: in a forked child a place may only have been passed to start
 * telemetry anew (levels_await_passage()). */
static bool is_on(struct telem_site *site, struct telem_cell **cell)
{
	*cell = telem_cell_make_(site);
	return telem_level_(site) != TELEM_OFF;
}

COLD void telem_add_slow_(struct telem_site *site, uint64_t n)
{
	struct telem_cell *cell;

	if (!is_on(site, &cell))
		return;
	if (cell)
		telem_count_(site, telem_level_(site), n);
	else
		cell_shared_add(site, 1, n, 0, 0);
}

COLD void telem_gauge_slow_(struct telem_site *site, int64_t n, bool add)
{
	struct telem_cell *cell;

	if (!is_on(site, &cell))
		return;
	if (cell) {
		if (add)
			telem_gauge_add_(site, telem_level_(site), n);
		else
			telem_gauge_set_(site, telem_level_(site), n);
	} else if (add) {
		cell_shared_add(site, 1, (uint64_t)n, 0, 0);
	} else {
		cell = cell_shared(site);
		if (cell) {
			__atomic_store_n(&cell->sum, (uint64_t)n, __ATOMIC_RELAXED);
			__atomic_store_n(site->owner, shard_shared.id, __ATOMIC_RELAXED);
			cell_shared_add(site, 1, 0, 0, 0);
		}
	}
}

COLD void telem_alloc_slow_(struct telem_site *site, uint64_t bytes, bool is_free)
{
	struct telem_cell *cell;

	if (!is_on(site, &cell))
		return;
	if (!cell)
		cell_shared_add(site, !is_free, is_free ? 0 : bytes, is_free, is_free ? bytes : 0);
	else if (is_free)
		telem_free_(site, telem_level_(site), bytes);
	else
		telem_alloc_(site, telem_level_(site), bytes);
}

COLD void telem_mark_slow_(struct telem_site *site, uint64_t key)
{
	struct telem_cell *cell;

	if (!is_on(site, &cell))
		return;
	if (cell)
		telem_mark_(site, telem_level_(site), key);
	else
		cell_shared_add(site, 1, 0, 0, 0);
}

COLD void telem_heap_slow_(int64_t bytes, bool is_free)
{
	struct telem_site *tag = telem_thread_.tag;
	/* Nobody publishes the rest of a thread whose end nobody tells. */
	int64_t step = my_thread && my_thread->is_unwatched ? 0 : HEAP_STEP;
	struct telem_cell *cell;

	if ((uint64_t)(telem_thread_.heap_moved + step) >= 2 * (uint64_t)step)
		heap_publish();
	if (!tag) {
		telem_thread_.heap_step = step;
		return;
	}
	cell = telem_cell_(tag);
	if (!cell)
		cell = telem_cell_make_(tag);
	/* A tag's events are never streamed, because the event of the allocation itself may be. */
	if (cell && !is_free) {
		telem_add_(&cell->sum, (uint64_t)bytes);
		telem_add_(&cell->count, 1);
	} else if (cell) {
		telem_add_(&cell->freed_bytes, (uint64_t)-bytes);
		telem_add_(&cell->free_count, 1);
	}
}
