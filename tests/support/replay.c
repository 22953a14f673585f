#include "tests/support/replay.h"

#include <stdio.h>

int replay_open(struct replay *replay, const char *path, struct session *session, struct problem *problem,
		struct problem *warning)
{
	struct address address = { .kind = &source_file };

	*replay = (struct replay){ 0 };
	snprintf(address.text, sizeof address.text, "%s", path);
	snprintf(address.path, sizeof address.path, "%s", path);
	if (source_open(&replay->source, NULL, &address, false, 0, NULL, problem) != EXIT_DONE)
		return problem->code;
	if (timeline_open(&replay->timeline, &replay->source, problem, warning) == EXIT_DONE)
		cursor_open(&replay->cursor, &replay->timeline, session);
	else
		source_close(&replay->source);
	return problem->code;
}

void replay_close(struct replay *replay)
{
	timeline_close(&replay->timeline);
	source_close(&replay->source);
	*replay = (struct replay){ 0 };
}
