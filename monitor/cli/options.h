/* options.h -- the command line. */
#ifndef TELEM_MONITOR_CLI_OPTIONS_H
#define TELEM_MONITOR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/source/problem.h"

enum command { COMMAND_SCREEN, COMMAND_PS, COMMAND_LINES, COMMAND_ONCE, COMMAND_RECORD, COMMAND_SET, COMMAND_HELD,
	       COMMAND_HELP, COMMAND_VERSION };
enum color_when { COLOR_WHEN_AUTO, COLOR_WHEN_ALWAYS, COLOR_WHEN_NEVER };

struct options {
	enum command command;
	const char *target;          /* NULL: none given */
	char *const *settings;       /* of set: CLASS=LEVEL, up to setting_count; of held: the task, if any */
	int setting_count;
	uint64_t interval_ns;
	uint64_t for_ns;             /* record, set: how long; 0: no end */
	uint64_t size_bytes;         /* record: how much; 0: no end */
	int64_t count;               /* lines: how many; 0: no end */
	const char *classes;         /* -c LIST */
	const char *output;          /* -o, -r */
	const char *filter;
	double speed;                /* replay */
	uint64_t at_ns;              /* replay: start there, from its beginning */
	int panel, timeout_s;
	int wait_s;                  /* -1: do not wait for the target; 0: for ever */
	bool json, all, keep, read_only, force, ascii, no_reconnect, light;
	enum color_when color;
};

/* EXIT_DONE, or EXIT_USAGE with the reason. */
int options_parse(int argc, char *argv[], struct options *out, struct problem *problem);
void options_help(void);
/* Seconds, or with a unit: 10, 2.5s, 100ms, 5m, 1h. False: no time. */
bool options_time(const char *text, uint64_t *out_ns);
/* 512, 64K, 1MiB, 2G. False: no size. */
bool options_bytes(const char *text, uint64_t *out);
#endif
