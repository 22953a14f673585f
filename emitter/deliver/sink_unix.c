/* sink_unix.c -- a Unix socket that listens at a path. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_address.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/unix_socket.h"

/* Returns whether the viewer is a process of this user or of root, which the kernel tells. */
static bool peer_is_trusted(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

static int listen_unix(struct sink *sink)
{
	return unix_listen(sink->path);
}

static int open_unix(struct sink *sink, const char *rest)
{
	int fd, err = sink_address(sink, rest, NULL);

	if (err < 0)
		return err;
	fd = listen_unix(sink);
	if (fd < 0)
		return fd == -EBUSY ? -EADDRINUSE : fd;
	sink->in_fd = fd;
	sink->may_control = sink->made_path = true;
	return SINK_LISTENING;
}

static void close_unix(struct sink *sink)
{
	if (sink->made_path)
		unix_unlink(sink->path, sink->has_name);
}

const struct sink_scheme sink_unix = {
	.name = "unix", .help = "unix:PATH", .open = open_unix, .accept = peer_is_trusted, .reopen = listen_unix,
	.close = close_unix,
};
