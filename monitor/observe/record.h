/* record.h -- keeps the stream in a file, as it came, with points to enter it at.
 *
 * Starts in the middle of a session, at the first block behind a tick: what the session
 * knows is written first. A full disk stops it at its last whole block until there is room
 * again; watching goes on. */
#ifndef TELEM_MONITOR_OBSERVE_RECORD_H
#define TELEM_MONITOR_OBSERVE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/source/problem.h"
#include "monitor/session/tape.h"

struct recorder {
	int fd;                      /* -1: not recording */
	char path[300];
	struct session *session;     /* borrowed; observer looks on in it while fd is open */
	struct observer observer;
	struct tape tape;
	uint64_t started_ns;         /* of the target's clock */
	bool is_full;                /* the disk is: waits for room */
	bool has_gap;                /* it was: something is missing */
	uint64_t looked_ns;          /* for it, of the target's clock */
	struct problem problem;      /* why it stopped by itself; for the owner to show and clear */
};

void recorder_init(struct recorder *recorder);
/* A new file; an existing one only with force. path NULL: PROGRAM-DATE-TIME.telem here.
 * EXIT_DONE, or why not. Needs a stream that has greeted us. */
int recorder_start(struct recorder *recorder, struct session *session, const char *path, bool force,
		   struct problem *problem);
/* Ends it cleanly; what a full disk kept out is missing. */
void recorder_stop(struct recorder *recorder);
static inline bool recorder_is_on(const struct recorder *recorder) { return recorder->fd >= 0; }
/* How long the file is. */
static inline uint64_t recorder_bytes(const struct recorder *recorder) { return recorder->tape.recording.offset; }
#endif
