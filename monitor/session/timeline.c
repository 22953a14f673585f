#include "monitor/session/timeline.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A timeline in memory that is full has so many points at least. */
#define POINTS 8
/* Room for points grows by so many. */
#define POINTS_A_STEP 256

bool timeline_add_point(struct timeline *timeline, uint64_t offset, uint64_t time_ns)
{
	if (timeline->point_count % POINTS_A_STEP == 0) {
		struct timeline_point *points =
			realloc(timeline->points, (timeline->point_count + POINTS_A_STEP) * sizeof *points);

		if (!points)
			return false;
		timeline->points = points;
	}
	timeline->points[timeline->point_count++] = (struct timeline_point){ offset, time_ns };
	return true;
}

/* ---- its clock ---- */

/* The clock of a stream; the last one for a stream that has none, NULL when there is none at all. */
static const struct timeline_clock *clock_of(const struct timeline *timeline, uint64_t stream)
{
	const struct timeline_clock *clock = NULL;

	for (uint32_t i = 0; i < timeline->clock_count; i++) {
		clock = &timeline->clocks[i];
		if (clock->stream == stream)
			break;
	}
	return clock;
}

uint64_t timeline_moment(const struct timeline *timeline, uint64_t stream, uint64_t time_ns)
{
	const struct timeline_clock *clock = clock_of(timeline, stream);

	return time_ns == 0 || !clock ? time_ns : time_ns + clock->shift_ns;
}

int64_t timeline_real_ns(const struct timeline *timeline, uint64_t moment_ns)
{
	const struct timeline_clock *clock = timeline->clocks;

	/* The last program that had begun by then. */
	for (uint32_t i = 1; i < timeline->clock_count; i++)
		if (timeline->clocks[i].mono_ns + timeline->clocks[i].shift_ns <= moment_ns)
			clock = &timeline->clocks[i];
	return (int64_t)(clock->real_ns + (moment_ns - clock->shift_ns - clock->mono_ns));
}

void timeline_greeting(struct timeline *timeline, uint64_t stream, uint64_t mono_ns, uint64_t real_ns)
{
	struct timeline_clock *clock = &timeline->clocks[timeline->clock_count];
	const struct timeline_clock *known = clock_of(timeline, stream);
	uint64_t last_real_ns, passed_ns;

	if ((known && known->stream == stream) || timeline->clock_count == TIMELINE_CLOCKS)
		return;
	*clock = (struct timeline_clock){ .stream = stream, .mono_ns = mono_ns, .real_ns = real_ns };
	if (timeline->clock_count > 0) {
		last_real_ns = (uint64_t)timeline_real_ns(timeline, timeline->last_ns);
		passed_ns = real_ns > last_real_ns ? real_ns - last_real_ns : 0;
		clock->shift_ns = timeline->last_ns + passed_ns - mono_ns;
	}
	timeline->clock_count++;
}

void timeline_tick(struct timeline *timeline, uint64_t stream, uint64_t time_ns)
{
	uint64_t moment_ns = timeline_moment(timeline, stream, time_ns);

	if (timeline->first_ns == 0)
		timeline->first_ns = moment_ns;
	if (moment_ns > timeline->last_ns)
		timeline->last_ns = moment_ns;
}

/* ---- points ---- */

uint64_t timeline_point_before(const struct timeline *timeline, uint64_t moment_ns)
{
	uint64_t offset = timeline->start;

	for (uint32_t i = 0; i < timeline->point_count && timeline->points[i].time_ns <= moment_ns; i++)
		offset = timeline->points[i].offset;
	return offset;
}

/* ---- in memory ---- */

/* How many of count bytes from an offset on lie before the end of the memory; the others lie at its beginning. */
static size_t before_wrap(const struct timeline *timeline, uint64_t offset, size_t count)
{
	size_t left = timeline->bytes_max - offset % timeline->bytes_max;

	return left < count ? left : count;
}

