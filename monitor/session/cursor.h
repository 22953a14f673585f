/* cursor.h -- a place on a timeline, with a session whose model is what the program was at that moment.
 *
 * Going forward feeds the session. Going back feeds it anew from an earlier point: one an hour before the moment, which
 * is as long as the model remembers, or at most LIMIT_REWIND_BYTES before it. So a moment looks as it did live. A cursor
 * can also play, by a clock that its caller reads. */
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
	bool is_fed;                 /* the session has got the bytes before offset; false: it has got none */
	bool is_at_end;
	bool is_playing;
	double speed;                /* 1: as fast as it was */
};

/* Opens a cursor that stands before the first tick, with a session that has heard nothing. */
void cursor_open(struct cursor *cursor, struct timeline *timeline, struct session *session);
/* Opens a cursor whose session has a model already, the copy of a live one: the cursor stands at that model's moment. */
void cursor_open_at(struct cursor *cursor, struct timeline *timeline, struct session *session);
void cursor_close(struct cursor *cursor);
/* Goes forward to the first tick at the moment or after it; UINT64_MAX means to the last byte. Returns whether a tick
 * was on the way. */
bool cursor_run(struct cursor *cursor, uint64_t until_ns);
/* Goes forward by one tick. Returns false at the end. */
bool cursor_tick(struct cursor *cursor);
/* Goes to a moment, forward or back. A moment at the last tick or after it means the last byte. */
void cursor_seek(struct cursor *cursor, uint64_t moment_ns);
/* Stops playing, and goes delta_ns forward, or back when delta_ns is negative. */
void cursor_move(struct cursor *cursor, double delta_ns);
/* Goes forward by passed_ns times the speed, if the cursor plays. Returns whether it does. */
bool cursor_play(struct cursor *cursor, uint64_t passed_ns);
#endif
