#include "emitter/deliver/sink_state.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "emitter/core/error.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/deliver/lease.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_queue.h"
#include "emitter/record/frame.h"

struct sink sinks[LIMIT_SINKS];
uint32_t sinks_attended;

/* ---- states ---- */

enum change { CONNECTS, READY, GREETED, LOST, GONE, LEAVES, SAID_BYE, CHANGE_COUNT };

/* The next state for each change and state. SINK_FREE means that the change cannot happen in this state. After the
 * change GONE a sink that can try again, and was not asked to close, is SINK_WAITING instead of SINK_OVER. */
static const uint8_t next_state[CHANGE_COUNT][SINK_STATE_COUNT] = {
	[CONNECTS] = { [SINK_WAITING] = SINK_CONNECTING },
	[READY] = { [SINK_WAITING] = SINK_NEW, [SINK_CONNECTING] = SINK_NEW },
	[GREETED] = { [SINK_DUMP] = SINK_DUMP, [SINK_NEW] = SINK_STREAMING, [SINK_STREAMING] = SINK_STREAMING,
		      [SINK_BEHIND] = SINK_STREAMING, [SINK_LEAVING_BEHIND] = SINK_LEAVING },
	[LOST] = { [SINK_DUMP] = SINK_DUMP_BROKEN, [SINK_DUMP_BROKEN] = SINK_DUMP_BROKEN,
		   [SINK_STREAMING] = SINK_BEHIND, [SINK_BEHIND] = SINK_BEHIND, [SINK_LEAVING] = SINK_LEAVING_BEHIND,
		   [SINK_LEAVING_BEHIND] = SINK_LEAVING_BEHIND, [SINK_SAID_BYE] = SINK_SAID_BYE },
	[GONE] = { [SINK_DUMP] = SINK_DUMP_BROKEN, [SINK_DUMP_BROKEN] = SINK_DUMP_BROKEN, [SINK_WAITING] = SINK_OVER,
		   [SINK_CONNECTING] = SINK_OVER, [SINK_NEW] = SINK_OVER, [SINK_STREAMING] = SINK_OVER,
		   [SINK_BEHIND] = SINK_OVER, [SINK_LEAVING] = SINK_OVER, [SINK_LEAVING_BEHIND] = SINK_OVER,
		   [SINK_SAID_BYE] = SINK_OVER },
	[LEAVES] = { [SINK_WAITING] = SINK_OVER, [SINK_LISTENING] = SINK_OVER, [SINK_CONNECTING] = SINK_OVER,
		     [SINK_NEW] = SINK_OVER, [SINK_STREAMING] = SINK_LEAVING, [SINK_BEHIND] = SINK_LEAVING_BEHIND,
		     [SINK_LEAVING] = SINK_LEAVING, [SINK_LEAVING_BEHIND] = SINK_LEAVING_BEHIND,
		     [SINK_SAID_BYE] = SINK_SAID_BYE, [SINK_OVER] = SINK_OVER },
	[SAID_BYE] = { [SINK_LEAVING] = SINK_SAID_BYE, [SINK_LEAVING_BEHIND] = SINK_SAID_BYE },
};

static void set_state(struct sink *sink, enum sink_state state)
{
	__atomic_store_n(&sink->state, state, __ATOMIC_RELEASE);
}

static void happens(struct sink *sink, enum change change)
{
	enum sink_state next = (enum sink_state)next_state[change][sink_state(sink)];

	assert(next != SINK_FREE);
	if (change == GONE && next == SINK_OVER && !sink_is_leaving(sink) && sink->scheme && sink->scheme->retry)
		next = SINK_WAITING;
	set_state(sink, next);
}

void sink_greeted(struct sink *sink) { happens(sink, GREETED); }
void sink_leaves(struct sink *sink) { happens(sink, LEAVES); }
void sink_said_bye(struct sink *sink) { happens(sink, SAID_BYE); }

void sink_connects(struct sink *sink)
{
	sink->file = descriptor_file(sink->fd);
	happens(sink, CONNECTS);
}

void sink_ready(struct sink *sink)
{
	assert(sink->fd >= 0);
	sink->file = descriptor_file(sink->fd);
	sink->retry_pause_ns = 0;
	happens(sink, READY);
}

void sink_opened(struct sink *sink, enum sink_state state)
{
	assert(sink_state(sink) == SINK_OPENING);
	sink->file = descriptor_file(sink->fd);
	sink->in_file = descriptor_file(sink->in_fd);
	set_state(sink, state);
}

uint32_t sinks_with_reader(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		count += sink_has_reader(&sinks[i]);
	return count;
}

/* ---- a sink's life ---- */

struct sink *sink_new(int parent)
{
	for (int i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (sink_state(sink) != SINK_FREE)
			continue;
		/* The state is not cleared, because the flusher reads it without the lock. */
		memset(&sink->scheme, 0, sizeof *sink - offsetof(struct sink, scheme));
		set_state(sink, SINK_OPENING);
		sink->id = i;
		sink->parent = parent;
		sink->fd = sink->in_fd = -1;
		sink->queue = memory_map(SINK_QUEUE_ROOM * sizeof *sink->queue);
		if (!sink->queue) {
			set_state(sink, SINK_FREE);
			return NULL;
		}
		return sink;
	}
	return NULL;
}

