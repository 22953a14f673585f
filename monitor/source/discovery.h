/* discovery.h -- which programs can be monitored here, and where their sockets are. */
#ifndef TELEM_MONITOR_SOURCE_DISCOVERY_H
#define TELEM_MONITOR_SOURCE_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/source/problem.h"

struct found {
	pid_t pid;
	uid_t uid;
	char program[128];           /* the name that it gave itself, or what the kernel calls it */
	char comm[32];               /* what the kernel calls it: at most 15 characters */
	char user[33], path[108];
	uint64_t uptime_ns;
	char problem[512];           /* what was wrong with its settings; "" for nothing */
	bool is_permitted;           /* whether we may connect to its socket */
};

/* Lists the programs that listen on a socket in the directories of this user; with everyone, also in those of all other
 * users below /run/user and /tmp. Returns how many there are (at most found_max), sorted by PID. */
int discovery_list(struct found *found, int found_max, bool everyone);
/* Finds the socket of a process. Returns EXIT_DONE, or another exit code with *problem filled in. */
int discovery_pid(pid_t pid, char path[108], struct problem *problem);
/* Returns whether a program has this name: the one that it gave itself, or the kernel's. */
bool discovery_is_named(const struct found *found, const char *name);
/* Finds the program of this name, as discovery_pid() does. When there are several, and one is the parent of all others,
 * which run the same executable, it is meant, and the note says so; else they are a problem. *pid is 0 when there is
 * none. */
int discovery_name(const char *name, pid_t *pid, char path[108], char note[160], struct problem *problem);
/* Writes the path of a user's directory of sockets. */
void discovery_directory(char *out, size_t out_bytes, uid_t uid);
/* Returns false when the process has ended. */
bool process_exists(pid_t pid);
/* Writes the name that the kernel has for the process. Returns false when the process has ended. */
bool process_name(pid_t pid, char *out, size_t out_bytes);
#endif
