/* cli.h -- the table of subcommands, and the parser made from it.
 *
 * A subcommand is one file, cmd_x.c, which defines subcommand_x, and one row in subcommands.def. Its usage, its options
 * and their place in the help text follow. */
#ifndef TELEM_MONITOR_CLI_CLI_H
#define TELEM_MONITOR_CLI_CLI_H

#include <stdio.h>

#include "monitor/cli/options.h"

enum target_use { TARGET_NONE, TARGET_OPTIONAL, TARGET_NEEDED };

struct subcommand {
	const char *name;            /* the first word behind "telemtop"; NULL: it has none */
	const char *alias;           /* another name; NULL: it has none */
	const char *usage;           /* what may follow the name; several lines are parted by '\n'; NULL: not shown */
	const char *help;            /* one line, beside the usage; NULL: the usage says it all */
	const struct option_row *const *options;     /* its own ones or those shared with others, then NULL; may be NULL */
	enum target_use target_use;
	int argument_count_max;      /* how many arguments may follow the target */
	/* Checks what only all of the command line together tells. Returns EXIT_DONE, or EXIT_USAGE with the problem set.
	 * NULL: there is nothing to check. */
	int (*check)(const struct options *options, struct problem *problem);
	/* Does the work. Returns the exit status; the reason of a failure has been printed. */
	int (*run)(const struct options *options);
};

/* All subcommands in the order of their rows, and behind them NULL. */
extern const struct subcommand *const subcommands[];

#define SUBCOMMAND(name) extern const struct subcommand subcommand_##name;
#include "monitor/cli/subcommands.def"
#undef SUBCOMMAND

/* Finds the subcommand, which without a name is the live screen, and fills *out in. A subcommand takes its own options,
 * the common ones, and those of all others, which then need not have an effect. Returns EXIT_DONE, or EXIT_USAGE with
 * the problem set. Strings of argv are borrowed. */
int cli_parse(int argc, char *argv[], struct options *out, struct problem *problem);
/* Writes the text of telemtop --help. */
void cli_help(FILE *out);
#endif
