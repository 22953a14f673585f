#include "monitor/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "widgets/text.h"

int session_init(struct session *session, const char *what, size_t lead_bytes_max)
{
	*session = (struct session){ .what = what, .lead_bytes_max = lead_bytes_max, .next_request = 1 };
	session->reader = malloc(sizeof *session->reader);
	session->decoder = decoder_new();
	session->model = model_new();
	if (!session->reader || !session->decoder || !session->model) {
		session_fini(session);
		return -ENOMEM;
	}
	block_reader_init(session->reader);
	return 0;
}

void session_fini(struct session *session)
{
	free(session->reader);
	decoder_free(session->decoder);
	model_free(session->model);
	session->reader = NULL;
	session->decoder = NULL;
	session->model = NULL;
}

void session_observe(struct session *session, struct observer *observer)
{
	struct observer **link = &session->observers;

	while (*link)
		link = &(*link)->next;
	observer->next = NULL;
	*link = observer;
}

void session_ignore(struct session *session, struct observer *observer)
{
	struct observer **link = &session->observers;

	while (*link && *link != observer)
		link = &(*link)->next;
	if (*link)
		*link = observer->next;
}

/* In these three an observer may remove itself, so its successor is looked up before it is called. */

static void observe_block(struct session *session, const struct block *block)
{
	for (struct observer *observer = session->observers, *next; observer; observer = next) {
		next = observer->next;
		if (observer->on_block)
			observer->on_block(observer->arg, block);
	}
}

static void observe_message(struct session *session, const struct message *message)
{
	for (struct observer *observer = session->observers, *next; observer; observer = next) {
		next = observer->next;
		if (observer->on_message)
			observer->on_message(observer->arg, message);
	}
}

static void observe_tick(struct session *session)
{
	for (struct observer *observer = session->observers, *next; observer; observer = next) {
		next = observer->next;
		if (observer->on_tick)
			observer->on_tick(observer->arg);
	}
}

uint8_t *session_room(struct session *session, size_t *room)
{
	return block_reader_room(session->reader, room);
}

void session_check_version(struct session *session, const struct message_hello *hello)
{
	const char *name = hello->name.bytes ? hello->name.bytes : "";
	char who[LIMIT_NAME_BYTES + 32];

	if (hello->major == PROTOCOL_MAJOR && hello->must == 0)
		return;
	snprintf(who, sizeof who, "PID %llu (%.*s)", (unsigned long long)hello->pid,
		 (int)strnlen(name, hello->name.length), name);
	if (hello->major == PROTOCOL_MAJOR)
		problem_set(&session->problem, EXIT_VERSION,
			    "%s: uses features (%llx) of protocol %d that this telemtop does not know",
			    who, (unsigned long long)hello->must, PROTOCOL_MAJOR);
	else
		problem_set(&session->problem, EXIT_VERSION, "%s: speaks protocol %llu, this telemtop understands %d", who,
			    (unsigned long long)hello->major, PROTOCOL_MAJOR);
	problem_todo(&session->problem, "Upgrade the older of the two. Nothing was changed in the target.");
	session->is_foreign = true;
}

static void apply_ack(struct session *session, const struct message_ack *ack)
{
	struct request *request = &session->requests[ack->request % SESSION_REQUESTS];

	if (request->id != ack->request)
		return;
	request->is_answered = true;
	session->answer_count++;
	request->code = (uint32_t)ack->code;
	snprintf(request->text, sizeof request->text, "%.*s", (int)ack->text.length, ack->text.bytes ? ack->text.bytes : "");
}

/* What comes behind an END is another recording, or the same one after its writer had lost
 * the stream. */
static void begin_again(struct session *session)
{
	session->has_ended = false;
	session->has_number = false;
	model_gap(session->model);
	model_link_edit(session->model)->reconnects++;
}

static void apply(struct session *session, const struct message *message, uint32_t bytes)
{
	if (message->kind == KIND_HELLO) {
		session_check_version(session, &message->hello);
		if (session->is_foreign)
			return;
		if (session->has_ended)
			begin_again(session);
	}
	model_apply(session->model, message, bytes);
	if (message->kind == KIND_END)
		session->has_ended = true;
	else if (message->kind == KIND_ACK)
		apply_ack(session, &message->ack);
	else if (message->kind == KIND_HELD && session->held)
		session->held(session->held_arg, &message->held);
	else if (message->kind == KIND_SNAPSHOT && session->now_ns > message->snapshot.real_ns)
		/* Both in wall time: the only clock that two machines share, if roughly. */
		model_link_edit(session->model)->lag_ns = (double)(session->now_ns - message->snapshot.real_ns);
	observe_message(session, message);
}

static void note_number(struct session *session, const struct block *block)
{
	struct model_link *link = model_link_edit(session->model);

	if (session->has_number && block->number > session->last_number)
		link->lost_blocks += block->number - session->last_number - 1;
	if (!session->has_number || block->number > session->last_number)
		session->last_number = block->number;
	session->has_number = true;
}

