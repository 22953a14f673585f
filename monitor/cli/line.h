/* line.h -- one program's figures on one line, like vmstat's: what lines and once print. */
#ifndef TELEM_MONITOR_CLI_LINE_H
#define TELEM_MONITOR_CLI_LINE_H

#include <stdio.h>

#include "monitor/session/target.h"

/* Writes the names of the columns. */
void line_header_write(FILE *out);
/* Writes the figures of the latest tick. */
void line_write(const struct target *target, FILE *out);
/* Returns the state in one word: "connecting", "live", "lost", "ended" or "replay". Static. */
const char *line_state(const struct target *target);
#endif
