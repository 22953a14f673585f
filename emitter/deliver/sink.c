#include "emitter/deliver/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "emitter/deliver/request.h"
#include "emitter/core/emitter.h"

struct sink sinks[LIMIT_SINKS];

static const struct sink_scheme *const schemes[] = {
	&scheme_unix, &scheme_fifo, &scheme_tcp, &scheme_connect, &scheme_file, &scheme_fd,
};

struct sink *sink_new(int parent)
{
	for (int i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (sink_state(sink) != SINK_FREE)
			continue;
		/* All but the state, at which the flusher looks without the lock. */
		memset(&sink->scheme, 0, sizeof *sink - offsetof(struct sink, scheme));
		sink_set_state(sink, SINK_OPENING);
		sink->id = i;
		sink->parent = parent;
		sink->fd = sink->in_fd = -1;
		sink->queue = emitter_map(SINK_QUEUE_ROOM * sizeof *sink->queue);
		if (!sink->queue) {
			sink_set_state(sink, SINK_FREE);
			return NULL;
		}
		return sink;
	}
	return NULL;
}

int sink_options(struct sink *sink, const char *rest, bool *control)
{
	const char *comma = strchr(rest, ',');
	size_t length = comma ? (size_t)(comma - rest) : strlen(rest);

	if (control)
		*control = comma && !strcmp(comma, ",control");
	if (length == 0)
		sink->why = "nothing follows the colon";
	else if (length >= sizeof sink->path)
		sink->why = "the address is too long";
	else if (comma && !control)
		sink->why = "only tcp: and connect: take an option behind a comma";
	else if (comma && !*control)
		sink->why = "the only option is ,control";
	if (sink->why)
		return -EINVAL;
	memcpy(sink->path, rest, length);
	sink->path[length] = '\0';
	return 0;
}

int sink_open(const char *address)
{
	const char *colon = strchr(address, ':');
	const struct sink_scheme *scheme = NULL;
	struct sink *sink;
	int err;

	for (size_t i = 0; colon && i < sizeof schemes / sizeof *schemes; i++)
		if (strlen(schemes[i]->name) == (size_t)(colon - address) &&
		    !strncmp(schemes[i]->name, address, (size_t)(colon - address)))
			scheme = schemes[i];
	if (!scheme) {
		emitter_error("sink %s: no such kind of address (fifo:PATH unix:PATH tcp:HOST:PORT connect:HOST:PORT "
			      "file:PATH fd:N)", address);
		return -EINVAL;
	}
	sink = sink_new(-1);
	if (!sink) {
		emitter_error("sink %s: there are %d already", address, LIMIT_SINKS);
		return -ENOSPC;
	}
	sink->scheme = scheme;
	err = scheme->open(sink, colon + 1);
	if (err < 0) {
		emitter_error("sink %s: %s", address, sink->why ? sink->why : strerror(-err));
		sink_free(sink);
		return err;
	}
	sink_set_state(sink, SINK_OPEN);
	/* What ends before the flusher has had its first turn is for this sink, too. */
	if (sink_is_streaming(sink))
		__atomic_store_n(&emitter.coarse_ticks, clock_ticks(), __ATOMIC_RELAXED);
	flusher_wake();
	return sink->id;
}

void sink_ready(struct sink *sink, int fd, int in_fd, bool may_control)
{
	sink->fd = fd;
	sink->in_fd = in_fd;
	sink->may_control = may_control;
	sink->is_connecting = false;
	sink->is_new = true;
	sink->retry_pause_ns = 0;
}

