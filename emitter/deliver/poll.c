#include "emitter/deliver/poll.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "emitter/core/clock.h"
#include "emitter/core/wake.h"
#include "emitter/deliver/listener.h"
#include "emitter/deliver/request.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_state.h"

static struct {
	struct pollfd fds[2 * LIMIT_SINKS + 1];
	struct sink *sinks[2 * LIMIT_SINKS + 1];
	nfds_t count;
} watched;

/* Without any events poll() still tells that the other end is gone. */
static void watch_anyway(struct sink *sink, int fd, int events)
{
	watched.fds[watched.count] = (struct pollfd){ .fd = fd, .events = (short)events };
	watched.sinks[watched.count++] = sink;
}

static void watch(struct sink *sink, int fd, int events)
{
	if (fd >= 0 && events != 0)
		watch_anyway(sink, fd, events);
}

static void watch_sink(struct sink *sink, uint64_t now_ns)
{
	enum sink_state state = sink_state(sink);
	bool waits_for_room = sink->queue_count > 0 && !sink->is_regular;
	int out = state == SINK_CONNECTING || waits_for_room ? POLLOUT : 0, in = 0;

	if (state == SINK_LISTENING ? sink->retry_ns <= now_ns : request_is_heard(sink, now_ns))
		in = POLLIN;
	if (sink->fd >= 0 && sink->fd == sink->in_fd) {
		/* A viewer that has shut its writing side is no reason to read more requests than the limit allows. */
		in = in ? POLLIN | POLLRDHUP : 0;
		watch_anyway(sink, sink->fd, out | in);
		return;
	}
	/* POLLERR need not be asked for. It says that the reader of a FIFO or pipe is gone. */
	watch(sink, sink->is_regular ? -1 : sink->fd, out ? out : POLLRDHUP);
	watch(sink, sink->in_fd, in);
}

static void handle(struct sink *sink, int fd, int events, uint64_t now_ns)
{
	enum sink_state state = sink_state(sink);

	/* An event that was handled before may have ended the sink. */
	if (!sink_is_flushers(sink) || state == SINK_OVER)
		return;
	if (state == SINK_CONNECTING && fd == sink->fd) {
		sink->scheme->retry(sink, now_ns);
	} else if (fd == sink->in_fd && (events & (POLLIN | POLLHUP | POLLERR | POLLRDHUP))) {
		if (state == SINK_LISTENING)
			listener_accept(sink, now_ns);
		else if (fd != sink->fd)
			sink->scheme->control(sink, now_ns);
		/* Who sent more than the limit allows, and is gone, gets no answers. */
		else if (!request_is_heard(sink, now_ns) || request_read(sink, fd, now_ns) != REQUEST_FINE)
			sink_gone(sink, now_ns);
	} else if (fd == sink->fd && (events & (POLLERR | POLLHUP))) {
		sink_gone(sink, now_ns);
	}
}

/* How long the flusher waits when nothing can wake it, or when ppoll() fails. */
#define BLIND_WAIT_NS 100000000u

void poll_wait(uint64_t until_ns)
{
	uint64_t now_ns = clock_ns(), left;
	struct timespec timeout;
	int count;

	watched.count = 0;
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (!sink_is_flushers(sink))
			continue;
		if (sink_state(sink) != SINK_OVER)
			sink_keep(sink, now_ns);
		if (sink_state(sink) != SINK_OVER)
			watch_sink(sink, now_ns);
		else
			until_ns = now_ns;
	}
	/* This comes last, because a socket opened above may have the number of one that the program has just closed. */
	if (!wake_keep())
		until_ns = wake_fd() >= 0 ? now_ns : now_ns + BLIND_WAIT_NS;
	watch(NULL, wake_fd(), POLLIN);
	left = until_ns > now_ns ? until_ns - now_ns : 0;
	timeout = clock_timespec(left);
	count = ppoll(watched.fds, watched.count, until_ns == UINT64_MAX ? NULL : &timeout, NULL);
	if (count < 0 && errno != EINTR) {
		timeout = clock_timespec(left < BLIND_WAIT_NS ? left : BLIND_WAIT_NS);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &timeout, NULL);
	}
	if (count <= 0)
		return;
	now_ns = clock_ns();
	for (nfds_t i = 0; i < watched.count; i++)
		if (watched.fds[i].revents && !watched.sinks[i])
			wake_clear();
		else if (watched.fds[i].revents)
			handle(watched.sinks[i], watched.fds[i].fd, watched.fds[i].revents, now_ns);
}

static void sooner(uint64_t *next, uint64_t when)
{
	if (when < *next)
		*next = when;
}

uint64_t poll_due_ns(uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		const struct sink *sink = &sinks[i];
		enum sink_state state = sink_state(sink);

		if (!sink_is_flushers(sink))
			continue;
		if (state == SINK_OVER)
			sooner(&next, now_ns);
		else if (sink_close_by_ns(sink))
			sooner(&next, sink_is_leaving(sink) ? sink_close_by_ns(sink) : now_ns);
		if (state == SINK_LISTENING ? sink->retry_ns > now_ns
					    : state == SINK_WAITING || (sink->is_regular && state == SINK_BEHIND))
			sooner(&next, sink->retry_ns);
		if (sink->reopen_ns)
			sooner(&next, sink->reopen_ns);
		if (sink->request_count >= LIMIT_REQUESTS_PER_S)
			sooner(&next, sink->requests_from_ns + 1000000000u);
	}
	return next;
}

void poll_retry(uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (sink_state(sink) == SINK_WAITING && !sink_close_by_ns(sink) && now_ns >= sink->retry_ns)
			sink->scheme->retry(sink, now_ns);
	}
}
