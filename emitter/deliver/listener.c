#include "emitter/deliver/listener.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emitter/core/error.h"
#include "emitter/core/lock.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_state.h"

void listener_accept(struct sink *sink, uint64_t now_ns)
{
	while (sink_has(sink, sink->in_fd)) {
		struct sink *viewer = NULL;
		int fd = accept4(sink->in_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			/* A process that is out of file descriptors, or whose filter of system calls refuses this one,
			 * would try again and again without this pause. */
			if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED) {
				int error = errno;

				lock_take();
				error_set("cannot accept a viewer at %s: %s", sink->path, strerror(error));
				lock_release();
				sink->retry_ns = now_ns + 50000000;
			}
			return;
		}
		if (sink->scheme->accept(fd)) {
			lock_take();
			viewer = sink_new(sink->id);
			lock_release();
		}
		if (!viewer) {
			close(fd);
			continue;
		}
		snprintf(viewer->who, sizeof viewer->who, "viewer %d", viewer->id);
		viewer->fd = viewer->in_fd = fd;
		viewer->may_control = sink->may_control;
		sink_opened(viewer, SINK_NEW);
	}
}
