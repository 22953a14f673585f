/* sink_state.h -- the sinks there are: where bytes go, one reader each, and the state each is in.
 *
 * Sinks belong to the flusher; other threads only put a new one in the table or ask for one to
 * go, under the emitter's lock. A listening sink has no reader of its own: each viewer it accepts
 * is a sink, too. All changes of state are made by the functions here. */
#ifndef TELEM_EMITTER_DELIVER_SINK_STATE_H
#define TELEM_EMITTER_DELIVER_SINK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/deliver/pool.h"
#include "protocol/decode.h"
#include "protocol/limits.h"
#include "protocol/recording.h"

/* A greeting may be longer than what live blocks may fill. */
#define SINK_QUEUE_ROOM (16u * LIMIT_QUEUE_BLOCKS)

enum sink_state {
	SINK_FREE,
	SINK_OPENING,                /* another thread fills it in; the flusher does not look at it yet */
	SINK_DUMP,                   /* a dump's file, which only the code that writes it knows */
	SINK_DUMP_BROKEN,            /* its disk is full, or worse */
	/* From here on the flusher's. */
	SINK_WAITING,                /* no reader is there; the flusher tries again at retry_ns */
	SINK_LISTENING,
	SINK_CONNECTING,
	/* From here on with a reader. */
	SINK_NEW,                    /* which must be greeted before anything else */
	SINK_STREAMING,
	SINK_BEHIND,                 /* which lost blocks: it must be greeted before the next one */
	SINK_LEAVING,                /* nothing new comes in: what is queued is sent, then the goodbye */
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
	int id, parent;              /* parent: of a viewer, else -1 */
	char path[LIMIT_PATH_BYTES]; /* or address */
	const char *why;             /* in words, of an open() that failed; NULL: as its errno says */
	int fd;                      /* blocks go here; -1 without a reader */
	int in_fd;                   /* connections or requests come here; may be fd; -1 */
	bool is_regular;             /* a regular file: a recording */
	bool may_control;            /* its viewer may change levels and settings */
	bool made_path;              /* the file at its path is removed when it is closed */
	bool wants_sync;             /* its viewer asked to be greeted again */
	uint8_t watched;             /* bits 1 << WATCH_...: it holds a reference */
	uint64_t retry_ns, retry_pause_ns;
	/* Not 0: it is asked to close. What was recorded before is sent first, but no later than this; atomic. */
	uint64_t close_by_ns;
	uint64_t tick_ns;            /* asked for by the viewer, or 0 */
	char who[64];                /* the viewer's name, for LEVEL */
	/* requests */
	struct decoder *decoder;
	uint64_t requests_from_ns;
	uint32_t request_count;
	/* queue, see sink_queue.h */
	struct block_buffer **queue; /* SINK_QUEUE_ROOM, a ring; from queue_head */
	uint32_t queue_head, queue_count, written;   /* written: bytes of the first block */
	uint64_t before, taken, delivered, dropped, bytes_sent;
	uint64_t lost;               /* for its goodbye: events that no sink got, up to when this one began to leave */
	struct recording recording;  /* of a regular file */
	uint64_t file_start;         /* bytes that were in it before */
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
/* Gets the shared blocks. */
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
/* Asks it to close. Locked. */
static inline void sink_close_by(struct sink *sink, uint64_t by_ns)
{
	__atomic_store_n(&sink->close_by_ns, by_ns, __ATOMIC_RELAXED);
}
uint32_t sinks_with_reader(void);
/* How many there were at the flusher's latest turn; 0 without a flusher. Locked. */
extern uint32_t sinks_attended __attribute__((visibility("hidden")));

/* A slot with everything empty, SINK_OPENING, or NULL. Locked. */
struct sink *sink_new(int parent);
/* It is filled in: the flusher's from now on, SINK_WAITING, SINK_LISTENING or SINK_NEW; or a
 * dump's, SINK_DUMP. */
void sink_opened(struct sink *sink, enum sink_state state);
/* A connection is under way. */
void sink_connects(struct sink *sink);
/* A reader is there from now on: the flusher greets it at its next turn. */
void sink_ready(struct sink *sink);
/* No reader is there yet: the flusher tries again later, and the pause doubles up to 2 s. */
void sink_retry_later(struct sink *sink, uint64_t now_ns);
/* The reader is gone: what is queued is dropped and counted, leases return. A viewer ends, others
 * wait and try again. Not locked. */
void sink_gone(struct sink *sink, uint64_t now_ns);
/* It is being greeted. */
void sink_greeted(struct sink *sink);
/* Nothing new comes in from now on. */
void sink_leaves(struct sink *sink);
/* Its goodbye is queued. */
void sink_said_bye(struct sink *sink);
void sink_free(struct sink *sink);
/* In the child of fork(): lets go of the parent's connections. */
void sinks_forget(void);

/* Its reference to a WATCH_ thing; it holds one at most. */
void sink_watch(struct sink *sink, unsigned what, bool on);
/* A block for this sink, which keeps a reference. Greetings and answers are private: they are
 * never lost unless there is no room. */
void sink_push(struct sink *sink, struct block_buffer *block, bool is_private);
/* Writes what the kernel takes. Not locked. */
void sink_write(struct sink *sink, uint64_t now_ns);
#endif
