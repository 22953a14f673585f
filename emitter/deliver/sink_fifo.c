/* sink_fifo.c -- a FIFO, and a second one beside it for requests. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emitter/deliver/request.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_address.h"
#include "emitter/deliver/sink_state.h"

/* Opens a FIFO of this user or of root. When there is none, it is made with mode 0600. A FIFO for requests must not be
 * writable for other users. */
static int open_one(struct sink *sink, const char *path, int flags, bool *made)
{
	struct stat st;
	int fd, err;

	*made = mkfifo(path, 0600) == 0;
	if (!*made && errno != EEXIST)
		return -errno;
	/* The file is looked at before it is opened, because opening a device may have effects. */
	if (lstat(path, &st) < 0)
		return -errno;
	if (!S_ISFIFO(st.st_mode)) {
		sink->why = "is not a FIFO";
		return -EEXIST;
	}
	fd = open(path, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) ||
	    (flags == O_RDWR && (st.st_mode & 022))) {
		sink->why = "is no FIFO of this user or of root";
		err = -EPERM;
		close(fd);
		return err;
	}
	return fd;
}

static void try_open(struct sink *sink, uint64_t now_ns)
{
	bool made;
	int fd = open_one(sink, sink->path, O_WRONLY, &made);

	if (fd >= 0) {
		sink->fd = fd;
		sink_ready(sink);
	} else {
		/* ENXIO says that the FIFO has no reader. Other errors may pass as well. */
		sink_retry_later(sink, now_ns);
	}
}

/* It is opened for reading and writing, so that read() never reports its end while viewers come and go. */
static int open_control(struct sink *sink)
{
	char path[LIMIT_PATH_BYTES + 8];
	bool made;
	int fd;

	snprintf(path, sizeof path, "%s.ctl", sink->path);
	fd = open_one(sink, path, O_RDWR, &made);
	sink->made_path |= made;
	return fd;
}

static int open_fifo(struct sink *sink, const char *rest)
{
	bool made;
	int fd, err = sink_address(sink, rest, NULL);

	if (err < 0)
		return err;
	fd = open_one(sink, sink->path, O_WRONLY, &made);
	if (fd < 0 && fd != -ENXIO)
		return fd;
	sink->in_fd = open_control(sink);
	if (sink->in_fd < 0)
		sink->in_fd = -1;
	sink->may_control = sink->in_fd >= 0;
	snprintf(sink->who, sizeof sink->who, "fifo");
	if (fd < 0)
		return SINK_WAITING;
	sink->fd = fd;
	return SINK_NEW;
}

static void control(struct sink *sink, uint64_t now_ns)
{
	/* Each request comes in one write, so bytes that are not a request do not affect later requests. */
	if (request_read(sink, sink->in_fd, now_ns) == REQUEST_NONSENSE && sink->decoder)
		decoder_reset(sink->decoder);
}

static void close_fifo(struct sink *sink)
{
	char control_path[LIMIT_PATH_BYTES + 8];

	if (!sink->made_path)
		return;
	snprintf(control_path, sizeof control_path, "%s.ctl", sink->path);
	unlink(control_path);
}

const struct sink_scheme sink_fifo = {
	.name = "fifo", .help = "fifo:PATH", .open = open_fifo, .retry = try_open, .control = control,
	.reopen = open_control, .close = close_fifo,
};
