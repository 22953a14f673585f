#include "monitor/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/limits.h"

static const struct { const char *name; enum command command; bool takes_target; } commands[] = {
	{ "ps", COMMAND_PS, false }, { "list", COMMAND_PS, false }, { "lines", COMMAND_LINES, true },
	{ "once", COMMAND_ONCE, true }, { "record", COMMAND_RECORD, true }, { "replay", COMMAND_SCREEN, true },
	{ "set", COMMAND_SET, true }, { "held", COMMAND_HELD, true },
};

enum { OPTION_FOR = 256, OPTION_SIZE, OPTION_JSON, OPTION_ALL, OPTION_KEEP, OPTION_READ_ONLY, OPTION_FORCE, OPTION_COLOR,
       OPTION_ASCII, OPTION_NO_RECONNECT, OPTION_TIMEOUT, OPTION_SPEED, OPTION_AT, OPTION_THEME };

static const struct option long_options[] = {
	{ "interval", required_argument, NULL, 'd' }, { "class", required_argument, NULL, 'c' },
	{ "record", required_argument, NULL, 'r' }, { "output", required_argument, NULL, 'o' },
	{ "panel", required_argument, NULL, 'p' }, { "filter", required_argument, NULL, 'f' },
	{ "wait", optional_argument, NULL, 'w' }, { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },
	{ "for", required_argument, NULL, OPTION_FOR }, { "size", required_argument, NULL, OPTION_SIZE },
	{ "json", no_argument, NULL, OPTION_JSON }, { "all", no_argument, NULL, OPTION_ALL },
	{ "keep", no_argument, NULL, OPTION_KEEP }, { "read-only", no_argument, NULL, OPTION_READ_ONLY },
	{ "force", no_argument, NULL, OPTION_FORCE }, { "color", required_argument, NULL, OPTION_COLOR },
	{ "ascii", no_argument, NULL, OPTION_ASCII }, { "no-reconnect", no_argument, NULL, OPTION_NO_RECONNECT },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT }, { "speed", required_argument, NULL, OPTION_SPEED },
	{ "at", required_argument, NULL, OPTION_AT }, { "theme", required_argument, NULL, OPTION_THEME },
	{ NULL, 0, NULL, 0 },
};

void options_help(void)
{
	fputs("telemtop: see inside running programs that link libtelem\n"
	      "\n"
	      "telemtop [OPTIONS] [TARGET]              live screen; a recording replays; no target: choose one\n"
	      "telemtop ps [--json] [--all]             monitored programs of this user (alias: list)\n"
	      "telemtop lines [-d SEC] [-n N] TARGET    one summary line a tick\n"
	      "telemtop once [--json] TARGET            one tick, then exit\n"
	      "telemtop record [-o FILE] [--for TIME] [--size BYTES] TARGET\n"
	      "telemtop replay [--at TIME] [--speed X] FILE\n"
	      "telemtop set TARGET CLASS=LEVEL... [--keep | --for TIME]\n"
	      "telemtop set TARGET flush=TIME ring=BYTES policy=drop|overwrite keep=CLASS:1/N limit=CLASS:N/s dump=REASON\n"
	      "telemtop held [--json] TARGET [TASK]     sampled allocations that live, of a task by name or number\n"
	      "\n"
	      "TARGET  PID, program name, unix:PATH, tcp:HOST:PORT, fifo:PATH, listen:[HOST:]PORT,\n"
	      "        PATH of a socket, FIFO or recording, - for standard input\n"
	      "LEVEL   off, sum, all\n"
	      "\n"
	      "  -d, --interval SEC     0.1 to 60, default 1\n"
	      "  -c, --class LIST       levels while attached: gc=all,log=off, or all, sum, none\n"
	      "      --keep             leave our levels behind\n"
	      "      --read-only        never send the target anything\n"
	      "  -r, --record FILE      record while watching      --force  overwrite it\n"
	      "  -p, --panel N          open there                 -f, --filter TEXT\n"
	      "  -w, --wait[=SEC]       wait for the target to appear\n"
	      "      --no-reconnect     leave on loss              --timeout SEC  to connect, default 5\n"
	      "      --color WHEN       auto, always, never        --theme dark|light   --ascii\n"
	      "  -n N                   lines: how many            -o FILE  record: where to\n"
	      "  -h, --help             this                       -V, --version\n", stdout);
}

