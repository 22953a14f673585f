#include "emitter/deliver/flusher.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "emitter/deliver/request.h"
#include "emitter/deliver/drain.h"
#include "emitter/core/emitter.h"
#include "emitter/deliver/greet.h"
#include "emitter/deliver/report.h"
#include "emitter/record/ring.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/snapshot.h"

#define DRAIN_NS_MAX 10000000u       /* an eager flusher makes the producer's tail worse: lines bounce */
#define DRAIN_NS_MIN 500000u
/* So many threads that ended do not wait for the next drain: others want their rings. */
#define ENDED_AT_ONCE 16u

static struct {
	/* locked */
	pthread_t thread;
	bool has_thread, is_over;    /* is_over: it is about to end */
	uint64_t generation;         /* of the thread: another one is on its own, and touches nothing */
	bool stop_wanted, sync_wanted;
	uint64_t linger_ns;
	uint64_t fence_wanted, fence_passed;
	/* the flusher's alone */
	uint64_t fence_now, fence_number;    /* being waited for, once this block has left */
	bool has_fence, has_listener;
	uint64_t drain_ns, next_drain_ns, drains, drained_ticks;
	uint64_t tick, tick_ns, next_tick_ns, last_tick_ns, next_sync_ns;
} flusher;

/* Anybody may write to it, so it is closed only when nobody is about to. */
static int wake_fd = -1;
static int waker_count;

bool flusher_is_self(void)
{
	return flusher.has_thread && pthread_equal(flusher.thread, pthread_self());
}

void flusher_wake(void)
{
	int saved = errno, fd, cancel;

	/* Cancelled in write() it would be counted for ever. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	__atomic_fetch_add(&waker_count, 1, __ATOMIC_SEQ_CST);
	fd = __atomic_load_n(&wake_fd, __ATOMIC_SEQ_CST);
	if (fd >= 0 && write(fd, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0) {
		/* It is awake already. */
	}
	__atomic_fetch_sub(&waker_count, 1, __ATOMIC_SEQ_CST);
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

static void close_wake_fd(void)
{
	int fd = __atomic_exchange_n(&wake_fd, -1, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&waker_count, __ATOMIC_SEQ_CST) > 0)
		sched_yield();
	if (fd >= 0)
		close(fd);
}

uint64_t flusher_flush_soon(void)
{
	flusher_wake();
	return ++flusher.fence_wanted;
}

void flusher_sync_soon(void)
{
	flusher.sync_wanted = true;
	flusher_wake();
}

int flusher_wait(uint64_t fence, uint64_t timeout_ns)
{
	uint64_t now_ns = clock_ns(), end = now_ns + timeout_ns < now_ns ? UINT64_MAX : now_ns + timeout_ns;
	struct timespec until = { (time_t)(end / 1000000000u), (long)(end % 1000000000u) };

	while (emitter.is_running && flusher.fence_passed < fence)
		if (pthread_cond_timedwait(&emitter.flushed, &emitter.lock, &until) == ETIMEDOUT)
			return flusher.fence_passed < fence ? -ETIMEDOUT : 0;
	return flusher.fence_passed < fence ? -ENOTCONN : 0;
}

/* ---- draining ---- */

/* A thread that ended, its ring empty: both may serve another. Locked. */
static void thread_retire(struct thread *thread)
{
	if (thread->ring)
		ring_reset(thread->ring);
	thread->has_ended = false;
	thread->is_free = true;
	emitter.ended_count--;
	emitter.thread_count--;
}

void flusher_thread_ended(void)
{
	emitter_lock();
	if (emitter_is_heard()) {
		if (emitter.ended_count >= ENDED_AT_ONCE)
			flusher_wake();
		emitter_unlock();
		return;
	}
	for (struct thread *thread = emitter.threads; thread; thread = thread->next)
		if (thread->has_ended) {
			drain(thread, UINT64_MAX, 0, true);
			thread_retire(thread);
		}
	emitter_unlock();
}

/* Locked. */
static void discard_rings(void)
{
	for (struct thread *thread = emitter.threads; thread; thread = thread->next)
		drain(thread, UINT64_MAX, 0, true);
}

static void write_sinks(uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_streaming(&sinks[i]) && sinks[i].queue_count)
			sink_write(&sinks[i], now_ns);
}

