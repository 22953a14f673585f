#include "monitor/cli/cli.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

const struct subcommand *const subcommands[] = {
#define SUBCOMMAND(name) &subcommand_##name,
#include "monitor/cli/subcommands.def"
#undef SUBCOMMAND
	NULL
};

/* The rows of all options of all subcommands fit in. */
enum { ROWS_MAX = 128 };
/* getopt_long() returns a letter, or this and the index of a row. */
enum { LONG_OPTION = 256 };

struct table {
	const struct option_row *rows[ROWS_MAX];
	int row_count;
	struct option long_options[ROWS_MAX + 1];
	char letters[2 + 3 * ROWS_MAX];
};

static const struct subcommand *find(const char *word)
{
	for (int i = 0; subcommands[i]; i++) {
		const struct subcommand *subcommand = subcommands[i];

		if ((subcommand->name && !strcmp(word, subcommand->name)) ||
		    (subcommand->alias && !strcmp(word, subcommand->alias)))
			return subcommand;
	}
	return NULL;
}

static bool is_taken(const struct table *table, const struct option_row *row)
{
	for (int i = 0; i < table->row_count; i++) {
		const struct option_row *other = table->rows[i];

		if ((row->letter && row->letter == other->letter) ||
		    (row->name && other->name && !strcmp(row->name, other->name)))
			return true;
	}
	return false;
}

static void add_rows(struct table *table, const struct option_row *const *rows)
{
	for (; rows && *rows; rows++)
		if (!is_taken(table, *rows)) {
			assert(table->row_count < ROWS_MAX);
			table->rows[table->row_count++] = *rows;
		}
}

/* Collects the rows for a subcommand. Its own rows come first, so that it may give a name or a letter a meaning that
 * differs from the meaning elsewhere. */
static void table_init(struct table *table, const struct subcommand *subcommand)
{
	char *letter = table->letters;
	int long_count = 0;

	*table = (struct table){ .row_count = 0 };
	add_rows(table, subcommand->options);
	add_rows(table, options_common);
	for (int i = 0; subcommands[i]; i++)
		add_rows(table, subcommands[i]->options);
	/* With this first, getopt_long() tells a missing value from an unknown option. */
	*letter++ = ':';
	for (int i = 0; i < table->row_count; i++) {
		const struct option_row *row = table->rows[i];
		int has_value = !row->value ? no_argument : row->value[0] == '[' ? optional_argument : required_argument;

		if (row->name)
			table->long_options[long_count++] = (struct option){ row->name, has_value, NULL, LONG_OPTION + i };
		if (row->letter)
			*letter++ = row->letter;
		/* One colon says that a value is required, two say that it is optional. */
		for (int colons = 0; row->letter && colons < has_value; colons++)
			*letter++ = ':';
	}
}

static const struct option_row *row_of(const struct table *table, int option)
{
	if (option >= LONG_OPTION)
		return table->rows[option - LONG_OPTION];
	for (int i = 0; i < table->row_count; i++)
		if (table->rows[i]->letter == option)
			return table->rows[i];
	return NULL;
}

/* Leaves optind at the first argument that is no option. */
static int parse_options(int argc, char *argv[], struct options *out, struct problem *problem)
{
	const struct subcommand *subcommand = out->subcommand;
	struct table table;
	int option;

	table_init(&table, subcommand);
	opterr = 0;
	optind = 0;                  /* GNU's getopt forgets an earlier command line only with 0 */
	while ((option = getopt_long(argc, argv, table.letters, table.long_options, NULL)) != -1) {
		const struct option_row *row = row_of(&table, option);
		int err = EXIT_DONE;

		if (option == '?' || option == ':')
			return options_bad(problem, option == ':' ? "option needs a value" : "unknown option",
					   argv[optind - 1], "telemtop --help lists them.");
		if (row->parse)
			err = row->parse(optarg, out, problem);
		else
			*(bool *)((char *)out + row->flag) = true;
		/* --help and --version choose a subcommand; what follows them does not count. */
		if (err != EXIT_DONE || out->subcommand != subcommand)
			return err;
	}
	return EXIT_DONE;
}

/* Takes the target, then the arguments, from what the options leave. */
static int parse_arguments(int argc, char *argv[], struct options *out, struct problem *problem)
{
	const struct subcommand *subcommand = out->subcommand;
	int at = optind;

	if (at < argc && subcommand->target_use != TARGET_NONE)
		out->target = argv[at++];
	out->arguments = argv + at;
	out->argument_count = argc - at < subcommand->argument_count_max ? argc - at : subcommand->argument_count_max;
	at += out->argument_count;
	if (at < argc)
		return options_bad(problem, "unexpected argument", argv[at],
				   "telemtop --help shows the arguments of each subcommand.");
	if (subcommand->target_use == TARGET_NEEDED && !out->target) {
		problem_set(problem, EXIT_USAGE, "a target is missing");
		problem_todo(problem, "Give a PID, a name, an address or a recording; telemtop ps lists programs.");
		return EXIT_USAGE;
	}
	return subcommand->check ? subcommand->check(out, problem) : EXIT_DONE;
}

int cli_parse(int argc, char *argv[], struct options *out, struct problem *problem)
{
	const struct subcommand *subcommand = argc > 1 ? find(argv[1]) : NULL;
	int skipped = subcommand != NULL, err;

	if (!subcommand)
		subcommand = &subcommand_screen;
	options_init(out);
	out->subcommand = subcommand;
	/* getopt_long() takes the first word to be the program's name; here it is the subcommand's. */
	argc -= skipped;
	argv += skipped;
	err = parse_options(argc, argv, out, problem);
	if (err != EXIT_DONE || out->subcommand != subcommand)
		return err;
	return parse_arguments(argc, argv, out, problem);
}
