#include "monitor/session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "widgets/text.h"

int session_init(struct session *session, const char *address, size_t lead_bytes_max)
{
	*session = (struct session){ .address = address, .lead_bytes_max = lead_bytes_max };
	session->decoder = decoder_new();
	session->model = model_new();
	if (parser_init(&session->parser) < 0 || !session->decoder || !session->model) {
		session_fini(session);
		return -ENOMEM;
	}
	return 0;
}

void session_fini(struct session *session)
{
	parser_fini(&session->parser);
	decoder_free(session->decoder);
	model_free(session->model);
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

void session_unobserve(struct session *session, struct observer *observer)
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
	return parser_room(&session->parser, room);
}

int session_check_version(const struct message_hello *hello, struct problem *problem)
{
	const char *name = hello->name.bytes ? hello->name.bytes : "";
	char who[LIMIT_NAME_BYTES + 32];

	if (hello->major == PROTOCOL_MAJOR && hello->must == 0)
		return EXIT_DONE;
	snprintf(who, sizeof who, "PID %llu (%.*s)", (unsigned long long)hello->pid,
		 (int)strnlen(name, hello->name.length), name);
	if (hello->major == PROTOCOL_MAJOR)
		problem_set(problem, EXIT_VERSION,
			    "%s: uses features (%llx) of protocol %d that this telemtop does not know",
			    who, (unsigned long long)hello->must, PROTOCOL_MAJOR);
	else
		problem_set(problem, EXIT_VERSION, "%s: speaks protocol %llu, this telemtop understands %d", who,
			    (unsigned long long)hello->major, PROTOCOL_MAJOR);
	problem_todo(problem, "Upgrade the older of the two. Nothing was changed in the target.");
	return EXIT_VERSION;
}

/* What follows an END is another recording, or the same one after its writer had lost the stream. */
static void begin_again(struct session *session)
{
	session->has_ended = false;
	session->has_number = false;
	model_gap(session->model);
}

static void apply(struct session *session, const struct message *message, uint32_t bytes)
{
	if (message->kind == KIND_HELLO) {
		session->is_foreign = session_check_version(&message->hello, &session->problem) != EXIT_DONE;
		if (session->is_foreign)
			return;
		if (session->has_ended)
			begin_again(session);
	}
	model_apply(session->model, message, bytes);
	if (message->kind == KIND_END)
		session->has_ended = true;
	else if (message->kind == KIND_SNAPSHOT && session->now_ns > message->snapshot.real_ns)
		/* Both are wall time, the only clock that two machines share, if roughly. */
		session->transport.lag_ns = (double)(session->now_ns - message->snapshot.real_ns);
	observe_message(session, message);
}

static void note_number(struct session *session, const struct block *block)
{
	if (session->has_number && block->number > session->last_number)
		session->transport.lost_blocks += block->number - session->last_number - 1;
	if (!session->has_number || block->number > session->last_number)
		session->last_number = block->number;
	session->has_number = true;
}

static void decode_block(struct session *session, const struct block *block)
{
	const uint8_t *bytes = block->bytes;
	size_t count = block->byte_count;

	decoder_reset(session->decoder);
	while (count > 0 && !session->is_foreign) {
		struct message message;
		size_t before = count;
		int result = decode_next(session->decoder, &bytes, &count, &message);

		if (result == DECODE_MESSAGE)
			apply(session, &message, (uint32_t)(before - count));
		else if (result == DECODE_SKIPPED)
			session->transport.unknown_messages++;
		else if (result == DECODE_MORE)
			break;                  /* half a message at a block's end: the other half never comes */
		else
			session->transport.bad_messages++;
	}
	if (decoder_is_inside(session->decoder))
		session->transport.bad_messages++;
}

