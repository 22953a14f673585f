/* cmd_held.c -- the subcommand held: who holds the memory of a program, by type, task and tag, and since when. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"
#include "monitor/cli/json.h"
#include "monitor/session/ask_held.h"
#include "widgets/text.h"
#include "widgets/units.h"

enum { CLEAN_BYTES = LIMIT_NAME_BYTES * 3 };

/* task is 0 for all tasks. */
struct state { struct held held; bool is_asked; uint32_t task; };

/* Finds a running task by its name or number. Returns false when there is none. */
static bool find_task(const struct model *model, const char *name, uint32_t *out)
{
	char *end;
	unsigned long long number = strtoull(name, &end, 10);

	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);

		if (!task->has_ended && (!strcmp(task->name, name) || (end != name && !*end && task->id == number))) {
			*out = task->id;
			return true;
		}
	}
	return false;
}

/* ---- names: as the program sent them, or cleaned to be shown ---- */

static const char *site_name(const struct model *model, uint32_t id)
{
	const struct model_site *site = model_site_by_id(model, id);

	return site ? site->name : "";
}

static const char *task_name(const struct model *model, uint32_t id)
{
	const struct model_task *task = model_task_by_id(model, id);

	return task ? task->name : id == TASK_ALL ? "(not told)" : "(ended)";
}

static const char *clean(char out[CLEAN_BYTES], const char *name)
{
	text_clean(out, CLEAN_BYTES, name, strlen(name), GLYPHS_BLOCKS);
	return out;
}

/* ---- the two lists ---- */

static json_t *names_json(const struct model *model, uint32_t type, uint32_t task, uint32_t tag)
{
	json_t *out = json_object();

	json_object_set_new(out, "type", json_text(site_name(model, type)));
	json_object_set_new(out, "task", json_text(task_name(model, task)));
	json_object_set_new(out, "task_id", json_integer(task));
	json_object_set_new(out, "tag", tag ? json_text(site_name(model, tag)) : json_null());
	return out;
}

static json_t *group_json(const struct model *model, const struct held_group *group)
{
	json_t *out = names_json(model, group->type, group->task, group->tag);
	bool has_ages = group->sample_count > 0;

	json_live_set(out, &group->live);
	json_object_set_new(out, "oldest_ns", has_ages ? json_integer((json_int_t)group->oldest_ns) : json_null());
	json_object_set_new(out, "median_age_ns", has_ages ? json_integer((json_int_t)group->median_ns) : json_null());
	json_object_set_new(out, "samples", json_integer(group->sample_count));
	return out;
}

static json_t *sample_json(const struct model *model, const struct held_sample *sample, uint64_t now_ns)
{
	json_t *out = names_json(model, sample->type, sample->task, sample->tag);

	json_object_set_new(out, "bytes", json_integer((json_int_t)sample->bytes));
	json_object_set_new(out, "age_ns", json_integer((json_int_t)(now_ns - sample->born_ns)));
	json_object_set_new(out, "address", json_integer((json_int_t)sample->address));
	json_object_set_new(out, "stands_for", json_real(sample->weight));
	return out;
}

static void print_group(const struct model *model, const struct held_group *group)
{
	char type[CLEAN_BYTES], task[CLEAN_BYTES], tag[CLEAN_BYTES], bytes[UNITS_BYTES], spread[UNITS_BYTES];
	char objects[UNITS_BYTES], oldest[UNITS_BYTES], median[UNITS_BYTES];
	const char *about = group->live.is_rough ? "~" : "";

	units_bytes(bytes, group->live.bytes);
	units_bytes(spread, sqrt(group->live.variance));
	units_count(objects, group->live.count);
	units_time(oldest, group->sample_count ? (double)group->oldest_ns : NAN);
	units_time(median, group->sample_count ? (double)group->median_ns : NAN);
	printf("%1s%-9s %9s %1s%-7s %8s %8s  %-20s  %-20s  %s\n", about, bytes, spread, about, objects, oldest, median,
	       clean(type, site_name(model, group->type)), clean(task, task_name(model, group->task)),
	       group->tag ? clean(tag, site_name(model, group->tag)) : "");
}

static void print_sample(const struct model *model, const struct held_sample *sample, uint64_t now_ns)
{
	char type[CLEAN_BYTES], task[CLEAN_BYTES], tag[CLEAN_BYTES], age[UNITS_BYTES], bytes[UNITS_BYTES];

	units_time(age, (double)(now_ns - sample->born_ns));
	units_bytes(bytes, (double)sample->bytes);
	printf("%8s %9s  %#-18" PRIx64 "  %-20s  %-20s  %s\n", age, bytes, sample->address,
	       clean(type, site_name(model, sample->type)), clean(task, task_name(model, sample->task)),
	       sample->tag ? clean(tag, site_name(model, sample->tag)) : "");
}

static bool is_wanted(const struct state *state, uint32_t task)
{
	return state->task == TASK_ALL || state->task == task;
}

static int oldest_first(const void *a, const void *b)
{
	const struct held_sample *left = a, *right = b;

	return (left->born_ns > right->born_ns) - (left->born_ns < right->born_ns);
}

