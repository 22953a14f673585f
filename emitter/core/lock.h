/* lock.h -- the emitter's one lock, and the condition that goes with it.
 *
 * Threads of the program write their own cells and rings without it; they take it only in slow
 * paths (a thread's first event, a new task). The flusher takes it while it drains, sums and
 * encodes, and never holds it while it waits or writes. */
#ifndef TELEM_EMITTER_CORE_LOCK_H
#define TELEM_EMITTER_CORE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Above 0 while this thread is inside a slow path. A signal handler that comes then must not
 * wait for a lock that its own thread holds. */
extern __thread int thread_is_inside __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Take and release the lock. The thread cannot be cancelled in between, because then the lock would never be
 * released. */
void lock_take(void);
void lock_release(void);
/* Sleeps 50 us with the lock released; for polling state that has no condition variable. Call with the lock held. */
void lock_pause(void);
/* Called once, before any thread waits for the condition. */
void lock_begin(void);
/* Gives its page back, for the code is about to be unloaded. */
void lock_end(void);
/* Called before fork(), in the parent. A signal handler may fork while it interrupts this thread in a slow path; then
 * this takes the lock only if the thread does not hold it. */
void lock_take_for_fork(void);
/* Called after fork(), in the parent. */
void lock_release_after_fork(void);
/* Called after fork(), in the child. */
void lock_release_in_child(void);
/* Returns whether this is a child that was made without the hooks of pthread_atfork(), by a bare clone() or _Fork().
 * There a thread of the parent may have held the lock; lock_take() does not wait for it. */
bool lock_is_of_parent(void);

/* Waits for the condition: the flusher has passed a fence, a sink has gone, or telemetry has stopped. Call with the
 * lock held; it is released while the thread waits. */
void lock_wait_flushed(void);
/* Does the same, but only until end_ns of CLOCK_MONOTONIC. Returns 0 or -ETIMEDOUT. */
int lock_wait_flushed_until(uint64_t end_ns);
/* Wakes all threads that wait for the condition. */
void lock_flushed(void);
#endif
