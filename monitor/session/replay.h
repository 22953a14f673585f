/* replay.h -- a recording, played by its own clock.
 *
 * Opening scans the file once: its length in time, its index points, its damages. Going
 * forward feeds the session; going back starts again at the index point an hour before
 * (as far as the model's history reaches), so that a moment looks as it did live. */
#ifndef TELEM_MONITOR_SESSION_REPLAY_H
#define TELEM_MONITOR_SESSION_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/source/problem.h"
#include "monitor/session/session.h"

#define REPLAY_COLUMNS 200           /* of the timeline: event counts */

struct replay {
	int fd;
	char path[300];
	uint64_t bytes;              /* of the file */
	uint64_t first_ns, last_ns;  /* of the target's clock */
	struct replay_index { uint64_t offset, time_ns; } *index;    /* own */
	uint32_t index_count;
	bool is_clean, is_at_end;
	uint64_t damaged_bytes, damaged_at, whole_bytes;
	struct session *session;     /* borrowed */
	uint64_t position_ns;        /* played up to here */
	/* The clock of the screen. */
	bool is_playing;
	double speed;
};

/* EXIT_DONE; else why not. warning.code is EXIT_RECORDING when it was cut or damaged and
 * what was whole can be used all the same. */
int replay_open(struct replay *replay, const char *path, struct session *session, struct problem *problem,
		struct problem *warning);
void replay_close(struct replay *replay);
/* Plays up to the first tick at a moment or behind it (UINT64_MAX: to the end). True when a
 * tick was among it. */
bool replay_run(struct replay *replay, uint64_t until_ns);
/* One tick further; false at the end. */
bool replay_tick(struct replay *replay);
void replay_seek(struct replay *replay, uint64_t time_ns);
#endif
