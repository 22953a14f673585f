/* fork.h -- telemetry in a child of fork(): silent, and started anew at the child's first event.
 *
 * The child has neither the flusher nor anything of what its parent was about to send. Each
 * module that must know about it has a row of hooks; core/fork only calls them in order. A child
 * that only calls exec() does next to nothing. */
#ifndef TELEM_EMITTER_CORE_FORK_H
#define TELEM_EMITTER_CORE_FORK_H

#include <stdbool.h>
#include <stddef.h>

/* Each may be NULL. */
struct fork_hook {
	void (*prepare)(void);       /* before fork(), in the parent; last row first */
	void (*parent)(void);        /* after it, in the parent */
	void (*child)(void);         /* after it, in the child */
	void (*restart)(void);       /* at the child's first event; locked */
};

/* Once; rows must live for ever. */
void fork_watch(const struct fork_hook *rows, size_t count);
/* This process has the flusher from now on. */
void fork_belongs_here(void);
/* In a child that has not started anew, calls the restart hooks. Not locked, keeps errno. Cheap
 * everywhere else. */
void fork_restart(void);
/* The same, locked. */
void fork_restart_locked(void);
/* In a child that has not started anew? */
bool fork_awaits_restart(void);
/* In a child whose fork pthread_atfork() did not see (a bare clone): it has no flusher, and the
 * lock may be held by a thread that it does not have. */
bool fork_is_unseen_child(void);
#endif
