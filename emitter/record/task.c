/* task.c -- what work is attributed to: threads, and what the program enters and leaves. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "emitter/core/emitter.h"
#include "emitter/record/ring.h"

/* An id is a slot and, above it, how often the slot was used: an id that ended is told
 * from the one that has its slot now. Slots are used in turn, and so many before any is used
 * again, that an id comes back only after millions of others: in no ring is it still. */
#define SLOT_BITS 16
#define GENERATIONS (1 << 14)
#define SLOTS_IN_TURN 512u

static struct task *slots;           /* [LIMIT_TASKS], mapped once, touched as used */
static struct task *free_slots, **free_slots_end;    /* the longest free first */
static uint32_t slots_used;          /* the first ones are TASK_ALL and TASK_ENDED */

void tasks_begin(void)
{
	emitter.ended_task = (struct task){ .id = TASK_ENDED, .name = "(ended)", .shards = &emitter.ended };
	emitter.shared_task = (struct task){ .id = TASK_FIRST, .name = "(shared)", .shards = &emitter.shared };
	emitter.ended_task.next = &emitter.shared_task;
	emitter.shared_task.previous = &emitter.ended_task;
	emitter.ended.task = &emitter.ended_task;
	emitter.shared.task = &emitter.shared_task;
	emitter.tasks = &emitter.ended_task;
	emitter.task_count = 0;
	free_slots = NULL;
	free_slots_end = &free_slots;
	slots_used = TASK_FIRST + 1;
}

struct task *task_make(const char *name, pid_t thread_id)
{
	struct task *task;
	int id;

	if (!emitter.tasks)
		tasks_begin();
	task = free_slots;
	if (!slots)
		slots = emitter_reserve(sizeof *slots * LIMIT_TASKS);
	if (!slots)
		return NULL;
	if (task && slots_used >= SLOTS_IN_TURN) {
		free_slots = task->next;
		if (!free_slots)
			free_slots_end = &free_slots;
		id = (task->id + (1 << SLOT_BITS)) % (GENERATIONS << SLOT_BITS);
	} else if (slots_used < LIMIT_TASKS) {
		id = (int)slots_used;
		task = &slots[slots_used++];
		emitter_use(sizeof *task);
	} else {
		return NULL;
	}
	memset(task, 0, sizeof *task);
	task->id = id;
	task->thread_id = thread_id;
	snprintf(task->name, sizeof task->name, "%s", name);
	/* After the two that are always there. */
	task->previous = &emitter.shared_task;
	task->next = emitter.shared_task.next;
	if (task->next)
		task->next->previous = task;
	emitter.shared_task.next = task;
	emitter.task_count++;
	return task;
}

struct task *task_of(int id)
{
	uint32_t slot = (uint32_t)id & ((1u << SLOT_BITS) - 1);

	if (id == TASK_FIRST)
		return &emitter.shared_task;
	if (id < TASK_FIRST || !slots || slot >= slots_used || slots[slot].id != id || slots[slot].is_free)
		return &emitter.ended_task;
	return &slots[slot];
}

struct task *task_find(int id)
{
	struct task *task = task_of(id);

	return task->id <= TASK_FIRST || task->has_ended ? NULL : task;
}

void task_recycle(struct task *task)
{
	for (uint32_t i = 0; i < LIMIT_CLASSES; i++) {
		emitter.ended_task.taken[i] += task->taken[i];
		emitter.ended_task.emitted[i] += task->emitted[i];
		emitter.ended_task.dropped[i] += task->dropped[i];
		emitter.ended_task.cost_ps[i] += task->cost_ps[i];
	}
	emitter.ended_task.taken_count += task->taken_count;
	task->previous->next = task->next;
	if (task->next)
		task->next->previous = task->previous;
	task->is_free = true;
	task->next = NULL;
	*free_slots_end = task;
	free_slots_end = &task->next;
	emitter.task_count--;
}

void task_left(struct task *task)
{
	if (task->has_ended && !task->shards && !emitter_is_heard())
		task_recycle(task);
}

void telem_task_name(const char *name)
{
	int saved = errno;
	struct thread *thread;

	emitter_restart_in_child();
	thread = thread_self();
	if (thread) {
		emitter_lock();
		snprintf(thread->stack[0]->task->name, LIMIT_NAME_BYTES, "%s", name);
		thread->stack[0]->task->is_told = false;
		emitter_unlock();
	}
	errno = saved;
}

int telem_task_new(const char *name)
{
	int saved = errno;
	struct task *task;

	emitter_restart_in_child();
	emitter_lock();
	task = task_make(name, 0);
	emitter_unlock();
	errno = saved;
	return task ? task->id : -ENOSPC;
}

int telem_task_enter(int id)
{
	int saved = errno, result = -ENOSPC;
	struct thread *thread;
	struct shard *shard = NULL;

	emitter_restart_in_child();
	thread = thread_self();
	if (thread && thread->depth < LIMIT_TASK_DEPTH) {
		/* Its own shards are this thread's to read. */
		for (shard = thread->shards; shard; shard = shard->next)
			if (shard->task->id == id && !__atomic_load_n(&shard->task->has_ended, __ATOMIC_RELAXED) &&
			    shard->cell_count >= thread->stack[0]->cell_count)
				break;
		if (!shard) {
			struct task *task;

			emitter_lock();
			task = task_find(id);
			if (task)
				shard = shard_for(thread, task);
			else
				result = -EINVAL;
			emitter_unlock();
		}
	}
	if (shard) {
		thread->stack[++thread->depth] = shard;
		shard_enter(shard);
		if (thread->ring)
			ring_task(thread->ring, shard->task->id);
		result = 0;
	}
	errno = saved;
	return result;
}

void telem_task_leave(void)
{
	struct thread *thread = telem_thread_.cell_count ? thread_self() : NULL;

	if (!thread || thread->depth == 0)
		return;
	thread->depth--;
	shard_enter(thread->stack[thread->depth]);
	if (thread->ring)
		ring_task(thread->ring, thread->stack[thread->depth]->task->id);
}

void telem_task_end(int id)
{
	int saved = errno;
	struct task *task;

	emitter_lock();
	task = task_find(id);
	if (task) {
		__atomic_store_n(&task->has_ended, true, __ATOMIC_RELAXED);
		shard_leave_orphan(task);
		task_left(task);
	}
	emitter_unlock();
	errno = saved;
}
