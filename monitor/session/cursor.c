#include "monitor/session/cursor.h"

#include <errno.h>

void cursor_open(struct cursor *cursor, struct timeline *timeline, struct session *session)
{
	*cursor = (struct cursor){ .timeline = timeline, .session = session, .offset = timeline->start, .is_fed = true,
				   .position_ns = timeline->first_ns, .is_playing = true, .speed = 1 };
}

/* The moment of the session's latest tick; 0 before the first. */
static uint64_t now_of(const struct cursor *cursor)
{
	const struct model *model = cursor->session->model;

	return timeline_moment(cursor->timeline, model_target(model)->stream, model_time_ns(model));
}

void cursor_open_at(struct cursor *cursor, struct timeline *timeline, struct session *session)
{
	*cursor = (struct cursor){ .timeline = timeline, .session = session, .speed = 1 };
	cursor->position_ns = now_of(cursor);
}

void cursor_close(struct cursor *cursor)
{
	*cursor = (struct cursor){ 0 };
}

/* Where to start, so that at the moment all of the model's history is there: at the point an hour before, but with not too
 * many bytes between, because the user waits meanwhile. */
static uint64_t start_for(const struct timeline *timeline, uint64_t moment_ns)
{
	uint64_t history_ns = (uint64_t)LIMIT_HISTORY_S * 1000000000u;
	uint64_t offset = timeline_point_before(timeline, moment_ns > history_ns ? moment_ns - history_ns : 0);
	uint64_t end = timeline_point_before(timeline, moment_ns);

	for (uint32_t i = 0; i < timeline->point_count && end - offset > LIMIT_REWIND_BYTES; i++)
		if (timeline->points[i].offset > offset)
			offset = timeline->points[i].offset;
	return offset;
}

/* Starts again before the moment; false when memory is out. */
static bool rewind_before(struct cursor *cursor, uint64_t moment_ns)
{
	uint64_t offset = start_for(cursor->timeline, moment_ns);

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

/* Feeds until the first tick that is not before the moment; UINT64_MAX: to the last byte. */
static void feed_until(struct cursor *cursor, uint64_t until_ns)
{
	const struct timeline *timeline = cursor->timeline;

	do {
		uint64_t now_ns = now_of(cursor);

		if (now_ns && now_ns >= until_ns)
			break;
	} while (feed(cursor));
	cursor->position_ns = until_ns < timeline->first_ns ? timeline->first_ns
			      : until_ns < timeline->last_ns ? until_ns : timeline->last_ns;
}

/* A cursor that was opened at a copy of a live model is fed up to where it stands before it moves. */
static bool is_ready(struct cursor *cursor)
{
	if (cursor->is_fed)
		return true;
	if (!rewind_before(cursor, cursor->position_ns))
		return false;
	feed_until(cursor, cursor->position_ns);
	return true;
}

bool cursor_run(struct cursor *cursor, uint64_t until_ns)
{
	uint64_t ticks;

	if (!is_ready(cursor))
		return false;
	ticks = ticks_of(cursor);
	feed_until(cursor, until_ns);
	return ticks_of(cursor) != ticks;
}

bool cursor_tick(struct cursor *cursor)
{
	uint64_t ticks;

	if (!is_ready(cursor))
		return false;
	ticks = ticks_of(cursor);
	while (ticks_of(cursor) == ticks)
		if (!feed(cursor))
			return false;
	cursor->position_ns = now_of(cursor);
	return true;
}

void cursor_seek(struct cursor *cursor, uint64_t moment_ns)
{
	const struct timeline *timeline = cursor->timeline;

	if (moment_ns < timeline->first_ns)
		moment_ns = timeline->first_ns;
	if ((moment_ns < cursor->position_ns || !cursor->is_fed) && !rewind_before(cursor, moment_ns))
		return;
	feed_until(cursor, moment_ns < timeline->last_ns ? moment_ns : UINT64_MAX);
}

/* The moment that lies so many ns from where the cursor stands; UINT64_MAX: behind the last tick. */
static uint64_t moment_from(const struct cursor *cursor, double delta_ns)
{
	const struct timeline *timeline = cursor->timeline;

	if (delta_ns < 0)
		return -delta_ns < (double)(cursor->position_ns - timeline->first_ns)
		       ? cursor->position_ns - (uint64_t)-delta_ns : timeline->first_ns;
	return delta_ns < (double)(timeline->last_ns - cursor->position_ns) ? cursor->position_ns + (uint64_t)delta_ns
									  : UINT64_MAX;
}

void cursor_move(struct cursor *cursor, double delta_ns)
{
	cursor->is_playing = false;
	cursor_seek(cursor, moment_from(cursor, delta_ns));
}

bool cursor_play(struct cursor *cursor, uint64_t passed_ns)
{
	if (!cursor->is_playing || cursor->is_at_end)
		return false;
	cursor_run(cursor, moment_from(cursor, (double)passed_ns * cursor->speed));
	return true;
}
