/* commands.h -- keys: one row each in commands.c. */
#ifndef TELEM_MONITOR_SCREEN_KEYS_H
#define TELEM_MONITOR_SCREEN_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/screen/screen.h"

enum command_result { COMMAND_STAY, COMMAND_QUIT, COMMAND_REDRAW /* the whole terminal */, COMMAND_SUSPEND, COMMAND_FOLLOW };

/* Does what the key means here and now. */
enum command_result commands_key(struct screen *screen, int key);
/* The keys that apply, as many as the last row of width_cells takes. */
void commands_footer(const struct screen *screen, int width_cells, char *out, size_t out_bytes);
/* The keys that work here, for the help page. Valid until the next call. */
const struct help_key *commands_help(const struct screen *screen);
/* After messages came: what the program answered to our requests. */
void commands_answers(struct screen *screen);
/* Starts or stops recording. */
void commands_record(struct screen *screen, const char *path);
#endif
