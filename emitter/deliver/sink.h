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
	/* Opens what follows the colon. Returns the state the sink is in then: SINK_NEW with fd set,
	 * SINK_WAITING, or SINK_LISTENING with in_fd set; or a negative errno, and sets why when that
	 * says too little. Locked. */
	int (*open)(struct sink *sink, const char *rest);
	/* Of a sink that waits, retry_ns has come: tries again. Of one that connects, poll() has
	 * something to say. NULL: its reader does not come back. */
	void (*retry)(struct sink *sink, uint64_t now_ns);
	/* Of a sink that listens: prepares a connection; false: it is refused. */
	bool (*accept)(int fd);
	/* Requests have come by in_fd, which is not fd. */
	void (*control)(struct sink *sink, uint64_t now_ns);
	/* Undoes open(), but for the file descriptors. */
	void (*close)(struct sink *sink);
};

/* The kinds that other code names. */
extern const struct sink_scheme sink_unix __attribute__((visibility("hidden")));
extern const struct sink_scheme sink_file __attribute__((visibility("hidden")));

/* Opens a sink by its address; an id or a negative errno, the reason is in telem_error(). Locked. */
int sink_open(const char *address);
#endif
