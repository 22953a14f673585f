/* cmd_replay.c -- the subcommand replay: the screen of a recording. */
#include <stdlib.h>

#include "monitor/cli/cli.h"

static int parse_at(const char *text, struct options *options, struct problem *problem)
{
	if (!options_time(text, &options->at_ns))
		return options_bad(problem, "bad time", text, "Give how far into the recording: 30, 5m, 1h");
	return EXIT_DONE;
}

static int parse_speed(const char *text, struct options *options, struct problem *problem)
{
	char *end;

	options->speed = strtod(text, &end);
	if (end == text || *end || !(options->speed >= 0.1 && options->speed <= 1000))
		return options_bad(problem, "bad speed", text, "Give 0.1 to 1000.");
	return EXIT_DONE;
}

static const struct option_row
	at = { "at", 0, "TIME", "how far into the recording to start", .parse = parse_at },
	speed = { "speed", 0, "X", "0.1 to 1000 times as fast as it was", .parse = parse_speed };

static int run(const struct options *options)
{
	return subcommand_screen.run(options);
}

const struct subcommand subcommand_replay = {
	.name = "replay",
	.usage = "[--at TIME] [--speed X] FILE",
	.options = (const struct option_row *const[]){ &at, &speed, NULL },
	.target_use = TARGET_OPTIONAL,
	.run = run,
};
