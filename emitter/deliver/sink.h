/* sink.h -- where bytes go: one reader each, with a queue of its own.
 *
 * Sinks belong to the flusher; other threads only put a new one in the table or ask for
 * one to go, under the emitter's lock. A sink streams when it has somebody to write to.
 * A listening one never does: each viewer it accepts is a sink of its own. */
#ifndef TELEM_EMITTER_SINK_H
#define TELEM_EMITTER_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/deliver/stream.h"
#include "protocol/decode.h"
#include "protocol/recording.h"

/* A greeting may be longer than what live blocks may fill. */
#define SINK_QUEUE_ROOM (16u * LIMIT_QUEUE_BLOCKS)

/* SINK_OPENING: another thread fills it in; not the flusher's yet. */
enum sink_state { SINK_FREE, SINK_OPENING, SINK_OPEN, SINK_CLOSING };

struct sink_scheme {
	const char *name;            /* of the address: "fifo" */
	/* Opens what follows the colon; 0 or a negative errno, and why when that says too little.
	 * May leave fd at -1 and wait. */
	int (*open)(struct sink *sink, const char *rest);
	/* fd is -1 and retry_ns has come: try again. */
	void (*retry)(struct sink *sink, uint64_t now_ns);
	/* in_fd has something: a connection or requests. */
	void (*readable)(struct sink *sink, uint64_t now_ns);
	/* Undoes open(), but for the file descriptors. */
	void (*close)(struct sink *sink);
};

struct sink {
	enum sink_state state;       /* see sink_state() */
	const struct sink_scheme *scheme;    /* NULL: a viewer that a listening sink accepted */
	int id, parent;              /* parent: of a viewer, else -1 */
	char path[LIMIT_PATH_BYTES]; /* or address */
	const char *why;             /* in words, of an open() that failed; NULL: as its errno says */
	int fd;                      /* blocks go here; -1: nobody there now */
	int in_fd;                   /* connections or requests come here; may be fd; -1 */
	bool is_listening, is_connecting, is_regular, is_new, made_path;
	bool wants_sync;             /* asked to be greeted again */
	bool may_control;
	uint8_t watched;             /* bits 1 << WATCH_...: it holds a reference */
	uint64_t retry_ns, retry_pause_ns;
	/* SINK_CLOSING: what was recorded before leaves first, then goodbye; by then at the latest. */
	uint64_t close_by_ns;
	bool is_seen_closing, is_leaving, has_said_bye;      /* is_leaving: nothing new comes in */
	uint64_t tick_ns;            /* asked for by the viewer, or 0 */
	char who[64];                /* the viewer's name, for LEVEL */
	/* requests */
	struct decoder *decoder;
	uint64_t requests_from_ns;
	uint32_t request_count;
	/* queue */
	struct block_buffer **queue; /* SINK_QUEUE_ROOM, a ring; from queue_head */
	uint32_t queue_head, queue_count, written;   /* written: of the first block */
	bool is_lost;                /* blocks were dropped: must be greeted before the next */
	uint64_t before, taken, delivered, dropped, bytes_sent;
	struct recording recording;  /* of a regular file */
	uint64_t file_start;         /* what was in it before */
};

extern struct sink sinks[LIMIT_SINKS] __attribute__((visibility("hidden")));

/* By address; an id or a negative errno. Locked. */
int sink_open(const char *address);
/* A slot with everything empty, SINK_OPENING, or NULL. Locked. */
struct sink *sink_new(int parent);
/* Somebody is there from now on: greet it at the flusher's next turn. */
void sink_ready(struct sink *sink, int fd, int in_fd, bool may_control);
/* Nobody is there any more: what is queued is dropped and counted, leases return. A
 * viewer ends, others wait and try again. */
void sink_gone(struct sink *sink, uint64_t now_ns);
void sink_free(struct sink *sink);
/* Its reference to a WATCH_ thing; it holds one at most. */
void sink_watch(struct sink *sink, unsigned what, bool on);
void sink_unwatch(struct sink *sink);
static inline enum sink_state sink_state(const struct sink *sink)
{
	return __atomic_load_n(&sink->state, __ATOMIC_ACQUIRE);
}
static inline void sink_set_state(struct sink *sink, enum sink_state state)
{
	__atomic_store_n(&sink->state, state, __ATOMIC_RELEASE);
}
static inline bool sink_is_streaming(const struct sink *sink)
{
	return sink_state(sink) >= SINK_OPEN && sink->fd >= 0 && !sink->is_connecting && !sink->is_listening;
}
/* A block for this sink; keeps a reference. is_private: greetings and answers, never lost
 * unless the room is. */
void sink_push(struct sink *sink, struct block_buffer *block, bool is_private);
/* Writes what the kernel takes. Not locked. */
void sink_write(struct sink *sink, uint64_t now_ns);
/* Takes the text after "scheme:" up to a comma as the path; control: what the option says,
 * NULL where there is none. -EINVAL. */
int sink_options(struct sink *sink, const char *rest, bool *control);

extern const struct sink_scheme scheme_unix, scheme_fifo, scheme_tcp, scheme_connect, scheme_file, scheme_fd;

/* ---- sink_unix.c ---- */
/* A listening socket at path, mode 0600; a stale one of ours is removed first. -EADDRINUSE:
 * somebody listens there. */
int unix_listen(const char *path);
/* Accepts all that wait, as viewers of sink. */
void listener_readable(struct sink *sink, uint64_t now_ns);
/* A bounded kernel queue, and a cut line noticed in seconds. In sink_tcp.c. */
void tcp_prepare(int fd);
/* Opens the discovery socket; the reason why not is in telem_error(). -EBUSY: this very
 * process has one already. Locked. */
int discovery_open(void);
#endif