static void queue_drop(struct sink *sink)
{
	while (sink->queue_count > 0) {
		struct block_buffer *block = sink->queue[sink->queue_head];

		if (!block->is_private)
			sink->dropped += block->event_count;
		block_release(block);
		sink->queue_head = (sink->queue_head + 1) % SINK_QUEUE_ROOM;
		sink->queue_count--;
	}
	sink->written = 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void sink_watch(struct sink *sink, unsigned what, bool on)
{
	uint8_t bit = (uint8_t)(1u << what);

	if (on != !!(sink->watched & bit))
		frames_watch(true, what, on);
	sink->watched = (uint8_t)(on ? sink->watched | bit : sink->watched & ~bit);
}

void sink_unwatch(struct sink *sink)
{
	for (unsigned what = 0; what < WATCH_COUNT; what++)
		sink_watch(sink, what, false);
}

void sink_gone(struct sink *sink, uint64_t now_ns)
{
	queue_drop(sink);
	sink_unwatch(sink);
	emitter_lock();
	leases_drop(sink);
	emitter_unlock();
	if (sink->in_fd == sink->fd)
		sink->in_fd = -1;
	close_fd(&sink->fd);
	sink->is_lost = sink->is_connecting = false;
	if (sink->decoder)
		decoder_reset(sink->decoder);
	if (!sink->scheme || !sink->scheme->retry)
		sink_set_state(sink, SINK_CLOSING);
	/* 100 ms, 200 ms, ... 2 s */
	sink->retry_pause_ns = sink->retry_pause_ns ? sink->retry_pause_ns * 2 : 100000000;
	if (sink->retry_pause_ns > 2000000000)
		sink->retry_pause_ns = 2000000000;
	sink->retry_ns = now_ns + sink->retry_pause_ns;
	blocks_trim();
}

void sink_free(struct sink *sink)
{
	queue_drop(sink);
	sink_unwatch(sink);
	if (sink->scheme && sink->scheme->close)
		sink->scheme->close(sink);
	if (sink->in_fd != sink->fd)
		close_fd(&sink->in_fd);
	close_fd(&sink->fd);
	emitter_unmap(sink->decoder, decoder_bytes());
	emitter_unmap(sink->queue, SINK_QUEUE_ROOM * sizeof *sink->queue);
	sink_set_state(sink, SINK_FREE);
}

void sink_push(struct sink *sink, struct block_buffer *block, bool is_private)
{
	uint32_t room = is_private ? SINK_QUEUE_ROOM : LIMIT_QUEUE_BLOCKS;

	if (!is_private)
		sink->taken += block->event_count;
	if (sink->queue_count >= room || (sink->is_lost && !is_private)) {
		sink->is_lost = true;
		if (!is_private)
			sink->dropped += block->event_count;
		return;
	}
	sink->queue[(sink->queue_head + sink->queue_count) % SINK_QUEUE_ROOM] = block;
	sink->queue_count++;
	block->references++;
}

/* A FIFO or pipe without a reader raises SIGPIPE, which is blocked in this thread: taken
 * away, so that nothing is left pending. */
static void take_sigpipe(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigtimedwait(&set, NULL, &(struct timespec){ 0, 0 });
}

static void written(struct sink *sink, size_t bytes)
{
	sink->bytes_sent += bytes;
	__atomic_fetch_add(&emitter.bytes_sent, bytes, __ATOMIC_RELAXED);
	while (bytes > 0) {
		struct block_buffer *block = sink->queue[sink->queue_head];
		size_t left = block->length - sink->written;

		if (bytes < left) {
			sink->written += (uint32_t)bytes;
			return;
		}
		bytes -= left;
		sink->written = 0;
		if (!block->is_private) {
			block->is_delivered = true;
			sink->delivered += block->event_count;
			sink->recording.events += block->event_count;
		}
		sink->recording.offset += block->length;
		block_release(block);
		sink->queue_head = (sink->queue_head + 1) % SINK_QUEUE_ROOM;
		sink->queue_count--;
	}
}

/* A full or broken disk: the file is cut back to its last whole block, which stays a good
 * recording, and writing is tried again later. */
static void file_full(struct sink *sink, uint64_t now_ns)
{
	off_t whole = (off_t)(sink->file_start + sink->recording.offset);

	if (ftruncate(sink->fd, whole) == 0)
		lseek(sink->fd, whole, SEEK_SET);
	queue_drop(sink);
	sink->is_lost = true;
	sink->retry_ns = now_ns + 1000000000;
}

void sink_write(struct sink *sink, uint64_t now_ns)
{
	while (sink->queue_count > 0 && !(sink->is_regular && sink->retry_ns > now_ns)) {
		struct iovec parts[64];
		int count = 0;
		ssize_t result;

		for (uint32_t i = 0; i < sink->queue_count && count < 64; i++, count++) {
			struct block_buffer *block = sink->queue[(sink->queue_head + i) % SINK_QUEUE_ROOM];
			uint32_t skip = i == 0 ? sink->written : 0;

			parts[count] = (struct iovec){ block->bytes + skip, block->length - skip };
		}
		result = writev(sink->fd, parts, count);
		if (result > 0) {
			written(sink, (size_t)result);
			if (sink->is_regular)
				sink->retry_ns = 0;
			continue;
		}
		if (result < 0 && errno == EINTR)
			continue;
		if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (result < 0 && errno == EPIPE)
			take_sigpipe();
		if (sink->is_regular && (errno == ENOSPC || errno == EDQUOT || errno == EIO || errno == EFBIG))
			file_full(sink, now_ns);
		else
			sink_gone(sink, now_ns);
		return;
	}
}
