#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/cli/cli.h"
#include "monitor/screen/panels/panel.h"

#define SECOND 1000000000ull

static struct options options;
static struct problem problem;
static char line[400], *words[40];

static int setup(void **state)
{
	(void)state;
	unsetenv("TELEMTOP_ASCII");
	unsetenv("TELEMTOP_THEME");
	return 0;
}

/* Parses a command line, whose words are separated by blanks. */
static int parse(const char *text)
{
	char *save = NULL;
	int count = 1;

	problem = (struct problem){ 0 };
	strcpy(line, text);
	words[0] = strcpy(line + 300, "telemtop");
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[count++] = word;
	words[count] = NULL;
	return cli_parse(count, words, &options, &problem);
}

static void good(const char *text)
{
	if (parse(text) != EXIT_DONE)
		fail_msg("telemtop %s: %s", text, problem.what);
}

static void bad(const char *text, const char *what, const char *todo)
{
	assert_int_equal(parse(text), EXIT_USAGE);
	assert_int_equal(problem.code, EXIT_USAGE);
	assert_string_equal(problem.what, what);
	assert_string_equal(problem.todo, todo);
}

static void nothing_given_is_a_screen_with_defaults(void **state)
{
	(void)state;
	good("");
	assert_ptr_equal(options.subcommand, &subcommand_screen);
	assert_null(options.target);
	assert_int_equal(options.interval_ns, SECOND);
	assert_true(options.speed == 1);
	assert_int_equal(options.timeout_s, 5);
	assert_int_equal(options.wait_s, -1);
	assert_int_equal(options.panel, 0);
	assert_int_equal(options.color, COLOR_WHEN_AUTO);
	assert_null(options.classes);
	assert_null(options.output);
	assert_null(options.filter);
	assert_int_equal(options.for_ns | options.size_bytes | options.at_ns, 0);
	assert_false(options.json || options.keep || options.read_only || options.force || options.ascii ||
		     options.no_reconnect || options.light);
}

static void each_subcommand_is_known(void **state)
{
	static const struct { const char *text; const struct subcommand *subcommand; const char *target; } expected[] = {
		{ "4711", &subcommand_screen, "4711" }, { "ps", &subcommand_ps, NULL }, { "list", &subcommand_ps, NULL },
		{ "lines x", &subcommand_lines, "x" }, { "once x", &subcommand_once, "x" },
		{ "record x", &subcommand_record, "x" },
		{ "replay x.telem", &subcommand_replay, "x.telem" }, { "set x mem=all", &subcommand_set, "x" },
		{ "held x", &subcommand_held, "x" }, { "-h", &subcommand_help, NULL }, { "--help", &subcommand_help, NULL },
		{ "-V", &subcommand_version, NULL }, { "--version", &subcommand_version, NULL },
		{ "lines -h", &subcommand_help, NULL },
		{ "set -V --bogus", &subcommand_version, NULL }, { "-- ps", &subcommand_screen, "ps" },
		{ "-", &subcommand_screen, "-" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		good(expected[i].text);
		assert_ptr_equal(options.subcommand, expected[i].subcommand);
		if (expected[i].target)
			assert_string_equal(options.target, expected[i].target);
		else
			assert_null(options.target);
	}
}

static void a_word_that_is_no_subcommand_is_a_target(void **state)
{
	static const char *const targets[] = { "help", "version", "screen", "pss", "l", "Lines", "set=", "" };

	(void)state;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		char *argv[] = { "telemtop", (char *)targets[i], NULL };

		assert_int_equal(cli_parse(2, argv, &options, &problem), EXIT_DONE);
		assert_ptr_equal(options.subcommand, &subcommand_screen);
		assert_string_equal(options.target, targets[i]);
	}
	/* Only the first word may be a subcommand. */
	good("--ascii lines");
	assert_ptr_equal(options.subcommand, &subcommand_screen);
	assert_string_equal(options.target, "lines");
}

