#include "monitor/session/controls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/encode.h"

/* The class strip's own letters: all, none, restore, sum. */
#define LETTERS_TAKEN "anrs"
#define LETTERS_SPARE "bcdefghijklmopqtuvwxyz"
/* A request that waits for an answer so long is given up. */
#define GIVE_UP_NS 10000000000u

/* ---- answers ---- */

/* The wish that a request was sent for, if its level was not asked for again since; else NULL. */
static struct wish *wish_of_request(struct controls *controls, uint32_t id)
{
	for (int i = 0; i < controls->wish_count; i++)
		if (controls->wishes[i].state == WISH_WAITING && controls->wishes[i].request == id)
			return &controls->wishes[i];
	return NULL;
}

static void end_wish(struct controls *controls, struct wish *wish, const struct request *request)
{
	wish->state = request->code == ACK_DONE ? WISH_DONE
		      : request->code == CONTROLS_NO_ANSWER ? WISH_UNANSWERED : WISH_REFUSED;
	if (wish->state != WISH_DONE)
		snprintf(wish->text, sizeof wish->text, "%.*s", (int)sizeof wish->text - 1, request->text);
	/* A level that was given back is wanted no longer, and a connection that was lost holds none. */
	if (wish->level == LEVEL_OWN && wish->state != WISH_REFUSED)
		*wish = controls->wishes[--controls->wish_count];
}

/* Ends a request. Its place is free before the callback, which may send more. */
static void end_request(struct controls *controls, struct request *request, uint32_t code, const char *text, size_t length)
{
	struct request ended = *request;
	struct wish *wish = wish_of_request(controls, request->id);

	request->id = 0;
	ended.code = code;
	snprintf(ended.text, sizeof ended.text, "%.*s", (int)length, text);
	controls->answer_count++;
	if (wish)
		end_wish(controls, wish, &ended);
	if (ended.answered)
		ended.answered(ended.arg, &ended);
}

static void give_up(struct controls *controls, struct request *request, const char *why)
{
	if (request->id)
		end_request(controls, request, CONTROLS_NO_ANSWER, why, strlen(why));
}

void controls_lost(struct controls *controls)
{
	for (int i = 0; i < CONTROLS_REQUESTS; i++)
		give_up(controls, &controls->requests[i], "the connection was lost before the answer came");
}

void controls_clock(struct controls *controls, uint64_t now_ns)
{
	controls->now_ns = now_ns;
	for (int i = 0; i < CONTROLS_REQUESTS; i++)
		if (controls->requests[i].id && now_ns - controls->requests[i].sent_ns > GIVE_UP_NS)
			give_up(controls, &controls->requests[i], "no answer");
}

/* Another program has its own numbers for classes and sites, and answers nothing that the one before was asked. */
static void meet(struct controls *controls, uint64_t stream)
{
	controls->stream = stream;
	controls_lost(controls);
	memset(controls->letters, 0, sizeof controls->letters);
	for (int i = 0; i < controls->wish_count; i++) {
		controls->wishes[i].class_id = UINT32_MAX;
		controls->wishes[i].site = 0;
		controls->wishes[i].state = WISH_UNSENT;
	}
}

