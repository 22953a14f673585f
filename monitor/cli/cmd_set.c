/* cmd_set.c -- the subcommand set: levels and settings of a program, from a script.
 *
 * A level is a lease: without --keep it lasts as long as this process runs, which is for the time of --for, or until a
 * signal comes. Settings such as flush= and ring= become the program's own. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"
#include "widgets/text.h"

struct set {
	bool is_sent;
	int unanswered_count;        /* requests whose answers are waited for */
};

static const char example[] = "For example: flush=50ms ring=1M policy=overwrite";

/* Makes the request of "keep=net:1/100", "limit=net:10k/s" or "burst=log:100/s"; the other parts of the class's limits
 * stay as they are. Returns false when the text is wrong. */
static bool limit_message(const struct model *model, const char *setting, struct message *out)
{
	static const struct { const char *name; uint64_t factor; } rates[] = {
		{ "/s", 1 }, { "k/s", 1000 }, { "M/s", 1000000 },
	};
	const char *text = strchr(setting, '=') + 1, *colon = strchr(text, ':');
	bool is_sampling = setting[0] == 'k';
	char name[LIMIT_NAME_BYTES], *end;
	unsigned long long number;
	int id;

	if (!colon || (size_t)(colon - text) >= sizeof name || (is_sampling && strncmp(colon + 1, "1/", 2)))
		return false;
	snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
	id = model_class_find(model, name);
	colon += is_sampling ? 3 : 1;
	number = strtoull(colon, &end, 10);
	if (id < 0 || end == colon || *colon == '-')
		return false;
	*out = (struct message){ .kind = KIND_LIMIT, .limit = { 0, (uint64_t)id, LIMIT_AS_IT_IS, LIMIT_AS_IT_IS } };
	if (is_sampling) {
		out->limit.sample = number;
		return *end == '\0' && number > 0;
	}
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		if (!strcmp(end, rates[i].name)) {
			*(setting[0] == 'b' ? &out->limit.burst : &out->limit.per_second) = number * rates[i].factor;
			return number > 0 && number <= UINT64_MAX / 1000000;
		}
	return false;
}

static void report(struct headless *headless)
{
	const struct options *options = headless->options;
	bool holds = !options->keep && headless->target.controls.wish_count > 0;

	for (int i = 0; i < options->argument_count; i++)
		if (strncmp(options->arguments[i], "dump=", 5)) {
			char setting[4 * LIMIT_NAME_BYTES];

			text_clean(setting, sizeof setting, options->arguments[i], strlen(options->arguments[i]),
				   GLYPHS_BLOCKS);
			printf("%s%s\n", setting, !holds ? " (kept)" : options->for_ns ? "" : " (until this ends: ^C)");
		}
	if (headless_flush(headless) && !holds)
		headless_over(headless, EXIT_DONE);
}

/* Prints why a request was refused or not answered, and ends. */
static void refused(struct headless *headless, const struct request *request)
{
	bool is_level = request->kind == KIND_SET_LEVEL || request->kind == KIND_ENABLE_ALL;
	bool is_value = request->kind != KIND_DUMP && (request->code == ACK_LIMIT || request->code == ACK_BAD);
	struct problem problem = { 0 };

	if (request->code == CONTROLS_NO_ANSWER) {
		problem_set(&problem, EXIT_CONNECTION, "%s: %s", headless->target.address.text, request->text);
		problem_todo(&problem, "It may have been done all the same. Try again; is the program stopped?");
		headless_fail(headless, &problem);
		return;
	}
	problem_set(&problem, request->code == ACK_DENIED ? EXIT_PERMISSION : is_value ? EXIT_USAGE : EXIT_INTERNAL,
		    "%s: refused: %s", headless->target.address.text, request->text);
	if (is_value)
		problem_todo(&problem, "%s",
			     is_level ? "Levels are leases: end other viewers, or give --keep." : example);
	headless_fail(headless, &problem);
}

/* A script reads the dump's file name from this line, so nothing else stands on it. */
static void print_dump(const struct request *request)
{
	char path[3 * LIMIT_PATH_BYTES + 1];

	text_clean(path, sizeof path, request->text, strnlen(request->text, sizeof request->text), GLYPHS_BLOCKS);
	printf("%s\n", path);
}

static void answered(void *arg, const struct request *request)
{
	struct headless *headless = arg;
	struct set *set = headless->state;

	if (headless->is_over)
		return;
	set->unanswered_count--;
	if (request->code != ACK_DONE) {
		refused(headless, request);
		return;
	}
	if (request->kind == KIND_DUMP)
		print_dump(request);
	if (set->unanswered_count == 0)
		report(headless);
}

static void cannot_send(const struct headless *headless, int err, struct problem *problem)
{
	problem_set(problem, EXIT_CONNECTION, "%s: a request cannot be sent: %s", headless->target.address.text,
		    strerror(-err));
	problem_todo(problem, "What was sent before it may have been done. Try again; is the program stopped?");
}

