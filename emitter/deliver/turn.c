#include "emitter/deliver/turn.h"

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/deliver/burst_write.h"
#include "emitter/deliver/closing.h"
#include "emitter/deliver/cost.h"
#include "emitter/deliver/drain.h"
#include "emitter/deliver/fence.h"
#include "emitter/deliver/frame_write.h"
#include "emitter/deliver/greet.h"
#include "emitter/deliver/report.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/snapshot.h"
#include "emitter/deliver/stream.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/level.h"
#include "emitter/record/ring.h"
#include "emitter/record/shard.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

#define DRAIN_NS_MAX 10000000u       /* draining more often slows the producer: cache lines bounce */
#define DRAIN_NS_MIN 500000u

/* Only the flusher uses this. */
static struct {
	bool has_reader;
	uint64_t drain_ns, next_drain_ns, drains, drained_ticks;
	uint64_t tick, tick_ns, next_tick_ns, previous_tick_ns;
} now;

void turn_begin(uint64_t now_ns)
{
	now.has_reader = false;
	now.next_drain_ns = 0;
	now.drain_ns = DRAIN_NS_MAX;
	now.drained_ticks = clock_ticks();
	now.tick_ns = LIMIT_TICK_NS_DEFAULT;
	now.next_tick_ns = now.tick = 0;
	now.previous_tick_ns = now_ns;
}

uint64_t turn_tick(void)
{
	return now.tick;
}

static void write_sinks(uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_has_reader(&sinks[i]) && sinks[i].queue_count)
			sink_write(&sinks[i], now_ns);
}

/* ---- draining ---- */

/* When a ring is half full, the next drain comes sooner. */
static void pace_drains(uint64_t fullest_permille, uint64_t now_ns)
{
	if (fullest_permille > 500)
		now.drain_ns = now.drain_ns / 2 > DRAIN_NS_MIN ? now.drain_ns / 2 : DRAIN_NS_MIN;
	else if (fullest_permille < 125 && now.drain_ns < DRAIN_NS_MAX)
		now.drain_ns *= 2;
	if (now.drain_ns > DRAIN_NS_MAX)
		now.drain_ns = DRAIN_NS_MAX;
	now.next_drain_ns = now_ns + now.drain_ns;
}

/* Takes what is in the rings now, in pieces. Between two pieces sinks are written, and threads that wait for the lock
 * get it. */
static void drain_all(uint64_t now_ns)
{
	uint64_t fullest_permille = 0;

	lock_take();
	for (struct thread *thread = thread_table.first; thread; thread = thread->next) {
		uint64_t waiting = thread->ring ? ring_waiting(thread->ring) : 0;

		if (waiting && waiting * 1000 / thread->ring->bytes > fullest_permille)
			fullest_permille = waiting * 1000 / thread->ring->bytes;
		while (waiting > 0) {
			uint64_t done;

			/* New sinks are greeted before anything is taken, because events that were recorded since they
			 * came are for them. */
			greet_new(now.tick, now_ns);
			greet_news(now_ns);
			done = drain(thread, waiting < DRAIN_BYTES ? waiting : DRAIN_BYTES, now_ns, false);
			waiting = done && done < waiting ? waiting - done : 0;
			lock_release();
			write_sinks(now_ns);
			lock_take();
		}
	}
	now.drains++;
	lock_release();
	pace_drains(fullest_permille, now_ns);
}

/* Returns whether every ring has been drained since the last thread left the task, which can then be recycled. */
static bool may_leave(struct task *task)
{
	if (!task->has_ended || task->shards)
		return false;
	if (task->gone_at == 0)
		task->gone_at = now.drains + 1;
	return !settings_is_heard() || now.drains >= task->gone_at;
}

/* Frees the state of threads that ended and whose rings are empty. Call with the lock held. */
static void retire_ended(uint64_t now_ns)
{
	struct task *task, *next;

	threads_look();
	for (struct thread *thread = thread_table.first; thread; thread = thread->next)
		if (thread->has_ended && (!thread->ring || ring_waiting(thread->ring) == 0))
			thread_retire(thread);
	for (task = task_shared.next; task; task = next) {
		next = task->next;
		if (!may_leave(task))
			continue;
		if (settings_is_heard())
			greet_task(&writer_shared, task, true, now_ns);
		task_recycle(task);
	}
}

void turn_meanwhile(void)
{
	uint64_t now_ns = clock_ns();

	if (!now.has_reader)
		return;
	__atomic_store_n(&settings.coarse_ticks, clock_ticks(), __ATOMIC_RELAXED);
	if (now_ns >= now.next_drain_ns)
		drain_all(now_ns);
	lock_take();
	retire_ended(now_ns);
	writer_seal(&writer_shared);
	lock_release();
	write_sinks(now_ns);
}

