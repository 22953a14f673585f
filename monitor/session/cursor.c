#include "monitor/session/cursor.h"

#include <errno.h>

void cursor_open(struct cursor *cursor, struct timeline *timeline, struct session *session)
{
	*cursor = (struct cursor){ .timeline = timeline, .session = session, .offset = timeline->start, .is_fed = true,
				   .position_ns = timeline->first_ns, .is_playing = true, .speed = 1 };
}

void cursor_open_at(struct cursor *cursor, struct timeline *timeline, struct session *session)
{
	*cursor = (struct cursor){ .timeline = timeline, .session = session,
				   .position_ns = model_time_ns(session->model), .speed = 1 };
}

void cursor_close(struct cursor *cursor)
{
	*cursor = (struct cursor){ 0 };
}

/* Starts again at the point an hour before the moment; false when memory is out. */
static bool rewind_before(struct cursor *cursor, uint64_t time_ns)
{
	uint64_t history_ns = (uint64_t)LIMIT_HISTORY_S * 1000000000u;
	uint64_t offset = timeline_point_before(cursor->timeline, time_ns > history_ns ? time_ns - history_ns : 0);

	if (session_restart(cursor->session, offset) < 0)
		return false;
	cursor->offset = offset;
	cursor->is_fed = true;
	cursor->is_at_end = false;
	return true;
}

/* Gives the session more bytes; false when there are none. */
static bool read_on(struct cursor *cursor)
{
	size_t room;
	uint8_t *bytes = session_room(cursor->session, &room);
	int64_t count = timeline_read(cursor->timeline, cursor->offset, bytes, room);

	if (count == -ESTALE) {
		/* While the cursor stood, the live program went on, and the bytes behind the cursor had to go. */
		cursor->offset = cursor->timeline->start;
		session_gap(cursor->session, cursor->offset);
		bytes = session_room(cursor->session, &room);
		count = timeline_read(cursor->timeline, cursor->offset, bytes, room);
	}
	if (count <= 0)
		return false;
	cursor->offset += (uint64_t)count;
	session_hold(cursor->session, (size_t)count);
	return true;
}

/* One more block into the session; false at the end. Its bytes are of the past, so nothing lags. */
static bool feed(struct cursor *cursor)
{
	while (!session_step(cursor->session, 0))
		if (cursor->session->is_foreign || !read_on(cursor)) {
			cursor->is_at_end = true;
			return false;
		}
	cursor->is_at_end = false;
	return true;
}

static uint64_t ticks_of(const struct cursor *cursor)
{
	return model_ticks(cursor->session->model);
}

bool cursor_run(struct cursor *cursor, uint64_t until_ns)
{
	uint64_t ticks;

	if (!cursor->is_fed)
		cursor_seek(cursor, cursor->position_ns);
	ticks = ticks_of(cursor);
	if (!cursor->is_fed)
		return false;
	do {
		uint64_t now_ns = model_time_ns(cursor->session->model);

		if (now_ns && now_ns >= until_ns)
			break;
	} while (feed(cursor));
	cursor->position_ns = until_ns < cursor->timeline->last_ns ? until_ns : cursor->timeline->last_ns;
	return ticks_of(cursor) != ticks;
}

bool cursor_tick(struct cursor *cursor)
{
	uint64_t ticks;

	if (!cursor->is_fed)
		cursor_seek(cursor, cursor->position_ns);
	ticks = ticks_of(cursor);
	while (ticks_of(cursor) == ticks)
		if (!feed(cursor))
			return false;
	cursor->position_ns = model_time_ns(cursor->session->model);
	return true;
}

void cursor_seek(struct cursor *cursor, uint64_t time_ns)
{
	const struct timeline *timeline = cursor->timeline;

	if (time_ns < timeline->first_ns)
		time_ns = timeline->first_ns;
	if ((time_ns < cursor->position_ns || !cursor->is_fed) && !rewind_before(cursor, time_ns))
		return;
	cursor_run(cursor, time_ns < timeline->last_ns ? time_ns : UINT64_MAX);
}
