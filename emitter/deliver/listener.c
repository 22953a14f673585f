#include "emitter/deliver/listener.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emitter/core/lock.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_state.h"

void listener_accept(struct sink *sink, uint64_t now_ns)
{
	for (;;) {
		struct sink *viewer = NULL;
		int fd = accept4(sink->in_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			/* A process that is out of file descriptors would try again and again without this pause. */
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
				sink->retry_ns = now_ns + 50000000;
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
