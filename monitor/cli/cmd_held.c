/* cmd_held.c -- the subcommand held: asks a program for those of its live allocations that it sampled, and lists
 * them, oldest first. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"
#include "widgets/text.h"
#include "widgets/units.h"

/* Rows after these are left out. */
enum { ROWS_MAX = 4096 };

struct row { uint32_t site; uint64_t bytes, born_ns, address; };

struct held {
	struct row rows[ROWS_MAX];
	int row_count;
	bool is_sent;
	struct observer observer;    /* of the session, once is_sent is set */
};

static void on_message(void *arg, const struct message *any)
{
	const struct message_held *message = &any->held;
	struct held *held = arg;

	if (any->kind != KIND_HELD)
		return;
	/* Each row is four numbers: site, bytes, birth and address. */
	for (uint32_t i = 0; i + 4 <= message->rows.count && held->row_count < ROWS_MAX; i += 4) {
		const struct number *numbers = message->rows.numbers + i;

		held->rows[held->row_count++] = (struct row){
			.site = (uint32_t)(numbers[0].bits < LIMIT_SITES ? numbers[0].bits : 0),
			.bytes = numbers[1].bits, .born_ns = numbers[2].bits, .address = numbers[3].bits,
		};
	}
}

static int oldest_first(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return (left->born_ns > right->born_ns) - (left->born_ns < right->born_ns);
}

/* Finds a running task by its name or number. Returns false when there is none. */
static bool find_task(const struct model *model, const char *name, uint64_t *out)
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

enum { TYPE_BYTES = LIMIT_NAME_BYTES * 3 };

/* Returns the name of the row's type, safe to show, in out. */
static const char *type_of(const struct model *model, const struct row *row, char out[TYPE_BYTES])
{
	const struct model_site *site = model_site_by_id(model, row->site);
	const char *name = site ? site->name : "";

	text_clean(out, TYPE_BYTES, name, strlen(name), GLYPHS_BLOCKS);
	return out;
}

static uint64_t age_ns(const struct model *model, const struct row *row)
{
	uint64_t now_ns = model_time_ns(model);

	return now_ns > row->born_ns ? now_ns - row->born_ns : 0;
}

static void print_json(const struct model *model, const struct held *held)
{
	json_t *list = json_array();

	for (int i = 0; i < held->row_count; i++) {
		const struct row *row = &held->rows[i];
		char type[TYPE_BYTES];

		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I}", "type", type_of(model, row, type),
						      "bytes", (json_int_t)row->bytes,
						      "age_ns", (json_int_t)age_ns(model, row),
						      "address", (json_int_t)row->address));
	}
	json_dumpf(list, stdout, JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(list);
}

static void print_table(const struct model *model, const struct held *held)
{
	printf("%10s %10s  %-18s  %s\n", "age", "bytes", "address", "type");
	for (int i = 0; i < held->row_count; i++) {
		const struct row *row = &held->rows[i];
		char type[TYPE_BYTES], age[UNITS_BYTES], bytes[UNITS_BYTES];

		units_time(age, (double)age_ns(model, row));
		units_bytes(bytes, (double)row->bytes);
		printf("%10s %10s  %#-18" PRIx64 "  %s\n", age, bytes, row->address, type_of(model, row, type));
	}
	printf("%d of the allocations that live: about one in 64 whose address the program tells\n", held->row_count);
}

/* The rows come before the answer. */
static void answered(void *arg, const struct request *request)
{
	struct headless *headless = arg;
	const struct model *model = headless->target.session.model;
	struct held *held = headless->state;
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
	qsort(held->rows, (size_t)held->row_count, sizeof *held->rows, oldest_first);
	if (headless->options->json)
		print_json(model, held);
	else
		print_table(model, held);
	headless_over(headless, EXIT_DONE);
}

static void ask(struct headless *headless)
{
	/* Task 0 stands for all tasks. */
	struct message message = { .kind = KIND_ASK_HELD };
	const struct options *options = headless->options;
	struct held *held = headless->state;
	struct target *target = &headless->target;
	struct problem problem = { 0 };

	if (options->argument_count &&
	    !find_task(target->session.model, options->arguments[0], &message.ask_held.task)) {
		problem_set(&problem, EXIT_USAGE, "task \"%s\": the target has no such task now", options->arguments[0]);
		problem_todo(&problem, "telemtop once --json lists them.");
		headless_fail(headless, &problem);
		return;
	}
	if (controls_request(&target->controls, &message, answered, headless) == 0) {
		held->is_sent = true;
		held->observer = (struct observer){ .on_message = on_message, .arg = held };
		session_observe(&target->session, &held->observer);
		return;
	}
	problem_set(&problem, EXIT_PERMISSION, "%s: no control way", target->address.text);
	problem_todo(&problem, "Ask over the program's Unix socket, a FIFO with its .ctl beside it, or TCP; not with "
			       "--read-only.");
	headless_fail(headless, &problem);
}

static void change(struct headless *headless, bool tick)
{
	const struct held *held = headless->state;

	(void)tick;
	if (!held->is_sent && model_ticks(headless->target.session.model) > 0)
		ask(headless);
}

static void end(struct headless *headless)
{
	struct held *held = headless->state;

	session_unobserve(&headless->target.session, &held->observer);
}

static int run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change, .end = end };
	struct held held = { .row_count = 0 };

	return headless_run(options, &callbacks, &held);
}

const struct subcommand subcommand_held = {
	.name = "held",
	.usage = "[--json] TARGET [TASK]",
	.help = "sampled allocations that live, of a task by name or number",
	.options = (const struct option_row *const[]){ &option_json, NULL },
	.target_use = TARGET_NEEDED,
	.argument_count_max = 1,
	.run = run,
};