static void options_may_stand_before_or_behind_the_target(void **state)
{
	(void)state;
	good("-d 0.5 x -c gc=all,log=off --keep");
	assert_string_equal(options.target, "x");
	assert_int_equal(options.interval_ns, SECOND / 2);
	assert_string_equal(options.classes, "gc=all,log=off");
	assert_true(options.keep);
}

static void every_option_goes_to_its_place(void **state)
{
	(void)state;
	good("--interval=2 --class all --record r.telem --panel 3 --filter sql --wait --no-reconnect --timeout 9 "
	     "--color never "
	     "--theme light --ascii --read-only --force --speed 2.5 --at 1m --for 30 --size 2G --json --all x");
	assert_int_equal(options.interval_ns, 2 * SECOND);
	assert_string_equal(options.classes, "all");
	assert_string_equal(options.output, "r.telem");
	assert_int_equal(options.panel, 3);
	assert_string_equal(options.filter, "sql");
	assert_int_equal(options.wait_s, 0);
	assert_true(options.no_reconnect);
	assert_int_equal(options.timeout_s, 9);
	assert_int_equal(options.color, COLOR_WHEN_NEVER);
	assert_true(options.light && options.ascii && options.read_only && options.force && options.json);
	assert_true(options.speed == 2.5);
	assert_int_equal(options.at_ns, 60 * SECOND);
	assert_int_equal(options.for_ns, 30 * SECOND);
	assert_int_equal(options.size_bytes, 2ull << 30);
	good("lines -n 20 -d 100ms -r a -o b -p 8 -f t -w7 --color always --theme dark x");
	assert_int_equal(options.interval_ns, SECOND / 10);
	assert_string_equal(options.output, "b");
	assert_int_equal(options.panel, 8);
	assert_int_equal(options.wait_s, 7);
	assert_int_equal(options.color, COLOR_WHEN_ALWAYS);
	assert_false(options.light);
	good("--wait=12 --color auto --theme auto x");
	assert_int_equal(options.wait_s, 12);
}