/* Lists single samples, or, when json is not NULL, adds them to it. */
static void list_samples(const struct model *model, struct state *state, json_t *json)
{
	struct held *held = &state->held;
	uint64_t now_ns = held_time_ns(model, held->samples, held->count);

	if (held->count > 0)
		qsort(held->samples, held->count, sizeof *held->samples, oldest_first);
	if (!json)
		printf("%8s %9s  %-18s  %-20s  %-20s  %s\n", "age", "bytes", "address", "type", "task", "tag");
	for (uint32_t i = 0; i < held->count; i++) {
		if (!is_wanted(state, held->samples[i].task))
			continue;
		if (json)
			json_array_append_new(json, sample_json(model, &held->samples[i], now_ns));
		else
			print_sample(model, &held->samples[i], now_ns);
	}
}

/* Lists groups in the same way. Returns false when memory is out. */
static bool list_groups(const struct model *model, struct state *state, json_t *json)
{
	struct held_group *groups;
	int count = held_groups(model, state->held.samples, state->held.count, &groups);

	if (!json && count >= 0)
		printf("%-10s %9s %-8s %8s %8s  %-20s  %-20s  %s\n", " bytes", "+-", " objects", "oldest", "median",
		       "type", "task", "tag");
	for (int i = 0; i < count; i++) {
		if (!is_wanted(state, groups[i].task))
			continue;
		if (json)
			json_array_append_new(json, group_json(model, &groups[i]));
		else
			print_group(model, &groups[i]);
	}
	free(groups);
	return count >= 0;
}

static void print_rest(const struct model *model)
{
	char text[UNITS_BYTES];

	if (model_totals(model)->unsampled_bytes >= 1) {
		units_bytes(text, model_totals(model)->unsampled_bytes);
		printf("~%s more live, of which no sample tells who holds them.\n", text);
	}
	units_bytes(text, (double)model_mean_bytes(model));
	printf("Estimated from samples: one byte in %s is sampled now; +- is one standard deviation.\n", text);
}

static bool list(const struct options *options, const struct model *model, struct state *state)
{
	json_t *json = options->json ? json_array() : NULL;
	bool is_done = true;

	if (options->addresses)
		list_samples(model, state, json);
	else
		is_done = list_groups(model, state, json);
	if (json) {
		json_dumpf(json, stdout, JSON_ENSURE_ASCII);
		putchar('\n');
		json_decref(json);
	} else if (is_done) {
		print_rest(model);
	}
	return is_done;
}

/* ---- asking ---- */

static void answered(void *arg, const struct request *request)
{
	struct headless *headless = arg;
	struct problem problem = { 0 };

	if (headless->is_over)
		return;
	if (request->code == CONTROLS_NO_ANSWER) {
		problem_set(&problem, EXIT_CONNECTION, "%s: %s", headless->target.address.text, request->text);
		problem_todo(&problem, "Try again; is the program stopped?");
		headless_fail(headless, &problem);
		return;
	}
	if (request->code != ACK_DONE) {
		problem_set(&problem, EXIT_PERMISSION, "%s: refused: %s", headless->target.address.text,
			    request->code == ACK_UNKNOWN ? "its libtelem is too old for this" : request->text);
		headless_fail(headless, &problem);
		return;
	}
	if (!list(headless->options, headless->target.session.model, headless->state)) {
		problem_set(&problem, EXIT_INTERNAL, "no memory for the list");
		headless_fail(headless, &problem);
		return;
	}
	headless_over(headless, EXIT_DONE);
}

static void ask(struct headless *headless)
{
	const struct options *options = headless->options;
	struct state *state = headless->state;
	struct target *target = &headless->target;
	struct problem problem = { 0 };

	if (headless_is_denied(headless))
		return;
	if (options->argument_count && !find_task(target->session.model, options->arguments[0], &state->task)) {
		problem_set(&problem, EXIT_USAGE, "task \"%s\": the target has no such task now", options->arguments[0]);
		problem_todo(&problem, "telemtop once --json lists them.");
		headless_fail(headless, &problem);
		return;
	}
	state->is_asked = true;
	if (held_ask(&state->held, &target->controls, answered, headless) == 0)
		return;
	problem_set(&problem, EXIT_PERMISSION, "%s: no control way", target->address.text);
	problem_todo(&problem, "Ask over the program's Unix socket, a FIFO with its .ctl beside it, or TCP; not with "
			       "--read-only.");
	headless_fail(headless, &problem);
}

static void change(struct headless *headless, bool tick)
{
	const struct state *state = headless->state;

	(void)tick;
	if (!state->is_asked && (model_ticks(headless->target.session.model) > 0 ||
				 controls_are_denied(&headless->target.controls)))
		ask(headless);
}

static void end(struct headless *headless)
{
	struct state *state = headless->state;

	held_fini(&state->held);
}

static int run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change, .end = end };
	struct state state = { .task = TASK_ALL };

	return headless_run(options, &callbacks, &state);
}

static const struct option_row option_addresses = {
	"addresses", 0, NULL, "each sampled allocation by itself", .flag = offsetof(struct options, addresses)
};

const struct subcommand subcommand_held = {
	.name = "held",
	.usage = "[--json] [--addresses] TARGET [TASK]",
	.help = "who holds the memory, by type, task and tag, and since when",
	.options = (const struct option_row *const[]){ &option_json, &option_addresses, NULL },
	.target_use = TARGET_NEEDED,
	.argument_count_max = 1,
	.run = run,
};
