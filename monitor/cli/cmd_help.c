/* cmd_help.c -- the option --help: what the command line may say, made from the rows of all subcommands. */
#include <string.h>

#include "monitor/cli/cli.h"
#include "monitor/cli/output.h"
#include "monitor/source/source.h"

/* The columns that the help of a subcommand and of an option begin at. */
enum { SUBCOMMAND_COLUMN = 41, OPTION_COLUMN = 25 };

static void write_subcommand(FILE *out, const struct subcommand *subcommand)
{
	char left[200];

	for (const char *line = subcommand->usage, *end; line; line = *end ? end + 1 : NULL) {
		end = strchrnul(line, '\n');
		snprintf(left, sizeof left, "telemtop %s%s%.*s", subcommand->name ? subcommand->name : "",
			 subcommand->name ? " " : "", (int)(end - line), line);
		if (subcommand->help && line == subcommand->usage)
			fprintf(out, "%-*s%s", SUBCOMMAND_COLUMN, left, subcommand->help);
		else
			fputs(left, out);
		if (subcommand->alias && line == subcommand->usage)
			fprintf(out, " (alias: %s)", subcommand->alias);
		fputc('\n', out);
	}
}

static bool has_row(const struct option_row *const *rows, const struct option_row *row)
{
	for (; rows && *rows; rows++)
		if (*rows == row)
			return true;
	return false;
}

/* Writes the names of the subcommands that take the option: "ps, once: ". Options of the live screen, of help and of
 * version stand without a name. */
static void write_owners(FILE *out, const struct option_row *row)
{
	const char *before = "";

	if (has_row(options_common, row))
		return;
	for (int i = 0; subcommands[i]; i++)
		if (!subcommands[i]->name && has_row(subcommands[i]->options, row))
			return;
	for (int i = 0; subcommands[i]; i++)
		if (has_row(subcommands[i]->options, row)) {
			fprintf(out, "%s%s", before, subcommands[i]->name);
			before = ", ";
		}
	fputs(": ", out);
}

static void write_option(FILE *out, const struct option_row *row)
{
	char letter[] = { '-', row->letter, '\0' }, left[80];
	const char *value = row->value ? row->value : "";

	snprintf(left, sizeof left, "  %2s%s%s%s%s", row->letter ? letter : "",
		 !row->name ? "" : row->letter ? ", --" : "  --", row->name ? row->name : "",
		 *value && *value != '[' ? " " : "", value);
	fprintf(out, "%-*s", OPTION_COLUMN, left);
	write_owners(out, row);
	fprintf(out, "%s\n", row->help);
}

/* Returns whether a subcommand before this one takes the option, too, and it is therefore written already. */
static bool is_written(int subcommand, const struct option_row *row)
{
	for (int i = 0; i < subcommand; i++)
		if (has_row(subcommands[i]->options, row))
			return true;
	return false;
}

/* A list of words with commas between them, broken into lines. */
struct words { FILE *out; int column; };

static void write_word(struct words *words, const char *word)
{
	enum { INDENT = 8, WIDTH = 88 };
	int width = (int)strlen(word);

	if (words->column == 0) {
		words->column = INDENT;
	} else if (words->column + 2 + width >= WIDTH) {
		fprintf(words->out, ",\n%*s", INDENT, "");
		words->column = INDENT;
	} else {
		fputs(", ", words->out);
		words->column += 2;
	}
	fputs(word, words->out);
	words->column += width;
}

/* Writes what a target may be; addresses with a scheme follow from the rows of the sources. */
static void write_targets(FILE *out)
{
	struct words words = { out, 0 };

	fputs("TARGET  ", out);
	write_word(&words, "PID");
	write_word(&words, "program name");
	for (int i = 0; source_kinds[i]; i++)
		if (source_kinds[i]->scheme) {
			char word[80];

			snprintf(word, sizeof word, "%s:%s", source_kinds[i]->scheme, source_kinds[i]->usage);
			write_word(&words, word);
		}
	write_word(&words, "PATH of a socket, FIFO or recording");
	write_word(&words, "- for standard input");
	fputc('\n', out);
}

void cli_help(FILE *out)
{
	fputs("telemtop: see inside running programs that link libtelem\n\n", out);
	for (int i = 0; subcommands[i]; i++)
		write_subcommand(out, subcommands[i]);
	fputc('\n', out);
	write_targets(out);
	fputs("LEVEL   off, sum, all\n\n", out);
	for (int i = 0; options_common[i]; i++)
		write_option(out, options_common[i]);
	for (int i = 0; subcommands[i]; i++)
		for (const struct option_row *const *row = subcommands[i]->options; row && *row; row++)
			if (!is_written(i, *row))
				write_option(out, *row);
}

static int parse_help(const char *text, struct options *options, struct problem *problem)
{
	(void)text, (void)problem;
	options->subcommand = &subcommand_help;
	return EXIT_DONE;
}

static int run(const struct options *options)
{
	(void)options;
	cli_help(stdout);
	return output_finish(EXIT_DONE);
}

static const struct option_row help = { "help", 'h', NULL, "this", .parse = parse_help };

const struct subcommand subcommand_help = {
	.options = (const struct option_row *const[]){ &help, NULL },
	.run = run,
};