static void times_have_units(void **state)
{
	static const struct { const char *text; uint64_t ns; } expected[] = {
		{ "--for 10 x", 10 * SECOND }, { "--for 2.5s x", 2500000000 }, { "--for 100ms x", 100000000 },
		{ "--for 5m x", 300 * SECOND },
		{ "--for 5min x", 300 * SECOND }, { "--for 1h x", 3600 * SECOND },
		{ "--for 1000000000 x", 1000000000 * SECOND }, { "--for .5 x", SECOND / 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		good(expected[i].text);
		assert_int_equal(options.for_ns, expected[i].ns);
	}
	good("--at 0 x");
	assert_int_equal(options.at_ns, 0);
}

static void sizes_have_units(void **state)
{
	static const struct { const char *text; uint64_t bytes; } expected[] = {
		{ "--size 1 x", 1 }, { "--size 3K x", 3072 }, { "--size 3KiB x", 3072 }, { "--size 500M x", 500ull << 20 },
		{ "--size 1MiB x", 1 << 20 }, { "--size 16GiB x", 16ull << 30 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		good(expected[i].text);
		assert_int_equal(options.size_bytes, expected[i].bytes);
	}
}

static void intervals_have_bounds(void **state)
{
	static const char *const wrong[] = { "0.09", "60.1", "0", "-1", "x", "1x", "nan", "inf", "1e300h" };
	char text[40], what[60];

	(void)state;
	good("-d 0.1 x");
	good("-d 60 x");
	good("-d 1m x");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(text, sizeof text, "-d %s x", wrong[i]);
		snprintf(what, sizeof what, "bad interval: \"%s\"", wrong[i]);
		bad(text, what, "Give 0.1 to 60 seconds, for example -d 0.5");
	}
}

static void wrong_values_say_what_would_be_right(void **state)
{
	char list[256], panel_todo[300];

	(void)state;
	panels_list(list, sizeof list);
	snprintf(panel_todo, sizeof panel_todo, "Give %s.", list);
	bad("-p 10 x", "bad panel: \"10\"", panel_todo);
	bad("-p x", "bad panel: \"x\"", panel_todo);
	bad("lines -n 0 x", "bad number of lines: \"0\"", "Give 1 or more.");
	bad("lines -n 99999999999999999999 x", "bad number of lines: \"99999999999999999999\"", "Give 1 or more.");
	bad("--wait=0 x", "bad time to wait: \"0\"", "Give seconds: --wait=10");
	bad("--wait=long x", "bad time to wait: \"long\"", "Give seconds: --wait=10");
	bad("--for 0 x", "bad time: \"0\"", "Give seconds or a unit: 30, 500ms, 5m, 1h");
	bad("--for 1d x", "bad time: \"1d\"", "Give seconds or a unit: 30, 500ms, 5m, 1h");
	bad("--for 1000000000h x", "bad time: \"1000000000h\"", "Give seconds or a unit: 30, 500ms, 5m, 1h");
	bad("--at 1000000000h x", "bad time: \"1000000000h\"", "Give how far into the recording: 30, 5m, 1h");
	bad("--at -1 x", "bad time: \"-1\"", "Give how far into the recording: 30, 5m, 1h");
	bad("--size 0 x", "bad size: \"0\"", "Give bytes: 500M, 2G");
	bad("--size -5 x", "bad size: \"-5\"", "Give bytes: 500M, 2G");
	bad("--size 5T x", "bad size: \"5T\"", "Give bytes: 500M, 2G");
	bad("--size 99999999999999999999 x", "bad size: \"99999999999999999999\"", "Give bytes: 500M, 2G");
	bad("--timeout 0 x", "bad timeout: \"0\"", "Give 1 to 3600 seconds.");
	bad("--timeout 3601 x", "bad timeout: \"3601\"", "Give 1 to 3600 seconds.");
	bad("--speed 0 x", "bad speed: \"0\"", "Give 0.1 to 1000.");
	bad("--speed nan x", "bad speed: \"nan\"", "Give 0.1 to 1000.");
	bad("--speed 2x x", "bad speed: \"2x\"", "Give 0.1 to 1000.");
	bad("--color red x", "bad color: \"red\"", "Give auto, always or never.");
	bad("--theme blue x", "bad theme: \"blue\"", "Give auto, dark or light.");
}

/* A digit that no panel has is as wrong as a letter, and does not open another panel. */
static void panel_has_the_digit_of_one_that_exists(void **state)
{
	char list[256], todo[300], text[20], what[40];

	(void)state;
	panels_list(list, sizeof list);
	snprintf(todo, sizeof todo, "Give %s.", list);
	for (int digit = 0; digit <= 9; digit++) {
		snprintf(text, sizeof text, "--panel %d x", digit);
		snprintf(what, sizeof what, "bad panel: \"%d\"", digit);
		if (panel_find('0' + digit)) {
			good(text);
			assert_int_equal(options.panel, digit);
		} else {
			bad(text, what, todo);
		}
	}
}

static void what_is_no_option_is_named(void **state)
{
	(void)state;
	bad("--nonsense x", "unknown option: \"--nonsense\"", "telemtop --help lists them.");
	bad("-x y", "unknown option: \"-x\"", "telemtop --help lists them.");
	bad("x -d", "option needs a value: \"-d\"", "telemtop --help lists them.");
	bad("x --class", "option needs a value: \"--class\"", "telemtop --help lists them.");
	bad("--json=1 x", "unknown option: \"--json=1\"", "telemtop --help lists them.");
}

static void too_much_and_too_little_are_said(void **state)
{
	static const char target_todo[] = "Give a PID, a name, an address or a recording; telemtop ps lists programs.";

	(void)state;
	bad("x y", "unexpected argument: \"y\"", "telemtop --help shows the arguments of each subcommand.");
	bad("ps x", "unexpected argument: \"x\"", "telemtop --help shows the arguments of each subcommand.");
	bad("lines", "a target is missing", target_todo);
	bad("once --json", "a target is missing", target_todo);
	bad("record -o f", "a target is missing", target_todo);
	bad("set", "a target is missing", target_todo);
	bad("replay", "replay: a recording is missing", "Usage: telemtop replay [--at TIME] [--speed X] FILE");
	bad("replay --at 5 --wait", "replay: a recording is missing",
	    "Usage: telemtop replay [--at TIME] [--speed X] FILE");
	bad("set imgsrv", "set: a level is missing", "For example: telemtop set imgsrv mem=all");
	bad("set x mem=all --keep --for 5m", "set: --keep and --for exclude each other",
	    "--keep leaves the level behind; --for holds it for a time.");
}

static void set_takes_any_number_of_levels(void **state)
{
	(void)state;
	good("set x mem=all gc=sum sql=off --for 5m");
	assert_string_equal(options.target, "x");
	assert_int_equal(options.argument_count, 3);
	assert_string_equal(options.arguments[0], "mem=all");
	assert_string_equal(options.arguments[2], "sql=off");
	assert_int_equal(options.for_ns, 300 * SECOND);
}

static void held_takes_one_task_or_none(void **state)
{
	(void)state;
	good("held x");
	assert_int_equal(options.argument_count, 0);
	good("held x --json worker");
	assert_int_equal(options.argument_count, 1);
	assert_string_equal(options.arguments[0], "worker");
	bad("held x worker more", "unexpected argument: \"more\"",
	    "telemtop --help shows the arguments of each subcommand.");
}

/* Calls visit() for each option row of each subcommand, and for the common ones. */
static void each_row(void (*visit)(const struct subcommand *subcommand, const struct option_row *row))
{
	for (int i = 0; options_common[i]; i++)
		visit(NULL, options_common[i]);
	for (int i = 0; subcommands[i]; i++)
		for (const struct option_row *const *row = subcommands[i]->options; row && *row; row++)
			visit(subcommands[i], *row);
}

static bool belongs_to_a_nameless_one(const struct option_row *row)
{
	for (int i = 0; subcommands[i]; i++)
		for (const struct option_row *const *own = subcommands[i]->options; own && *own; own++)
			if (*own == row && !subcommands[i]->name)
				return true;
	return false;
}

static char *help_text;

/* Returns the line of the help text that begins with start; fails when there is none. */
static const char *help_line(const char *start)
{
	for (const char *at = help_text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, start, strlen(start)))
			return at;
	}
	fail_msg("no line of the help begins: %s", start);
	return "";
}

