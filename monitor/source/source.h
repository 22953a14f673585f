/* source.h -- a live stream, opened by address: bytes arrive, requests leave, and what is
 * lost is found again.
 *
 * All on one libevent loop. The user gives room for bytes and is told of them, and of each
 * change of state; both callbacks come from the loop (or from source_open() itself). */
#ifndef TELEM_MONITOR_SOURCE_SOURCE_H
#define TELEM_MONITOR_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <event2/event.h>

#include "monitor/source/address.h"
#include "monitor/source/problem.h"

enum source_state {
	SOURCE_CONNECTING,           /* first time */
	SOURCE_OPEN,
	SOURCE_LOST,                 /* was open; trying again */
	SOURCE_ENDED                 /* will not come again: end of input, or its process is gone */
};

struct source_user {
	uint8_t *(*room)(void *arg, size_t *room);
	void (*filled)(void *arg, size_t count);
	void (*changed)(void *arg, enum source_state state);
	void *arg;
};

struct source {
	const struct source_kind *kind;
	struct address address;
	struct source_user user;
	struct event_base *base;
	struct event *readable, *writable, *timer;
	enum source_state state;
	int fd, listen_fd, control_fd;
	unsigned tries;              /* since the connection was lost */
	unsigned host_at;            /* which of the host's addresses is tried */
	bool reconnects, was_open, made_path;
	bool said_goodbye;           /* by the user: when it ends now, it has ended for good */
	bool has_greeted;            /* by the user: who never did so is no target, and not tried again */
	struct problem problem;      /* why it is not open */
	int timeout_s;               /* for a first connection */
};

struct source_kind {
	/* Starts; 0, or EXIT_… with problem filled in. May end up connecting. */
	int (*open)(struct source *source);
	/* Again after a loss: as open(). */
	int (*again)(struct source *source);
	void (*close)(struct source *source);
	/* Where requests go; -1: there is no such way. */
	int (*control)(struct source *source);
};

extern const struct source_kind source_socket, source_listen, source_fifo, source_stdin;

/* EXIT_DONE, or why not; then nothing is left open. reconnects: after a loss try again. */
int source_open(struct source *source, struct event_base *base, const struct address *address, bool reconnects,
		int timeout_s, const struct source_user *user, struct problem *problem);
void source_close(struct source *source);
/* Sends a request, whole or not at all: 0; -ENOTCONN, -EAGAIN, or what write() says. */
int source_send(struct source *source, const void *bytes, size_t count);
/* Is there a way for requests at all? */
bool source_has_control(struct source *source);
/* Tries again now. */
void source_retry(struct source *source);

/* ---- for the kinds ---- */
void source_opened(struct source *source, int fd);
void source_lost(struct source *source, bool for_ever);
void source_set(struct source *source, enum source_state state);
/* The usual reader: until nothing is there, the end, or others want a turn. */
void source_read(evutil_socket_t fd, short what, void *arg);
void source_timer(struct source *source, int ms);
#endif
