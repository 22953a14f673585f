#include "emitter/deliver/flusher.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "emitter/core/clock.h"
#include "emitter/core/error.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/deliver/closing.h"
#include "emitter/deliver/drain.h"
#include "emitter/deliver/dump.h"
#include "emitter/deliver/fence.h"
#include "emitter/deliver/flusher_thread.h"
#include "emitter/deliver/greet.h"
#include "emitter/deliver/lease.h"
#include "emitter/deliver/poll.h"
#include "emitter/deliver/report.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/turn.h"
#include "emitter/deliver/writer.h"

/* Read and written with the lock held. */
static bool stop_wanted, is_over;    /* is_over: the thread is about to end */
static uint64_t linger_ns;

static uint64_t next_due(uint64_t now_ns)
{
	uint64_t turn_ns = turn_due_ns(), poll_ns = poll_due_ns(now_ns);

	return turn_ns < poll_ns ? turn_ns : poll_ns;
}

static bool is_stop_wanted(void)
{
	bool wanted;

	lock_take();
	wanted = stop_wanted;
	lock_release();
	return wanted;
}

static void end(void)
{
	uint64_t deadline;

	lock_take();
	/* Events that are left, or that threads are recording right now, are lost. */
	drain_discard();
	turn_end(clock_ns());
	deadline = clock_ns() + linger_ns;
	closing_all(deadline, turn_tick(), clock_ns());
	lock_release();
	while (closing_step(turn_tick()) > 0)
		poll_wait(deadline);
	lock_take();
	is_over = true;
	lock_flushed();
	lock_release();
}

static void *run(void *generation)
{
	do {
		uint64_t now_ns;

		poll_wait(next_due(clock_ns()));
		now_ns = clock_ns();
		poll_retry(now_ns);
		dump_wanted(now_ns);
		if (!turn(now_ns, (uint64_t)(uintptr_t)generation, false))
			return NULL;
		closing_step(turn_tick());
	} while (!is_stop_wanted());
	if (!turn(clock_ns(), (uint64_t)(uintptr_t)generation, true))
		return NULL;
	dump_wanted(clock_ns());
	end();
	return NULL;
}

int flusher_start(void)
{
	uint64_t now_ns = clock_ns();
	int err = wake_open();

	if (err < 0)
		return err;
	stop_wanted = is_over = false;
	linger_ns = settings.options.linger_ns;
	fences_forget();
	greet_begin(now_ns);
	turn_begin(now_ns);
	err = flusher_thread_start(run);
	if (err < 0)
		wake_close();
	return err;
}

/* Called when the flusher is in a reporter that does not return. Closes here what the flusher would have closed; the
 * flusher ends when the reporter returns. Call with the lock held. */
static void leave_behind(pthread_t thread)
{
	flusher_thread_leave_behind(thread);
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_flushers(&sinks[i])) {
			leases_drop(&sinks[i]);
			sink_free(&sinks[i]);
		}
	/* The block that is being filled is not sent, and is counted as lost. */
	writer_seal(&writer_shared);
	drain_discard();
	error_set("telem_stop: a reporter did not return; the sinks were closed without a goodbye");
}

/* Returns whether the flusher has ended. It has not when a function of the program holds it up for too long. Call
 * with the lock held. */
static bool wait_for_its_end(pthread_t thread)
{
	uint64_t until = clock_ns() + linger_ns;

	while (!is_over) {
		if (lock_wait_flushed_until(until) != -ETIMEDOUT)
			continue;
		if (reporter_is_asked_by(thread))
			return is_over;
		until = clock_ns() + 100000000;
	}
	return true;
}

void flusher_stop(uint64_t linger)
{
	pthread_t thread;
	bool has_thread = flusher_thread_take(&thread);

	linger_ns = linger;
	stop_wanted = true;
	wake_signal();
	if (has_thread && !wait_for_its_end(thread)) {
		leave_behind(thread);
	} else if (has_thread) {
		lock_release();
		pthread_join(thread, NULL);
		lock_take();
	}
	wake_close();
	__atomic_store_n(&settings.coarse_ticks, 0, __ATOMIC_RELAXED);
	sinks_attended = 0;
}

void flusher_forget(void)
{
	flusher_thread_forget();
	wake_forget();
	settings.coarse_ticks = 0;
	sinks_attended = 0;
}
