/* held.c -- what a task holds: asks for its sampled allocations that live, and lists them. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/cli/headless.h"
#include "widgets/text.h"
#include "widgets/units.h"

enum { ROWS_MAX = 4096 };

static struct row { uint32_t site; uint64_t bytes, born_ns, address; } rows[ROWS_MAX];
static int row_count;

static void on_held(void *arg, const struct message_held *held)
{
	(void)arg;
	for (uint32_t i = 0; i + 4 <= held->rows.count && row_count < ROWS_MAX; i += 4) {
		const struct number *numbers = held->rows.numbers + i;

		rows[row_count++] = (struct row){ (uint32_t)(numbers[0].bits < LIMIT_SITES ? numbers[0].bits : 0),
						  numbers[1].bits, numbers[2].bits, numbers[3].bits };
	}
}

static int oldest_first(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return (left->born_ns > right->born_ns) - (left->born_ns < right->born_ns);
}

/* By name or number; false: there is none. 0: all. */
static bool task_named(const struct model *model, const char *name, uint64_t *out)
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

static void ask(struct headless *headless)
{
	struct message message = { .kind = KIND_INTERROGATE };
	const struct options *options = headless->options;
	struct target *target = &headless->target;
	struct problem problem = { 0 };

	if (options->setting_count && !task_named(target->session.model, options->settings[0], &message.interrogate.task)) {
		problem_set(&problem, EXIT_USAGE, "task \"%s\": the target has no such task now", options->settings[0]);
		problem_todo(&problem, "telemtop once --json lists them.");
		headless_over(headless, problem_print(&problem));
		return;
	}
	target->session.held = on_held;
	if (target_request(target, &message, &headless->first_request) == 0) {
		headless->is_sent = true;
		return;
	}
	problem_set(&problem, EXIT_PERMISSION, "%s: no control way", target->address.text);
	problem_todo(&problem, "Ask over the program's Unix socket, a FIFO with its .ctl beside it, or TCP; not with "
			       "--read-only.");
	headless_over(headless, problem_print(&problem));
}

enum { TYPE_BYTES = LIMIT_NAME_BYTES * 3 };

/* Its name as it may be shown. */
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

static void print_json(const struct model *model)
{
	json_t *list = json_array();

	for (int i = 0; i < row_count; i++) {
		char type[TYPE_BYTES];

		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I}", "type", type_of(model, &rows[i], type),
						      "bytes", (json_int_t)rows[i].bytes,
						      "age_ns", (json_int_t)age_ns(model, &rows[i]),
						      "address", (json_int_t)rows[i].address));
	}
	json_dumpf(list, stdout, JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(list);
}

static void print_table(const struct model *model)
{
	printf("%10s %10s  %-18s  %s\n", "age", "bytes", "address", "type");
	for (int i = 0; i < row_count; i++) {
		char type[TYPE_BYTES], age[UNITS_BYTES], bytes[UNITS_BYTES];

		units_time(age, (double)age_ns(model, &rows[i]));
		units_bytes(bytes, (double)rows[i].bytes);
		printf("%10s %10s  %#-18" PRIx64 "  %s\n", age, bytes, rows[i].address,
		       type_of(model, &rows[i], type));
	}
	printf("%d of the allocations that live: about one in 64 whose address the program tells\n", row_count);
}

static void held_change(struct headless *headless, bool tick)
{
	const struct model *model = headless->target.session.model;
	const struct request *request;
	struct problem problem = { 0 };

	(void)tick;
	if (model_ticks(model) == 0)
		return;
	if (!headless->is_sent) {
		ask(headless);
		return;
	}
	request = session_request_of(&headless->target.session, headless->first_request);
	if (!request || !request->is_answered)
		return;
	if (request->code != ACK_DONE) {
		problem_set(&problem, EXIT_PERMISSION, "%s: refused: %s", headless->target.address.text,
			    request->code == ACK_UNKNOWN ? "its libtelem is older" : request->text);
		headless_over(headless, problem_print(&problem));
		return;
	}
	qsort(rows, (size_t)row_count, sizeof *rows, oldest_first);
	if (headless->options->json)
		print_json(model);
	else
		print_table(model);
	headless_over(headless, EXIT_DONE);
}

const struct headless_command held_command = { .change = held_change };
