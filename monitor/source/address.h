/* address.h -- the address of a target, as typed by the user and as understood. */
#ifndef TELEM_MONITOR_SOURCE_ADDRESS_H
#define TELEM_MONITOR_SOURCE_ADDRESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "monitor/source/problem.h"

struct source_kind;

struct address {
	const struct source_kind *kind;      /* the source that opens it */
	char text[300];              /* as typed */
	char path[300];              /* of a socket, FIFO or file */
	char host[256], port[16];
	pid_t pid;                   /* of a target that was given by PID or name; else 0 */
	char note[160];              /* which of several programs of that name is meant; "": there is one */
	char program[128];           /* its name, as given, or what the kernel calls that PID */
};

/* Understands digits as a PID, - as standard input, and SCHEME:REST for the schemes of the sources. A text without a
 * slash is the name of a program that runs, if there is one; else a path that exists means the source that fits it.
 * Returns EXIT_DONE, or another exit code with *problem filled in. */
int address_parse(const char *text, struct address *out, struct problem *problem);
/* Does the same, and while there is no such target tries again for up to wait_s seconds. With 0 it tries without end,
 * with -1 only once. */
int address_wait(const char *text, int wait_s, struct address *out, struct problem *problem);
/* True for an exit code of address_parse() that another look may change, because the target may not run yet; and how often
 * to look again. */
bool address_may_come(int code);
#define ADDRESS_LOOK_MS 50

/* ---- for the files of the sources ---- */

/* True when the text consists of digits, of which there is at least one. */
bool address_is_number(const char *text);
/* Takes the text as the path. Returns EXIT_DONE, or EXIT_USAGE with *problem filled in. */
int address_set_path(struct address *out, const char *path, struct problem *problem);
#endif