static void on_message(void *arg, const struct message *message)
{
	struct controls *controls = arg;

	if (message->kind == KIND_ACK) {
		const struct message_ack *ack = &message->ack;
		struct request *request = &controls->requests[ack->request % CONTROLS_REQUESTS];

		if (request->id != 0 && request->id == ack->request)
			end_request(controls, request, (uint32_t)ack->code, ack->text.bytes ? ack->text.bytes : "",
				    ack->text.length);
	} else if (message->kind == KIND_HELLO && message->hello.stream != controls->stream) {
		meet(controls, message->hello.stream);
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
		session_unobserve(controls->session, &controls->observer);
	controls->session = NULL;
}

/* ---- requests ---- */

/* Whether only a viewer that may change the program may ask this. */
static bool is_for_controllers(const struct message *message)
{
	enum role { VIEWER, CONTROLLER };

	switch (message->kind) {
#define REQUEST(KIND, name, role, handler) case KIND_##KIND: return role == CONTROLLER;
#include "protocol/requests.def"
#undef REQUEST
	default:
		return false;
	}
}

bool controls_are_denied(const struct controls *controls)
{
	const struct model_target *target = model_target(controls->session->model);

	return target->is_known && !target->may_control;
}

const char *controls_refusal(int err)
{
	return err == -EPERM ? "--read-only never sends the target anything"
	       : err == -EACCES ? "it takes no requests on this way"
	       : err == -EMSGSIZE ? "the request is too long" : "no control way";
}

int controls_request(struct controls *controls, const struct message *message, controls_answered *answered, void *arg)
{
	uint8_t bytes[LIMIT_REQUEST_BYTES];
	struct encoder encoder;
	struct message numbered = *message;
	uint32_t id = controls->next_request;
	struct request *request = &controls->requests[id % CONTROLS_REQUESTS];
	int err;

	if (controls->is_read_only)
		return -EPERM;
	if (!source_has_control(controls->source))
		return -ENOTCONN;
	if (is_for_controllers(message) && controls_are_denied(controls))
		return -EACCES;
	/* The first field of every request is its number. */
	numbered.ping.request = id;
	encoder_init(&encoder, bytes, sizeof bytes);
	if (!encode_message(&encoder, &numbered))
		return -EMSGSIZE;
	err = source_send(controls->source, bytes, encoder.used);
	if (err < 0)
		return err;
	controls->next_request = id == UINT32_MAX ? 1 : id + 1;
	give_up(controls, request, "too many requests were sent since");
	*request = (struct request){ .id = id, .kind = message->kind, .sent_ns = controls->now_ns, .answered = answered,
				     .arg = arg };
	if (message->kind == KIND_SET_LEVEL) {
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
	int err;

	controls_request(controls, &attach, NULL, NULL);
	controls_request(controls, &watch, NULL, NULL);
	controls_set_interval(controls, controls->interval_ns);
	err = controls_send_wishes(controls, NULL, NULL);
	/* The reason is shown with each wish, because nobody has pressed a key that could be answered. */
	for (int i = 0; err == -EACCES && i < controls->wish_count; i++) {
		controls->wishes[i].state = WISH_REFUSED;
		snprintf(controls->wishes[i].text, sizeof controls->wishes[i].text, "%s", controls_refusal(err));
	}
	return controls_check_wishes(controls, missing);
}

/* ---- wishes ---- */

/* Finds the class of this name, or the site of the name CLASS.NAME. Returns false when the program has neither. */
static bool resolve(const struct model *model, struct wish *wish)
{
	int class_id = model_class_find(model, wish->name);

	if (class_id >= 0) {
		wish->class_id = (uint32_t)class_id;
		return true;
	}
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		const char *class_name = model_class(model, site->class_id)->name;
		size_t length = strlen(class_name);

		if (!strncmp(class_name, wish->name, length) && wish->name[length] == '.' &&
		    !strcmp(site->name, wish->name + length + 1)) {
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
	return wish->is_for_all || wish->class_id != UINT32_MAX || resolve(controls->session->model, wish);
}

static int send_wish(struct controls *controls, struct wish *wish, controls_answered *answered, void *arg)
{
	struct message message = { .kind = KIND_SET_LEVEL,
				   .set_level = { 0, wish->class_id, wish->site, wish->level, wish->persist } };
	uint32_t id = controls->next_request;
	int err;

	if (wish->is_for_all)
		message = (struct message){ .kind = KIND_ENABLE_ALL, .enable_all = { 0, wish->level, wish->persist } };
	err = controls_request(controls, &message, answered, arg);
	if (err < 0)
		return err;
	wish->state = WISH_WAITING;
	wish->request = id;
	wish->sent_ns = controls->now_ns;
	wish->text[0] = '\0';
	return 0;
}

/* The wish for this class or site, or a new one; NULL: there are too many. */
static struct wish *wish_for(struct controls *controls, uint32_t class_id, uint32_t site_id)
{
	const struct model *model = controls->session->model;
	const struct model_site *site = site_id ? model_site_by_id(model, site_id) : NULL;
	struct wish *wish = &controls->wishes[controls->wish_count];

	for (int i = 0; i < controls->wish_count; i++)
		if (controls->wishes[i].class_id == class_id && controls->wishes[i].site == site_id)
			return &controls->wishes[i];
	if (controls->wish_count == CONTROLS_WISHES)
		return NULL;
	controls->wish_count++;
	*wish = (struct wish){ .class_id = class_id, .site = site_id };
	snprintf(wish->name, sizeof wish->name, "%s%s%s", model_class(model, class_id)->name, site ? "." : "",
		 site ? site->name : "");
	return wish;
}

int controls_set_level(struct controls *controls, uint32_t class_id, uint32_t site, uint8_t level,
		       controls_answered *answered, void *arg)
{
	int count = controls->wish_count, err;
	struct wish *wish = wish_for(controls, class_id, site), before;

	if (!wish)
		return -ENOSPC;
	before = *wish;
	wish->level = level;
	wish->persist = controls->persist;
	err = send_wish(controls, wish, answered, arg);
	if (err < 0) {
		*wish = before;
		controls->wish_count = count;
	}
	return err;
}

bool controls_wants_site(const struct controls *controls, uint32_t site)
{
	for (int i = 0; i < controls->wish_count; i++)
		if (controls->wishes[i].site == site)
			return true;
	return false;
}

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
		wish->is_for_all = !equals || (name_bytes == 3 && !strncmp(at, "all", 3));
		if (!wish->is_for_all)
			memcpy(wish->name, at, name_bytes);
		controls->wish_count++;
		at += length;
		at += *at == ',';
	}
	return EXIT_DONE;
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

int controls_send_wishes(struct controls *controls, controls_answered *answered, void *arg)
{
	int count = 0;

	for (int i = 0; i < controls->wish_count; i++) {
		struct wish *wish = &controls->wishes[i];
		int err = 0;

		if (wish->state == WISH_REFUSED || !is_known(controls, wish))
			continue;
		err = send_wish(controls, wish, answered, arg);
		if (err < 0)
			return err;
		count++;
	}
	return count;
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