static void close_fds(struct sink *sink)
{
	if (sink->in_fd != sink->fd)
		descriptor_close(&sink->in_fd, sink->in_file);
	sink->in_fd = -1;
	descriptor_close(&sink->fd, sink->file);
}

void sink_watch(struct sink *sink, unsigned what, bool on)
{
	uint8_t bit = (uint8_t)(1u << what);

	if (on != !!(sink->watched & bit))
		frames_watch(true, what, on);
	sink->watched = (uint8_t)(on ? sink->watched | bit : sink->watched & ~bit);
}

static void unwatch(struct sink *sink)
{
	for (unsigned what = 0; what < WATCH_COUNT; what++)
		sink_watch(sink, what, false);
}

void sink_retry_later(struct sink *sink, uint64_t now_ns)
{
	/* 100 ms, 200 ms, ... 2 s */
	sink->retry_pause_ns = sink->retry_pause_ns ? sink->retry_pause_ns * 2 : 100000000;
	if (sink->retry_pause_ns > 2000000000)
		sink->retry_pause_ns = 2000000000;
	sink->retry_ns = now_ns + sink->retry_pause_ns;
}

void sink_gone(struct sink *sink, uint64_t now_ns)
{
	queue_drop(sink);
	unwatch(sink);
	lock_take();
	leases_drop(sink);
	lock_release();
	if (sink->in_fd == sink->fd)
		sink->in_fd = -1;
	descriptor_close(&sink->fd, sink->file);
	if (sink->decoder)
		decoder_reset(sink->decoder);
	sink_retry_later(sink, now_ns);
	happens(sink, GONE);
	pool_trim();
}

void sink_free(struct sink *sink)
{
	queue_drop(sink);
	unwatch(sink);
	if (sink->scheme && sink->scheme->close)
		sink->scheme->close(sink);
	close_fds(sink);
	memory_unmap(sink->decoder, decoder_bytes());
	memory_unmap(sink->queue, SINK_QUEUE_ROOM * sizeof *sink->queue);
	sink_close_by(sink, 0);
	set_state(sink, SINK_FREE);
}

void sinks_forget(void)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (sink_state(sink) == SINK_FREE)
			continue;
		close_fds(sink);
		unwatch(sink);
		memory_unmap(sink->queue, SINK_QUEUE_ROOM * sizeof *sink->queue);
		memory_unmap(sink->decoder, decoder_bytes());
		set_state(sink, SINK_FREE);
	}
}

/* ---- descriptors that the program has closed ---- */

bool sink_has(const struct sink *sink, int fd)
{
	return descriptor_is(fd, fd == sink->fd ? sink->file : sink->in_file);
}

static void tell_closed(const struct sink *sink, int fd)
{
	lock_take();
	error_set("the program has closed file descriptor %d of the sink %s", fd, sink->path[0] ? sink->path : sink->who);
	lock_release();
}

static void reopen(struct sink *sink, uint64_t now_ns)
{
	int fd = descriptor_may_open() ? sink->scheme->reopen(sink) : -EAGAIN;

	sink->reopen_ns = fd < 0 ? now_ns + 200000000 : 0;
	if (fd < 0)
		return;
	sink->in_fd = fd;
	sink->in_file = descriptor_file(fd);
}

void sink_keep(struct sink *sink, uint64_t now_ns)
{
	if (sink->in_fd >= 0 && sink->in_fd != sink->fd && !sink_has(sink, sink->in_fd)) {
		tell_closed(sink, sink->in_fd);
		sink->in_fd = -1;
		sink->reopen_ns = now_ns;
	}
	if (sink->fd >= 0 && !sink_has(sink, sink->fd)) {
		tell_closed(sink, sink->fd);
		sink_gone(sink, now_ns);
	}
	if (sink->reopen_ns && now_ns >= sink->reopen_ns && !sink_is_leaving(sink))
		reopen(sink, now_ns);
}

/* ---- blocks ---- */

void sink_push(struct sink *sink, struct block_buffer *block, bool is_private)
{
	if (!is_private)
		sink->taken += block->event_count;
	/* A sink that is behind gets only its next greeting. */
	if (is_private ? queue_push(sink, block, SINK_QUEUE_ROOM)
		       : sink_state(sink) != SINK_BEHIND && queue_push(sink, block, LIMIT_QUEUE_BLOCKS))
		return;
	happens(sink, LOST);
	if (!is_private)
		sink->dropped += block->event_count;
}

void sink_write(struct sink *sink, uint64_t now_ns)
{
	if (sink->is_regular && sink->retry_ns > now_ns)
		return;
	if (sink->queue_count > 0 && !sink_has(sink, sink->fd)) {
		sink_gone(sink, now_ns);
		return;
	}
	switch (queue_write(sink)) {
	case QUEUE_FINE:
		break;
	case QUEUE_BROKEN:
		sink_gone(sink, now_ns);
		break;
	case QUEUE_DISK_FULL:
		/* The file stays a good recording up to its last whole block. Writing is tried again later. */
		queue_drop(sink);
		sink->retry_ns = now_ns + 1000000000;
		happens(sink, LOST);
		break;
	}
}
