/* sink_state.h -- the table of sinks, and their states. Each sink has one reader.
 *
 * Sinks belong to the flusher. Other threads only put a new one into the table or ask for one to close, under the
 * emitter's lock. A listening sink has no reader of its own: each viewer that it accepts is another sink. Only the
 * functions here change a state. */
#ifndef TELEM_EMITTER_DELIVER_SINK_STATE_H
#define TELEM_EMITTER_DELIVER_SINK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/descriptor.h"
#include "emitter/deliver/pool.h"
#include "protocol/decode.h"
#include "protocol/limits.h"
#include "protocol/recording.h"

/* Live blocks fill at most LIMIT_QUEUE_BLOCKS of a queue; the rest is for greetings, which may be long. */
#define SINK_QUEUE_ROOM (16u * LIMIT_QUEUE_BLOCKS)

enum sink_state {
	SINK_FREE,
	SINK_OPENING,                /* another thread fills it in; the flusher does not look at it yet */
	SINK_DUMP,                   /* a dump's file, which only the code that writes it knows */
	SINK_DUMP_BROKEN,            /* the dump's file could not be written */
	/* Sinks in the following states belong to the flusher. */
	SINK_WAITING,                /* no reader is there; the flusher tries again at retry_ns */
	SINK_LISTENING,
	SINK_CONNECTING,
	/* Sinks in the following states have a reader. */
	SINK_NEW,                    /* must be greeted before it gets anything else */
	SINK_STREAMING,
	SINK_BEHIND,                 /* has lost blocks, and must be greeted before the next one */
	SINK_LEAVING,                /* gets nothing new: what is queued is sent, then the goodbye */
	SINK_LEAVING_BEHIND,         /* the same, but a greeting goes before the goodbye */
	SINK_SAID_BYE,               /* the goodbye is queued */
	/* The reader is gone for good: the flusher frees the sink. */
	SINK_OVER,
	SINK_STATE_COUNT
};

struct sink_scheme;

struct sink {
	enum sink_state state;       /* see sink_state() */
	const struct sink_scheme *scheme;    /* NULL: a viewer that a listening sink accepted */
	int id, parent;              /* parent: the listening sink of a viewer, else -1 */
	char path[LIMIT_PATH_BYTES]; /* the path or address behind the scheme */
	const char *why;             /* why open() failed, in words; NULL when the errno says it */
	int fd;                      /* blocks go here; -1 without a reader */
	int in_fd;                   /* connections or requests come here; may be fd; -1 when there are none */
	struct file_id file, in_file;        /* what fd and in_fd were opened for; in_file counts if in_fd is not fd */
	uint64_t reopen_ns;          /* the program has closed in_fd, which is opened again then; or 0 */
	bool is_regular;             /* a regular file: a recording */
	bool may_control;            /* its viewer may change levels and settings */
	bool made_path;              /* the file at its path is removed when it is closed */
	bool has_name;               /* of a discovery socket: unix_tell() has made links beside it */
	bool wants_sync;             /* its viewer asked to be greeted again */
	uint8_t watched;             /* bits 1 << WATCH_... of what it holds a reference to */
	uint64_t retry_ns, retry_pause_ns;
	/* Not 0 when it is asked to close: what was recorded before is sent first, but no later than this; atomic. */
	uint64_t close_by_ns;
	uint64_t tick_ns;            /* asked for by the viewer, or 0 */
	char who[64];                /* the viewer's name, for LEVEL */
	/* requests */
	struct decoder *decoder;
	uint64_t requests_from_ns;
	uint32_t request_count;
	/* queue, see sink_queue.h */
	struct block_buffer **queue; /* SINK_QUEUE_ROOM places, used as a ring from queue_head on */
	uint32_t queue_head, queue_count, written;   /* written: bytes of the first block that were sent */
	uint64_t before, taken, delivered, dropped, bytes_sent;
	/* For its goodbye, set when the sink begins to leave: the events so far that never came into a block. Events
	 * that wait in rings are counted at the stop, when nobody takes them any more, but not while telemetry runs. */
	uint64_t lost;
	struct recording recording;  /* of a regular file */
	uint64_t file_start;         /* how many bytes the file had before */
};

