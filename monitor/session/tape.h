/* tape.h -- writes a session's stream down as it came, with points between its blocks at which a reader can enter.
 *
 * A point holds what the session's model knows at that moment, as the messages of model_write(). A recording on disk and
 * the past that a timeline keeps in memory are both written by a tape; they differ in where the bytes go. */
#ifndef TELEM_MONITOR_SESSION_TAPE_H
#define TELEM_MONITOR_SESSION_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session/session.h"
#include "protocol/recording.h"

struct tape {
	const struct session *session;       /* borrowed */
	/* Appends the bytes to what is kept already. Returns false when it cannot; then the tape takes no more blocks until
	 * its next point, which it writes at whole.offset, behind the last that was kept whole. */
	bool (*keep)(void *arg, const uint8_t *bytes, size_t count);
	void *arg;
	uint64_t gap_bytes;                  /* for recording_is_due() */
	struct recording recording;
	struct recording whole;              /* a copy of recording, made behind the latest block or point that was kept */
	uint64_t point_bytes;                /* how long the latest point is */
	uint64_t previous_events;            /* how many events the model had at the latest point */
	bool is_synced;                      /* the next block continues what was written; false: a point must come first */
};

void tape_init(struct tape *tape, const struct session *session, bool (*keep)(void *arg, const uint8_t *bytes, size_t count),
	       void *arg, uint64_t gap_bytes);
/* Writes a block; an observer's on_block() calls it. Blocks before the first point are left out: a point needs a model
 * that has seen a tick. A block of NULL is a cut of the stream, behind which a point comes first again. */
void tape_block(struct tape *tape, const struct block *block);
/* Ends the tape, after writing a point if there is none yet. Returns whether its end was kept, which is not so when the
 * model has not heard of a program. */
bool tape_end(struct tape *tape);
#endif
