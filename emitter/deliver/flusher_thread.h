/* flusher_thread.h -- which thread is the flusher.
 *
 * When telemetry stops while the flusher hangs in one of the program's reporters, that thread is left behind: its
 * generation is over, and when the reporter returns the thread ends without touching anything. */
#ifndef TELEM_EMITTER_DELIVER_FLUSHER_THREAD_H
#define TELEM_EMITTER_DELIVER_FLUSHER_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts run(generation) in a thread that blocks all signals. Returns 0 or a negative errno. Call with the lock
 * held. */
int flusher_thread_start(void *(*run)(void *generation));
/* Forgets the thread, because it is about to be joined or is the parent's. Returns whether there was one, and sets
 * *thread. */
bool flusher_thread_take(pthread_t *thread);
/* Leaves the thread behind: no thread will join it. Call with the lock held. */
void flusher_thread_leave_behind(pthread_t thread);
/* Returns whether the thread of this generation was left behind. Call with the lock held. */
bool flusher_thread_is_left(uint64_t generation);
/* Returns whether the calling thread is the flusher. Signal handlers may call it. */
bool flusher_thread_is_self(void);
uint64_t flusher_thread_cpu_ns(void);
/* In the child of fork(): there is no flusher. */
void flusher_thread_forget(void);
#endif
