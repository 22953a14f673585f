/* json.h -- everything the model knows, for programs: base units (ns, bytes, counts), no rounding. */
#ifndef TELEM_MONITOR_CLI_JSON_H
#define TELEM_MONITOR_CLI_JSON_H

#include <stdio.h>

#include "monitor/session/target.h"

/* Writes one object on one line; state is what line_state() returns. Returns 0 or -EIO. */
int json_write(const struct target *target, const char *state, FILE *out);
#endif
