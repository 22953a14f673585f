#include "demo/queue.h"

#include "emitter/telem.h"

TELEM_CLASS(queue, "jobs on their way to the workers", TELEM_SUM);

void queue_init(struct queue *queue)
{
	*queue = (struct queue){ .count = 0 };
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->not_empty, NULL);
	pthread_cond_init(&queue->not_full, NULL);
}

bool queue_push(struct queue *queue, struct job job)
{
	bool pushed;

	pthread_mutex_lock(&queue->lock);
	while (queue->count == QUEUE_SLOTS && !queue->closed)
		pthread_cond_wait(&queue->not_full, &queue->lock);
	pushed = !queue->closed;
	if (pushed) {
		/* Emitted under the lock, so that "enqueued" comes before "done". */
		TELEM_MARK(queue, "enqueued", job.id);
		TELEM_LATENCY_BEGIN(queue, "found to done", job.id);
		job.enqueued_stamp = telem_stamp();
		queue->jobs[(queue->first + queue->count++) % QUEUE_SLOTS] = job;
		TELEM_GAUGE(queue, "queue length", queue->count);
		pthread_cond_signal(&queue->not_empty);
	}
	pthread_mutex_unlock(&queue->lock);
	if (!pushed)
		telem_free(string, job.path);
	return pushed;
}

static void take_first(struct queue *queue, struct job *out)
{
	*out = queue->jobs[queue->first];
	queue->first = (queue->first + 1) % QUEUE_SLOTS;
	queue->count--;
	TELEM_GAUGE(queue, "queue length", queue->count);
}

bool queue_pop(struct queue *queue, struct job *out)
{
	bool popped;

	pthread_mutex_lock(&queue->lock);
	while (queue->count == 0 && !queue->closed)
		pthread_cond_wait(&queue->not_empty, &queue->lock);
	popped = queue->count > 0;
	if (popped) {
		take_first(queue, out);
		pthread_cond_signal(&queue->not_full);
		TELEM_LATENCY(queue, "queue wait", out->enqueued_stamp);
	}
	pthread_mutex_unlock(&queue->lock);
	return popped;
}

void queue_job_done(uint64_t id)
{
	TELEM_MARK(queue, "done", id);
	TELEM_LATENCY_END(queue, "found to done", id);
}

void queue_close(struct queue *queue, bool drop)
{
	struct job job;

	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	while (drop && queue->count > 0) {
		take_first(queue, &job);
		telem_free(string, job.path);
	}
	pthread_cond_broadcast(&queue->not_empty);
	pthread_cond_broadcast(&queue->not_full);
	pthread_mutex_unlock(&queue->lock);
}

void queue_fini(struct queue *queue)
{
	queue_close(queue, true);
	pthread_cond_destroy(&queue->not_full);
	pthread_cond_destroy(&queue->not_empty);
	pthread_mutex_destroy(&queue->lock);
}
