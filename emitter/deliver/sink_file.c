/* sink_file.c -- a recording, and whatever file descriptor the program has. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emitter/core/emitter.h"
#include "emitter/deliver/sink.h"

static int open_file(struct sink *sink, const char *rest)
{
	int fd, err = sink_options(sink, rest, NULL);

	if (err < 0)
		return err;
	/* Never over what is there. */
	fd = open(sink->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	flock(fd, LOCK_EX | LOCK_NB);
	sink->is_regular = true;
	sink_watch(sink, WATCH_INSPECTION, true);        /* nobody can ask for it later */
	sink_ready(sink, fd, -1, false);
	return 0;
}

const struct sink_scheme scheme_file = { .name = "file", .open = open_file };

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
	sink_ready(sink, (int)fd, -1, false);
	return 0;
}

const struct sink_scheme scheme_fd = { .name = "fd", .open = open_fd };