static void apply_block(struct session *session, const struct block *block)
{
	uint64_t stream_before = model_target(session->model)->stream;

	session->has_greeted = true;
	observe_block(session, block);
	decode_block(session, block);
	if (model_target(session->model)->stream != stream_before) {
		session->has_number = false;
		if (block->number > 0)
			model_joined_late(session->model);
		session->transport = (struct model_transport){ .lag_ns = session->transport.lag_ns };
	}
	note_number(session, block);
	session->transport.blocks++;
	session->transport.bytes += block->byte_count + CHECK_BYTES;
}

bool session_step(struct session *session, uint64_t now_ns)
{
	uint64_t tick_ns = model_time_ns(session->model);
	struct format_figures figures;
	struct block block;
	bool is_whole;

	session->now_ns = now_ns;
	if (session->is_foreign)
		return false;
	is_whole = parser_next(&session->parser, &block);
	if (is_whole)
		apply_block(session, &block);
	figures = parser_figures(&session->parser);
	session->transport.damaged_blocks = figures.damaged_count;
	session->transport.skipped_bytes = figures.skipped_bytes;
	model_set_transport(session->model, &session->transport);
	/* At 0 another stream has begun, and its model is empty. */
	if (model_time_ns(session->model) != tick_ns && model_time_ns(session->model) != 0)
		observe_tick(session);
	return is_whole;
}

/* Says how the stream began, and that it is not telemetry. */
static void set_foreign(struct session *session, int code)
{
	const struct parser *parser = &session->parser;
	char hex[40] = "", clean[64];

	for (uint32_t i = 0; i < parser->first_count; i++)
		snprintf(hex + strlen(hex), sizeof hex - strlen(hex), "%s%02x", i ? " " : "", parser->first[i]);
	text_clean(clean, sizeof clean, (const char *)parser->first, parser->first_count, GLYPHS_BLOCKS);
	problem_set(&session->problem, code, "%s: not a telemetry stream (first bytes %s \"%s\")", session->address, hex,
		    clean);
	problem_todo(&session->problem, "Is it a program that uses libtelem, and the right address?");
	session->is_foreign = true;
}

void session_hold(struct session *session, size_t count)
{
	if (parser_filled(&session->parser, count) < 0) {
		problem_set(&session->problem, EXIT_INTERNAL, "out of memory");
		session->is_foreign = true;
	}
}

void session_filled(struct session *session, size_t count, uint64_t now_ns)
{
	session_hold(session, count);
	while (session_step(session, now_ns))
		;
	if (!session->has_greeted && !session->is_foreign &&
	    parser_figures(&session->parser).skipped_bytes > session->lead_bytes_max)
		set_foreign(session, EXIT_CONNECTION);
}

void session_gap(struct session *session, uint64_t offset)
{
	observe_block(session, NULL);
	parser_gap(&session->parser, offset);
	model_gap(session->model);
	session->has_number = false;
}

int session_restart(struct session *session, uint64_t offset)
{
	struct model *model = model_new();

	if (!model || parser_restart(&session->parser, offset) < 0) {
		model_free(model);
		return -ENOMEM;
	}
	model_set_window(model, model_window(session->model));
	model_await_mark(model, session->model);
	model_free(session->model);
	session->model = model;
	session->has_ended = session->has_number = false;
	session->transport = (struct model_transport){ 0 };
	return 0;
}

void session_silent(struct session *session, int timeout_s)
{
	if (session->has_greeted || session->is_foreign || session->parser.first_count > 0)
		return;
	problem_set(&session->problem, EXIT_CONNECTION, "%s: no answer within %d s", session->address, timeout_s);
	problem_todo(&session->problem, "A program listens there, but sends nothing. Is it stopped, or is it one without "
					"libtelem?");
	session->is_foreign = true;
}

void session_end(struct session *session, int status)
{
	if (session->has_greeted || session->is_foreign)
		return;
	if (session->parser.first_count > 0) {
		set_foreign(session, status);
		return;
	}
	problem_set(&session->problem, status, "%s: ended before it sent anything", session->address);
	problem_todo(&session->problem, "Is it a program that uses libtelem, and the right address? Or does it have "
					"too many viewers already?");
	session->is_foreign = true;
}
