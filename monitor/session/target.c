#include "monitor/session/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t target_clock_ns(void) { return clock_of(CLOCK_MONOTONIC); }
uint64_t target_real_ns(void) { return clock_of(CLOCK_REALTIME); }

static int send_request(struct target *target, const struct message *message, uint32_t *id)
{
	uint8_t bytes[LIMIT_REQUEST_BYTES];
	size_t count;

	if (target->is_file)
		return -ENOTCONN;
	if (target->options->read_only)
		return -EPERM;
	if (!source_has_control(&target->source))
		return -ENOTCONN;
	target->session.now_ns = target_clock_ns();
	count = session_request(&target->session, message, bytes, id);
	return source_send(&target->source, bytes, count);
}

int target_request(struct target *target, const struct message *message, uint32_t *id)
{
	return send_request(target, message, id);
}

int target_set_interval(struct target *target, uint64_t interval_ns)
{
	struct message message = { .kind = KIND_TICK, .tick = { 0, interval_ns } };
	uint32_t id;
	int err;

	target->interval_ns = interval_ns;
	err = send_request(target, &message, &id);
	/* A stream that cannot be asked has the pace it has: a recording through a pipe. */
	model_set_interval(target->session.model, err < 0 ? 0 : interval_ns);
	return err;
}

static void remember(struct target *target, uint32_t class_id, uint32_t site, uint8_t level, bool keep)
{
	struct wish *wish = NULL;

	for (int i = 0; i < target->wish_count && !wish; i++)
		if (target->wishes[i].class_id == class_id && target->wishes[i].site == site)
			wish = &target->wishes[i];
	if (!wish && target->wish_count < (int)(sizeof target->wishes / sizeof *target->wishes))
		wish = &target->wishes[target->wish_count++];
	if (wish)
		*wish = (struct wish){ .class_id = class_id, .site = site, .level = level, .keep = keep };
}

int target_set_level(struct target *target, uint32_t class_id, uint32_t site, uint8_t level, bool keep)
{
	struct message message = { .kind = KIND_SET_LEVEL, .set_level = { 0, class_id, site, level, keep } };
	uint32_t id;
	int err = send_request(target, &message, &id);

	if (err == 0)
		remember(target, class_id, site, level, keep);
	return err;
}

static int level_of(const char *name, size_t length)
{
	static const uint8_t levels[] = { LEVEL_OFF, LEVEL_SUM, LEVEL_ALL, LEVEL_OWN };

	for (size_t i = 0; i < sizeof levels; i++)
		if (strlen(level_name(levels[i])) == length && !strncmp(level_name(levels[i]), name, length))
			return levels[i];
	return length == 4 && !strncmp(name, "none", 4) ? LEVEL_OFF : -1;
}

int target_wish(struct target *target, const char *list, struct problem *problem)
{
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, ",");
		const char *equals = memchr(at, '=', length);
		struct wish *wish = &target->wishes[target->wish_count];
		int level = equals ? level_of(equals + 1, length - (size_t)(equals + 1 - at)) : level_of(at, length);
		size_t name_bytes = equals ? (size_t)(equals - at) : 0;

		/* A new connection holds no lease that could be given back. */
		if (level < 0 || level == LEVEL_OWN || name_bytes >= sizeof wish->class_name ||
		    (equals && name_bytes == 0) ||
		    target->wish_count == (int)(sizeof target->wishes / sizeof *target->wishes)) {
			problem_set(problem, EXIT_USAGE, "bad level: \"%.*s\"", (int)length, at);
			problem_todo(problem, "Give CLASS=off, sum or all; or all, sum, none for every class.");
			return problem->code;
		}
		*wish = (struct wish){ .class_id = UINT32_MAX, .level = (uint8_t)level, .keep = target->options->keep };
		if (name_bytes != 3 || strncmp(at, "all", 3))
			memcpy(wish->class_name, at, name_bytes);       /* "": every class */
		target->wish_count++;
		at += length;
		at += *at == ',';
	}
	return EXIT_DONE;
}

