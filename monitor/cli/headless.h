/* headless.h -- the commands without a screen: ps, lines, once, record, set, held. */
#ifndef TELEM_MONITOR_CLI_HEADLESS_H
#define TELEM_MONITOR_CLI_HEADLESS_H

#include <stdbool.h>
#include <stdio.h>
#include <event2/event.h>

#include "monitor/cli/options.h"
#include "monitor/session/target.h"

/* What a command does while the target is watched. */
struct headless;
struct headless_command {
	/* A tick came; or (tick false) something else changed. */
	void (*change)(struct headless *headless, bool tick);
	/* --for has passed. Default: the end. */
	void (*timeout)(struct headless *headless);
	bool follows_file;           /* a recording is walked tick by tick, else only to its end */
};

struct headless {
	const struct options *options;
	const struct headless_command *command;
	struct event_base *base;
	struct target target;
	int code;
	int64_t printed;             /* lines */
	bool is_over, is_sent;
	uint32_t first_request, request_count;       /* of set: waiting for their answers */
};

/* Runs a command on its target until it is over, a signal comes, or the target is gone.
 * Returns the exit status, the reason printed. */
int headless_run(const struct options *options, const struct headless_command *command);
void headless_over(struct headless *headless, int code);

int ps_run(const struct options *options);
extern const struct headless_command lines_command, once_command, record_command, set_command, held_command;

/* ---- json.c ---- */
/* One object, on one line; base units, no rounding. 0 or -EIO. */
int json_write(const struct target *target, const char *state, FILE *out);
/* ---- lines.c ---- */
/* One word for the state: "live", "lost", "ended", "replay", "connecting". */
const char *target_state_word(const struct target *target);
#endif