static int bad(struct problem *problem, const char *what, const char *given, const char *todo)
{
	problem_set(problem, EXIT_USAGE, "%s: \"%s\"", what, given);
	problem_todo(problem, "%s", todo);
	return EXIT_USAGE;
}

bool options_time(const char *text, uint64_t *out)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
	};
	char *end;
	double number = strtod(text, &end);

	if (end == text || !isfinite(number) || number < 0)
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(end, units[i].name) && number * units[i].ns <= 1e18) {
			*out = (uint64_t)(number * units[i].ns);
			return true;
		}
	return false;
}

bool options_bytes(const char *text, uint64_t *out)
{
	static const struct { const char *name; uint64_t bytes; } units[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "KiB", 1 << 10 }, { "M", 1 << 20 }, { "MiB", 1 << 20 }, { "G", 1 << 30 },
		{ "GiB", 1 << 30 },
	};
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (end == text || *text == '-' || number > UINT64_MAX >> 30)
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(end, units[i].name)) {
			*out = number * units[i].bytes;
			return true;
		}
	return false;
}

static bool parse_int(const char *text, long least, long most, long *out)
{
	char *end;

	errno = 0;
	*out = strtol(text, &end, 10);
	return end != text && *end == '\0' && errno == 0 && *out >= least && *out <= most;
}

static int parse_one(int option, struct options *out, struct problem *problem)
{
	long number;
	uint64_t ns;

	switch (option) {
	case 'd':
		if (!options_time(optarg, &out->interval_ns) || out->interval_ns < LIMIT_TICK_NS_MIN ||
		    out->interval_ns > LIMIT_TICK_NS_MAX)
			return bad(problem, "bad interval", optarg, "Give 0.1 to 60 seconds, for example -d 0.5");
		return EXIT_DONE;
	case 'c':
		out->classes = optarg;
		return EXIT_DONE;
	case 'r':
	case 'o':
		out->output = optarg;
		return EXIT_DONE;
	case 'p':
		if (!parse_int(optarg, 0, 9, &number))
			return bad(problem, "bad panel", optarg,
				   "Give 0 (overview), 1 (memory), 2 (latency), 3 (classes), 8 (link) or 9 (frames).");
		out->panel = (int)number;
		return EXIT_DONE;
	case 'f':
		out->filter = optarg;
		return EXIT_DONE;
	case 'n':
		if (!parse_int(optarg, 1, 1000000000, &number))
			return bad(problem, "bad number of lines", optarg, "Give 1 or more.");
		out->count = number;
		return EXIT_DONE;
	case 'w':
		out->wait_s = 0;
		if (optarg && !parse_int(optarg, 1, 1000000, &number))
			return bad(problem, "bad time to wait", optarg, "Give seconds: --wait=10");
		if (optarg)
			out->wait_s = (int)number;
		return EXIT_DONE;
	case OPTION_FOR:
		if (!options_time(optarg, &out->for_ns) || out->for_ns == 0)
			return bad(problem, "bad time", optarg, "Give seconds or a unit: 30, 500ms, 5m, 1h");
		return EXIT_DONE;
	case OPTION_AT:
		if (!options_time(optarg, &ns))
			return bad(problem, "bad time", optarg, "Give how far into the recording: 30, 5m, 1h");
		out->at_ns = ns;
		return EXIT_DONE;
	case OPTION_SIZE:
		if (!options_bytes(optarg, &out->size_bytes) || out->size_bytes == 0)
			return bad(problem, "bad size", optarg, "Give bytes: 500M, 2G");
		return EXIT_DONE;
	case OPTION_TIMEOUT:
		if (!parse_int(optarg, 1, 3600, &number))
			return bad(problem, "bad timeout", optarg, "Give 1 to 3600 seconds.");
		out->timeout_s = (int)number;
		return EXIT_DONE;
	case OPTION_SPEED: {
		char *end;

		out->speed = strtod(optarg, &end);
		if (end == optarg || *end || !(out->speed >= 0.1 && out->speed <= 1000))
			return bad(problem, "bad speed", optarg, "Give 0.1 to 1000.");
		return EXIT_DONE;
	}
	case OPTION_COLOR:
		if (!strcmp(optarg, "auto"))
			out->color = COLOR_WHEN_AUTO;
		else if (!strcmp(optarg, "always"))
			out->color = COLOR_WHEN_ALWAYS;
		else if (!strcmp(optarg, "never"))
			out->color = COLOR_WHEN_NEVER;
		else
			return bad(problem, "bad color", optarg, "Give auto, always or never.");
		return EXIT_DONE;
	case OPTION_THEME:
		if (strcmp(optarg, "dark") && strcmp(optarg, "light") && strcmp(optarg, "auto"))
			return bad(problem, "bad theme", optarg, "Give auto, dark or light.");
		out->light = !strcmp(optarg, "light");
		return EXIT_DONE;
	case OPTION_JSON: out->json = true; return EXIT_DONE;
	case OPTION_ALL: out->all = true; return EXIT_DONE;
	case OPTION_KEEP: out->keep = true; return EXIT_DONE;
	case OPTION_READ_ONLY: out->read_only = true; return EXIT_DONE;
	case OPTION_FORCE: out->force = true; return EXIT_DONE;
	case OPTION_ASCII: out->ascii = true; return EXIT_DONE;
	case OPTION_NO_RECONNECT: out->no_reconnect = true; return EXIT_DONE;
	case 'h': out->command = COMMAND_HELP; return EXIT_DONE;
	case 'V': out->command = COMMAND_VERSION; return EXIT_DONE;
	default:
		return EXIT_USAGE;
	}
}