static void row_is_in_the_help(const struct subcommand *subcommand, const struct option_row *row)
{
	char start[80], line_text[200];
	const char *at;

	assert_non_null(row->help);
	if (row->letter)
		snprintf(start, sizeof start, "  -%c%s%s%s%s ", row->letter, row->name ? ", --" : "",
			 row->name ? row->name : "", row->value && row->value[0] != '[' ? " " : "",
			 row->value ? row->value : "");
	else
		snprintf(start, sizeof start, "      --%s%s%s ", row->name,
			 row->value && row->value[0] != '[' ? " " : "", row->value ? row->value : "");
	at = help_line(start);
	snprintf(line_text, sizeof line_text, "%.*s", (int)strcspn(at, "\n"), at);
	assert_non_null(strstr(line_text, row->help));
	/* Options of subcommands that all have names are listed with these. */
	if (subcommand && !belongs_to_a_nameless_one(row))
		assert_non_null(strstr(line_text, subcommand->name));
}

static void every_subcommand_and_option_is_in_the_help(void **state)
{
	size_t bytes;
	FILE *out = open_memstream(&help_text, &bytes);
	char start[80];

	(void)state;
	assert_non_null(out);
	cli_help(out);
	fclose(out);
	for (int i = 0; subcommands[i]; i++) {
		const struct subcommand *subcommand = subcommands[i];

		/* A subcommand without a name and a usage is chosen by an option. */
		if (!subcommand->name && !subcommand->usage)
			continue;
		snprintf(start, sizeof start, "telemtop %s%s", subcommand->name ? subcommand->name : "",
			 subcommand->name ? " " : "[");
		help_line(start);
	}
	assert_non_null(strstr(help_text, "(alias: list)"));
	each_row(row_is_in_the_help);
	free(help_text);
}