/* Before anything is taken: what was emitted once a sink was there is for it, too. Locked. */
static void greet_new(uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_streaming(&sinks[i]) && sinks[i].is_new && !sinks[i].is_leaving)
			greet(&sinks[i], flusher.tick, now_ns);
}

/* All that is in the rings now, ring by ring and piece by piece, so that sinks are written
 * and threads that wait for the lock get it in between. */
static void drain_all(uint64_t now_ns)
{
	struct thread *thread;
	uint64_t fullest_permille = 0;

	emitter_lock();
	for (thread = emitter.threads; thread; thread = thread->next) {
		uint64_t waiting = thread->ring ? ring_waiting(thread->ring) : 0;

		if (waiting && waiting * 1000 / thread->ring->bytes > fullest_permille)
			fullest_permille = waiting * 1000 / thread->ring->bytes;
		while (waiting > 0) {
			uint64_t done;

			greet_new(now_ns);
			tell_news(now_ns);
			done = drain(thread, waiting < DRAIN_BYTES ? waiting : DRAIN_BYTES, now_ns, false);
			waiting = done && done < waiting ? waiting - done : 0;
			emitter_unlock();
			write_sinks(now_ns);
			emitter_lock();
		}
	}
	flusher.drains++;
	emitter_unlock();
	/* Half full at a visit: come sooner. */
	if (fullest_permille > 500)
		flusher.drain_ns = flusher.drain_ns / 2 > DRAIN_NS_MIN ? flusher.drain_ns / 2 : DRAIN_NS_MIN;
	else if (fullest_permille < 125 && flusher.drain_ns < DRAIN_NS_MAX)
		flusher.drain_ns *= 2;
	if (flusher.drain_ns > DRAIN_NS_MAX)
		flusher.drain_ns = DRAIN_NS_MAX;
	flusher.next_drain_ns = now_ns + flusher.drain_ns;
}

static void retire_ended(uint64_t now_ns);

void flusher_meanwhile(void)
{
	uint64_t now_ns = clock_ns();

	if (!flusher.has_listener)
		return;
	__atomic_store_n(&emitter.coarse_ticks, clock_ticks(), __ATOMIC_RELAXED);
	if (now_ns >= flusher.next_drain_ns)
		drain_all(now_ns);
	emitter_lock();
	retire_ended(now_ns);
	writer_seal(&stream.shared);
	emitter_unlock();
	write_sinks(now_ns);
}

/* Threads that ended leave when their rings are empty; tasks, when every ring has been
 * drained since nobody is in them any more. Locked. */
static void retire_ended(uint64_t now_ns)
{
	struct task *task, *next;

	for (struct thread *thread = emitter.threads; thread; thread = thread->next)
		if (thread->has_ended && (!thread->ring || ring_waiting(thread->ring) == 0))
			thread_retire(thread);
	for (task = emitter.shared_task.next; task; task = next) {
		struct message message = { .kind = KIND_TASK, .task = { (uint64_t)task->id, text_of(task->name),
									(uint64_t)task->thread_id, 1 } };

		next = task->next;
		if (!task->has_ended || task->shards)
			continue;
		if (task->gone_at == 0)
			task->gone_at = flusher.drains + 1;
		if (emitter_is_heard() && flusher.drains < task->gone_at)
			continue;
		if (emitter_is_heard())
			writer_message(&stream.shared, &message, now_ns);
		task_recycle(task);
	}
}

/* ---- the beat ---- */

static bool anything_is_all(void)
{
	for (uint32_t i = 0; i < emitter.class_count; i++)
		if (emitter.classes[i].level == TELEM_ALL)
			return true;
	for (uint32_t i = 1; i < emitter.site_count; i++)
		if (emitter.sites[i].level == TELEM_ALL)
			return true;
	return false;
}

static uint64_t tick_interval(void)
{
	uint64_t least = 0;

	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_streaming(&sinks[i]) && sinks[i].tick_ns && (!least || sinks[i].tick_ns < least))
			least = sinks[i].tick_ns;
	return least ? least : LIMIT_TICK_NS_DEFAULT;
}

static uint32_t count_streaming(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		count += sink_is_streaming(&sinks[i]);
	return count;
}

