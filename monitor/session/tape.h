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
	/* Keeps the bytes behind those before, or returns false when it cannot; then the tape goes on at its next point,
	 * with the offset whole.offset. */
	bool (*keep)(void *arg, const uint8_t *bytes, size_t count);
	void *arg;
	uint64_t gap_bytes;                  /* for recording_is_due() */
	struct recording recording;
	struct recording whole;              /* as it was behind the latest whole block or point */
	uint64_t point_bytes;                /* how long the latest point is */
	uint64_t previous_events;            /* of the model, at the latest point */
	bool is_synced;                      /* the stream's blocks may follow what is written */
};

void tape_init(struct tape *tape, const struct session *session, bool (*keep)(void *arg, const uint8_t *bytes, size_t count),
	       void *arg, uint64_t gap_bytes);
/* Writes a block, for an observer's on_block: nothing before the first point, which needs a model that stands between two
 * ticks. A block of NULL is a cut of the stream, behind which a reader begins anew. */
void tape_block(struct tape *tape, const struct block *block);
/* Ends the tape, after writing a point if there is none yet. Returns whether its end was kept, which is not so when the
 * model has not heard of a program. */
bool tape_end(struct tape *tape);
#endif
