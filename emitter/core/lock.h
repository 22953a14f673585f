/* lock.h -- the emitter's one lock, and the condition that goes with it.
 *
 * Threads of the program write their own cells and rings without it; they take it only in slow
 * paths (a thread's first event, a new task). The flusher takes it while it drains, sums and
 * encodes, and never holds it while it waits or writes. "Locked" in a comment means that the
 * caller holds it. */
#ifndef TELEM_EMITTER_CORE_LOCK_H
#define TELEM_EMITTER_CORE_LOCK_H

#include <stdint.h>

/* Above 0 while this thread is inside a slow path. A signal handler that comes then must not
 * wait for a lock that its own thread holds. */
extern __thread int thread_is_inside __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* This thread cannot be cancelled between the two: it would keep the lock for ever. */
void lock_take(void);
void lock_release(void);
/* Sleeps 50 us with the lock released; for polling state that has no condition variable. Locked. */
void lock_pause(void);
/* Makes the condition below; once, before it is waited for. */
void lock_begin(void);
/* In the child of fork(), whose parent held the lock: releases it, and makes the condition anew. */
void lock_release_in_child(void);

/* The condition: the flusher has passed a fence, a sink has gone, or telemetry has stopped.
 * Waits for it, locked on entry and exit. */
void lock_wait_flushed(void);
/* The same until end_ns of CLOCK_MONOTONIC; 0 or -ETIMEDOUT. */
int lock_wait_flushed_until(uint64_t end_ns);
/* Wakes all that wait for it. */
void lock_flushed(void);
#endif
