#include "emitter/record/shard.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "emitter/core/memory.h"
#include "emitter/record/cell.h"
#include "emitter/record/histogram.h"
#include "emitter/record/price.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"

struct shard shard_ended, shard_shared;

static struct shard *free_shards;
static uint32_t next_shard_id = 1, shard_count;

/* Returns room for the sites that are registered now and for some more. */
static uint32_t cells_wanted(void)
{
	uint32_t wanted = site_table.count + site_table.count / 4 + 16;

	return wanted < LIMIT_EMITTER_SITES ? wanted : LIMIT_EMITTER_SITES;
}

/* Takes a free shard, or a new one. */
static struct shard *take(uint32_t cell_count)
{
	struct shard **link = &free_shards, *shard;
	size_t bytes;

	for (; (shard = *link); link = &shard->next)
		if (shard->cell_count >= cell_count) {
			*link = shard->next;
			return shard;
		}
	/* No free shard is large enough, because more sites have been registered. A free one that is too small is
	 * unmapped. */
	if ((shard = free_shards)) {
		free_shards = shard->next;
		memory_unmap(shard, shard->mapped_bytes);
		shard_count--;
	}
	if (shard_count >= LIMIT_SHARDS)
		return NULL;
	bytes = (sizeof *shard + 64 + cell_count * CELL_BYTES + 4095) & ~(size_t)4095;
	shard = memory_map(bytes);
	if (!shard)
		return NULL;
	shard_count++;
	shard->mapped_bytes = bytes;
	shard->id = next_shard_id++;
	shard->cells = (struct telem_cell *)(void *)((uint8_t *)shard + ((sizeof *shard + 63) & ~(size_t)63));
	shard->cell_count = (uint32_t)((bytes - (size_t)((uint8_t *)shard->cells - (uint8_t *)shard)) / CELL_BYTES);
	shard->previous = (uint64_t *)(void *)(shard->cells + shard->cell_count);
	return shard;
}

struct shard *shard_take(struct task *task)
{
	struct shard *shard = take(cells_wanted());

	if (shard) {
		shard->task = task;
		shard->next_of_task = task->shards;
		task->shards = shard;
	}
	return shard;
}

static int begin_common(struct shard *shard, uint32_t id, struct task *task)
{
	if (!shard->cells) {
		shard->cell_count = site_table.room;
		shard->cells = memory_reserve_most(CELL_BYTES, &shard->cell_count, LIMIT_EMITTER_SITES_MIN);
		if (!shard->cells || !sites_shrink(shard->cell_count))
			return -ENOMEM;
	}
	shard->previous = (uint64_t *)(void *)(shard->cells + shard->cell_count);
	shard->id = id;
	shard->task = task;
	task->shards = shard;
	return 0;
}

int shards_begin(void)
{
	int err = sites_begin() ? 0 : -ENOMEM;

	if (err < 0)
		return err;
	err = begin_common(&shard_ended, UINT32_MAX, &task_ended);

	return err < 0 ? err : begin_common(&shard_shared, UINT32_MAX - 1, &task_shared);
}

void shard_enter(const struct shard *shard)
{
	telem_thread_.cell_count = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	telem_thread_.cells = shard->cells;
	telem_thread_.shard = shard->id;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	telem_thread_.cell_count = shard->cell_count;
}

/* Adds all of a shard that no thread writes any more to another one. */
static void shard_fold(struct shard *into, struct shard *shard)
{
	struct task *task = shard->task;
	struct shard **link;

	assert(into != shard);
	for (uint32_t i = 1; i < site_table.count && i < shard->cell_count; i++) {
		struct site_entry *site = &site_table.rows[i];
		uint32_t owner = shard->id;

		/* The task keeps its books until it is recycled, because its events may still be on their way. */
		task->emitted[site->class_id] += shard->cells[i].streamed +
						 cell_streamed_frees(&shard->cells[i], site->kind);
		task->dropped[site->class_id] += shard->cells[i].dropped;
		task->cost_ps[site->class_id] += price_of_streaming_ps(&shard->cells[i], site->kind);
		cell_fold(&into->cells[i], &shard->cells[i], site,
			  __atomic_load_n(&site->owner, __ATOMIC_RELAXED) == shard->id);
		shard->previous[i] = 0;
		__atomic_compare_exchange_n(&site->owner, &owner, into->id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	for (link = &task->shards; *link != shard; link = &(*link)->next_of_task)
		;
	*link = shard->next_of_task;
	shard->task = NULL;
	shard->next = free_shards;
	free_shards = shard;
}

void shard_leave_unowned(struct task *task)
{
	if (task->unowned) {
		task_ended.is_used = true;
		shard_fold(&shard_ended, task->unowned);
		task->unowned = NULL;
	}
}

void shard_leave(struct shard *shard)
{
	struct task *task = shard->task;

	if (task->has_ended) {
		task_ended.is_used = true;
		shard_fold(&shard_ended, shard);
	} else if (!task->unowned) {
		task->unowned = shard;
	} else if (task->unowned->cell_count < shard->cell_count) {
		shard_fold(shard, task->unowned);
		task->unowned = shard;
	} else {
		shard_fold(task->unowned, shard);
	}
	task_left(task);
}

/* Clears only what was used, because a page stays shared with the parent process until it is written to. */
static void shard_clear(struct shard *shard)
{
	uint32_t count = shard->cell_count < site_table.count ? shard->cell_count : site_table.count;

	for (uint32_t i = 0; i < count; i++)
		if (shard->cells[i].buckets)
			histogram_give(shard->cells[i].buckets);
	memset(shard->cells, 0, count * sizeof *shard->cells);
	memset(shard->previous, 0, count * sizeof *shard->previous);
}

void shard_forget(struct shard *shard)
{
	shard_clear(shard);
	shard->next = free_shards;
	free_shards = shard;
}

void shards_forget_common(void)
{
	if (shards_begin() < 0)
		return;
	shard_clear(&shard_ended);
	shard_clear(&shard_shared);
}
