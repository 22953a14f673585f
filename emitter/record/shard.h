/* shard.h -- sums: one shard of cells for each thread and task.
 *
 * A shard is written by its thread alone. What a thread or task leaves when it ends is folded
 * into another shard, so that totals never go backwards. All calls locked. */
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
/* A cell and its fingerprint, which lies apart, because the flusher writes it. */
#define CELL_BYTES (sizeof(struct telem_cell) + sizeof(uint64_t))

/* The two shards that belong to no thread: what ended tasks leave; what threads beyond the
 * limits record, with locked adds. */
extern struct shard shard_ended __attribute__((visibility("hidden")));
extern struct shard shard_shared __attribute__((visibility("hidden")));

/* Gives these two their cells, and to the two common tasks. 0 or -ENOMEM. */
int shards_begin(void);
/* An empty shard in a task, with room for every site that is registered now; NULL when there is none. */
struct shard *shard_take(struct task *task);
/* This thread writes to this shard from now on. Not locked. */
void shard_enter(const struct shard *shard);
/* No thread writes it any more: what it holds stays with its task as the unowned shard, or goes to
 * shard_ended when the task has ended. */
void shard_leave(struct shard *shard);
/* A task has ended: its unowned shard goes to shard_ended. */
void shard_leave_unowned(struct task *task);
/* In the child of fork(): empties a shard and frees it; empties the two common ones. */
void shard_forget(struct shard *shard);
void shards_forget_common(void);
#endif
