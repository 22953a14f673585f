/* queue.h -- a bounded queue of files to read, from the walker to the workers.
 *
 * It shows how to instrument a queue. A job carries a telem_stamp() from the place where it is
 * pushed to the place where it is popped: that is a latency across threads without a table. Its id
 * pairs the mark "enqueued" with the mark "done". */
#ifndef TELEM_DEMO_QUEUE_H
#define TELEM_DEMO_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_SLOTS = 256 };

struct job {
	uint64_t id, enqueued_stamp;
	char *path;                           /* owned, type "string" */
};

struct queue {
	pthread_mutex_t lock;                 /* protects everything below */
	pthread_cond_t not_empty, not_full;
	struct job jobs[QUEUE_SLOTS];
	uint32_t first, count;
	bool closed;
};

void queue_init(struct queue *queue);
/* Takes job->path. Waits while the queue is full. Returns false when the queue has been closed. */
bool queue_push(struct queue *queue, struct job job);
/* Waits for a job, whose path the caller then owns. Returns false when the queue is closed and empty. */
bool queue_pop(struct queue *queue, struct job *out);
/* Call for each popped job when its work is done. */
void queue_job_done(uint64_t id);
/* Closes the queue to further jobs. With drop, the jobs in it are freed and not done. */
void queue_close(struct queue *queue, bool drop);
void queue_fini(struct queue *queue);
#endif
