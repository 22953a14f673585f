/* task.h -- the table of tasks, to which events are attributed. Each thread is one of them.
 *
 * All of this is called, read and written with the lock held, except where a comment says otherwise. */
#ifndef TELEM_EMITTER_RECORD_TASK_H
#define TELEM_EMITTER_RECORD_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/limits.h"

struct shard;

struct task {
	struct task *next, *previous;    /* in the list of live tasks; next also links free slots */
	struct shard *shards;        /* linked by next_of_task */
	struct shard *unowned;       /* one of these shards: the sums of threads that ended, while the task lives */
	int id;                      /* > TASK_ENDED; slot and generation */
	bool is_free, has_ended, is_sent;
	bool is_used;                /* it has had an event; the two common tasks are not sent before that; atomic */
	uint64_t gone_at;            /* the number of the drain that takes its last events; 0 while that is not known */
	pid_t thread_id;             /* 0 when the task is not a thread */
	char name[LIMIT_NAME_BYTES];
	uint64_t taken[LIMIT_CLASSES], taken_count;  /* events that the stream took */
	bool in_dump;                /* the dump that is being written has defined it */
	uint64_t dumped_count;       /* how many of its events are in that dump */
	/* Added to what its shards hold: the counts of shards that were freed, and of events that were lost after the
	 * ring. */
	uint64_t emitted[LIMIT_CLASSES], dropped[LIMIT_CLASSES];
	uint64_t cost_ps[LIMIT_CLASSES];     /* what its events cost beyond level sum */
	uint64_t previous_books;     /* fingerprint of the books at the last tick */
};

extern struct task_table {
	struct task *first;          /* the live tasks: task_ended, task_shared, then the others */
	uint32_t count;              /* without these two */
} task_table __attribute__((visibility("hidden")));
/* The two common tasks have the events of tasks that ended, and of threads beyond the limits. */
extern struct task task_ended __attribute__((visibility("hidden")));
extern struct task task_shared __attribute__((visibility("hidden")));

/* Empties the table, except for the two common tasks. */
void tasks_begin(void);
/* Makes a task; NULL when there are too many. */
struct task *task_make(const char *name, pid_t thread_id);
/* Finds a task by id; NULL when it has ended. */
struct task *task_find(int id);
/* Returns the task that an event with this id counts for: task_ended when its own is gone. */
struct task *task_of(int id);
/* Frees the slot of a task that has ended, has no shard, and whose end has been sent. */
void task_recycle(struct task *task);
/* Does the same if the task has ended, no thread is in it, and no reader is there. */
void task_left(struct task *task);
/* Returns whether the task is sent to readers. The two common ones are, once they have events. */
bool task_is_worth_sending(const struct task *task);
#endif
