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
	SOURCE_CONNECTING,           /* the source has not been open yet */
	SOURCE_OPEN,
	SOURCE_LOST,                 /* the source was open, and the timer tries to open it again */
	SOURCE_ENDED                 /* nothing more can come: the input or its process has ended */
};

/* The callbacks of a live source's user: room() returns memory for bytes and its size, filled() gets the count of bytes
 * that came into it, changed() gets the new state. */
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
	struct event *readable, *timer;
	struct event *pending;       /* a connection that is being made, or waited for */
	enum source_state state;
	int fd, listen_fd, control_fd;
	int lock_fd;                 /* holds the lock of a file that is read, when fd must not; -1: nothing does */
	unsigned tries;              /* since the connection was lost */
	unsigned host_at;            /* which of the host's addresses is tried */
	bool reconnects, was_open;
	bool made_path;              /* the source made the file of its address, and removes it */
	bool said_goodbye;           /* set by the user: when the stream ends now, it does not come back */
	bool has_greeted;            /* set by the user: the other end speaks telemetry */
	struct problem problem;      /* why it is not open */
	int timeout_s;               /* for a first connection */
	uint64_t byte_count;         /* the length of a source that can seek */
};

struct source_kind {
	/* Addresses are SCHEME:USAGE, for example "tcp" and "HOST:PORT"; parse() fills in the address from the text
	 * behind the scheme and returns EXIT_DONE, or another status with the problem set. Both are NULL when the
	 * source has no scheme. */
	const char *scheme, *usage;
	int (*parse)(struct address *out, const char *rest, struct problem *problem);
	/* Whether a path without a scheme that names such a file means this source; then parse() gets the path. NULL:
	 * no path does. */
	bool (*fits)(const struct stat *st);
	/* A whole address that means this source, such as "-"; NULL: none does. */
	const char *word;
	/* Writes what is waited for, and for how long, while no program has sent a greeting: "Listening on 127.0.0.1:4712
	 * (3 s)". Returns false when there is nothing special to say. NULL: there never is. */
	bool (*waiting)(const struct address *address, bool is_open, double waited_s, char *out, size_t out_bytes);
	bool waits;                  /* it may be opened before its program, and waits for one without end */
	bool ends;                   /* once it is at its end, no more bytes can come */
	bool joins_midway;           /* its first bytes may be the rest of a stream that began earlier */
	/* Opens the source, or begins to connect. Returns EXIT_DONE, or another status with source->problem set. */
	int (*open)(struct source *source);
	/* Opens again after a loss, and returns as open() does. */
	int (*again)(struct source *source);
	/* Releases what open() made; the caller closes the file descriptors. May be NULL. */
	void (*close)(struct source *source);
	/* Returns the descriptor that requests are written to, or -1 when there is none now. NULL for a source that
	 * carries no requests. */
	int (*control)(struct source *source);
	/* Does what source_read_at() says. NULL for a source that cannot seek. */
	int64_t (*read_at)(struct source *source, uint64_t offset, void *bytes, size_t room);
};

/* All sources in the order of their rows; NULL ends them. */
extern const struct source_kind *const source_kinds[];

#define SOURCE(name) extern const struct source_kind source_##name;
#include "monitor/source/sources.def"
#undef SOURCE

/* Opens the address. Returns EXIT_DONE, or another status with *problem set and nothing left open. With reconnects a
 * source that was lost is opened again. base and user may be NULL for a source that can seek, which is read with
 * source_read_at(). */
int source_open(struct source *source, struct event_base *base, const struct address *address, bool reconnects,
		int timeout_s, const struct source_user *user, struct problem *problem);
/* Does nothing for a source that is not open. */
void source_close(struct source *source);
bool source_can_seek(const struct source *source);
/* Reads up to room bytes of a source that can seek. Returns how many, 0 at its end, or a negative errno. */
int64_t source_read_at(struct source *source, uint64_t offset, void *bytes, size_t room);
/* Sends a request. Returns 0, -ENOTCONN, -EAGAIN or another negative errno of write(); -EIO when only a part of it was
 * written, and the source is now lost. */
int source_send(struct source *source, const void *bytes, size_t count);
/* Whether requests can be sent now. */
bool source_has_control(struct source *source);
/* Tries to open a source again now, without waiting for the timer. */
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
