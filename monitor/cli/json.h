/* json.h -- everything the model knows, for programs: base units (ns, bytes, counts), no rounding. */
#ifndef TELEM_MONITOR_CLI_JSON_H
#define TELEM_MONITOR_CLI_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "monitor/model/model.h"

/* Returns a text as JSON can hold it: only invalid UTF-8 is replaced. The caller owns it. */
json_t *json_text(const char *from);
/* Sets the keys that say what lives, in whole bytes; null when the target does not say. */
void json_live_set(json_t *out, const struct live *live);
/* Writes one object on one line and flushes it; state is what line_state() returns. Returns 0 or -EIO. */
int json_write(const struct model *model, const char *state, FILE *out);
#endif
