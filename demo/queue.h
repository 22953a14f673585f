/* queue.h -- a bounded queue of files to read, from the walker to the workers.
 *
 * How to instrument a queue: a job carries a telem_stamp() from where it is put to
 * where it is taken (a latency across threads, without a table), and its id ties
 * the mark "enqueued" to the mark "done". */
#ifndef TELEM_DEMO_QUEUE_H
#define TELEM_DEMO_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_SLOTS = 256 };

struct job {
	uint64_t id, enqueued_stamp;
	char *path;                           /* own, type "string" */
};

struct queue {
	pthread_mutex_t lock;                 /* over all below */
	pthread_cond_t not_empty, not_full;
	struct job jobs[QUEUE_SLOTS];
	uint32_t first, count;
	bool closed;
};

void queue_init(struct queue *queue);
/* Takes job->path. Waits while the queue is full; false when it was closed. */
bool queue_push(struct queue *queue, struct job job);
/* Waits for a job; its path is the caller's. False when closed and empty. */
bool queue_pop(struct queue *queue, struct job *out);
/* To be called for each job taken, when the work for it is over. */
void queue_job_done(uint64_t id);
/* No more jobs will come; drop: nor is to be done what is there. */
void queue_close(struct queue *queue, bool drop);
void queue_fini(struct queue *queue);
#endif
