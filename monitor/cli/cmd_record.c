/* cmd_record.c -- the subcommand record: writes the stream to a file, for telemtop replay. */
#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"
#include "monitor/observe/record.h"

struct recording_run {
	struct headless *headless;
	struct recorder recorder;
	struct observer observer;    /* looks on behind the recorder */
};

/* After each block: whether there is enough, or no more can be written. */
static void on_block(void *arg, const struct block *block)
{
	struct recording_run *run = arg;
	uint64_t size_bytes = run->headless->options->size_bytes;

	(void)block;
	if (run->headless->is_over)
		return;
	if (run->recorder.problem.code)
		headless_fail(run->headless, &run->recorder.problem);
	else if (size_bytes && recorder_bytes(&run->recorder) >= size_bytes)
		headless_over(run->headless, EXIT_DONE);
}

static void start(struct headless *headless)
{
	struct recording_run *run = headless->state;
	struct session *session = &headless->target.session;
	struct problem problem = { 0 };

	if (recorder_start(&run->recorder, session, headless->options->output, headless->options->force, &problem) !=
	    EXIT_DONE) {
		headless_fail(headless, &problem);
		return;
	}
	run->headless = headless;
	run->observer = (struct observer){ .on_block = on_block, .arg = run };
	session_observe(session, &run->observer);
	headless_note("recording into %s; ^C ends it", run->recorder.path);
}

static void change(struct headless *headless, bool tick)
{
	struct recording_run *run = headless->state;

	(void)tick;
	if (!recorder_is_on(&run->recorder) && model_ticks(headless->target.session.model) > 0)
		start(headless);
}

/* The recording ends while the target is still there. */
static void end(struct headless *headless)
{
	struct recording_run *run = headless->state;

	recorder_stop(&run->recorder);
	session_unobserve(&headless->target.session, &run->observer);
}

static void timeout(struct headless *headless)
{
	struct recording_run *run = headless->state;
	struct problem problem = { 0 };

	if (recorder_is_on(&run->recorder)) {
		headless_over(headless, EXIT_DONE);
		return;
	}
	problem_set(&problem, EXIT_CONNECTION, "%s: nothing to record: the target has not sent anything",
		    headless->target.address.text);
	problem_todo(&problem, "Is the program stopped?");
	headless_fail(headless, &problem);
}

static int run_record(const struct options *options)
{
	static const struct headless_callbacks callbacks = {
		.change = change, .timeout = timeout, .end = end, .follows_file = true,
	};
	struct recording_run run = { .headless = NULL };

	recorder_init(&run.recorder);
	return headless_run(options, &callbacks, &run);
}

static int parse_output(const char *text, struct options *options, struct problem *problem)
{
	(void)problem;
	options->output = text;
	return EXIT_DONE;
}

static int parse_size(const char *text, struct options *options, struct problem *problem)
{
	if (!options_bytes(text, &options->size_bytes) || options->size_bytes == 0)
		return options_bad(problem, "bad size", text, "Give bytes: 500M, 2G");
	return EXIT_DONE;
}

static const struct option_row
	output = { "output", 'o', "FILE", "where to", .parse = parse_output },
	size = { "size", 0, "BYTES", "how much", .parse = parse_size };

const struct subcommand subcommand_record = {
	.name = "record",
	.usage = "[-o FILE] [--for TIME] [--size BYTES] TARGET",
	.options = (const struct option_row *const[]){ &output, &option_for, &size, &option_force, NULL },
	.target_use = TARGET_NEEDED,
	.run = run_record,
};
