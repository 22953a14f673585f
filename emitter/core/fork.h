/* fork.h -- telemetry in a child of fork(): silent, and started anew at the child's first event.
 *
 * The child has neither the flusher nor anything of what its parent was about to send. Each
 * module that must know about it has a row of hooks; core/fork only calls them in order. A child
 * that only calls exec() does next to nothing. */
#ifndef TELEM_EMITTER_CORE_FORK_H
#define TELEM_EMITTER_CORE_FORK_H

#include <stdbool.h>
#include <stddef.h>

/* Functions of one module that are called around fork(). Each may be NULL. */
struct fork_hook {
	void (*prepare)(void);       /* called before fork(), in the parent; last row first */
	void (*parent)(void);        /* called after fork(), in the parent */
	void (*child)(void);         /* called after fork(), in the child */
	void (*restart)(void);       /* called at the child's first event, with the lock held */
};

/* Registers the hooks; called once. The rows are never freed. */
void fork_watch(const struct fork_hook *rows, size_t count);
/* Calls the restart hooks in a child that has not started anew, and costs little anywhere else. Call without the
 * lock; errno is not changed. */
void fork_restart(void);
/* Does the same. Call with the lock held. */
void fork_restart_locked(void);
/* Returns whether this is a child that has not started anew. */
bool fork_awaits_restart(void);
#endif
