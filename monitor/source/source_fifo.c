/* source_fifo.c -- a FIFO. Target and viewer may start in any order: the first makes it. A target may end and the next
 * one go on. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/source/source.h"

static int parse(struct address *out, const char *rest, struct problem *problem)
{
	return address_set_path(out, rest, problem);
}

static bool fits(const struct stat *st)
{
	return S_ISFIFO(st->st_mode);
}

/* While a FIFO has no writer, poll() reports its end again and again. Such a FIFO is therefore closed, and opened again
 * by the source's timer. */
static int open_again(struct source *source)
{
	struct stat st;
	int fd = open(source->address.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode)) {
		problem_set(&source->problem, fd < 0 && errno == EACCES ? EXIT_PERMISSION : EXIT_NO_TARGET, "%s: %s",
			    source->address.text, fd < 0 ? strerror(errno) : "not a FIFO");
		problem_todo(&source->problem, "Make one with mkfifo, or start the program with TELEM=\"sink=fifo:%s\".",
			     source->address.path);
		if (fd >= 0)
			close(fd);
		return source->problem.code;
	}
	source_opened(source, fd);
	return EXIT_DONE;
}

static int open_fifo(struct source *source)
{
	source->made_path = mkfifo(source->address.path, 0600) == 0;
	if (!source->made_path && errno != EEXIST) {
		problem_set(&source->problem, errno == EACCES ? EXIT_PERMISSION : EXIT_NO_TARGET, "%s: %s",
			    source->address.text, strerror(errno));
		problem_todo(&source->problem, "The FIFO is not there and cannot be made.");
		return source->problem.code;
	}
	source_set(source, SOURCE_CONNECTING);
	return open_again(source);
}

/* A FIFO that was made for a mistyped path, and that no program ever wrote to, is removed. */
static void close_fifo(struct source *source)
{
	if (source->made_path && !source->has_greeted)
		unlink(source->address.path);
}

static int control(struct source *source)
{
	struct stat st;
	char path[sizeof source->address.path + 8];

	if (source->control_fd < 0) {
		snprintf(path, sizeof path, "%s.ctl", source->address.path);
		source->control_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
		/* Requests are written only into a FIFO that belongs to this user or to root. */
		if (source->control_fd >= 0 && (fstat(source->control_fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
						(st.st_uid != geteuid() && st.st_uid != 0))) {
			close(source->control_fd);
			source->control_fd = -1;
		}
	}
	return source->control_fd;
}

static bool waiting(const struct address *address, bool is_open, double waited_s, char *out, size_t out_bytes)
{
	snprintf(out, out_bytes, "%s is open. Waiting for a program to write to it (%.0f s).", address->path, waited_s);
	return is_open;
}

const struct source_kind source_fifo = {
	.scheme = "fifo", .usage = "PATH", .parse = parse, .fits = fits, .waiting = waiting, .waits = true,
	.joins_midway = true,
	.open = open_fifo, .again = open_again, .close = close_fifo, .control = control,
};
