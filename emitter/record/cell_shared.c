#include "emitter/record/cell_shared.h"

#include <errno.h>

#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/record/heap.h"
#include "emitter/record/shard.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

struct telem_cell *telem_cell_make_(struct telem_site *site)
{
	struct telem_cell *cell;
	struct thread *thread;
	struct shard *shard;
	int saved = errno;

	if (!thread_is_inside)
		fork_restart();
	thread = thread_self();
	if (thread && !thread_is_inside && site->id && !telem_cell_(site)) {
		/* More sites have been registered since the shard was made. The thread gets a larger shard, and the old
		 * one stays as it is. */
		thread_is_inside++;
		lock_take();
		shard = thread_shard_in(thread, thread->stack[thread->depth]->task);
		lock_release();
		if (shard && shard->cell_count > site->id) {
			thread->stack[thread->depth] = shard;
			shard_enter(shard);
		}
		thread_is_inside--;
	}
	cell = telem_cell_(site);
	errno = saved;
	return cell;
}

struct telem_cell *cell_shared(const struct telem_site *site)
{
	if (!settings_is_running() || site->id == 0 || site->id >= shard_shared.cell_count)
		return NULL;
	__atomic_store_n(&task_shared.is_used, true, __ATOMIC_RELAXED);
	return &shard_shared.cells[site->id];
}

void cell_shared_add(struct telem_site *site, uint64_t count, uint64_t sum, uint64_t frees, uint64_t freed_bytes)
{
	struct telem_cell *cell = cell_shared(site);

	if (!cell)
		return;
	__atomic_fetch_add(&cell->sum, sum, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->freed_bytes, freed_bytes, __ATOMIC_RELAXED);
	if (site->kind == TELEM_KIND_ALLOC_)
		heap_move((int64_t)(sum - freed_bytes));
	if ((telem_level_(site) & TELEM_LEVEL_) == TELEM_ALL) {       /* no ring is shared, so it is lost */
		__atomic_fetch_add(&cell->streamed, count, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->streamed_frees, frees, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->dropped, count + frees, __ATOMIC_RELAXED);
	} else {
		__atomic_fetch_add(&cell->count, count, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->free_count, frees, __ATOMIC_RELAXED);
	}
}
