#include "emitter/core/lock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flushed;

__thread int thread_is_inside __attribute__((tls_model("initial-exec")));
/* The cancel state that this thread had before it took the lock. */
static __thread int cancel_state __attribute__((tls_model("initial-exec")));

void lock_take(void)
{
	int before;

	thread_is_inside++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_mutex_lock(&mutex);
	cancel_state = before;
}

void lock_release(void)
{
	int before = cancel_state;

	assert(thread_is_inside > 0);
	pthread_mutex_unlock(&mutex);
	pthread_setcancelstate(before, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_is_inside--;
}

void lock_pause(void)
{
	lock_release();
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 50000 }, NULL);
	lock_take();
}

void lock_begin(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&flushed, &attributes);
	pthread_condattr_destroy(&attributes);
}

void lock_release_in_child(void)
{
	lock_release();
	/* The condition variable is not destroyed first, because pthread_cond_destroy() would wait for the parent's
	 * waiting threads. */
	lock_begin();
}

void lock_wait_flushed(void)
{
	pthread_cond_wait(&flushed, &mutex);
}

int lock_wait_flushed_until(uint64_t end_ns)
{
	struct timespec end = { (time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u) };

	return pthread_cond_timedwait(&flushed, &mutex, &end) == ETIMEDOUT ? -ETIMEDOUT : 0;
}

void lock_flushed(void)
{
	pthread_cond_broadcast(&flushed);
}
