/* flusher_thread.h -- which thread the flusher is.
 *
 * A flusher that hangs in one of the program's reporters is left behind: its generation is over,
 * and when it comes back it touches nothing. */
#ifndef TELEM_EMITTER_DELIVER_FLUSHER_THREAD_H
#define TELEM_EMITTER_DELIVER_FLUSHER_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts run(generation) in a thread that blocks all signals. 0 or a negative errno. Locked. */
int flusher_thread_start(void *(*run)(void *generation));
/* The thread is about to be joined, or is the parent's: there is none any more. Returns whether
 * there was one, and which. */
bool flusher_thread_take(pthread_t *thread);
/* Nobody waits for the thread any more. Locked. */
void flusher_thread_leave_behind(pthread_t thread);
/* Was the thread of that generation left behind? Locked. */
bool flusher_thread_is_left(uint64_t generation);
/* Is the caller the flusher? For signal handlers, too. */
bool flusher_thread_is_self(void);
uint64_t flusher_thread_cpu_ns(void);
/* In the child of fork(): there is none. */
void flusher_thread_forget(void);
#endif