static void beat(uint64_t now_ns)
{
	flusher.tick++;
	clock_renew();
	snapshot_write(&stream.shared, flusher.tick, now_ns - flusher.last_tick_ns, false, now_ns);
	writer_seal(&stream.shared);
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_streaming(&sinks[i]) && !sinks[i].is_new && !sinks[i].is_lost && !sinks[i].is_leaving) {
			struct writer writer = { .sink = &sinks[i] };

			snapshot_sink(&writer, &sinks[i], flusher.tick, now_ns);
			writer_seal(&writer);
		}
	flusher.last_tick_ns = now_ns;
	flusher.next_tick_ns = now_ns + flusher.tick_ns;
}

/* Readers that are new, that lost something or asked, and files at an index point. */
static void greet_all(uint64_t now_ns)
{
	bool asked = flusher.sync_wanted, all = asked || now_ns >= flusher.next_sync_ns;

	flusher.sync_wanted = false;
	if (all)
		flusher.next_sync_ns = now_ns + LIMIT_SYNC_NS;
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];
		bool is_due;

		if (!sink_is_streaming(sink) || sink->is_leaving || (sink->is_regular && sink->retry_ns > now_ns))
			continue;
		is_due = sink->wants_sync || asked ||
			 (sink->is_regular ? recording_is_due(&sink->recording, now_ns) : all);
		if (sink->is_new || (sink->is_lost && sink->queue_count <= LIMIT_QUEUE_BLOCKS / 2) ||
		    (is_due && !sink->is_lost))
			greet(sink, flusher.tick, now_ns);
	}
}

/* A fence is passed when every block up to it has left, or been dropped, everywhere. */
static void pass_fence(void)
{
	if (!flusher.has_fence)
		return;
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_streaming(&sinks[i]) && sinks[i].queue_count > 0 &&
		    sinks[i].queue[sinks[i].queue_head]->number <= flusher.fence_number &&
		    !(sinks[i].is_regular && sinks[i].retry_ns))
			return;
	emitter_lock();
	flusher.fence_passed = flusher.fence_now;
	flusher.has_fence = false;
	if (flusher.fence_wanted > flusher.fence_passed)     /* asked for meanwhile */
		flusher_wake();
	pthread_cond_broadcast(&emitter.flushed);
	emitter_unlock();
}

/* When what is being filled leaves, full or not. */
static uint64_t block_due_ns(void)
{
	return stream.shared.opened_ns + __atomic_load_n(&emitter.flush_ns, __ATOMIC_RELAXED);
}

/* What is to be closed gets all that is recorded by now. Locked. */
static bool see_closing(void)
{
	bool any = false;

	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		/* With one that listened go those it let in. */
		if (sink_state(sink) == SINK_OPEN && sink->parent >= 0 && sink_state(&sinks[sink->parent]) == SINK_CLOSING) {
			sink->close_by_ns = sinks[sink->parent].close_by_ns;
			sink_set_state(sink, SINK_CLOSING);
		}
		if (sink_state(sink) == SINK_CLOSING && !sink->is_seen_closing)
			sink->is_seen_closing = any = true;
	}
	return any;
}

/* False: this thread was left behind, in a reporter. */
static bool turn(uint64_t now_ns, uint64_t generation)
{
	bool listens, fence = false, begins, closing, stop, is_due;

	/* In one: what is to be closed, or flushed, has been counted. */
	emitter_lock();
	emitter.streaming_count = count_streaming();
	listens = emitter.streaming_count > 0;
	/* Stamps have 48 bits: what waited for half of their range would be dated wrongly. */
	if (listens && clock_ticks() - flusher.drained_ticks > 1ull << (RING_TIME_BITS - 1))
		discard_rings();
	if (listens)
		flusher.drained_ticks = clock_ticks();
	stop = flusher.stop_wanted;
	closing = see_closing();
	__atomic_store_n(&emitter.coarse_ticks, listens ? clock_ticks() : 0, __ATOMIC_RELAXED);
	if (!flusher.has_fence && flusher.fence_wanted > flusher.fence_passed) {
		fence = true;
		flusher.fence_now = flusher.fence_wanted;
	}
	if (listens) {
		greet_all(now_ns);
		flusher.tick_ns = tick_interval();
		/* The greeting was the first beat for who came first. */
		if (!flusher.has_listener)
			flusher.last_tick_ns = now_ns;
		if (!flusher.has_listener || flusher.next_tick_ns > now_ns + flusher.tick_ns)
			flusher.next_tick_ns = now_ns + flusher.tick_ns;
	}
	begins = listens && !flusher.has_listener;
	flusher.has_listener = listens;
	is_due = fence || closing || stop || now_ns >= flusher.next_drain_ns || now_ns >= flusher.next_tick_ns ||
		 emitter.ended_count >= ENDED_AT_ONCE;
	emitter_unlock();
	if (begins)
		cost_measure();
	if (listens && is_due)
		drain_all(now_ns);
	if (listens && now_ns >= flusher.next_tick_ns && !reporters_ask(generation))
		return false;
	emitter_lock();
	if (listens) {
		tell_news(now_ns);
		frames_write(now_ns);
	}
	retire_ended(now_ns);
	if (listens && now_ns >= flusher.next_tick_ns)
		beat(now_ns);
	if (fence || closing || stop || (stream.shared.block && now_ns >= block_due_ns()))
		writer_seal(&stream.shared);
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		sinks[i].is_leaving |= sinks[i].is_seen_closing;
	emitter_unlock();
	write_sinks(now_ns);
	if (fence) {
		flusher.has_fence = true;
		flusher.fence_number = stream.number;
	}
	pass_fence();
	return true;
}

