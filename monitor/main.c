/* main.c -- telemtop: see inside running programs. */
#include <locale.h>
#include <signal.h>

#include "monitor/cli/cli.h"

int main(int argc, char *argv[])
{
	struct options options;
	struct problem problem = { 0 };

	setlocale(LC_CTYPE, "");
	/* A write to a target that has gone shall return an error instead of ending telemtop. */
	signal(SIGPIPE, SIG_IGN);
	if (cli_parse(argc, argv, &options, &problem) != EXIT_DONE)
		return problem_print(&problem);
	return options.subcommand->run(&options);
}
