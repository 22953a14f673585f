/* cli.h -- the subcommands. Each runs until its end and returns the exit status; the reason of a failure has been
 * printed. */
#ifndef TELEM_MONITOR_CLI_CLI_H
#define TELEM_MONITOR_CLI_CLI_H

#include "monitor/cli/options.h"

int ps_run(const struct options *options);
int lines_run(const struct options *options);
int once_run(const struct options *options);
int record_run(const struct options *options);
int set_run(const struct options *options);
int held_run(const struct options *options);
#endif
