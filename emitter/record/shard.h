/* shard.h -- the sums of events: one shard of cells for each thread and task.
 *
 * Only its thread writes a shard. When a thread or task ends, its shards are added to another one, so that totals
 * never decrease. All calls are made with the lock held, unless they say otherwise. */
#ifndef TELEM_EMITTER_RECORD_SHARD_H
#define TELEM_EMITTER_RECORD_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "emitter/core/api.h"

struct task;

struct shard {
	struct shard *next;          /* of its thread; or free */
	struct shard *next_of_task;
	struct task *task;
	struct telem_cell *cells;
	uint64_t *previous;          /* [cell_count]: fingerprints of the cells at the last tick */
	uint32_t id, cell_count;
	size_t mapped_bytes;
};
/* The size of a cell and its fingerprint. The fingerprints are in an array of their own, because the flusher writes
 * them. */
#define CELL_BYTES (sizeof(struct telem_cell) + sizeof(uint64_t))

/* Two shards belong to no thread: shard_ended has the sums of tasks that ended, and shard_shared those of threads
 * beyond the limits, which add to it with locked instructions. */
extern struct shard shard_ended __attribute__((visibility("hidden")));
extern struct shard shard_shared __attribute__((visibility("hidden")));

/* Gives these two shards their cells, and adds each to its task. Returns 0 or -ENOMEM. */
int shards_begin(void);
/* Returns an empty shard in a task, with room for every site that is registered now; NULL when memory is out. */
struct shard *shard_take(struct task *task);
/* Makes this thread write to this shard from now on. Call without the lock. */
void shard_enter(const struct shard *shard);
/* Called when no thread writes a shard any more: its sums stay with its task, in the unowned shard, or go to
 * shard_ended when the task has ended. */
void shard_leave(struct shard *shard);
/* Called when a task has ended: adds its unowned shard to shard_ended. */
void shard_leave_unowned(struct task *task);
/* In the child of fork(): the first empties a shard and frees it, the second empties the two common ones. */
void shard_forget(struct shard *shard);
void shards_forget_common(void);
#endif
