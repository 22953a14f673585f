/* replay.h -- a recording with a cursor on it, and the session that the cursor feeds. */
#ifndef TELEM_TESTS_SUPPORT_REPLAY_H
#define TELEM_TESTS_SUPPORT_REPLAY_H

#include "monitor/session/cursor.h"

struct replay {
	struct source source;
	struct timeline timeline;
	struct cursor cursor;
};

/* Opens the file at path; the session is the caller's. Returns what timeline_open() returns. */
int replay_open(struct replay *replay, const char *path, struct session *session, struct problem *problem,
		struct problem *warning);
/* Does nothing when it is not open. */
void replay_close(struct replay *replay);
#endif
