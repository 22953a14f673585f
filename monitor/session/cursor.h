/* cursor.h -- a place on a timeline, with a session whose model is what the program was at that moment.
 *
 * Going forward feeds the session. Going back starts again at the point an hour before, as far as the model's history
 * reaches and as far as LIMIT_REWIND_BYTES allow, so that a moment looks as it did live. A cursor can also play, by a clock
 * that its caller reads. */
#ifndef TELEM_MONITOR_SESSION_CURSOR_H
#define TELEM_MONITOR_SESSION_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/session/timeline.h"

struct cursor {
	struct timeline *timeline;   /* borrowed; NULL: the cursor is closed */
	struct session *session;     /* borrowed; the cursor feeds it */
	uint64_t offset;             /* of the next byte to read */
	uint64_t position_ns;        /* the moment the cursor stands at */
	bool is_fed;                 /* the session has heard the timeline up to offset */
	bool is_at_end;
	bool is_playing;
	double speed;                /* 1: as fast as it was */
};

/* Stands before the first tick, with a session that has heard nothing. */
void cursor_open(struct cursor *cursor, struct timeline *timeline, struct session *session);
/* Stands at the moment that the session's model, a copy of a live one, is of. */
void cursor_open_at(struct cursor *cursor, struct timeline *timeline, struct session *session);
void cursor_close(struct cursor *cursor);
/* Goes forward to the first tick that is not before the moment; UINT64_MAX: to the last byte. Returns whether a tick was
 * on the way. */
bool cursor_run(struct cursor *cursor, uint64_t until_ns);
/* Goes forward by one tick; false at the end. */
bool cursor_tick(struct cursor *cursor);
/* Goes to a moment, forward or back; from the last tick on, that is the last byte. */
void cursor_seek(struct cursor *cursor, uint64_t moment_ns);
/* Stops playing, and goes so many ns forward, or back when negative. */
void cursor_move(struct cursor *cursor, double delta_ns);
/* Goes forward by so many ns, times the speed, if the cursor plays; returns whether it does. */
bool cursor_play(struct cursor *cursor, uint64_t passed_ns);
#endif
