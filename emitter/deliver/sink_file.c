/* sink_file.c -- a recording in a new file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_address.h"
#include "emitter/deliver/sink_state.h"

static int open_file(struct sink *sink, const char *rest)
{
	int fd, err = sink_address(sink, rest, NULL);

	if (err < 0)
		return err;
	/* An existing file is never overwritten. */
	fd = open(sink->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	flock(fd, LOCK_EX | LOCK_NB);
	sink->is_regular = true;
	sink_watch(sink, WATCH_INSPECTION, true);        /* a file has no viewer that could ask for it */
	sink->fd = fd;
	return SINK_NEW;
}

const struct sink_scheme sink_file = { .name = "file", .help = "file:PATH", .open = open_file };
