/* sink.h -- the kinds of sinks: one row and one file each.
 *
 * A new kind is a file sink_NAME.c, which defines sink_NAME, and a row in sink.c. docs/ADDING.md has an example. */
#ifndef TELEM_EMITTER_DELIVER_SINK_H
#define TELEM_EMITTER_DELIVER_SINK_H

#include <stdbool.h>
#include <stdint.h>

struct sink;

struct sink_scheme {
	const char *name;            /* of the address, before the colon */
	const char *help;            /* the whole address, for the error that lists all kinds */
	/* Opens what follows the colon. Returns the new state of the sink: SINK_NEW with fd set, SINK_WAITING, or
	 * SINK_LISTENING with in_fd set. On failure it returns a negative errno, and sets why when the errno does not
	 * explain enough. Call with the lock held. */
	int (*open)(struct sink *sink, const char *rest);
	/* Tries to open a waiting sink again, because retry_ns has come; or continues to connect, because poll() has
	 * reported fd. NULL when a reader that has gone cannot come back. */
	void (*retry)(struct sink *sink, uint64_t now_ns);
	/* Prepares a connection that a listening sink has accepted. Returns false to refuse it. */
	bool (*accept)(int fd);
	/* Reads requests from in_fd, when that is not fd. */
	void (*control)(struct sink *sink, uint64_t now_ns);
	/* Opens in_fd again, which the program has closed. Returns the new descriptor or a negative errno. NULL when the
	 * sink has no in_fd besides fd. */
	int (*reopen)(struct sink *sink);
	/* Undoes open(), except that the caller closes the file descriptors. */
	void (*close)(struct sink *sink);
};

/* The kinds that other code refers to by name. */
extern const struct sink_scheme sink_unix __attribute__((visibility("hidden")));
extern const struct sink_scheme sink_file __attribute__((visibility("hidden")));

/* Opens a sink by its address. Returns its id, or a negative errno and sets telem_error(). Call with the lock held. */
int sink_open(const char *address);
#endif
