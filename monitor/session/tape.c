#include "monitor/session/tape.h"

#include "monitor/model/write.h"

/* A point that is longer than this is followed by as many bytes of the stream at least, so that the points of a large
 * model never take more than half of the tape. */
#define POINT_BYTES_SMALL (LIMIT_INDEX_BYTES / 4)

void tape_init(struct tape *tape, const struct session *session, bool (*keep)(void *arg, const uint8_t *bytes, size_t count),
	       void *arg, uint64_t gap_bytes)
{
	*tape = (struct tape){ .session = session, .keep = keep, .arg = arg, .gap_bytes = gap_bytes };
}

static bool put(struct tape *tape, const uint8_t *bytes, size_t count)
{
	if (!tape->keep(tape->arg, bytes, count)) {
		tape->recording = tape->whole;
		tape->is_synced = false;
		return false;
	}
	tape->recording.offset += count;
	return true;
}

/* ---- a point: the model's messages, as blocks ---- */

struct point {
	struct tape *tape;
	uint8_t bytes[LIMIT_BLOCK_BYTES];
	struct encoder encoder;
	bool is_kept;                        /* so far */
};

static void seal(struct point *point)
{
	const struct session *session = point->tape->session;
	uint32_t count;

	if (point->encoder.used == 0)
		return;
	count = block_seal(point->bytes, point->encoder.used, parser_marker(&session->parser), session->last_number);
	point->is_kept = point->is_kept && put(point->tape, point->bytes, count);
	encoder_init(&point->encoder, point->bytes, BLOCK_ROOM);
}

static void add(struct point *point, const struct message *message)
{
	if (encode_message(&point->encoder, message))
		return;
	seal(point);
	encode_message(&point->encoder, message);
}

/* A point begins with HELLO, which names the stream's marker, and INDEX. */
static void emit(void *arg, const struct message *message)
{
	struct point *point = arg;
	const struct session *session = point->tape->session;
	struct message out = *message;

	if (message->kind == KIND_HELLO) {
		out.hello.marker = (struct text){ (const char *)parser_marker(&session->parser), MARKER_BYTES };
		add(point, &out);
		recording_index(&point->tape->recording, model_time_ns(session->model), &out);
	}
	add(point, &out);
}

static void write_point(struct tape *tape)
{
	const struct model *model = tape->session->model;
	struct point point = { .tape = tape, .is_kept = true };
	uint64_t events = model_link(model)->events;

	tape->recording.last_ns = tape->recording.index_count ? model_time_ns(model) : 0;
	/* The stream of another program counts from 0. */
	tape->recording.events = tape->recording.index_count == 0
		? 0 : events - (events < tape->previous_events ? 0 : tape->previous_events);
	tape->previous_events = events;
	encoder_init(&point.encoder, point.bytes, BLOCK_ROOM);
	model_write(model, emit, &point);
	seal(&point);
	if (!point.is_kept || tape->recording.index_count == 0)
		return;
	tape->point_bytes = tape->recording.offset - tape->recording.index_offset;
	tape->whole = tape->recording;
	tape->is_synced = true;
}

static bool is_point_due(const struct tape *tape, uint64_t now_ns)
{
	uint64_t since = tape->recording.offset - tape->recording.index_offset - tape->point_bytes;

	if (!tape->is_synced)
		return true;
	return recording_is_due(&tape->recording, tape->gap_bytes, now_ns) &&
	       (tape->point_bytes <= POINT_BYTES_SMALL || since >= tape->point_bytes);
}

/* ---- the stream ---- */

static bool write_end(struct tape *tape)
{
	uint8_t end[RECORDING_END_BYTES];

	if (tape->recording.index_count == 0)
		return false;
	recording_end(&tape->recording, end, parser_marker(&tape->session->parser), tape->session->last_number);
	if (!put(tape, end, sizeof end))
		return false;
	tape->whole = tape->recording;
	return true;
}

void tape_block(struct tape *tape, const struct block *block)
{
	const struct model *model = tape->session->model;

	if (!block) {
		write_end(tape);
		return;
	}
	/* Only between ticks does the model know what a tick's figures are. */
	if (model_is_settled(model) && is_point_due(tape, model_time_ns(model)))
		write_point(tape);
	/* Its CHECK is right behind it. */
	if (tape->is_synced && put(tape, block->bytes, block->byte_count + CHECK_BYTES))
		tape->whole = tape->recording;
}

bool tape_end(struct tape *tape)
{
	/* It ended before a block came: then what the model knows now is all of it. */
	if (tape->recording.index_count == 0)
		write_point(tape);
	return write_end(tape);
}
