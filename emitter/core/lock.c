#include "emitter/core/lock.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "emitter/core/clock.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flushed;

__thread int thread_is_inside __attribute__((tls_model("initial-exec")));
/* The cancel state that this thread had before it took the lock. */
static __thread int cancel_state __attribute__((tls_model("initial-exec")));
static __thread bool holds_lock __attribute__((tls_model("initial-exec")));
/* Whether lock_take_for_fork() got the lock for this thread's fork(). */
static __thread bool took_for_fork __attribute__((tls_model("initial-exec")));

/* A word in a page that the kernel gives to a child as zeros; NULL: there is none. A child that shares its parent's
 * memory, as that of vfork() does, sees the same word. Atomic. */
static uint32_t *own_memory;

bool lock_is_of_parent(void)
{
	const uint32_t *word = __atomic_load_n(&own_memory, __ATOMIC_ACQUIRE);

	return word && __atomic_load_n(word, __ATOMIC_RELAXED) == 0;
}

void lock_take(void)
{
	int before;

	thread_is_inside++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (pthread_mutex_trylock(&mutex) != 0) {
		/* A child made without fork() would wait for a thread that it does not have. */
		if (lock_is_of_parent())
			pthread_mutex_init(&mutex, NULL);
		pthread_mutex_lock(&mutex);
	}
	holds_lock = true;
	cancel_state = before;
}

void lock_release(void)
{
	int before = cancel_state;

	assert(thread_is_inside > 0);
	holds_lock = false;
	pthread_mutex_unlock(&mutex);
	pthread_setcancelstate(before, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread_is_inside--;
}

void lock_take_for_fork(void)
{
	struct timespec end;

	if (thread_is_inside == 0) {
		lock_take();
		took_for_fork = true;
		return;
	}
	/* A signal handler forks that has interrupted this thread in a slow path. Even when the thread does not hold the
	 * lock by its own account, it may have got it a moment ago, so this does not wait for ever. */
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec++;
	took_for_fork = !holds_lock && pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end) == 0;
}

void lock_release_after_fork(void)
{
	if (took_for_fork && holds_lock)
		lock_release();
	else if (took_for_fork)
		pthread_mutex_unlock(&mutex);
	took_for_fork = false;
}

void lock_pause(void)
{
	lock_release();
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 50000 }, NULL);
	lock_take();
}

static void begin_condition(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&flushed, &attributes);
	pthread_condattr_destroy(&attributes);
}

void lock_begin(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin_condition();
	if (page == MAP_FAILED)
		return;
	if (madvise(page, bytes, MADV_WIPEONFORK) < 0) {
		munmap(page, bytes);
		return;
	}
	*(uint32_t *)page = 1;
	__atomic_store_n(&own_memory, page, __ATOMIC_RELEASE);
}

void lock_end(void)
{
	uint32_t *page = __atomic_exchange_n(&own_memory, NULL, __ATOMIC_RELAXED);

	if (page)
		munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

void lock_release_in_child(void)
{
	/* A thread that held the lock when it was interrupted goes on with it in the child. */
	if (took_for_fork)
		lock_release_after_fork();
	else if (!holds_lock)
		pthread_mutex_init(&mutex, NULL);
	/* The condition variable is not destroyed first, because pthread_cond_destroy() would wait for the parent's
	 * waiting threads. */
	begin_condition();
	if (own_memory)
		__atomic_store_n(own_memory, 1, __ATOMIC_RELAXED);
}

void lock_wait_flushed(void)
{
	holds_lock = false;
	pthread_cond_wait(&flushed, &mutex);
	holds_lock = true;
}

int lock_wait_flushed_until(uint64_t end_ns)
{
	struct timespec end = clock_timespec(end_ns);
	int err;

	holds_lock = false;
	err = pthread_cond_timedwait(&flushed, &mutex, &end);
	holds_lock = true;
	return err == ETIMEDOUT ? -ETIMEDOUT : 0;
}

void lock_flushed(void)
{
	pthread_cond_broadcast(&flushed);
}