static void row_is_understood(const struct subcommand *subcommand, const struct option_row *row)
{
	const char *word = subcommand && subcommand->name ? subcommand->name : "x";
	char text[100];

	/* The option stands without a value, which would have to be a good one: it is known, but may not be
	 * complete. */
	if (row->name) {
		snprintf(text, sizeof text, "%s --%s", word, row->name);
		if (parse(text) != EXIT_DONE)
			assert_null(strstr(problem.what, "unknown option"));
	}
	if (row->letter) {
		snprintf(text, sizeof text, "%s -%c", word, row->letter);
		if (parse(text) != EXIT_DONE)
			assert_null(strstr(problem.what, "unknown option"));
	}
}

static void every_option_row_is_parsed(void **state)
{
	(void)state;
	each_row(row_is_understood);
}

/* This test fails when the row of a new subcommand is not complete. */
static void every_subcommand_row_is_whole(void **state)
{
	(void)state;
	for (int i = 0; subcommands[i]; i++) {
		const struct subcommand *subcommand = subcommands[i];

		assert_non_null(subcommand->run);
		if (subcommand->name)
			assert_non_null(subcommand->usage);
		if (subcommand->target_use == TARGET_NONE)
			assert_int_equal(subcommand->argument_count_max, 0);
		for (int j = 0; subcommand->name && subcommands[j]; j++)
			if (i != j && subcommands[j]->name)
				assert_string_not_equal(subcommand->name, subcommands[j]->name);
	}
}

static void an_option_of_another_subcommand_is_accepted(void **state)
{
	(void)state;
	good("once --speed 2 --size 1M -n 3 --ascii x");
	assert_ptr_equal(options.subcommand, &subcommand_once);
	good("ps --at 5m -r f --theme light");
	good("-o f --for 5 --all --json x");
	bad("once --speed 2x x", "bad speed: \"2x\"", "Give 0.1 to 1000.");
}

static void the_environment_may_choose_the_looks(void **state)
{
	(void)state;
	setenv("TELEMTOP_ASCII", "1", 1);
	setenv("TELEMTOP_THEME", "light", 1);
	good("x");
	assert_true(options.ascii && options.light);
	good("--theme dark x");
	assert_false(options.light);            /* an option wins over the environment */
	setenv("TELEMTOP_THEME", "dark", 1);
	good("x");
	assert_false(options.light);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_given_is_a_screen_with_defaults, setup),
		cmocka_unit_test_setup(each_subcommand_is_known, setup),
		cmocka_unit_test_setup(a_word_that_is_no_subcommand_is_a_target, setup),
		cmocka_unit_test_setup(held_takes_one_task_or_none, setup),
		cmocka_unit_test_setup(every_subcommand_and_option_is_in_the_help, setup),
		cmocka_unit_test_setup(every_option_row_is_parsed, setup),
		cmocka_unit_test_setup(every_subcommand_row_is_whole, setup),
		cmocka_unit_test_setup(an_option_of_another_subcommand_is_accepted, setup),
		cmocka_unit_test_setup(options_may_stand_before_or_behind_the_target, setup),
		cmocka_unit_test_setup(every_option_goes_to_its_place, setup),
		cmocka_unit_test_setup(times_have_units, setup),
		cmocka_unit_test_setup(sizes_have_units, setup), cmocka_unit_test_setup(intervals_have_bounds, setup),
		cmocka_unit_test_setup(wrong_values_say_what_would_be_right, setup),
		cmocka_unit_test_setup(panel_has_the_digit_of_one_that_exists, setup),
		cmocka_unit_test_setup(what_is_no_option_is_named, setup),
		cmocka_unit_test_setup(too_much_and_too_little_are_said, setup),
		cmocka_unit_test_setup(set_takes_any_number_of_levels, setup),
		cmocka_unit_test_setup(the_environment_may_choose_the_looks, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