bool flusher_is_left(uint64_t generation)
{
	return generation != flusher.generation;
}

/* ---- waiting ---- */

struct watched { struct pollfd fds[2 * LIMIT_SINKS + 1]; struct sink *sinks[2 * LIMIT_SINKS + 1]; nfds_t count; };

static void watch(struct watched *watched, struct sink *sink, int fd, int events)
{
	if (fd < 0 || events == 0)
		return;
	watched->fds[watched->count] = (struct pollfd){ .fd = fd, .events = (short)events };
	watched->sinks[watched->count++] = sink;
}

/* A viewer that asks too much is heard again in its next second. */
static bool is_heard(struct sink *sink, uint64_t now_ns)
{
	if (now_ns - sink->requests_from_ns >= 1000000000u) {
		sink->requests_from_ns = now_ns;
		sink->request_count = 0;
	}
	return sink->request_count < LIMIT_REQUESTS_PER_S;
}

static void watch_all(struct watched *watched, uint64_t now_ns)
{
	watched->count = 0;
	watch(watched, NULL, wake_fd, POLLIN);
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];
		int out = 0, in = 0;

		if (sink_state(sink) < SINK_OPEN)
			continue;
		if (sink->is_connecting || (sink->queue_count > 0 && !sink->is_regular))
			out = POLLOUT;
		if (sink->is_listening ? sink->retry_ns <= now_ns : is_heard(sink, now_ns))
			in = POLLIN;
		if (sink->fd >= 0 && sink->fd == sink->in_fd) {
			watch(watched, sink, sink->fd, out | in | POLLRDHUP);
		} else {
			/* POLLERR comes unasked: a FIFO's or pipe's reader is gone. */
			watch(watched, sink, sink->is_regular ? -1 : sink->fd, out ? out : POLLRDHUP);
			watch(watched, sink, sink->in_fd, in);
		}
	}
}

static void sooner(uint64_t *next, uint64_t when)
{
	if (when < *next)
		*next = when;
}

/* When something is due without being woken; UINT64_MAX: never. */
static uint64_t next_due(uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;
	bool all;

	emitter_lock();
	all = anything_is_all();
	emitter_unlock();
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (sink_state(sink) < SINK_OPEN)
			continue;
		if (sink_state(sink) == SINK_CLOSING)
			sooner(&next, sink->is_leaving ? sink->close_by_ns : now_ns);
		if (sink->is_listening ? sink->retry_ns > now_ns
				       : (sink->fd < 0 || (sink->is_regular && sink->is_lost)))
			sooner(&next, sink->retry_ns);
		if (sink->request_count >= LIMIT_REQUESTS_PER_S)
			sooner(&next, sink->requests_from_ns + 1000000000u);
		if (!sink_is_streaming(sink))
			continue;
		sooner(&next, flusher.next_tick_ns);
		if (stream.shared.block)
			sooner(&next, block_due_ns());
		if (all || frames_are_inspected())
			sooner(&next, flusher.next_drain_ns);
	}
	return next;
}

