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
	char program[64], user[33], path[108];
	uint64_t uptime_ns;
	bool is_permitted;           /* we may connect */
};

/* The programs with a live socket in the directories of this user, or with everyone in
 * those of all users that /proc shows. Returns how many (at most found_max), sorted by PID. */
int discovery_list(struct found *found, int found_max, bool everyone);
/* The socket of a process; EXIT_DONE, or why not. */
int discovery_pid(pid_t pid, char path[108], struct problem *problem);
/* The one program of this name. */
int discovery_name(const char *name, pid_t *pid, char path[108], struct problem *problem);
/* This user's directory of sockets. */
void discovery_directory(char *out, size_t out_bytes, uid_t uid);
/* False when the process is gone. */
bool process_exists(pid_t pid);
/* What the kernel calls it; false when the process is gone. */
bool process_name(pid_t pid, char *out, size_t out_bytes);
#endif
