#include "emitter/deliver/flusher_thread.h"

#include <errno.h>
#include <signal.h>

#include "emitter/core/clock.h"

static pthread_t flusher;
static bool has_thread;
static uint64_t generation_now;

bool flusher_thread_is_self(void)
{
	return has_thread && pthread_equal(flusher, pthread_self());
}

bool flusher_thread_is_left(uint64_t generation)
{
	return generation != generation_now;
}

int flusher_thread_start(void *(*run)(void *generation))
{
	pthread_attr_t attributes;
	sigset_t all, before;
	void *generation = (void *)(uintptr_t)++generation_now;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&flusher, &attributes, run, generation);
	/* A program with much thread-local storage needs a stack of the usual size. */
	if (err == EINVAL)
		err = pthread_create(&flusher, NULL, run, generation);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (err)
		return -err;
	pthread_setname_np(flusher, "telem");
	has_thread = true;
	return 0;
}

bool flusher_thread_take(pthread_t *thread)
{
	bool was_there = has_thread;

	*thread = flusher;
	has_thread = false;
	return was_there;
}

void flusher_thread_leave_behind(pthread_t thread)
{
	generation_now++;
	pthread_detach(thread);
}

uint64_t flusher_thread_cpu_ns(void)
{
	clockid_t clock;

	return has_thread && pthread_getcpuclockid(flusher, &clock) == 0 ? clock_read_ns(clock) : 0;
}

void flusher_thread_forget(void)
{
	has_thread = false;
}
