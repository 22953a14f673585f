/* thread.h -- the threads that record events, from their first event to their end.
 *
 * A thread writes its own state without a lock. The list of threads, and fields that are marked "locked", are under the
 * emitter's lock. */
#ifndef TELEM_EMITTER_RECORD_THREAD_H
#define TELEM_EMITTER_RECORD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/record/sample.h"
#include "emitter/record/shard.h"
#include "protocol/limits.h"
#include "protocol/message.h"

struct handler;
struct look;
struct ring;
struct task;

/* A thread's figures at the moment when its present frame began. */
struct frame_start {
	uint64_t ticks;              /* 0 while no frame has begun */
	uint64_t run;                /* settings.runs at that moment */
	uint32_t counter_count;      /* how many counters the frame had at that moment */
	uint64_t alloc_count, logs[SEVERITY_COUNT], counters[LIMIT_COUNTERS_A_FRAME];
};

/* One thread's state. It is recycled but never unmapped, because another thread may still be reading it. */
struct thread {
	struct thread *next;         /* locked */
	struct ring *ring;           /* NULL until its first event at level all */
	struct shard *shards;        /* of the tasks that it is or was in */
	struct shard *stack[LIMIT_TASK_DEPTH + 1];   /* the shards of the tasks it has entered, its own task's first */
	uint32_t depth;
	int task_id;                 /* of its own task, also when the thread has ended */
	bool is_free, has_ended;     /* locked */
	bool is_unwatched;           /* nobody tells when it ends; locked */
	/* The handlers it is in, and the epoch in which it entered; read by the thread that detaches a handler. */
	uint64_t dispatch_epoch;     /* 0 while it calls no handler */
	struct handler *inside[LIMIT_HANDLER_DEPTH];
	uint64_t logs[SEVERITY_COUNT];       /* lines so far */
	struct frame_start frames[LIMIT_FRAMES];
	uint64_t carried[LIMIT_FRAME_COUNTERS];      /* the sums of these counters in shards that it has left */
	struct look *looks;          /* of its log lines, made at its first line at level all; atomic pointer */
	struct sampler sampler;      /* draws its sampled allocations */
	uint32_t limited[LIMIT_CLASSES];     /* how many events it has had of each class that streams one in N */
};

extern struct thread_table {
	struct thread *first;
	uint32_t count, ring_count;
	uint32_t ended_count;        /* threads that ended and still hold a ring */
} thread_table __attribute__((visibility("hidden")));

/* The state of the calling thread; NULL before thread_self() has attached it. */
extern __thread struct thread *my_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* Returns the state of the calling thread, which is attached at the first call. NULL beyond the limits, after the
 * thread's destructor, and for a signal handler that has interrupted a slow path. */
struct thread *thread_self(void);
/* Sets a hook that each ending thread calls when it has left its ring to the flusher. Call without the lock. */
void thread_on_end(void (*hook)(void));
/* Finds threads that have ended without a word, where that can happen. Call with the lock held. */
void threads_look(void);
/* Frees the state and ring of an ended thread whose ring is empty, for another thread. Call with the lock held. */
void thread_retire(struct thread *thread);

/* Makes a shard of this thread in a task; NULL when there is no room. Call with the lock held. */
struct shard *thread_shard_in(struct thread *thread, struct task *task);
/* Makes threads carry the sum of this counter along from now on, when they leave a shard. Returns its index among the
 * LIMIT_FRAME_COUNTERS, or -ENOSPC. Call with the lock held. */
int thread_carry(uint32_t site);
/* Returns the sum of a carried counter over all shards in which this thread has counted. */
uint64_t thread_carried_sum(const struct thread *thread, uint32_t which);
uint32_t thread_carried_site(uint32_t which);

/* In the child of fork(): the first makes the calling thread a new one; the second, called with the lock held before the
 * child's first event, frees the states of the parent's threads. */
void thread_forget(void);
void threads_forget(void);
#endif
