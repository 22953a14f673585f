/* cmd_lines.c -- the subcommand lines: one summary line a tick, like vmstat. */
#include <errno.h>
#include <stdio.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"
#include "monitor/cli/line.h"

enum { LINES_A_HEADER = 20 };

struct lines { int64_t printed_count; };

static void change(struct headless *headless, bool tick)
{
	struct lines *lines = headless->state;

	/* Rates are differences to the tick before, and the first snapshot has none before it. */
	if (!tick || model_ticks(headless->target.session.model) < 2)
		return;
	if (lines->printed_count % LINES_A_HEADER == 0)
		line_print_header();
	line_print(&headless->target);
	lines->printed_count++;
	/* A reader that has read enough closes the pipe, as in: telemtop lines PID | head */
	if (ferror(stdout))
		headless_over(headless, errno == EPIPE ? EXIT_DONE : EXIT_INTERNAL);
	else if (headless->options->count && lines->printed_count >= headless->options->count)
		headless_over(headless, EXIT_DONE);
}

int lines_run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change, .follows_file = true };
	struct lines lines = { 0 };

	return headless_run(options, &callbacks, &lines);
}
