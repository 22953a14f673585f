/* source_file.c -- a recording: all its bytes are there already, and can be read at any offset. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/format.h"
#include "monitor/source/source.h"
#include "protocol/limits.h"
#include "widgets/text.h"

/* A file is refused at once when no format knows its first bytes. */
static int look_at(const struct address *address, struct problem *problem)
{
	uint8_t bytes[LIMIT_LEAD_BYTES];
	char shown[64];
	int fd = open(address->path, O_RDONLY | O_CLOEXEC);
	ssize_t count = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
	int err = errno;

	if (fd >= 0)
		close(fd);
	if (count < 0) {
		problem_set(problem, err == EACCES ? EXIT_PERMISSION : EXIT_RECORDING, "%s: %s", address->text,
			    err == EACCES ? "permission denied" : err == EISDIR ? "is a directory" : "cannot be read");
		problem_todo(problem, "Give a PID, a program's name, a socket, a FIFO or a recording.");
		return problem->code;
	}
	if (format_sniff(bytes, (size_t)count))
		return EXIT_DONE;
	if (count == 0) {
		problem_set(problem, EXIT_RECORDING, "%s: the file is empty", address->text);
		problem_todo(problem, "A recording begins to be readable when its program has started.");
		return problem->code;
	}
	text_clean(shown, sizeof shown, (const char *)bytes, strnlen((char *)bytes, count < 12 ? (size_t)count : 12),
		   GLYPHS_BLOCKS);
	problem_set(problem, EXIT_RECORDING, "%s: not a telemtop recording (starts with \"%s\")", address->text, shown);
	problem_todo(problem, "Recordings are made by telemtop record, R in the screen, or TELEM=\"sink=file:PATH\".");
	return problem->code;
}

static int parse(struct address *out, const char *rest, struct problem *problem)
{
	return address_set_path(out, rest, problem) == EXIT_DONE ? look_at(out, problem) : problem->code;
}

/* Whatever is neither a socket nor a FIFO is read like a file. */
static bool fits(const struct stat *st)
{
	return !S_ISSOCK(st->st_mode) && !S_ISFIFO(st->st_mode);
}

static int open_file(struct source *source)
{
	struct stat st;

	source->fd = open(source->address.path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 || fstat(source->fd, &st) < 0) {
		problem_set(&source->problem, errno == EACCES ? EXIT_PERMISSION : EXIT_RECORDING, "%s: %s",
			    source->address.path, strerror(errno));
		problem_todo(&source->problem, "Give the path of a recording.");
		return source->problem.code;
	}
	/* A recorder does not empty a file that is read. When a recorder holds the lock, the file is read all the same. */
	flock(source->fd, LOCK_SH | LOCK_NB);
	source->byte_count = (uint64_t)st.st_size;
	source->state = SOURCE_OPEN;
	return EXIT_DONE;
}

static int64_t read_at(struct source *source, uint64_t offset, void *bytes, size_t room)
{
	ssize_t count;

	do
		count = pread(source->fd, bytes, room, (off_t)offset);
	while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count;
}

const struct source_kind source_file = { .parse = parse, .fits = fits, .open = open_file, .read_at = read_at };
