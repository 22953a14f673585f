#include "monitor/session/controls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/encode.h"

/* The class strip's own letters: all, none, restore, sum. */
#define LETTERS_TAKEN "anrs"
#define LETTERS_SPARE "bcdefghijklmopqtuvwxyz"
/* A request that waits for an answer so long is forgotten. */
#define ANSWER_NS 10000000000u

/* ---- answers ---- */

static void on_ack(struct controls *controls, const struct message_ack *ack)
{
	struct request *request = &controls->requests[ack->request % CONTROLS_REQUESTS], answered;

	if (request->id == 0 || request->id != ack->request)
		return;
	request->code = (uint32_t)ack->code;
	snprintf(request->text, sizeof request->text, "%.*s", (int)ack->text.length, ack->text.bytes ? ack->text.bytes : "");
	controls->answer_count++;
	for (uint32_t i = 0; request->kind == KIND_SET_LEVEL && i < LIMIT_CLASSES; i++)
		if (controls->levels[i].id == request->id) {
			controls->levels[i].id = 0;
			snprintf(controls->levels[i].answer, sizeof controls->levels[i].answer, "%.*s",
				 (int)sizeof controls->levels[i].answer - 1, request->text);
		}
	/* The place is free before the callback, which may ask for more. */
	answered = *request;
	request->id = 0;
	if (answered.answered)
		answered.answered(answered.arg, &answered);
}

/* Nobody answers any more what was asked of another program, or on an earlier connection. */
static void forget_requests(struct controls *controls)
{
	memset(controls->requests, 0, sizeof controls->requests);
	for (uint32_t i = 0; i < LIMIT_CLASSES; i++)
		controls->levels[i].id = 0;
}

static void on_message(void *arg, const struct message *message)
{
	struct controls *controls = arg;

	if (message->kind == KIND_ACK) {
		on_ack(controls, &message->ack);
	} else if (message->kind == KIND_HELLO && message->hello.stream != controls->stream) {
		controls->stream = message->hello.stream;
		forget_requests(controls);
	}
}

void controls_init(struct controls *controls, struct session *session, struct source *source)
{
	*controls = (struct controls){ .session = session, .source = source, .next_request = 1 };
	snprintf(controls->own_name, sizeof controls->own_name, "telemtop %d", (int)getpid());
	controls->observer = (struct observer){ .on_message = on_message, .arg = controls };
	session_observe(session, &controls->observer);
}

void controls_fini(struct controls *controls)
{
	if (controls->session)
		session_ignore(controls->session, &controls->observer);
	controls->session = NULL;
}

/* ---- requests ---- */

int controls_request(struct controls *controls, const struct message *message, controls_answered *answered, void *arg)
{
	uint8_t bytes[LIMIT_REQUEST_BYTES];
	struct encoder encoder;
	struct message numbered = *message;
	uint32_t id = controls->next_request;
	int err;

	if (controls->is_read_only)
		return -EPERM;
	if (!source_has_control(controls->source))
		return -ENOTCONN;
	/* The first field of every request is its number. */
	numbered.ping.request = id;
	encoder_init(&encoder, bytes, sizeof bytes);
	if (!encode_message(&encoder, &numbered))
		return -EMSGSIZE;
	err = source_send(controls->source, bytes, encoder.used);
	if (err < 0)
		return err;
	controls->next_request = id == UINT32_MAX ? 1 : id + 1;
	controls->requests[id % CONTROLS_REQUESTS] =
		(struct request){ .id = id, .kind = message->kind, .answered = answered, .arg = arg };
	if (message->kind == KIND_SET_LEVEL) {
		struct request *request = &controls->requests[id % CONTROLS_REQUESTS];

		request->class_id = (uint32_t)message->set_level.class_id;
		request->site = (uint32_t)message->set_level.site;
		request->level = (uint8_t)message->set_level.level;
	}
	return 0;
}

