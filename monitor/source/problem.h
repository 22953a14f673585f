/* problem.h -- what went wrong, in words for people, and the exit status that says it. */
#ifndef TELEM_MONITOR_SOURCE_PROBLEM_H
#define TELEM_MONITOR_SOURCE_PROBLEM_H

enum exit_code {
	EXIT_DONE = 0, EXIT_RULE = 1, EXIT_USAGE = 2, EXIT_NO_TARGET = 3, EXIT_NOT_LINKED = 4, EXIT_PERMISSION = 5,
	EXIT_CONNECTION = 6, EXIT_VERSION = 7, EXIT_RECORDING = 8, EXIT_TERMINAL = 9, EXIT_INTERNAL = 10
};

struct problem {
	int code;                    /* enum exit_code; EXIT_DONE: no problem */
	char what[512];              /* "PID 4711: no such process" */
	char todo[512];              /* "telemtop list shows …", or "" */
};

/* Fills in code and what, and empties todo. Names from outside need no cleaning here, because problem_print() and the
 * screen clean the text. Returns the code. */
int problem_set(struct problem *problem, int code, const char *what, ...) __attribute__((format(printf, 3, 4)));
void problem_todo(struct problem *problem, const char *todo, ...) __attribute__((format(printf, 2, 3)));
/* Prints "telemtop: WHAT" to standard error, and todo on a second line. Returns the code. */
int problem_print(const struct problem *problem);
#endif