static void handle(struct sink *sink, int fd, int events, uint64_t now_ns)
{
	if (sink_state(sink) < SINK_OPEN)
		return;
	if (sink->is_connecting && fd == sink->fd) {
		sink->scheme->retry(sink, now_ns);
		return;
	}
	if (fd == sink->in_fd && (events & (POLLIN | POLLHUP | POLLERR | POLLRDHUP))) {
		if (fd == sink->fd) {
			if (control_read(sink, fd, now_ns) != CONTROL_FINE)
				sink_gone(sink, now_ns);
		} else if (sink->scheme && sink->scheme->readable) {
			sink->scheme->readable(sink, now_ns);
		}
	} else if (fd == sink->fd && (events & (POLLERR | POLLHUP))) {
		sink_gone(sink, now_ns);
	}
}

static void wait_and_handle(struct watched *watched, uint64_t until_ns)
{
	uint64_t now_ns = clock_ns(), left = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec timeout = { (time_t)(left / 1000000000u), (long)(left % 1000000000u) };
	uint64_t wakes;

	if (ppoll(watched->fds, watched->count, until_ns == UINT64_MAX ? NULL : &timeout, NULL) <= 0)
		return;
	now_ns = clock_ns();
	if (watched->fds[0].revents && read(wake_fd, &wakes, sizeof wakes) < 0) {
		/* Somebody else has read it: nobody has. */
	}
	for (nfds_t i = 1; i < watched->count; i++)
		if (watched->fds[i].revents)
			handle(watched->sinks[i], watched->fds[i].fd, watched->fds[i].revents, now_ns);
}

static void retry_all(uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (sink_state(sink) == SINK_OPEN && sink->fd < 0 && !sink->is_listening && sink->scheme &&
		    sink->scheme->retry && now_ns >= sink->retry_ns)
			sink->scheme->retry(sink, now_ns);
	}
}

/* ---- closing ---- */

static bool has_to_wait(const struct sink *sink, uint64_t now_ns)
{
	return sink_is_streaming(sink) && sink->queue_count > 0 && !sink->is_regular && now_ns < sink->close_by_ns;
}

/* One step towards the end of a sink, which the others do not wait for: when its queue has
 * left, goodbye, which so knows what was delivered; then its end. Locked on entry and exit. */
static void close_step(struct sink *sink, uint64_t now_ns)
{
	for (;;) {
		emitter_unlock();
		if (sink_is_streaming(sink))
			sink_write(sink, now_ns);
		emitter_lock();
		if (has_to_wait(sink, now_ns))
			return;
		if (sink->has_said_bye || !sink_is_streaming(sink) || sink->is_new || sink->queue_count > 0)
			break;
		sink->has_said_bye = true;
		goodbye(sink, flusher.tick, now_ns);
	}
	if (sink->is_regular && sink->has_said_bye && sink_is_streaming(sink) && sink->queue_count == 0) {
		uint8_t end[RECORDING_END_BYTES];

		recording_end(&sink->recording, end, stream.marker, stream.number);
		if (write(sink->fd, end, sizeof end) != (ssize_t)sizeof end &&
		    ftruncate(sink->fd, (off_t)sink->recording.offset) < 0) {
			/* Then it is a recording without a clean end, and says so. */
		}
	}
	leases_drop(sink);
	sink_free(sink);
	blocks_trim();
	pthread_cond_broadcast(&emitter.flushed);
}

/* Returns how many are still on their way out. */
static uint32_t close_leaving(void)
{
	uint32_t left = 0;

	emitter_lock();
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_state(&sinks[i]) == SINK_CLOSING && sinks[i].is_leaving) {
			close_step(&sinks[i], clock_ns());
			left += sink_state(&sinks[i]) == SINK_CLOSING;
		}
	emitter_unlock();
	return left;
}

static void close_all(struct watched *watched)
{
	uint64_t deadline = clock_ns() + flusher.linger_ns;

	emitter_lock();
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_state(&sinks[i]) >= SINK_OPEN) {
			sinks[i].close_by_ns = deadline;
			sinks[i].is_leaving = true;
			sink_set_state(&sinks[i], SINK_CLOSING);
		}
	emitter_unlock();
	while (close_leaving() > 0) {
		watch_all(watched, clock_ns());
		wait_and_handle(watched, deadline);
		write_sinks(clock_ns());
	}
}