int controls_set_interval(struct controls *controls, uint64_t interval_ns)
{
	struct message message = { .kind = KIND_TICK, .tick = { 0, interval_ns } };
	int err;

	controls->interval_ns = interval_ns;
	err = controls_request(controls, &message, NULL, NULL);
	/* A stream that cannot be asked, such as a recording through a pipe, has the pace that it has. */
	model_set_interval(controls->session->model, err < 0 ? 0 : interval_ns);
	return err;
}

bool controls_attach(struct controls *controls, const char **missing)
{
	struct message attach = { .kind = KIND_ATTACH, .attach = { .name = text_of(controls->own_name) } };
	/* Frames are sent while some viewer watches them. */
	struct message watch = { .kind = KIND_WATCH, .watch = { 0, WATCH_INSPECTION, 1 } };

	forget_requests(controls);
	controls_request(controls, &attach, NULL, NULL);
	controls_request(controls, &watch, NULL, NULL);
	controls_set_interval(controls, controls->interval_ns);
	return controls_send_wishes(controls, NULL, NULL, NULL, missing);
}

/* ---- levels ---- */

/* The wish for this class or site, or a new one; NULL: there are too many. */
static struct wish *wish_of(struct controls *controls, uint32_t class_id, uint32_t site)
{
	for (int i = 0; i < controls->wish_count; i++)
		if (controls->wishes[i].class_id == class_id && controls->wishes[i].site == site)
			return &controls->wishes[i];
	return controls->wish_count < CONTROLS_WISHES ? &controls->wishes[controls->wish_count++] : NULL;
}

int controls_set_level(struct controls *controls, uint32_t class_id, uint32_t site, uint8_t level, uint64_t now_ns,
		       controls_answered *answered, void *arg)
{
	struct message message = { .kind = KIND_SET_LEVEL, .set_level = { 0, class_id, site, level, controls->persist } };
	uint32_t id = controls->next_request;
	int err = controls_request(controls, &message, answered, arg);
	struct wish *wish;

	if (err < 0)
		return err;
	wish = wish_of(controls, class_id, site);
	if (wish)
		*wish = (struct wish){ .class_id = class_id, .site = site, .level = level, .persist = controls->persist };
	controls->levels[class_id] = (struct level_request){ .id = id, .level = level, .sent_ns = now_ns };
	return 0;
}

void controls_expire(struct controls *controls, uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_CLASSES; i++)
		if (controls->levels[i].id && now_ns - controls->levels[i].sent_ns > ANSWER_NS)
			controls->levels[i].id = 0;
}

/* ---- wishes ---- */

static int level_of(const char *name, size_t length)
{
	static const uint8_t levels[] = { LEVEL_OFF, LEVEL_SUM, LEVEL_ALL };

	for (size_t i = 0; i < sizeof levels; i++)
		if (strlen(level_name(levels[i])) == length && !strncmp(level_name(levels[i]), name, length))
			return levels[i];
	return length == 4 && !strncmp(name, "none", 4) ? LEVEL_OFF : -1;
}

int controls_wish(struct controls *controls, const char *list, struct problem *problem)
{
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ",");
		const char *equals = memchr(at, '=', length);
		struct wish *wish = &controls->wishes[controls->wish_count];
		int level = equals ? level_of(equals + 1, length - (size_t)(equals + 1 - at)) : level_of(at, length);
		size_t name_bytes = equals ? (size_t)(equals - at) : 0;

		if (level < 0 || name_bytes >= sizeof wish->name || (equals && name_bytes == 0) ||
		    controls->wish_count == CONTROLS_WISHES) {
			problem_set(problem, EXIT_USAGE, "bad level: \"%.*s\"", (int)length, at);
			problem_todo(problem, "Give CLASS=off, sum or all; or all, sum, none for every class.");
			return problem->code;
		}
		*wish = (struct wish){ .class_id = UINT32_MAX, .level = (uint8_t)level, .persist = controls->persist };
		if (name_bytes != 3 || strncmp(at, "all", 3))
			memcpy(wish->name, at, name_bytes);
		controls->wish_count++;
		at += length;
		at += *at == ',';
	}
	return EXIT_DONE;
}

