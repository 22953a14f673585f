/* target.h -- a program being watched, live or from a file: source and session together,
 * with what we asked of it, and the recorder.
 *
 * The screen and the commands without one are users of this. */
#ifndef TELEM_MONITOR_SESSION_TARGET_H
#define TELEM_MONITOR_SESSION_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <event2/event.h>

#include "monitor/source/address.h"
#include "monitor/cli/options.h"
#include "monitor/observe/record.h"
#include "monitor/session/replay.h"
#include "monitor/session/session.h"
#include "monitor/source/source.h"

/* A level we hold, sent again when the connection comes back. */
struct wish { char class_name[LIMIT_NAME_BYTES]; uint32_t class_id, site; uint8_t level; bool keep; };

struct target {
	const struct options *options;
	struct event_base *base;
	struct address address;
	struct session session;
	struct observer observer;    /* ours in the session */
	struct source source;        /* live */
	struct replay replay;        /* a file */
	struct recorder recorder;
	bool is_file, is_open, has_session;
	struct problem problem;      /* why it ended, or is not open */
	struct problem warning;      /* of a recording */
	struct problem notice;       /* a class of --class that it has not; the user clears it */
	struct wish wishes[64];
	int wish_count;
	bool is_attached;            /* told who we are and what we want, on this connection */
	uint64_t last_bytes_ns;      /* when something last came, our clock (monotonic) */
	uint64_t opened_ns, lost_ns;
	char own_name[32];           /* what the program calls us */
	uint64_t interval_ns;        /* asked for; see target_set_interval() */
	/* Called after ticks that came, and when anything else changed. */
	void (*on_change)(void *arg, bool tick);
	void *arg;
};

/* EXIT_DONE, or why not. */
int target_open(struct target *target, struct event_base *base, const struct options *options,
		const struct address *address, void (*on_change)(void *arg, bool tick), void *arg);
void target_close(struct target *target);
/* Asks for a level (LEVEL_OWN gives it back). 0 or a negative errno. */
int target_set_level(struct target *target, uint32_t class_id, uint32_t site, uint8_t level, bool keep);
/* How often figures come, from now on and after a reconnection. 0 or a negative errno. */
int target_set_interval(struct target *target, uint64_t interval_ns);
/* Any other request; *id for session_request_of(). */
int target_request(struct target *target, const struct message *message, uint32_t *id);
/* Wishes from "gc=all,log=off", "all", "sum" or "none"; EXIT_DONE or EXIT_USAGE. */
int target_wish(struct target *target, const char *list, struct problem *problem);
/* Whether every wish names a class or site of the target; *missing: the first that does not. */
bool target_check_wishes(struct target *target, const char **missing);
/* Sends the wishes that the target's classes are known for; names one that it has not. */
bool target_send_wishes(struct target *target, const char **missing);
void target_no_such_class(const struct target *target, const char *name, struct problem *problem);
uint64_t target_clock_ns(void);      /* monotonic */
uint64_t target_real_ns(void);
#endif
