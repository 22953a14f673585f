/* keys.h -- the terminal, and what the keys do: a program that switches its own
 * telemetry. (A viewer's wishes override these levels while it is there.)
 *
 * Without a terminal, or in the background, nothing is read and nothing printed. The
 * terminal gets its modes back on every way out. No escape sequences: any will do. */
#ifndef TELEM_DEMO_KEYS_H
#define TELEM_DEMO_KEYS_H

#include <stdbool.h>

enum { KEYS_CLASSES = 7 };

struct keys {
	const char *sink_address;             /* of --sink, or NULL; borrowed */
	int sink_id;                          /* of our stream; negative: none */
	bool is_recording;
	unsigned recording_count;
	int levels[KEYS_CLASSES];             /* our own, as set last */
};

/* After telem_start(): adds the sink at address when there is one. 0 or -errno. */
int keys_init(struct keys *keys, const char *sink_address_or_null);
/* Takes the terminal over and prints what the keys are; false when there is none. */
bool keys_open_terminal(void);
/* Does what was typed; false when that was to quit. */
bool keys_read(struct keys *keys);
/* Replaces the status line by text and the levels in force, e.g. "m+ g* i-". */
void keys_show_status(const struct keys *keys, const char *text);
void keys_close_terminal(void);
#endif
