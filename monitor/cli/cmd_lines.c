/* cmd_lines.c -- the subcommand lines: one summary line a tick, like vmstat. */
#include <stdio.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"
#include "monitor/cli/line.h"

enum { LINES_PER_HEADER = 20 };

struct lines { int64_t printed_count; };

static void change(struct headless *headless, bool tick)
{
	struct lines *lines = headless->state;
	int line_count_max = headless->options->line_count_max;

	/* Rates are differences to the tick before, and the first snapshot has none before it. */
	if (!tick || model_ticks(headless->target.session.model) < 2)
		return;
	if (lines->printed_count % LINES_PER_HEADER == 0)
		line_header_write(stdout);
	line_write(&headless->target, stdout);
	lines->printed_count++;
	if (headless_flush(headless) && line_count_max && lines->printed_count >= line_count_max)
		headless_over(headless, EXIT_DONE);
}

static int run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change, .follows_file = true };
	struct lines lines = { 0 };

	return headless_run(options, &callbacks, &lines);
}

static int parse_count(const char *text, struct options *options, struct problem *problem)
{
	if (!options_int(text, 1, 1000000000, &options->line_count_max))
		return options_bad(problem, "bad number of lines", text, "Give 1 or more.");
	return EXIT_DONE;
}

static const struct option_row count = { NULL, 'n', "N", "how many", .parse = parse_count };

const struct subcommand subcommand_lines = {
	.name = "lines",
	.usage = "[-d SEC] [-n N] TARGET",
	.help = "one summary line a tick",
	.options = (const struct option_row *const[]){ &count, NULL },
	.target_use = TARGET_NEEDED,
	.run = run,
};
