/* attribution.c -- the program's calls that say which task a thread's events belong to. */
#include "emitter/core/api.h"

#include <errno.h>
#include <stdio.h>

#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/record/ring.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"
#include "protocol/name.h"

void telem_task_name(const char *name)
{
	int saved = errno;
	struct thread *thread;

	fork_restart();
	thread = thread_self();
	if (thread) {
		lock_take();
		name_copy(thread->stack[0]->task->name, LIMIT_NAME_BYTES, name);
		thread->stack[0]->task->is_sent = false;
		lock_release();
	}
	errno = saved;
}

int telem_task_new(const char *name)
{
	int saved = errno;
	struct task *task;

	fork_restart();
	lock_take();
	task = task_make(name, 0);
	lock_release();
	errno = saved;
	return task ? task->id : -ENOSPC;
}

int telem_task_enter(int id)
{
	int saved = errno, result = -ENOSPC;
	struct thread *thread;
	struct shard *shard = NULL;

	fork_restart();
	thread = thread_self();
	if (thread && thread->depth < LIMIT_TASK_DEPTH) {
		/* This thread may read its own list of shards without the lock. */
		for (shard = thread->shards; shard; shard = shard->next)
			if (shard->task->id == id && !__atomic_load_n(&shard->task->has_ended, __ATOMIC_RELAXED) &&
			    shard->cell_count >= thread->stack[0]->cell_count)
				break;
		if (!shard) {
			struct task *task;

			lock_take();
			task = task_find(id);
			if (task)
				shard = thread_shard_in(thread, task);
			else
				result = -EINVAL;
			lock_release();
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

	lock_take();
	task = task_find(id);
	if (task) {
		__atomic_store_n(&task->has_ended, true, __ATOMIC_RELAXED);
		shard_leave_unowned(task);
		task_left(task);
	}
	lock_release();
	errno = saved;
}
