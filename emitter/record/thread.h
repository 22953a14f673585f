/* thread.h -- the threads that record events, from their first event to their end.
 *
 * A thread's state is its own: it writes it without a lock. The list of them, and what is marked
 * so, is under the emitter's lock. */
#ifndef TELEM_EMITTER_RECORD_THREAD_H
#define TELEM_EMITTER_RECORD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/record/shard.h"
#include "protocol/limits.h"
#include "protocol/message.h"

struct handler;
struct ring;
struct task;

/* What a thread's figures were when its present frame began. */
struct frame_start {
	uint64_t ticks;              /* 0: it has none */
	uint64_t run;                /* of telemetry, in which it began */
	uint32_t counter_count;      /* that were chosen then */
	uint64_t alloc_count, logs[SEVERITY_COUNT], counters[LIMIT_COUNTERS_A_FRAME];
};

/* One thread's state: recycled, never unmapped, for a thread may still be looking. */
struct thread {
	struct thread *next;         /* locked */
	struct ring *ring;           /* NULL until its first event at level all */
	struct shard *shards;        /* those that it is or was in */
	struct shard *stack[LIMIT_TASK_DEPTH + 1];   /* own task's first */
	uint32_t depth;
	bool is_free, has_ended;     /* locked */
	/* Which handlers it is in, and since when it calls any; read by the thread that detaches one. */
	uint64_t dispatch_epoch;     /* 0: it calls none */
	struct handler *inside[LIMIT_HANDLER_DEPTH];
	uint64_t logs[SEVERITY_COUNT];       /* lines so far */
	struct frame_start frames[LIMIT_FRAMES];
	uint64_t carried[LIMIT_FRAME_COUNTERS];      /* what these counters hold in shards that it has left */
	uint32_t limited[LIMIT_CLASSES];     /* events of classes that stream one in some */
};

extern struct thread_table {
	struct thread *first;
	uint32_t count, ring_count;
	uint32_t ended_count;        /* threads that ended and still hold a ring */
} thread_table __attribute__((visibility("hidden")));

/* This thread; NULL before thread_self() has attached it. */
extern __thread struct thread *my_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* This thread, attached at its first call; NULL beyond the limits, at a thread's very end or
 * inside another slow path (a signal). */
struct thread *thread_self(void);
/* hook is called by each thread that ends, when it has left its ring behind. Not locked. */
void thread_on_end(void (*hook)(void));
/* An ended thread whose ring is empty: its state and its ring may serve another. Locked. */
void thread_retire(struct thread *thread);

/* A new shard of this thread in a task; NULL when there is no room. Locked. */
struct shard *thread_shard_in(struct thread *thread, struct task *task);
/* From now on threads carry the sum of this counter along when they leave shards. Returns which
 * of the LIMIT_FRAME_COUNTERS it is, or -ENOSPC. Locked. */
int thread_carry(uint32_t site);
/* The sum of a carried counter over all that this thread has counted. */
uint64_t thread_carried_sum(const struct thread *thread, uint32_t which);
uint32_t thread_carried_site(uint32_t which);

/* In the child of fork(): this thread is new; and, locked, before its first event: nothing of
 * the parent's threads remains. */
void thread_forget(void);
void threads_forget(void);
#endif
