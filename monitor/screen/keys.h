/* keys.h -- what a key does: one row each in keys.c. */
#ifndef TELEM_MONITOR_SCREEN_KEYS_H
#define TELEM_MONITOR_SCREEN_KEYS_H

#include <stddef.h>

#include "monitor/screen/screen.h"

/* What is left for the owner of the terminal to do. */
enum key_result {
	KEYS_STAY, KEYS_QUIT, KEYS_SUSPEND,
	KEYS_REDRAW,                 /* the whole terminal */
	KEYS_FOLLOW                  /* the program that is back as controls.back_pid */
};

/* Does what the key, a number of widgets/key.h, means here and now. */
enum key_result keys_press(struct screen *screen, int key);
/* The keys that apply, as many as fit into the last row of width_cells. */
void keys_footer(const struct screen *screen, int width_cells, char *out, size_t out_bytes);
/* The keys that work here, for the help page. Valid until the next call. */
const struct help_key *keys_help(const struct screen *screen);
/* The name of a key for a message: "x", "Enter", "^R", "F5". */
void keys_name(int key, char *out, size_t out_bytes);
/* Starts recording into a file, or stops it. path NULL: a name made of the program's and the time. */
void keys_record(struct screen *screen, const char *path);
#endif
