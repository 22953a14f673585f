/* cmd_version.c -- the option --version: the versions of telemtop, of the protocol and of ncurses. */
#include <stdio.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/output.h"
#include "monitor/screen/app.h"
#include "protocol/message.h"

#define TELEMTOP_VERSION "0.1.0"

static int parse_version(const char *text, struct options *options, struct problem *problem)
{
	(void)text, (void)problem;
	options->subcommand = &subcommand_version;
	return EXIT_DONE;
}

static int run(const struct options *options)
{
	(void)options;
	printf("telemtop %s, protocol %d.%d, %s\n", TELEMTOP_VERSION, PROTOCOL_MAJOR, PROTOCOL_MINOR,
	       app_curses_version());
	return output_finish(EXIT_DONE);
}

static const struct option_row version = {
	"version", 'V', NULL, "of telemtop, protocol and ncurses", .parse = parse_version
};

const struct subcommand subcommand_version = {
	.options = (const struct option_row *const[]){ &version, NULL },
	.run = run,
};
