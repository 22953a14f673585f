/* cmd_screen.c -- the subcommand without a name: the live screen. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "monitor/cli/cli.h"
#include "monitor/screen/app.h"
#include "monitor/screen/panels/panel.h"

static int parse_record(const char *text, struct options *options, struct problem *problem)
{
	(void)problem;
	options->output = text;
	return EXIT_DONE;
}

static int parse_panel(const char *text, struct options *options, struct problem *problem)
{
	char list[256], todo[300];

	if (options_int(text, 0, 9, &options->panel) && panel_find('0' + options->panel))
		return EXIT_DONE;
	panels_list(list, sizeof list);
	snprintf(todo, sizeof todo, "Give %s.", list);
	return options_bad(problem, "bad panel", text, todo);
}

static int parse_filter(const char *text, struct options *options, struct problem *problem)
{
	(void)problem;
	options->filter = text;
	return EXIT_DONE;
}

static int parse_color(const char *text, struct options *options, struct problem *problem)
{
	static const struct { const char *name; enum color_when color; } names[] = {
		{ "auto", COLOR_WHEN_AUTO }, { "always", COLOR_WHEN_ALWAYS }, { "never", COLOR_WHEN_NEVER },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(text, names[i].name)) {
			options->color = names[i].color;
			return EXIT_DONE;
		}
	return options_bad(problem, "bad color", text, "Give auto, always or never.");
}

static int parse_theme(const char *text, struct options *options, struct problem *problem)
{
	if (strcmp(text, "dark") && strcmp(text, "light") && strcmp(text, "auto"))
		return options_bad(problem, "bad theme", text, "Give auto, dark or light.");
	options->light = !strcmp(text, "light");
	return EXIT_DONE;
}

static const struct option_row
	record = { "record", 'r', "FILE", "record while watching", .parse = parse_record },
	panel = { "panel", 'p', "N", "open this panel", .parse = parse_panel },
	filter = { "filter", 'f', "TEXT", "open with this filter", .parse = parse_filter },
	color = { "color", 0, "WHEN", "auto, always, never", .parse = parse_color },
	theme = { "theme", 0, "NAME", "auto, dark, light: the terminal's background", .parse = parse_theme },
	ascii = { "ascii", 0, NULL, "draw with ASCII characters only", .flag = offsetof(struct options, ascii) };

static int run(const struct options *options)
{
	struct problem problem = { 0 };

	if (isatty(STDOUT_FILENO))
		return app_run(options);
	/* An escape sequence never goes into a pipe or a file. */
	if (!options->target) {
		problem_set(&problem, EXIT_USAGE, "a target is missing, and standard output is not a terminal");
		problem_todo(&problem, "Give a PID, a name, an address or a recording; telemtop ps lists programs.");
		return problem_print(&problem);
	}
	fputs("telemtop: standard output is not a terminal: printing lines, as telemtop lines does\n", stderr);
	return subcommand_lines.run(options);
}

const struct subcommand subcommand_screen = {
	.usage = "[OPTIONS] [TARGET]",
	.help = "live screen; a recording replays; no target: choose one",
	.options = (const struct option_row *const[]){ &record, &option_force, &panel, &filter, &color, &theme, &ascii,
						       NULL },
	.target_use = TARGET_OPTIONAL,
	.run = run,
};
