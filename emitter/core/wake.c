#include "emitter/core/wake.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/socket.h>

#include "emitter/core/descriptor.h"

/* Any thread may send, so the sending end is changed only when no thread is about to send. Both are atomic. */
static int send_fd = -1;
static int waker_count;
static struct file_id send_file;
/* The flusher's end. */
static int receive_fd = -1;
static struct file_id receive_file;

int wake_open(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	receive_fd = pair[0];
	receive_file = descriptor_file(pair[0]);
	send_file = descriptor_file(pair[1]);
	__atomic_store_n(&send_fd, pair[1], __ATOMIC_SEQ_CST);
	return 0;
}

void wake_signal(void)
{
	int saved = errno, fd, cancel;

	/* A thread that is cancelled in send() would never be subtracted from the count. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	__atomic_fetch_add(&waker_count, 1, __ATOMIC_SEQ_CST);
	fd = __atomic_load_n(&send_fd, __ATOMIC_SEQ_CST);
	/* When no more bytes fit, the flusher is awake already. After any other error, which a filter of system calls may
	 * make, the end of the stream wakes it. */
	if (fd >= 0 && descriptor_is(fd, send_file) && send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
	    errno != EAGAIN && errno != EWOULDBLOCK)
		shutdown(fd, SHUT_RDWR);
	__atomic_fetch_sub(&waker_count, 1, __ATOMIC_SEQ_CST);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

bool wake_keep(void)
{
	if (descriptor_is(send_fd, send_file) && descriptor_is(receive_fd, receive_file))
		return true;
	wake_close();
	if (descriptor_may_open())
		wake_open();
	return false;
}

int wake_fd(void)
{
	return receive_fd;
}

void wake_clear(void)
{
	char signals[512];

	/* At its end the pair is of no more use; wake_keep() makes another. */
	if (descriptor_is(receive_fd, receive_file) && recv(receive_fd, signals, sizeof signals, MSG_DONTWAIT) == 0)
		wake_close();
}

void wake_close(void)
{
	int fd = __atomic_exchange_n(&send_fd, -1, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&waker_count, __ATOMIC_SEQ_CST) > 0)
		sched_yield();
	descriptor_close(&fd, send_file);
	descriptor_close(&receive_fd, receive_file);
}

void wake_forget(void)
{
	waker_count = 0;
	wake_close();
}
