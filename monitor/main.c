/* main.c -- telemtop: see inside running programs. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "monitor/screen/app.h"
#include "monitor/cli/cli.h"
#include "monitor/cli/options.h"
#include "protocol/message.h"

#define TELEMTOP_VERSION "0.1.0"

static int print_version(void)
{
	printf("telemtop %s, protocol %d.%d, %s\n", TELEMTOP_VERSION, PROTOCOL_MAJOR, PROTOCOL_MINOR, app_curses_version());
	return EXIT_DONE;
}

int main(int argc, char *argv[])
{
	struct options options;
	struct problem problem = { 0 };

	setlocale(LC_CTYPE, "");
	/* A target that goes while we write to it is told by write(). */
	signal(SIGPIPE, SIG_IGN);
	if (options_parse(argc, argv, &options, &problem) != EXIT_DONE)
		return problem_print(&problem);
	switch (options.command) {
	case COMMAND_HELP:
		options_help();
		return EXIT_DONE;
	case COMMAND_VERSION:
		return print_version();
	case COMMAND_PS:
		return ps_run(&options);
	case COMMAND_LINES:
		return lines_run(&options);
	case COMMAND_ONCE:
		return once_run(&options);
	case COMMAND_RECORD:
		return record_run(&options);
	case COMMAND_SET:
		return set_run(&options);
	case COMMAND_HELD:
		return held_run(&options);
	case COMMAND_SCREEN:
		return app_run(&options);
	}
	return EXIT_INTERNAL;
}
