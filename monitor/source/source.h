/* source.h -- where the bytes of a stream come from, opened by address.
 *
 * A live source reports bytes as they arrive, carries requests back, and looks for its program again after a loss. It
 * runs on the caller's libevent loop, from which all callbacks come; some come from source_open() itself. A source that
 * can seek, which is a file, has no callbacks: its user reads it at any offset. A source is one file and one row in
 * sources.def. */
#ifndef TELEM_MONITOR_SOURCE_SOURCE_H
#define TELEM_MONITOR_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <event2/event.h>

#include "monitor/source/address.h"
#include "monitor/source/problem.h"

enum source_state {
	SOURCE_CONNECTING,           /* first time */
	SOURCE_OPEN,
	SOURCE_LOST,                 /* was open; trying again */
	SOURCE_ENDED                 /* will not come again: end of input, or its process is gone */
};

/* The user of a live source: gives room for bytes, and hears how many came and how the state changed. */
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
	bool said_goodbye;           /* set by the user: when the stream ends now, it has ended for good */
	bool has_greeted;            /* set by the user: the other end speaks telemetry */
	struct problem problem;      /* why it is not open */
	int timeout_s;               /* for a first connection */
	uint64_t byte_count;         /* how long it is, when it can seek */
};

struct source_kind {
	/* Addresses are SCHEME:USAGE, for example "tcp" and "HOST:PORT"; parse() fills in the address from the text
	 * behind the scheme and returns EXIT_DONE, or another status with the problem set. Both are NULL when the source
	 * has no scheme. */
	const char *scheme, *usage;
	int (*parse)(struct address *out, const char *rest, struct problem *problem);
	/* Whether a path without a scheme that names such a file means this source; then parse() gets the path. NULL: no
	 * path does. */
	bool (*fits)(const struct stat *st);
	bool waits;                  /* it is there before its program is, and waits without end for one */
	bool ends;                   /* at its end no more can come */
	bool joins_midway;           /* a reader may find the rest of a stream that began earlier */
	/* Starts; may end up connecting. EXIT_DONE, or another status with source->problem set. */
	int (*open)(struct source *source);
	/* Opens again after a loss, and returns as open() does. */
	int (*again)(struct source *source);
	/* Releases what is its own; descriptors are closed by the caller. May be NULL. */
	void (*close)(struct source *source);
	/* The descriptor that requests are written to; -1: there is none now. NULL: there never is. */
	int (*control)(struct source *source);
	/* For a source that can seek: reads up to room bytes; 0 at the end, or a negative errno. NULL: it cannot. */
	int64_t (*read_at)(struct source *source, uint64_t offset, void *bytes, size_t room);
};

/* All sources in the order of their rows, and behind them NULL. */
extern const struct source_kind *const source_kinds[];

#define SOURCE(name) extern const struct source_kind source_##name;
#include "monitor/source/sources.def"
#undef SOURCE

/* Opens the address. EXIT_DONE, or another status with the problem set; then nothing is left open. reconnects: after a
 * loss it tries again. base and user may be NULL for a source that can seek, which is read with source_read_at(). */
int source_open(struct source *source, struct event_base *base, const struct address *address, bool reconnects,
		int timeout_s, const struct source_user *user, struct problem *problem);
/* Does nothing for a source that is not open. */
void source_close(struct source *source);
bool source_can_seek(const struct source *source);
/* Reads up to room bytes of a source that can seek. The count, 0 at its end, or a negative errno. */
int64_t source_read_at(struct source *source, uint64_t offset, void *bytes, size_t room);
/* Sends a request, whole or not at all: 0; -ENOTCONN, -EAGAIN, or another negative errno of write(). */
int source_send(struct source *source, const void *bytes, size_t count);
/* Whether requests can be sent now. */
bool source_has_control(struct source *source);
/* Tries again now. */
void source_retry(struct source *source);

/* ---- for the files of the sources ---- */

/* The stream is open as fd, which the source owns from now on; its bytes are read from the loop. */
void source_opened(struct source *source, int fd);
/* The stream is lost. It ends when for_ever is true or the source does not reconnect; else the timer tries again. */
void source_lost(struct source *source, bool for_ever);
/* Sets the state and reports it to the user. */
void source_set(struct source *source, enum source_state state);
/* Calls again() after ms milliseconds. */
void source_timer(struct source *source, int ms);
#endif
