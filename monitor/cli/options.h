/* options.h -- what the command line says, and the options that it may have.
 *
 * An option is a row; cli.c makes the parser, and cmd_help.c the help text, from the rows. The rows here are those that
 * every subcommand takes, or that several share. An option of one subcommand stands in the file of that subcommand. */
#ifndef TELEM_MONITOR_CLI_OPTIONS_H
#define TELEM_MONITOR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session/target.h"
#include "monitor/source/problem.h"

struct subcommand;

enum color_when { COLOR_WHEN_AUTO, COLOR_WHEN_ALWAYS, COLOR_WHEN_NEVER };

struct options {
	const struct subcommand *subcommand;
	const char *target;          /* NULL: none was given */
	char *const *arguments;      /* what follows the target; at most as many as the subcommand's row allows */
	int argument_count;
	uint64_t interval_ns;        /* -d */
	uint64_t for_ns;             /* --for; 0: no end */
	uint64_t size_bytes;         /* --size; 0: no end */
	const char *classes;         /* -c */
	const char *output;          /* -r, -o: the file to record into */
	const char *filter;          /* -f */
	double speed;                /* --speed, of a replay */
	uint64_t at_ns;              /* --at: where a replay starts, counted from the recording's first tick */
	int panel;                   /* -p: the panel's digit */
	int line_count_max;          /* -n, of lines; 0: no end */
	int timeout_s;               /* --timeout */
	int wait_s;                  /* -w; -1: do not wait for the target, 0: wait without end */
	bool json, keep, read_only, force, ascii, no_reconnect;
	bool addresses;              /* --addresses, of held */
	bool all_users;              /* --all, of ps */
	bool light;                  /* --theme light */
	enum color_when color;       /* --color */
};

/* One option. */
struct option_row {
	const char *name;            /* follows "--"; NULL: it has only a letter */
	char letter;                 /* follows "-"; 0: it has only a name */
	const char *value;           /* what help calls its value: "SEC"; "[=SEC]": may be left out; NULL: there is none */
	const char *help;            /* one line, which begins in the middle of a sentence */
	/* Puts the value into *options. text is NULL when no value was given; otherwise it stays valid. Returns
	 * EXIT_DONE, or EXIT_USAGE with the problem set, for which see options_bad(). */
	int (*parse)(const char *text, struct options *options, struct problem *problem);
	size_t flag;                 /* when parse is NULL: the offset in struct options of a bool, which becomes true */
};

/* The rows that every subcommand takes, and behind them NULL. */
extern const struct option_row *const options_common[];
/* Rows that several subcommands share. */
extern const struct option_row option_json, option_for, option_force;

/* How the command line wants a target to be watched, without a past and without awaiting the next program. */
struct target_config options_target(const struct options *options);
/* Sets the defaults, and what the environment says. */
void options_init(struct options *options);

/* Values. Each function returns false when the text is wrong. */
/* Seconds, or a number with a unit: 10, 2.5s, 100ms, 5m, 1h. */
bool options_time(const char *text, uint64_t *out_ns);
/* Bytes, or a number with a unit: 512, 64K, 1MiB, 2G. */
bool options_bytes(const char *text, uint64_t *out);
bool options_int(const char *text, int least, int most, int *out);
/* Sets the problem to WHAT: "GIVEN", with the line TODO that says what would be right. Returns EXIT_USAGE. */
int options_bad(struct problem *problem, const char *what, const char *given, const char *todo);
#endif
