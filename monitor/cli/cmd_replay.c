/* cmd_replay.c -- the subcommand replay: the screen of a recording. */
#include <stdlib.h>

#include "monitor/cli/cli.h"
#include "monitor/source/source.h"

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

static int check(const struct options *options, struct problem *problem)
{
	if (!options->target) {
		problem_set(problem, EXIT_USAGE, "replay: a recording is missing");
		problem_todo(problem, "Usage: telemtop replay %s", subcommand_replay.usage);
	}
	return problem->code;
}

static int run(const struct options *options)
{
	struct address address;
	struct problem problem = { 0 };
	int code = address_parse(options->target, &address, &problem);

	/* The screen waits for a file that is still to be written. A process is no recording, whether it exists or not. */
	if (options->wait_s >= 0 && !address.pid && address_may_come(code))
		return subcommand_screen.run(options);
	/* Standard input is not refused, because a recording may come through it. */
	if (address.pid || (code == EXIT_DONE && !address.kind->read_at && !address.kind->ends)) {
		problem_set(&problem, EXIT_USAGE, "%s: is not a recording", address.text);
		problem_todo(&problem, "Give the file of a recording. A running program is watched with: telemtop %s",
			     address.text);
		return problem_print(&problem);
	}
	if (code != EXIT_DONE)
		return problem_print(&problem);
	return subcommand_screen.run(options);
}

const struct subcommand subcommand_replay = {
	.name = "replay",
	.usage = "[--at TIME] [--speed X] FILE",
	.options = (const struct option_row *const[]){ &at, &speed, NULL },
	.target_use = TARGET_OPTIONAL,
	.check = check,
	.run = run,
};
