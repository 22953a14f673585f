/* line.h -- one program's figures on one line, like vmstat's: what lines and once print. */
#ifndef TELEM_MONITOR_CLI_LINE_H
#define TELEM_MONITOR_CLI_LINE_H

#include "monitor/session/target.h"

/* Prints the names of the columns to standard output. */
void line_print_header(void);
/* Prints the figures of the latest tick to standard output. */
void line_print(const struct target *target);
/* Returns the state in one word: "connecting", "live", "lost", "ended" or "replay". Static. */
const char *line_state(const struct target *target);
#endif