static void apply_block(struct session *session, const struct block *block)
{
	const uint8_t *bytes = block->bytes;
	size_t count = block->byte_count;
	struct model_link *link;
	uint64_t stream_before = model_target(session->model)->stream;

	observe_block(session, block);
	decoder_reset(session->decoder);
	while (count > 0 && !session->is_foreign) {
		struct message message;
		size_t before = count;
		int result = decode_next(session->decoder, &bytes, &count, &message);

		link = model_link_edit(session->model);
		if (result == DECODE_MESSAGE)
			apply(session, &message, (uint32_t)(before - count));
		else if (result == DECODE_SKIPPED)
			link->unknown_messages++;
		else if (result == DECODE_MORE)
			break;                  /* half a message at a block's end: it never comes */
		else
			link->bad_messages++;
	}
	if (decoder_is_inside(session->decoder))
		model_link_edit(session->model)->bad_messages++;
	if (model_target(session->model)->stream != stream_before) {
		session->has_number = false;
		memset(session->requests, 0, sizeof session->requests);
	}
	note_number(session, block);
	link = model_link_edit(session->model);
	link->blocks++;
	link->bytes += block->byte_count + CHECK_BYTES;
}

bool session_step(struct session *session, uint64_t now_ns)
{
	uint64_t tick_ns = model_time_ns(session->model);
	struct block block;
	struct model_link *link;
	bool is_whole;

	session->now_ns = now_ns;
	if (session->is_foreign)
		return false;
	is_whole = block_reader_next(session->reader, &block) == BLOCK_WHOLE;
	if (is_whole)
		apply_block(session, &block);
	link = model_link_edit(session->model);
	link->damaged_blocks = session->reader->damaged_count;
	link->skipped_bytes = session->reader->skipped_bytes;
	/* 0: another stream has begun, and its model is empty. */
	if (model_time_ns(session->model) != tick_ns && model_time_ns(session->model) != 0)
		observe_tick(session);
	return is_whole;
}

/* How it began, for the message that it is none. */
static void set_foreign(struct session *session, int code, const char *what)
{
	char hex[40] = "", clean[64];
	const struct block_reader *reader = session->reader;

	for (uint32_t i = 0; i < reader->first_count; i++)
		snprintf(hex + strlen(hex), sizeof hex - strlen(hex), "%s%02x", i ? " " : "", reader->first[i]);
	text_clean(clean, sizeof clean, (const char *)reader->first, reader->first_count, GLYPHS_BLOCKS);
	problem_set(&session->problem, code, "%s: not a telemetry stream (first bytes %s \"%s\")", what, hex, clean);
	problem_todo(&session->problem, "Is it a program that uses libtelem, and the right address?");
	session->is_foreign = true;
}

void session_filled(struct session *session, size_t count, uint64_t now_ns)
{
	block_reader_filled(session->reader, count);
	while (session_step(session, now_ns))
		;
	if (!session->reader->was_synced && !session->is_foreign &&
	    session->reader->skipped_bytes > session->lead_bytes_max)
		set_foreign(session, EXIT_CONNECTION, session->what);
}

void session_hold(struct session *session, size_t count)
{
	block_reader_filled(session->reader, count);
}

void session_gap(struct session *session, uint64_t offset)
{
	observe_block(session, NULL);
	block_reader_gap(session->reader, offset);
	model_gap(session->model);
	session->has_number = false;
}

int session_restart(struct session *session, uint64_t offset)
{
	struct model *model = model_new();

	if (!model)
		return -ENOMEM;
	model_set_window(model, model_window(session->model));
	model_free(session->model);
	session->model = model;
	session->has_ended = session->has_number = false;
	block_reader_init(session->reader);
	block_reader_gap(session->reader, offset);
	return 0;
}

void session_end(struct session *session, int bad_code)
{
	if (!session->reader->was_synced && !session->is_foreign) {
		if (session->reader->first_count == 0) {
			problem_set(&session->problem, bad_code, "%s: ended before it said anything", session->what);
			problem_todo(&session->problem, "Is it a program that uses libtelem, and the right address? Or "
							"has it too many viewers already?");
			session->is_foreign = true;
		} else {
			set_foreign(session, bad_code, session->what);
		}
	}
}

/* ---- requests ---- */

size_t session_request(struct session *session, const struct message *message, uint8_t out[LIMIT_REQUEST_BYTES],
		       uint32_t *id)
{
	struct encoder encoder;
	struct message numbered = *message;
	struct request *request = &session->requests[session->next_request % SESSION_REQUESTS];

	/* Every request's first field is its number. */
	numbered.ping.request = session->next_request;
	encoder_init(&encoder, out, LIMIT_REQUEST_BYTES);
	if (!encode_message(&encoder, &numbered))
		return 0;
	*request = (struct request){ .id = session->next_request, .kind = message->kind, .sent_ns = session->now_ns };
	if (message->kind == KIND_SET_LEVEL) {
		request->class_id = (uint32_t)message->set_level.class_id;
		request->site = (uint32_t)message->set_level.site;
		request->level = (uint8_t)message->set_level.level;
	}
	*id = session->next_request++;
	return encoder.used;
}

const struct request *session_request_of(const struct session *session, uint32_t id)
{
	const struct request *request = &session->requests[id % SESSION_REQUESTS];

	return request->id == id ? request : NULL;
}
