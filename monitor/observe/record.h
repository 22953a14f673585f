/* record.h -- writes the stream of a session to a file, as it came, with points at which a reader can enter.
 *
 * A recording can start at any time of a session: its first point, at the next tick, holds what the session's model
 * knows. A full disk stops it at its last whole block until there is room again. The session itself goes on. */
#ifndef TELEM_MONITOR_OBSERVE_RECORD_H
#define TELEM_MONITOR_OBSERVE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/source/problem.h"
#include "monitor/session/tape.h"

struct recorder {
	int fd;                      /* own; -1 while nothing is recorded */
	char path[300];
	struct session *session;     /* borrowed; it calls observer while fd is open */
	struct observer observer;
	struct tape tape;
	uint64_t started_ns;         /* when recorder_start() was called, by the target's clock */
	bool is_full;                /* the disk is full, and the recording waits for room */
	bool has_gap;                /* a part of the stream is missing, because the disk was full */
	uint64_t looked_ns;          /* when the room was looked for last, by the target's clock */
	struct problem problem;      /* why the recording stopped by itself; for the owner to show and clear */
};

void recorder_init(struct recorder *recorder);
/* Begins a recording in the file path, or in PROGRAM-DATE-TIME.telem of the current directory when path is NULL. A file
 * that exists is overwritten only with force. The session must have received a greeting. Returns EXIT_DONE, or another
 * status with *problem set. */
int recorder_start(struct recorder *recorder, struct session *session, const char *path, bool force,
		   struct problem *problem);
/* Goes on with another session, which has heard the same stream up to the same block. Does nothing while nothing is
 * recorded. */
void recorder_move(struct recorder *recorder, struct session *session);
/* Writes the end of the recording and closes its file. Does nothing while nothing is recorded. */
void recorder_stop(struct recorder *recorder);
static inline bool recorder_is_on(const struct recorder *recorder) { return recorder->fd >= 0; }
/* The length of the file. */
static inline uint64_t recorder_bytes(const struct recorder *recorder) { return recorder->tape.recording.offset; }
#endif
