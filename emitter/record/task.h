/* task.h -- the table of tasks: what work is attributed to, threads among them. Locked. */
#ifndef TELEM_EMITTER_RECORD_TASK_H
#define TELEM_EMITTER_RECORD_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/limits.h"

struct shard;

struct task {
	struct task *next, *previous;    /* in the list of live ones; next: or of free slots */
	struct shard *shards;        /* linked by next_of_task */
	struct shard *unowned;       /* one of them: what threads left that ended, while the task lives */
	int id;                      /* > TASK_ENDED; slot and generation */
	bool is_free, has_ended, is_sent;
	bool is_used;                /* the two common ones: sent only when they hold something; atomic */
	uint64_t gone_at;            /* which drain takes its last events; 0: not known yet */
	pid_t thread_id;             /* 0: it is no thread */
	char name[LIMIT_NAME_BYTES];
	uint64_t taken[LIMIT_CLASSES], taken_count;  /* events that the stream took */
	bool in_dump;                /* the dump that is being written knows it, and so many of its events: */
	uint64_t dumped_count;
	/* Beside what its shards hold: of shards that are gone, and lost behind the ring. */
	uint64_t emitted[LIMIT_CLASSES], dropped[LIMIT_CLASSES];
	uint64_t cost_ps[LIMIT_CLASSES];     /* what its events cost beyond level sum */
	uint64_t previous_books;     /* fingerprint of the books at the last tick */
};

extern struct task_table {
	struct task *first;          /* of the live ones: task_ended, task_shared, then the others */
	uint32_t count;              /* without these two */
} task_table __attribute__((visibility("hidden")));
/* What ended tasks leave; what threads beyond the limits record. */
extern struct task task_ended __attribute__((visibility("hidden")));
extern struct task task_shared __attribute__((visibility("hidden")));

/* Empties the table, but for the two common tasks. */
void tasks_begin(void);
/* NULL: there are too many. */
struct task *task_make(const char *name, pid_t thread_id);
/* NULL when it has ended. */
struct task *task_find(int id);
/* Whose an event is: task_ended's when its task is gone. */
struct task *task_of(int id);
/* Gives the slot back, once the task has ended, has no shard, and its end has been sent. */
void task_recycle(struct task *task);
/* The same, if it has ended, no thread is in it, and no reader need be told. */
void task_left(struct task *task);
/* Shall readers know it? The two common ones only when they hold something. */
bool task_is_worth_sending(const struct task *task);
#endif
