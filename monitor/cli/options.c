#include "monitor/cli/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/limits.h"

struct target_config options_target(const struct options *options)
{
	return (struct target_config){
		.interval_ns = options->interval_ns, .levels = options->classes, .persist = options->keep,
		.is_read_only = options->read_only, .reconnects = !options->no_reconnect,
		.timeout_s = options->timeout_s,
	};
}

void options_init(struct options *options)
{
	const char *theme = getenv("TELEMTOP_THEME");

	*options = (struct options){ .interval_ns = LIMIT_TICK_NS_DEFAULT, .speed = 1, .timeout_s = 5, .wait_s = -1 };
	options->ascii = getenv("TELEMTOP_ASCII") != NULL;
	options->light = theme && !strcmp(theme, "light");
}

/* ---- values ---- */

bool options_time(const char *text, uint64_t *out_ns)
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
			*out_ns = (uint64_t)(number * units[i].ns);
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

bool options_int(const char *text, int least, int most, int *out)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || number < least || number > most)
		return false;
	*out = (int)number;
	return true;
}

int options_bad(struct problem *problem, const char *what, const char *given, const char *todo)
{
	problem_set(problem, EXIT_USAGE, "%s: \"%s\"", what, given);
	problem_todo(problem, "%s", todo);
	return EXIT_USAGE;
}

/* ---- rows ---- */

static int parse_interval(const char *text, struct options *options, struct problem *problem)
{
	if (!options_time(text, &options->interval_ns) || options->interval_ns < LIMIT_TICK_NS_MIN ||
	    options->interval_ns > LIMIT_TICK_NS_MAX)
		return options_bad(problem, "bad interval", text, "Give 0.1 to 60 seconds, for example -d 0.5");
	return EXIT_DONE;
}

static int parse_class(const char *text, struct options *options, struct problem *problem)
{
	(void)problem;
	options->classes = text;
	return EXIT_DONE;
}

static int parse_wait(const char *text, struct options *options, struct problem *problem)
{
	options->wait_s = 0;
	if (text && !options_int(text, 1, 1000000, &options->wait_s))
		return options_bad(problem, "bad time to wait", text, "Give seconds: --wait=10");
	return EXIT_DONE;
}

static int parse_timeout(const char *text, struct options *options, struct problem *problem)
{
	if (!options_int(text, 1, 3600, &options->timeout_s))
		return options_bad(problem, "bad timeout", text, "Give 1 to 3600 seconds.");
	return EXIT_DONE;
}

static int parse_for(const char *text, struct options *options, struct problem *problem)
{
	if (!options_time(text, &options->for_ns) || options->for_ns == 0)
		return options_bad(problem, "bad time", text, "Give seconds or a unit: 30, 500ms, 5m, 1h");
	return EXIT_DONE;
}

static const struct option_row
	interval = { "interval", 'd', "SEC", "0.1 to 60, default 1", .parse = parse_interval },
	class = { "class", 'c', "LIST", "levels while attached: gc=all,log=off, or all, sum, none", .parse = parse_class },
	keep = { "keep", 0, NULL, "leave our levels behind", .flag = offsetof(struct options, keep) },
	read_only = { "read-only", 0, NULL, "never send the target anything", .flag = offsetof(struct options, read_only) },
	wait_for = { "wait", 'w', "[=SEC]", "wait for the target to appear", .parse = parse_wait },
	no_reconnect = { "no-reconnect", 0, NULL, "leave on loss", .flag = offsetof(struct options, no_reconnect) },
	timeout = { "timeout", 0, "SEC", "to connect, default 5", .parse = parse_timeout };

const struct option_row *const options_common[] = {
	&interval, &class, &keep, &read_only, &wait_for, &no_reconnect, &timeout, NULL,
};

const struct option_row
	option_json = { "json", 0, NULL, "JSON in base units, no rounding", .flag = offsetof(struct options, json) },
	option_for = { "for", 0, "TIME", "how long", .parse = parse_for },
	option_force = { "force", 0, NULL, "overwrite the recording", .flag = offsetof(struct options, force) };
