/* cmd_record.c -- the subcommand record: writes the stream to a file, for telemtop replay. */
#include <stdio.h>

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
		fprintf(stderr, "telemtop: recording into %s; ^C ends it\n", target->recorder.path);
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

int record_run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change, .timeout = timeout, .follows_file = true };

	return headless_run(options, &callbacks, NULL);
}
