/* sink_fd.c -- any file descriptor that the program has open for writing. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_state.h"

static int open_fd(struct sink *sink, const char *rest)
{
	char *end;
	long fd = strtol(rest, &end, 10);
	struct stat st;
	int flags;

	if (*end || end == rest || fd < 0) {
		sink->why = "give the number of an open file";
		return -EINVAL;
	}
	if (fstat((int)fd, &st) < 0)
		return -errno;
	flags = fcntl((int)fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
		sink->why = "is not open for writing";
		return -EBADF;
	}
	if (!S_ISREG(st.st_mode) && fcntl((int)fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	sink->is_regular = S_ISREG(st.st_mode);
	sink_watch(sink, WATCH_INSPECTION, sink->is_regular);
	if (sink->is_regular)
		sink->file_start = (uint64_t)(flags & O_APPEND ? st.st_size : lseek((int)fd, 0, SEEK_CUR));
	sink->fd = (int)fd;
	return SINK_NEW;
}

const struct sink_scheme sink_fd = { .name = "fd", .help = "fd:N", .open = open_fd };
