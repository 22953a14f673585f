/* sink_fifo.c -- a FIFO, and a second one beside it for requests. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emitter/deliver/request.h"
#include "emitter/core/emitter.h"
#include "emitter/deliver/sink.h"

/* A FIFO of ours or root's, opened as asked. Made 0600 when there is none. Others may not
 * write to one that requests come by. */
static int open_one(struct sink *sink, const char *path, int flags, bool *made)
{
	struct stat st;
	int fd, err;

	*made = mkfifo(path, 0600) == 0;
	if (!*made && errno != EEXIST)
		return -errno;
	/* Looked at before it is opened: opening a device may do things. */
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
		sink_ready(sink, fd, sink->in_fd, sink->in_fd >= 0);
		return;
	}
	/* ENXIO: nobody reads. Anything else may pass, too. */
	sink->retry_pause_ns = sink->retry_pause_ns ? sink->retry_pause_ns * 2 : 100000000;
	if (sink->retry_pause_ns > 2000000000)
		sink->retry_pause_ns = 2000000000;
	sink->retry_ns = now_ns + sink->retry_pause_ns;
}

static int open_fifo(struct sink *sink, const char *rest)
{
	char control_path[LIMIT_PATH_BYTES + 8];
	bool made;
	int fd, err = sink_options(sink, rest, NULL);

	if (err < 0)
		return err;
	fd = open_one(sink, sink->path, O_WRONLY, &made);
	if (fd < 0 && fd != -ENXIO)
		return fd;
	snprintf(control_path, sizeof control_path, "%s.ctl", sink->path);
	/* Both ways, so that it is never at its end while viewers come and go. */
	sink->in_fd = open_one(sink, control_path, O_RDWR, &sink->made_path);
	if (sink->in_fd < 0)
		sink->in_fd = -1;
	snprintf(sink->who, sizeof sink->who, "fifo");
	if (fd >= 0)
		sink_ready(sink, fd, sink->in_fd, sink->in_fd >= 0);
	return 0;
}

static void readable(struct sink *sink, uint64_t now_ns)
{
	/* Requests come whole, each in one write; nonsense costs what came with it. */
	if (control_read(sink, sink->in_fd, now_ns) == CONTROL_NONSENSE && sink->decoder)
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

const struct sink_scheme scheme_fifo = {
	.name = "fifo", .open = open_fifo, .retry = try_open, .readable = readable, .close = close_fifo,
};