extern struct sink sinks[LIMIT_SINKS] __attribute__((visibility("hidden")));

static inline enum sink_state sink_state(const struct sink *sink)
{
	return __atomic_load_n(&sink->state, __ATOMIC_ACQUIRE);
}
static inline bool sink_is_flushers(const struct sink *sink)
{
	return sink_state(sink) >= SINK_WAITING;
}
static inline bool sink_has_reader(const struct sink *sink)
{
	return sink_state(sink) >= SINK_NEW && sink_state(sink) < SINK_OVER;
}
/* Returns whether the sink gets the shared blocks. */
static inline bool sink_is_greeted(const struct sink *sink)
{
	return sink_state(sink) == SINK_STREAMING || sink_state(sink) == SINK_BEHIND;
}
static inline bool sink_is_leaving(const struct sink *sink)
{
	return sink_state(sink) >= SINK_LEAVING;
}
static inline uint64_t sink_close_by_ns(const struct sink *sink)
{
	return __atomic_load_n(&sink->close_by_ns, __ATOMIC_RELAXED);
}
/* Asks a sink to close. Call with the lock held. */
static inline void sink_close_by(struct sink *sink, uint64_t by_ns)
{
	__atomic_store_n(&sink->close_by_ns, by_ns, __ATOMIC_RELAXED);
}
uint32_t sinks_with_reader(void);
/* How many sinks there were at the flusher's latest turn; 0 without a flusher. Call with the lock held. */
extern uint32_t sinks_attended __attribute__((visibility("hidden")));

/* Returns an empty sink in state SINK_OPENING; NULL when there is none. Call with the lock held. */
struct sink *sink_new(int parent);
/* Called when a new sink is filled in. In state SINK_WAITING, SINK_LISTENING or SINK_NEW it belongs to the flusher from
 * now on, in SINK_DUMP to the code that writes the dump. */
void sink_opened(struct sink *sink, enum sink_state state);
/* Called when a connection is under way. */
void sink_connects(struct sink *sink);
/* Called when a reader is there: the flusher greets it at its next turn. */
void sink_ready(struct sink *sink);
/* Called when no reader is there yet: the flusher tries again later, and the pause doubles up to 2 s. */
void sink_retry_later(struct sink *sink, uint64_t now_ns);
/* Called when the reader is gone: drops and counts what is queued, and ends the leases. The sink of a viewer ends,
 * others wait and try again. Call without the lock. */
void sink_gone(struct sink *sink, uint64_t now_ns);
/* Returns whether fd, which is sink->fd or sink->in_fd, still is what the sink has opened. */
bool sink_has(const struct sink *sink, int fd);
/* Notices when the program has closed a descriptor of the sink, and opens in_fd again; a reader is gone with its
 * descriptor. Call before each wait, without the lock. */
void sink_keep(struct sink *sink, uint64_t now_ns);
/* Called when the sink is greeted. */
void sink_greeted(struct sink *sink);
/* From now on the sink gets nothing new. */
void sink_leaves(struct sink *sink);
/* Called when its goodbye is queued. */
void sink_said_bye(struct sink *sink);
void sink_free(struct sink *sink);
/* In the child of fork(): closes the child's copies of the parent's file descriptors. */
void sinks_forget(void);

/* Takes the sink's reference to a WATCH_ thing, or gives it back. A sink holds at most one to each. */
void sink_watch(struct sink *sink, unsigned what, bool on);
/* Queues a block for this sink, which takes a reference. Private blocks, which are greetings and answers, are lost only
 * when the whole queue is full. */
void sink_push(struct sink *sink, struct block_buffer *block, bool is_private);
/* Writes as much as the kernel takes without blocking. Call without the lock. */
void sink_write(struct sink *sink, uint64_t now_ns);
#endif
