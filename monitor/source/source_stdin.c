/* source_stdin.c -- standard input: a recording that another program sends through a pipe, or a stream. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/source/source.h"

/* A recorder does not empty a file that is read (source_file.c). The open file behind standard input belongs to the
 * shell as well, and may have a lock of the shell's, so the file is opened once more for our lock. */
static void lock_file(struct source *source)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	source->lock_fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
	if (source->lock_fd >= 0)
		flock(source->lock_fd, LOCK_SH | LOCK_NB);
}

static int open_stdin(struct source *source)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL), fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0 || flags < 0) {
		problem_set(&source->problem, EXIT_INTERNAL, "-: standard input is closed");
		problem_todo(&source->problem, "For example: cat session.telem | telemtop -");
		return source->problem.code;
	}
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	lock_file(source);
	source_opened(source, fd);
	return EXIT_DONE;
}

const struct source_kind source_stdin = { .word = "-", .ends = true, .open = open_stdin, .again = open_stdin };