int options_parse(int argc, char *argv[], struct options *out, struct problem *problem)
{
	bool takes_target = true;
	int option, err;

	*out = (struct options){ .interval_ns = LIMIT_TICK_NS_DEFAULT, .speed = 1, .timeout_s = 5, .wait_s = -1 };
	out->ascii = getenv("TELEMTOP_ASCII") != NULL;
	out->light = getenv("TELEMTOP_THEME") && !strcmp(getenv("TELEMTOP_THEME"), "light");
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(argv[1], commands[i].name)) {
			out->command = commands[i].command;
			takes_target = commands[i].takes_target;
			argv++;
			argc--;
			break;
		}
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":d:c:r:o:p:f:n:w::hV", long_options, NULL)) != -1) {
		if (option == '?' || option == ':') {
			const char *given = argv[optind - 1];

			return bad(problem, option == ':' ? "option needs a value" : "unknown option", given,
				   "telemtop --help lists them.");
		}
		err = parse_one(option, out, problem);
		if (err != EXIT_DONE)
			return err;
		if (out->command == COMMAND_HELP || out->command == COMMAND_VERSION)
			return EXIT_DONE;
	}
	if (optind < argc && takes_target)
		out->target = argv[optind++];
	if (out->command == COMMAND_SET || out->command == COMMAND_HELD) {
		out->settings = argv + optind;
		out->setting_count = out->command == COMMAND_HELD && argc > optind ? 1 : argc - optind;
		optind += out->setting_count;
	}
	if (optind < argc)
		return bad(problem, "unexpected argument", argv[optind], "telemtop --help shows what goes where.");
	if (out->command != COMMAND_SCREEN && out->command != COMMAND_PS && !out->target) {
		problem_set(problem, EXIT_USAGE, "a target is missing");
		problem_todo(problem, "Give a PID, a name, an address or a recording; telemtop ps lists programs.");
		return EXIT_USAGE;
	}
	if (out->command == COMMAND_SET && out->setting_count == 0) {
		problem_set(problem, EXIT_USAGE, "set: a level is missing");
		problem_todo(problem, "For example: telemtop set %s mem=all", out->target);
		return EXIT_USAGE;
	}
	if (out->command == COMMAND_SET && out->read_only) {
		problem_set(problem, EXIT_USAGE, "set: --read-only never sends the target anything");
		problem_todo(problem, "Leave one of the two out.");
		return EXIT_USAGE;
	}
	if (out->keep && out->for_ns && out->command == COMMAND_SET) {
		problem_set(problem, EXIT_USAGE, "set: --keep and --for exclude each other");
		problem_todo(problem, "--keep leaves the level behind; --for holds it for a time.");
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}
