#include "emitter/core/wake.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Any thread may write to the eventfd, so it is closed only when no thread is about to write. Both are atomic. */
static int event_fd = -1;
static int waker_count;

int wake_open(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	__atomic_store_n(&event_fd, fd, __ATOMIC_SEQ_CST);
	return 0;
}

void wake_signal(void)
{
	int saved = errno, fd, cancel;

	/* A thread that is cancelled in write() would never be subtracted from the count. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	__atomic_fetch_add(&waker_count, 1, __ATOMIC_SEQ_CST);
	fd = __atomic_load_n(&event_fd, __ATOMIC_SEQ_CST);
	if (fd >= 0 && write(fd, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0) {
		/* The flusher is awake already. */
	}
	__atomic_fetch_sub(&waker_count, 1, __ATOMIC_SEQ_CST);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

int wake_fd(void)
{
	return __atomic_load_n(&event_fd, __ATOMIC_SEQ_CST);
}

void wake_clear(void)
{
	uint64_t wakes;

	if (read(wake_fd(), &wakes, sizeof wakes) < 0) {
		/* No signal has come. */
	}
}

void wake_close(void)
{
	int fd = __atomic_exchange_n(&event_fd, -1, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&waker_count, __ATOMIC_SEQ_CST) > 0)
		sched_yield();
	if (fd >= 0)
		close(fd);
}

void wake_forget(void)
{
	waker_count = 0;
	wake_close();
}