static bool keep(void *arg, const uint8_t *bytes, size_t count)
{
	struct timeline *timeline = arg;
	uint64_t offset = timeline->tape.recording.offset;
	size_t first = before_wrap(timeline, offset, count);

	memcpy(timeline->bytes + offset % timeline->bytes_max, bytes, first);
	memcpy(timeline->bytes, bytes + first, count - first);
	timeline->end = offset + count;
	return true;
}

/* What is kept begins at a point, so the points whose bytes are overwritten go, and all before the next one with them. */
static void forget_overwritten(struct timeline *timeline)
{
	uint64_t oldest = timeline->end > timeline->bytes_max ? timeline->end - timeline->bytes_max : 0;
	uint32_t gone = 0;

	while (gone < timeline->point_count && timeline->points[gone].offset < oldest)
		gone++;
	timeline->point_count -= gone;
	if (gone)
		memmove(timeline->points, timeline->points + gone, timeline->point_count * sizeof *timeline->points);
	timeline->start = timeline->point_count ? timeline->points[0].offset : timeline->end;
	timeline->first_ns = timeline->point_count ? timeline->points[0].time_ns : timeline->last_ns;
}

static void on_block(void *arg, const struct block *block)
{
	struct timeline *timeline = arg;
	uint64_t points = timeline->tape.recording.index_count;

	tape_block(&timeline->tape, block);
	/* Without memory for one more point, the blocks behind it are reached from the point before it. */
	if (timeline->tape.recording.index_count != points)
		timeline_add_point(timeline, timeline->tape.recording.index_offset, timeline->last_ns);
	forget_overwritten(timeline);
}

static void on_message(void *arg, const struct message *message)
{
	const struct message_hello *hello = &message->hello;

	if (message->kind == KIND_HELLO)
		timeline_greeting(arg, hello->stream, hello->mono_ns, hello->real_ns);
}

static void on_tick(void *arg)
{
	struct timeline *timeline = arg;
	const struct model *model = timeline->session->model;

	timeline_tick(timeline, model_target(model)->stream, model_time_ns(model));
}

int timeline_keep(struct timeline *timeline, struct session *session, size_t bytes_max)
{
	const struct model_target *target = model_target(session->model);

	assert(bytes_max >= LIMIT_BLOCK_BYTES);
	*timeline = (struct timeline){ .bytes_max = bytes_max };
	/* The kernel gives the pages when they are written first, so a quiet program's past costs little. */
	timeline->bytes = malloc(bytes_max);
	if (!timeline->bytes)
		return -ENOMEM;
	timeline->session = session;
	tape_init(&timeline->tape, session, keep, timeline, bytes_max / POINTS);
	/* What the session has heard before is in the first point. */
	if (target->is_known) {
		timeline_greeting(timeline, target->stream, target->mono_ns, target->real_ns);
		on_tick(timeline);
	}
	timeline->observer = (struct observer){ .on_block = on_block, .on_message = on_message, .on_tick = on_tick,
					     .arg = timeline };
	session_observe(session, &timeline->observer);
	return 0;
}

/* ---- either ---- */

int64_t timeline_read(struct timeline *timeline, uint64_t offset, uint8_t *bytes, size_t room)
{
	size_t count, first;

	if (timeline->file)
		return source_read_at(timeline->file, offset, bytes, room);
	if (offset < timeline->start)
		return -ESTALE;
	count = timeline->end - offset < room ? (size_t)(timeline->end - offset) : room;
	if (count == 0)
		return 0;
	first = before_wrap(timeline, offset, count);
	memcpy(bytes, timeline->bytes + offset % timeline->bytes_max, first);
	memcpy(bytes + first, timeline->bytes, count - first);
	return (int64_t)count;
}

void timeline_close(struct timeline *timeline)
{
	if (timeline->session)
		session_unobserve(timeline->session, &timeline->observer);
	free(timeline->bytes);
	free(timeline->points);
	*timeline = (struct timeline){ 0 };
}
