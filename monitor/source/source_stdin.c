/* source_stdin.c -- standard input: a recording that another program sends through a pipe, or a stream. */
#include <fcntl.h>
#include <unistd.h>

#include "monitor/source/source.h"

static int open_stdin(struct source *source)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL), fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0 || flags < 0) {
		problem_set(&source->problem, EXIT_INTERNAL, "-: standard input is closed");
		problem_todo(&source->problem, "For example: cat session.telem | telemtop -");
		return source->problem.code;
	}
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	source_opened(source, fd);
	return EXIT_DONE;
}

const struct source_kind source_stdin = { .word = "-", .ends = true, .open = open_stdin, .again = open_stdin };