/* Looks up a class by name, or a site as "class.name". Returns false when there is neither. */
static bool resolve(const struct model *model, struct wish *wish)
{
	int class_id = model_class_find(model, wish->name);
	const char *dot = strchr(wish->name, '.');

	if (class_id >= 0) {
		wish->class_id = (uint32_t)class_id;
		return true;
	}
	for (uint32_t i = 0; dot && i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		const char *class_name = model_class(model, site->class_id)->name;

		if (strlen(class_name) == (size_t)(dot - wish->name) &&
		    !strncmp(class_name, wish->name, (size_t)(dot - wish->name)) && !strcmp(site->name, dot + 1)) {
			wish->class_id = site->class_id;
			wish->site = site->id;
			return true;
		}
	}
	return false;
}

/* Whether the wish is for every class, or for something that the program has. */
static bool is_known(const struct controls *controls, struct wish *wish)
{
	return wish->class_id != UINT32_MAX || !wish->name[0] || resolve(controls->session->model, wish);
}

bool controls_check_wishes(struct controls *controls, const char **missing)
{
	for (int i = 0; i < controls->wish_count; i++)
		if (!is_known(controls, &controls->wishes[i])) {
			*missing = controls->wishes[i].name;
			return false;
		}
	return true;
}

bool controls_send_wishes(struct controls *controls, controls_answered *answered, void *arg, int *sent_count,
			  const char **missing)
{
	bool all_known = true;

	for (int i = 0; i < controls->wish_count; i++) {
		struct wish *wish = &controls->wishes[i];
		struct message message;

		if (!is_known(controls, wish)) {
			*missing = wish->name;
			all_known = false;
			continue;
		}
		if (wish->class_id == UINT32_MAX)
			message = (struct message){ .kind = KIND_ENABLE_ALL,
						    .enable_all = { 0, wish->level, wish->persist } };
		else
			message = (struct message){ .kind = KIND_SET_LEVEL, .set_level = { 0, wish->class_id, wish->site,
											    wish->level, wish->persist } };
		if (controls_request(controls, &message, answered, arg) == 0 && sent_count)
			++*sent_count;
	}
	return all_known;
}

void controls_no_such_class(const struct controls *controls, const char *name, struct problem *problem)
{
	const struct model *model = controls->session->model;
	char classes[400] = "";

	for (uint32_t i = 0; i < model_class_count(model); i++)
		if (model_class(model, i)->is_defined && strlen(classes) + LIMIT_NAME_BYTES < sizeof classes) {
			strcat(classes, " ");
			strcat(classes, model_class(model, i)->name);
		}
	problem_set(problem, EXIT_USAGE, "class \"%s\": the target has no such class", name);
	problem_todo(problem, "It has:%s.", classes);
}

/* ---- letters ---- */

static bool is_free(const struct controls *controls, char letter)
{
	return !strchr(LETTERS_TAKEN, letter) && !memchr(controls->letters, letter, sizeof controls->letters);
}

void controls_name_classes(struct controls *controls)
{
	const struct model *model = controls->session->model;

	for (uint32_t i = 0; i < model_class_count(model); i++) {
		const struct model_class *class = model_class(model, i);

		if (!class->is_defined || controls->letters[i])
			continue;
		for (const char *at = class->name; *at && !controls->letters[i]; at++)
			if (*at >= 'a' && *at <= 'z' && is_free(controls, *at))
				controls->letters[i] = *at;
		for (const char *at = LETTERS_SPARE; *at && !controls->letters[i]; at++)
			if (is_free(controls, *at))
				controls->letters[i] = *at;
	}
}
