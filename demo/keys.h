/* keys.h -- the terminal and its keys: how a program changes its own telemetry. While a viewer
 * holds a lease, its level overrules the level set here.
 *
 * Without a terminal, or in the background, nothing is read and nothing printed. The terminal gets
 * its modes back however the program ends. Only plain text is printed, so every terminal will do. */
#ifndef TELEM_DEMO_KEYS_H
#define TELEM_DEMO_KEYS_H

#include <stdbool.h>

enum { KEYS_CLASSES = 7 };

struct keys {
	const char *sink_address;             /* the address of --sink, or NULL; borrowed */
	int sink_id;                          /* id of the sink that the stream goes to; negative: none */
	bool is_recording;
	unsigned recording_count;
	int levels[KEYS_CLASSES];             /* the program's own levels, as last set */
};

/* Call after telem_start(). Adds the sink at the address, if there is one. Returns 0 or a negative errno. */
int keys_init(struct keys *keys, const char *sink_address_or_null);
/* Sets the terminal's modes and prints what the keys do. Returns false when there is no terminal. */
bool keys_open_terminal(void);
/* Does what the typed keys ask for. Returns false after the key that quits. */
bool keys_read(struct keys *keys);
/* Replaces the status line by text and the levels in force, such as "m+ g* i-". */
void keys_show_status(const struct keys *keys, const char *text);
void keys_close_terminal(void);
#endif
