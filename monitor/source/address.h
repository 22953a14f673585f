/* address.h -- what the user typed, and what it means. */
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
	pid_t pid;                   /* when it was asked for by PID or name, else 0 */
	char program[64];            /* as asked for, or what the kernel calls that PID */
};

/* Digits are a PID; tcp:HOST:PORT, unix:PATH, fifo:PATH, listen:[HOST:]PORT; - is standard
 * input; what exists is looked at; anything else is a program's name. EXIT_DONE, or why not. */
int address_parse(const char *text, struct address *out, struct problem *problem);
/* The same, again and again for up to wait_s seconds (0: for ever; -1: once) while there is
 * no such target. */
int address_wait(const char *text, int wait_s, struct address *out, struct problem *problem);

/* For the sources. Whether the text has digits, and nothing else. */
bool address_is_number(const char *text);
/* Takes the text as the path. EXIT_DONE, or EXIT_USAGE with the problem set. */
int address_set_path(struct address *out, const char *path, struct problem *problem);
#endif
