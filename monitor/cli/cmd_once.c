/* cmd_once.c -- the subcommand once: the figures of one tick, as a line or as JSON. */
#include <stdio.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/headless.h"
#include "monitor/cli/json.h"
#include "monitor/cli/line.h"

static void change(struct headless *headless, bool tick)
{
	const struct target *target = &headless->target;

	/* Rates are differences to the tick before, and the first snapshot has none before it. A recording has been
	 * read to its end, and shows what it has. */
	if (!tick || (model_ticks(target_model(target)) < 2 && !target_is_recording(target)))
		return;
	if (headless->options->json) {
		json_write(target_model(target), line_state(target), stdout);
	} else {
		line_header_write(stdout);
		line_write(target, stdout);
	}
	if (headless_flush(headless))
		headless_over(headless, EXIT_DONE);
}

static int run(const struct options *options)
{
	static const struct headless_callbacks callbacks = { .change = change };

	return headless_run(options, &callbacks, NULL);
}

const struct subcommand subcommand_once = {
	.name = "once",
	.usage = "[--json] TARGET",
	.help = "one tick, then exit",
	.options = (const struct option_row *const[]){ &option_json, NULL },
	.target_use = TARGET_NEEDED,
	.run = run,
};
