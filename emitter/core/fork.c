#include "emitter/core/fork.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

#include "emitter/core/lock.h"

static const struct fork_hook *hooks;
static size_t hook_count;
static bool in_child;                /* this is a forked child that has not started anew: all state is its parent's */

static void before_fork(void)
{
	for (size_t i = hook_count; i-- > 0;)
		if (hooks[i].prepare)
			hooks[i].prepare();
}

static void after_fork_in_parent(void)
{
	for (size_t i = 0; i < hook_count; i++)
		if (hooks[i].parent)
			hooks[i].parent();
}

static void after_fork_in_child(void)
{
	for (size_t i = 0; i < hook_count; i++)
		if (hooks[i].child)
			hooks[i].child();
	__atomic_store_n(&in_child, true, __ATOMIC_RELAXED);
}

void fork_watch(const struct fork_hook *rows, size_t count)
{
	assert(!hooks);
	hooks = rows;
	hook_count = count;
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

bool fork_awaits_restart(void)
{
	return __atomic_load_n(&in_child, __ATOMIC_RELAXED);
}

void fork_restart_locked(void)
{
	if (!fork_awaits_restart())
		return;
	for (size_t i = 0; i < hook_count; i++)
		if (hooks[i].restart)
			hooks[i].restart();
	__atomic_store_n(&in_child, false, __ATOMIC_RELAXED);
}

void fork_restart(void)
{
	int saved = errno;

	/* A signal handler in the child may have interrupted a thread that holds the lock. */
	if (!fork_awaits_restart() || thread_is_inside)
		return;
	lock_take();
	fork_restart_locked();
	lock_release();
	errno = saved;
}