/* Sends a setting of the program, such as flush= or ring=, or sets the problem when its value is wrong. Returns false
 * when the text is no such setting; then it names a class and a level. */
static bool send_setting(struct headless *headless, const char *setting, struct problem *problem)
{
	const struct model *model = headless->target.session.model;
	struct set *set = headless->state;
	struct message message;
	uint64_t value = 0;
	bool is_good;
	int err;

	if (!strncmp(setting, "flush=", 6)) {
		is_good = options_time(setting + 6, &value);
		message = (struct message){ .kind = KIND_INTERVAL, .interval = { 0, value } };
	} else if (!strncmp(setting, "ring=", 5)) {
		is_good = options_bytes(setting + 5, &value);
		message = (struct message){ .kind = KIND_RING, .ring = { 0, value } };
	} else if (!strncmp(setting, "policy=", 7)) {
		is_good = !strcmp(setting + 7, "drop") || !strcmp(setting + 7, "overwrite");
		message = (struct message){ .kind = KIND_POLICY, .policy = { 0, setting[7] == 'o', 0 } };
	} else if (!strncmp(setting, "keep=", 5) || !strncmp(setting, "limit=", 6) || !strncmp(setting, "burst=", 6)) {
		is_good = limit_message(model, setting, &message);
	} else if (!strncmp(setting, "dump=", 5)) {
		is_good = strlen(setting + 5) < LIMIT_NAME_BYTES;
		message = (struct message){ .kind = KIND_DUMP, .dump = { 0, text_of(setting + 5) } };
	} else {
		return false;
	}
	if (!is_good) {
		problem_set(problem, EXIT_USAGE, "bad setting: \"%s\"", setting);
		problem_todo(problem, "%s", example);
		return true;
	}
	err = controls_request(&headless->target.controls, &message, answered, headless);
	if (err < 0)
		cannot_send(headless, err, problem);
	else
		set->unanswered_count++;
	return true;
}

static void send_all(struct headless *headless)
{
	struct set *set = headless->state;
	struct target *target = &headless->target;
	struct problem problem = { 0 };
	const char *missing = "";
	int count;

	set->is_sent = true;
	if (!source_has_control(&target->source) || headless->options->read_only) {
		problem_set(&problem, EXIT_PERMISSION, "%s: no control way", target->address.text);
		problem_todo(&problem, "Levels are set over the program's Unix socket, a FIFO with its .ctl beside it, "
				       "or TCP started with ,control.");
		headless_fail(headless, &problem);
		return;
	}
	if (headless_is_denied(headless))
		return;
	for (int i = 0; i < headless->options->argument_count; i++) {
		const char *setting = headless->options->arguments[i];

		if (!send_setting(headless, setting, &problem))
			controls_wish(&target->controls, setting, &problem);
		if (problem.code) {
			headless_fail(headless, &problem);
			return;
		}
	}
	/* No level at all is set when one of the names is wrong. */
	if (!controls_check_wishes(&target->controls, &missing)) {
		controls_no_such_class(&target->controls, missing, &problem);
		headless_fail(headless, &problem);
		return;
	}
	count = controls_send_wishes(&target->controls, answered, headless);
	if (count < 0) {
		cannot_send(headless, count, &problem);
		headless_fail(headless, &problem);
		return;
	}
	set->unanswered_count += count;
}

static void change(struct headless *headless, bool tick)
{
	const struct set *set = headless->state;

	(void)tick;
	if (!set->is_sent && (model_ticks(headless->target.session.model) > 0 ||
			      controls_are_denied(&headless->target.controls)))
		send_all(headless);
}

static int run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change };
	struct set set = { 0 };

	return headless_run(options, &callbacks, &set);
}

static int check(const struct options *options, struct problem *problem)
{
	if (options->argument_count == 0) {
		problem_set(problem, EXIT_USAGE, "set: a level is missing");
		problem_todo(problem, "For example: telemtop set %s mem=all", options->target);
	} else if (options->read_only) {
		problem_set(problem, EXIT_USAGE, "set: --read-only never sends the target anything");
		problem_todo(problem, "Leave one of the two out.");
	} else if (options->keep && options->for_ns) {
		problem_set(problem, EXIT_USAGE, "set: --keep and --for exclude each other");
		problem_todo(problem, "--keep leaves the level behind; --for holds it for a time.");
	}
	return problem->code;
}

const struct subcommand subcommand_set = {
	.name = "set",
	.usage = "TARGET CLASS=LEVEL... [--keep | --for TIME]\n"
		 "TARGET flush=TIME ring=BYTES policy=drop|overwrite keep=CLASS:1/N limit=CLASS:N/s burst=CLASS:N/s"
		 " dump=REASON",
	.options = (const struct option_row *const[]){ &option_for, NULL },
	.target_use = TARGET_NEEDED,
	.argument_count_max = INT_MAX,
	.check = check,
	.run = run,
};
