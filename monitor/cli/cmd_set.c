/* set.c -- levels from a script. Without --keep they last as long as this runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/cli/headless.h"
#include "widgets/text.h"

static const char example[] = "For example: flush=50ms ring=1M policy=overwrite";

/* "net:1/100", or "net:10k/s": the other half of the limit stays as it is. */
static bool limit_message(const struct model *model, const char *text, bool is_keep, struct message *out)
{
	static const struct { const char *name; uint64_t factor; } rates[] = {
		{ "/s", 1 }, { "k/s", 1000 }, { "M/s", 1000000 },
	};
	const char *colon = strchr(text, ':');
	char name[LIMIT_NAME_BYTES], *end;
	unsigned long long number;
	int id;

	if (!colon || (size_t)(colon - text) >= sizeof name || (is_keep && strncmp(colon + 1, "1/", 2)))
		return false;
	snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
	id = model_class_find(model, name);
	colon += is_keep ? 3 : 1;
	number = strtoull(colon, &end, 10);
	if (id < 0 || end == colon || *colon == '-')
		return false;
	*out = (struct message){ .kind = KIND_LIMIT, .limit = { 0, (uint64_t)id, LIMIT_AS_IT_IS, LIMIT_AS_IT_IS } };
	if (is_keep) {
		out->limit.sample = number;
		return *end == '\0' && number > 0;
	}
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		if (!strcmp(end, rates[i].name)) {
			out->limit.per_second = number * rates[i].factor;
			return number <= UINT64_MAX / 1000000;
		}
	return false;
}

/* flush=, ring= and the like are the program's settings, not levels: they stay. Returns
 * false when the setting is none of these; then it names a class. */
static bool send_setting(struct headless *headless, const char *setting, struct problem *problem)
{
	const struct model *model = headless->target.session.model;
	struct message message;
	uint64_t value = 0;
	bool is_good;
	uint32_t id;

	if (!strncmp(setting, "flush=", 6)) {
		is_good = options_time(setting + 6, &value);
		message = (struct message){ .kind = KIND_INTERVAL, .interval = { 0, value } };
	} else if (!strncmp(setting, "ring=", 5)) {
		is_good = options_bytes(setting + 5, &value);
		message = (struct message){ .kind = KIND_RING, .ring = { 0, value } };
	} else if (!strncmp(setting, "policy=", 7)) {
		is_good = !strcmp(setting + 7, "drop") || !strcmp(setting + 7, "overwrite");
		message = (struct message){ .kind = KIND_POLICY, .policy = { 0, setting[7] == 'o', 0 } };
	} else if (!strncmp(setting, "keep=", 5) || !strncmp(setting, "limit=", 6)) {
		is_good = limit_message(model, strchr(setting, '=') + 1, setting[0] == 'k', &message);
	} else if (!strncmp(setting, "dump=", 5)) {
		is_good = strlen(setting + 5) < LIMIT_NAME_BYTES;
		message = (struct message){ .kind = KIND_DUMP, .dump = { 0, text_of(setting + 5) } };
	} else {
		return false;
	}
	if (is_good) {
		target_request(&headless->target, &message, &id);
	} else {
		problem_set(problem, EXIT_USAGE, "bad setting: \"%s\"", setting);
		problem_todo(problem, "%s", example);
	}
	return true;
}

static void send_all(struct headless *headless)
{
	struct target *target = &headless->target;
	struct problem problem = { 0 };
	const char *missing = "";

	headless->is_sent = true;
	if (!source_has_control(&target->source) || headless->options->read_only) {
		problem_set(&problem, EXIT_PERMISSION, "%s: no control way", target->address.text);
		problem_todo(&problem, "Levels are set over the program's Unix socket, a FIFO with its .ctl beside it, "
				       "or TCP started with ,control.");
		headless_over(headless, problem_print(&problem));
		return;
	}
	headless->first_request = target->session.next_request;
	for (int i = 0; i < headless->options->setting_count; i++) {
		const char *setting = headless->options->settings[i];

		if (!send_setting(headless, setting, &problem))
			target_wish(target, setting, &problem);
		if (problem.code) {
			headless_over(headless, problem_print(&problem));
			return;
		}
	}
	/* No level is set when one of the names is wrong. */
	if (!target_check_wishes(target, &missing)) {
		target_no_such_class(target, missing, &problem);
		headless_over(headless, problem_print(&problem));
		return;
	}
	target_send_wishes(target, &missing);
	headless->request_count = target->session.next_request - headless->first_request;
}

static void report(struct headless *headless)
{
	const struct options *options = headless->options;

	bool holds = !options->keep && headless->target.wish_count > 0;

	for (uint32_t i = 0; i < SESSION_REQUESTS; i++) {
		const struct request *request = &headless->target.session.requests[i];

		/* Into whatever a script reads: the name alone. */
		if (request->kind == KIND_DUMP && request->is_answered) {
			char path[3 * LIMIT_PATH_BYTES + 1];

			text_clean(path, sizeof path, request->text, strnlen(request->text, sizeof request->text),
				   GLYPHS_BLOCKS);
			printf("%s\n", path);
		}
	}
	for (int i = 0; i < options->setting_count; i++)
		if (strncmp(options->settings[i], "dump=", 5))
			printf("%s%s\n", options->settings[i],
			       !holds ? " (kept)" : options->for_ns ? "" : " (until this ends: ^C)");
	fflush(stdout);
	if (!holds)
		headless_over(headless, EXIT_DONE);
}

/* is_setting: a setting of the program was, not a level. */
static void refused(struct headless *headless, const struct request *request, bool is_setting)
{
	bool is_value = request->kind != KIND_DUMP && (request->code == ACK_LIMIT || request->code == ACK_BAD);
	struct problem problem = { 0 };

	problem_set(&problem, request->code == ACK_DENIED ? EXIT_PERMISSION : is_value ? EXIT_USAGE : EXIT_INTERNAL,
		    "%s: refused: %s", headless->target.address.text, request->text);
	if (is_value)
		problem_todo(&problem, "%s",
			     is_setting ? example : "Levels are leases: end other viewers, or give --keep.");
	headless_over(headless, problem_print(&problem));
}

static void set_change(struct headless *headless, bool tick)
{
	struct target *target = &headless->target;

	(void)tick;
	if (model_ticks(target->session.model) == 0)
		return;
	if (!headless->is_sent) {
		send_all(headless);
		return;
	}
	if (headless->request_count == 0)
		return;
	for (uint32_t i = 0; i < headless->request_count; i++) {
		const struct request *request = session_request_of(&target->session, headless->first_request + i);

		if (!request || !request->is_answered)
			return;
		if (request->code != ACK_DONE) {
			/* Settings were sent before the levels. */
			refused(headless, request, i + (uint32_t)target->wish_count < headless->request_count);
			return;
		}
	}
	headless->request_count = 0;
	report(headless);
}

const struct headless_command set_command = { .change = set_change };