/* A class by name, or a site as "class.name". */
static bool resolve(const struct model *model, struct wish *wish)
{
	int class_id = model_class_find(model, wish->class_name);
	const char *dot = strchr(wish->class_name, '.');

	if (class_id >= 0) {
		wish->class_id = (uint32_t)class_id;
		return true;
	}
	for (uint32_t i = 0; dot && i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		const char *class_name = model_class(model, site->class_id)->name;

		if (strlen(class_name) == (size_t)(dot - wish->class_name) &&
		    !strncmp(class_name, wish->class_name, (size_t)(dot - wish->class_name)) &&
		    !strcmp(site->name, dot + 1)) {
			wish->class_id = site->class_id;
			wish->site = site->id;
			return true;
		}
	}
	return false;
}

bool target_check_wishes(struct target *target, const char **missing)
{
	for (int i = 0; i < target->wish_count; i++) {
		struct wish *wish = &target->wishes[i];

		if (wish->class_id == UINT32_MAX && wish->class_name[0] && !resolve(target->session.model, wish)) {
			*missing = wish->class_name;
			return false;
		}
	}
	return true;
}

bool target_send_wishes(struct target *target, const char **missing)
{
	bool all_known = true;

	for (int i = 0; i < target->wish_count; i++) {
		struct wish *wish = &target->wishes[i];
		struct message message;
		uint32_t id;

		if (wish->class_id == UINT32_MAX && wish->class_name[0] && !resolve(target->session.model, wish)) {
			*missing = wish->class_name;
			all_known = false;
			continue;
		}
		if (wish->class_id == UINT32_MAX)
			message = (struct message){ .kind = KIND_ENABLE_ALL, .enable_all = { 0, wish->level, wish->keep } };
		else
			message = (struct message){ .kind = KIND_SET_LEVEL, .set_level = { 0, wish->class_id, wish->site,
											    wish->level, wish->keep } };
		send_request(target, &message, &id);
	}
	return all_known;
}

void target_no_such_class(const struct target *target, const char *name, struct problem *problem)
{
	const struct model *model = target->session.model;
	char classes[400] = "";

	for (uint32_t i = 0; i < model_class_count(model); i++)
		if (model_class(model, i)->is_defined && strlen(classes) + LIMIT_NAME_BYTES < sizeof classes) {
			strcat(classes, " ");
			strcat(classes, model_class(model, i)->name);
		}
	problem_set(problem, EXIT_USAGE, "class \"%s\": the target has no such class", name);
	problem_todo(problem, "It has:%s.", classes);
}

/* Once the target has greeted us: who we are, how often, and which levels. */
static void attach(struct target *target)
{
	struct message message = { .kind = KIND_ATTACH };
	const char *missing;
	uint32_t id;

	target->is_attached = true;
	message.attach.name = text_of(target->own_name);
	send_request(target, &message, &id);
	/* Frames are told of while somebody watches. */
	message = (struct message){ .kind = KIND_WATCH, .watch = { 0, WATCH_INSPECTION, 1 } };
	send_request(target, &message, &id);
	target_set_interval(target, target->interval_ns);
	if (target->options->command != COMMAND_SET && !target_send_wishes(target, &missing))
		target_no_such_class(target, missing, &target->notice);
}

static void on_tick(void *arg)
{
	struct target *target = arg;

	if (!target->is_attached)
		attach(target);
	target->on_change(target->arg, true);
}

static uint8_t *room(void *arg, size_t *count)
{
	struct target *target = arg;

	return session_room(&target->session, count);
}

