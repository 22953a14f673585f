/* cmd_record.c -- the subcommand record: writes the stream to a file, for telemtop replay. */
#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"

static void change(struct headless *headless, bool tick)
{
	struct target *target = &headless->target;
	const struct options *options = headless->options;

	(void)tick;
	if (target->recorder.problem.code) {
		headless_fail(headless, &target->recorder.problem);
		return;
	}
	if (!recorder_is_on(&target->recorder) && model_ticks(target->session.model) > 0) {
		struct problem problem = { 0 };

		if (recorder_start(&target->recorder, &target->session, options->output, options->force,
				   &problem) != EXIT_DONE) {
			headless_fail(headless, &problem);
			return;
		}
		headless_note("recording into %s; ^C ends it", target->recorder.path);
	}
	if (options->size_bytes && target->recorder.recording.offset >= options->size_bytes)
		headless_over(headless, EXIT_DONE);
}

static void timeout(struct headless *headless)
{
	struct problem problem = { 0 };

	if (recorder_is_on(&headless->target.recorder)) {
		headless_over(headless, EXIT_DONE);
		return;
	}
	problem_set(&problem, EXIT_CONNECTION, "%s: nothing to record: the target has not said anything",
		    headless->target.address.text);
	problem_todo(&problem, "Is the program stopped?");
	headless_fail(headless, &problem);
}

static int run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change, .timeout = timeout, .follows_file = true };

	return headless_run(options, &callbacks, NULL);
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
	.run = run,
};