/* ---- the tick ---- */

static uint64_t tick_interval(void)
{
	uint64_t least = 0;

	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_has_reader(&sinks[i]) && sinks[i].tick_ns && (!least || sinks[i].tick_ns < least))
			least = sinks[i].tick_ns;
	return least ? least : LIMIT_TICK_NS_DEFAULT;
}

/* Call with the lock held. */
static void tick(uint64_t now_ns)
{
	now.tick++;
	clock_renew();
	snapshot_write(&writer_shared, now.tick, now_ns - now.previous_tick_ns, false, now_ns);
	writer_seal(&writer_shared);
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_state(&sinks[i]) == SINK_STREAMING) {
			struct writer writer = { .sink = &sinks[i] };

			snapshot_sink(&writer, &sinks[i], now.tick, now_ns);
			writer_seal(&writer);
		}
	now.previous_tick_ns = now_ns;
	now.next_tick_ns = now_ns + now.tick_ns;
}

void turn_end(uint64_t now_ns)
{
	if (now.has_reader)
		tick(now_ns);
}

/* ---- the turn ---- */

/* Returns when the block that is being filled must be sent, even if it is not full. */
static uint64_t block_due_ns(void)
{
	return writer_shared.opened_ns + __atomic_load_n(&settings.flush_ns, __ATOMIC_RELAXED);
}

/* Called while a reader is there: greets it and all other sinks that are due. Call with the lock held. */
static void attend(uint64_t now_ns)
{
	/* Stamps have 48 bits, so events that have waited for half of that range would get a wrong time. */
	if (clock_ticks() - now.drained_ticks > 1ull << (RING_TIME_BITS - 1))
		drain_discard();
	now.drained_ticks = clock_ticks();
	greet_due(now.tick, now_ns);
	now.tick_ns = tick_interval();
	/* The greeting of the first reader was also its first tick. */
	if (!now.has_reader) {
		now.previous_tick_ns = now_ns;
		bursts_write(now_ns, false);     /* those that were over before it came */
	}
	if (!now.has_reader || now.next_tick_ns > now_ns + now.tick_ns)
		now.next_tick_ns = now_ns + now.tick_ns;
}

bool turn(uint64_t now_ns, uint64_t generation, bool is_last)
{
	bool has_reader, begins, fence, is_due, leaves;
	uint64_t closing;

	/* The lock is held for all of this, so that everything recorded before a close or flush is counted. */
	lock_take();
	sinks_attended = sinks_with_reader();
	has_reader = sinks_attended > 0;
	closing = closing_asked();
	__atomic_store_n(&settings.coarse_ticks, has_reader ? clock_ticks() : 0, __ATOMIC_RELAXED);
	fence = fence_begin();
	if (has_reader)
		attend(now_ns);
	begins = has_reader && !now.has_reader;
	now.has_reader = has_reader;
	leaves = fence || closing || is_last;
	is_due = leaves || now_ns >= now.next_drain_ns || now_ns >= now.next_tick_ns ||
		 thread_table.ended_count >= DRAIN_AT_ONCE;
	lock_release();
	if (begins)
		cost_measure();
	if (has_reader && is_due)
		drain_all(now_ns);
	if (has_reader && now_ns >= now.next_tick_ns && !reporters_ask(generation, now.tick_ns, now_ns))
		return false;
	lock_take();
	if (has_reader) {
		greet_news(now_ns);
		frames_write(now_ns);
		bursts_write(now_ns, true);
	}
	retire_ended(now_ns);
	if (has_reader && now_ns >= now.next_tick_ns)
		tick(now_ns);
	if (leaves || (writer_shared.block && now_ns >= block_due_ns()))
		writer_seal(&writer_shared);
	closing_leave(closing, turn_tick(), now_ns);
	lock_release();
	write_sinks(now_ns);
	if (fence)
		fence_set(stream.number);
	fence_pass();
	return true;
}

uint64_t turn_due_ns(void)
{
	uint64_t due = now.next_tick_ns, frames_ns = frames_due_ns();
	bool is_all;

	if (sinks_with_reader() == 0)
		return UINT64_MAX;
	lock_take();
	is_all = level_is_all_somewhere();
	lock_release();
	if (writer_shared.block && block_due_ns() < due)
		due = block_due_ns();
	if (is_all && now.next_drain_ns < due)
		due = now.next_drain_ns;
	if (frames_ns < due)
		due = frames_ns;
	return due;
}