static void filled(void *arg, size_t count)
{
	struct target *target = arg;
	uint32_t answers = target->session.answer_count;

	target->last_bytes_ns = target_clock_ns();
	session_filled(&target->session, count, target_real_ns());
	if (target->session.is_foreign) {
		target->problem = target->session.problem;
		source_lost(&target->source, true);
		return;
	}
	target->source.has_greeted = target->session.reader->was_synced;
	/* An address may be taken again by the next program; a process is not. */
	target->source.said_goodbye = model_link(target->session.model)->has_bye &&
				      (target->address.pid || target->options->command != COMMAND_SCREEN);
	/* What is shown changes with ticks and answers, not with every byte. */
	if (target->session.answer_count != answers || target->recorder.problem.code ||
	    (target->options->size_bytes && target->recorder.recording.offset >= target->options->size_bytes))
		target->on_change(target->arg, false);
}

/* A FIFO's writer does not see that its reader is another one now, unless it wrote when
 * there was none: it is asked to greet us. */
static void ask_for_greeting(struct target *target)
{
	struct message message = { .kind = KIND_SYNC };
	uint32_t id;

	if (target->address.kind == ADDRESS_FIFO)
		send_request(target, &message, &id);
}

static void changed(void *arg, enum source_state state)
{
	struct target *target = arg;
	bool was_open = target->is_open;

	target->is_open = state == SOURCE_OPEN;
	if (target->is_open) {
		target->is_attached = false;
		target->opened_ns = target->last_bytes_ns = target_clock_ns();
		ask_for_greeting(target);
	}
	if (was_open && !target->is_open) {
		uint64_t offset = target->session.reader->offset + target->session.reader->end;

		target->lost_ns = target_clock_ns();
		if (state == SOURCE_ENDED)
			session_end(&target->session, target->address.kind == ADDRESS_STDIN ? EXIT_RECORDING
											    : EXIT_CONNECTION);
		if (target->session.is_foreign)
			target->problem = target->session.problem;
		if (state == SOURCE_LOST)
			model_link_edit(target->session.model)->reconnects++;
		if (state != SOURCE_ENDED)
			session_gap(&target->session, offset);
	}
	if (target->source.problem.code && !target->source.was_open)
		target->problem = target->source.problem;
	target->on_change(target->arg, false);
}

int target_open(struct target *target, struct event_base *base, const struct options *options,
		const struct address *address, void (*on_change)(void *arg, bool tick), void *arg)
{
	struct source_user user = { room, filled, changed, target };
	size_t lead_bytes_max;
	int err;

	*target = (struct target){ .options = options, .base = base, .address = *address, .on_change = on_change, .arg = arg,
				   .replay = { .fd = -1 } };
	recorder_init(&target->recorder);
	if (options->classes && target_wish(target, options->classes, &target->problem) != EXIT_DONE)
		return target->problem.code;
	/* Without asking, a FIFO's next greeting may be LIMIT_SYNC_NS away. */
	lead_bytes_max = address->kind != ADDRESS_FIFO ? LIMIT_LEAD_BYTES
			 : options->read_only ? SIZE_MAX : 4 * LIMIT_LEFTOVER_BYTES;
	if (session_init(&target->session, target->address.text, lead_bytes_max) < 0)
		return problem_set(&target->problem, EXIT_INTERNAL, "out of memory");
	target->has_session = true;
	target->interval_ns = options->interval_ns;
	snprintf(target->own_name, sizeof target->own_name, "telemtop %d", (int)getpid());
	target->opened_ns = target->last_bytes_ns = target_clock_ns();
	target->is_file = address->kind == ADDRESS_FILE;
	if (target->is_file) {
		err = replay_open(&target->replay, address->path, &target->session, &target->problem, &target->warning);
	} else {
		target->observer = (struct observer){ .on_tick = on_tick, .arg = target };
		session_observe(&target->session, &target->observer);
		err = source_open(&target->source, base, address, !options->no_reconnect, options->timeout_s, &user,
				  &target->problem);
	}
	if (err != EXIT_DONE)
		target_close(target);
	return err;
}

void target_close(struct target *target)
{
	recorder_stop(&target->recorder);
	if (target->is_file)
		replay_close(&target->replay);
	else if (target->source.timer)
		source_close(&target->source);
	if (target->has_session)
		session_fini(&target->session);
	target->has_session = false;
}
