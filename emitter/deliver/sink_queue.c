#include "emitter/deliver/sink_queue.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "emitter/core/error.h"
#include "emitter/core/lock.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/stream.h"

/* Removes the first block from the queue. */
static void take_first(struct sink *sink)
{
	pool_release(sink->queue[sink->queue_head]);
	sink->queue_head = (sink->queue_head + 1) % SINK_QUEUE_ROOM;
	sink->queue_count--;
	sink->written = 0;
}

bool queue_push(struct sink *sink, struct block_buffer *block, uint32_t room)
{
	assert(room <= SINK_QUEUE_ROOM);
	if (sink->queue_count >= room)
		return false;
	sink->queue[(sink->queue_head + sink->queue_count) % SINK_QUEUE_ROOM] = block;
	sink->queue_count++;
	block->references++;
	return true;
}

void queue_drop(struct sink *sink)
{
	while (sink->queue_count > 0) {
		const struct block_buffer *block = sink->queue[sink->queue_head];

		if (!block->is_private)
			sink->dropped += block->event_count;
		take_first(sink);
	}
	sink->written = 0;
}

/* Writing to a FIFO or pipe without a reader raises SIGPIPE, which is blocked in this thread. Takes the signal, so that
 * it does not stay pending. */
static void take_sigpipe(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigtimedwait(&set, NULL, &(struct timespec){ 0, 0 });
}

static void count_written(struct sink *sink, size_t bytes)
{
	sink->bytes_sent += bytes;
	__atomic_fetch_add(&stream.bytes_sent, bytes, __ATOMIC_RELAXED);
	while (bytes > 0) {
		struct block_buffer *block = sink->queue[sink->queue_head];
		size_t left = block->length - sink->written;

		if (bytes < left) {
			sink->written += (uint32_t)bytes;
			return;
		}
		bytes -= left;
		if (!block->is_private) {
			block->is_delivered = true;
			sink->delivered += block->event_count;
			sink->recording.events += block->event_count;
		}
		sink->recording.offset += block->length;
		take_first(sink);
	}
}

/* A reader that goes is nothing to tell. A filter of system calls, or a file that may not be written any more, is. */
static void tell_broken(const struct sink *sink, int error)
{
	if (error == 0 || error == EPIPE || error == ECONNRESET || error == ETIMEDOUT)
		return;
	lock_take();
	error_set("sink %s: a write failed (%s), so it gets nothing more", sink->path[0] ? sink->path : sink->who,
		  strerror(error));
	lock_release();
}

static enum queue_result failed(struct sink *sink, int error)
{
	off_t whole = (off_t)(sink->file_start + sink->recording.offset);

	if (error == EPIPE)
		take_sigpipe();
	if (!sink->is_regular || (error != ENOSPC && error != EDQUOT && error != EIO && error != EFBIG)) {
		tell_broken(sink, error);
		return QUEUE_BROKEN;
	}
	if (ftruncate(sink->fd, whole) == 0)
		lseek(sink->fd, whole, SEEK_SET);
	return QUEUE_DISK_FULL;
}

enum queue_result queue_write(struct sink *sink)
{
	enum { PARTS = 64 };

	while (sink->queue_count > 0) {
		struct iovec parts[PARTS];
		int count = 0;
		ssize_t result;

		for (uint32_t i = 0; i < sink->queue_count && count < PARTS; i++, count++) {
			struct block_buffer *block = sink->queue[(sink->queue_head + i) % SINK_QUEUE_ROOM];
			uint32_t skip = i == 0 ? sink->written : 0;

			parts[count] = (struct iovec){ block->bytes + skip, block->length - skip };
		}
		result = writev(sink->fd, parts, count);
		if (result > 0) {
			count_written(sink, (size_t)result);
			if (sink->is_regular)
				sink->retry_ns = 0;
		} else if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			return QUEUE_FINE;
		} else if (result == 0 || errno != EINTR) {
			return failed(sink, result < 0 ? errno : 0);
		}
	}
	return QUEUE_FINE;
}