static void *run(void *arg)
{
	static struct watched watched;
	uint64_t generation = (uint64_t)(uintptr_t)arg;

	for (;;) {
		uint64_t now_ns;
		bool stop;

		watch_all(&watched, clock_ns());
		wait_and_handle(&watched, next_due(clock_ns()));
		now_ns = clock_ns();
		retry_all(now_ns);
		dump_wanted(now_ns);
		if (!turn(now_ns, generation))
			return NULL;
		close_leaving();
		emitter_lock();
		stop = flusher.stop_wanted;
		emitter_unlock();
		if (stop)
			break;
	}
	if (!turn(clock_ns(), generation))
		return NULL;
	dump_wanted(clock_ns());
	emitter_lock();
	/* What is left, or comes now from threads that had begun to record, is lost. */
	discard_rings();
	/* The last figures, with nothing on its way any more. */
	if (emitter.streaming_count > 0)
		beat(clock_ns());
	emitter_unlock();
	close_all(&watched);
	emitter_lock();
	flusher.is_over = true;
	pthread_cond_broadcast(&emitter.flushed);
	emitter_unlock();
	return NULL;
}

int flusher_start(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int err;

	err = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (err < 0)
		return -errno;
	__atomic_store_n(&wake_fd, err, __ATOMIC_SEQ_CST);
	flusher.stop_wanted = flusher.sync_wanted = flusher.has_fence = flusher.has_listener = flusher.is_over = false;
	flusher.fence_wanted = flusher.fence_passed = 0;
	flusher.next_drain_ns = 0;
	flusher.drain_ns = DRAIN_NS_MAX;
	flusher.tick_ns = LIMIT_TICK_NS_DEFAULT;
	flusher.linger_ns = emitter.options.linger_ns;
	flusher.next_tick_ns = flusher.tick = 0;
	flusher.drained_ticks = clock_ticks();
	flusher.last_tick_ns = clock_ns();
	flusher.next_sync_ns = flusher.last_tick_ns + LIMIT_SYNC_NS;
	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	flusher.generation++;
	err = pthread_create(&flusher.thread, &attributes, run, (void *)(uintptr_t)flusher.generation);
	if (err == EINVAL)              /* a program with much static TLS: as large as usual, then */
		err = pthread_create(&flusher.thread, NULL, run, (void *)(uintptr_t)flusher.generation);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (err) {
		close_wake_fd();
		return -err;
	}
	pthread_setname_np(flusher.thread, "telem");
	flusher.has_thread = true;
	return 0;
}

/* The flusher is in a reporter that does not return: what it would have closed is closed
 * here, and it ends when it comes back. Locked. */
static void leave_behind(void)
{
	flusher.generation++;
	pthread_detach(flusher.thread);
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_state(&sinks[i]) >= SINK_OPEN) {
			leases_drop(&sinks[i]);
			sink_free(&sinks[i]);
		}
	if (stream.shared.block)
		writer_seal(&stream.shared);    /* to nobody: counted as lost */
	discard_rings();
	emitter_error("telem_stop: a reporter did not return; the sinks were closed without a goodbye");
}

/* When it is over; false: something of the program's holds it up beyond its time. Locked. */
static bool wait_for_its_end(uint64_t linger_ns)
{
	uint64_t end = clock_ns() + linger_ns;

	while (!flusher.is_over) {
		struct timespec until = { (time_t)(end / 1000000000u), (long)(end % 1000000000u) };

		if (pthread_cond_timedwait(&emitter.flushed, &emitter.lock, &until) != ETIMEDOUT)
			continue;
		if (reporter_is_asked_by(flusher.thread))
			return flusher.is_over;
		end = clock_ns() + 100000000;
	}
	return true;
}

void flusher_stop(uint64_t linger_ns)
{
	bool has_thread = flusher.has_thread;

	flusher.linger_ns = linger_ns;
	flusher.stop_wanted = true;
	flusher.has_thread = false;
	flusher_wake();
	if (has_thread && !wait_for_its_end(linger_ns)) {
		leave_behind();
	} else if (has_thread) {
		emitter_unlock();
		pthread_join(flusher.thread, NULL);
		emitter_lock();
	}
	close_wake_fd();
	__atomic_store_n(&emitter.coarse_ticks, 0, __ATOMIC_RELAXED);
	emitter.streaming_count = 0;
}

uint64_t flusher_cpu_ns(void)
{
	clockid_t clock;
	struct timespec spent = { 0, 0 };

	if (flusher.has_thread && pthread_getcpuclockid(flusher.thread, &clock) == 0)
		clock_gettime(clock, &spent);
	return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

void flusher_forget(void)
{
	flusher.has_thread = false;
	waker_count = 0;
	close_wake_fd();
}
