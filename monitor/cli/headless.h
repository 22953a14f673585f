/* headless.h -- what a subcommand without a screen needs: a watched program, an event loop, and an end.
 *
 * headless_run() opens the target, calls the subcommand's callbacks while figures come, and returns the exit
 * status once the subcommand has called headless_over(), a signal has come, or the target has gone. */
#ifndef TELEM_MONITOR_CLI_HEADLESS_H
#define TELEM_MONITOR_CLI_HEADLESS_H

#include <stdbool.h>
#include <event2/event.h>

#include "monitor/cli/options.h"
#include "monitor/session/target.h"

struct headless;

/* What a subcommand does while its target is watched. */
struct headless_callbacks {
	/* Called after each tick with tick true, and with tick false when anything else changed, such as an answer. */
	void (*change)(struct headless *headless, bool tick);
	/* Called once the time of --for has passed. NULL: that is the end, with EXIT_DONE. */
	void (*timeout)(struct headless *headless);
	/* Called once after all others, before the target is closed. NULL: nothing is to be done. */
	void (*end)(struct headless *headless);
	/* For a recording: change() is called at each of its ticks, not only at its end. */
	bool follows_file;
};

struct headless {
	const struct options *options;
	const struct headless_callbacks *callbacks;
	void *state;                 /* borrowed: the subcommand's own, as given to headless_run() */
	struct event_base *base;     /* own */
	struct target target;
	int code;                    /* the exit status, once is_over is set */
	bool is_over;
	bool has_no_output;          /* standard output takes no more, which has been said */
	bool has_said_problem;       /* that cannot be solved yet, but may be */
};

/* Watches options->target until the end. state is handed on to the callbacks. Returns the exit status; the reason of
 * a failure has been printed. */
int headless_run(const struct options *options, const struct headless_callbacks *callbacks, void *state);
/* For callbacks: headless_run() shall return code. */
void headless_over(struct headless *headless, int code);
/* For callbacks: prints the problem, and headless_run() shall return its code. */
void headless_fail(struct headless *headless, const struct problem *problem);
/* For callbacks: whether the program has said that it takes no requests on this way. Then that is the problem, as in
 * headless_fail(). */
bool headless_is_denied(struct headless *headless);
/* For callbacks that have printed to standard output: flushes it. When it takes no more, this is the end, and the answer
 * is false: EXIT_DONE when its reader has closed the pipe, as in telemtop lines PID | head, else EXIT_INTERNAL. */
bool headless_flush(struct headless *headless);
/* Prints "telemtop: ..." to standard error; what must not reach a terminal is replaced. */
void headless_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
