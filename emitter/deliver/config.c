#include "emitter/deliver/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitter/core/error.h"
#include "emitter/core/settings.h"
#include "emitter/deliver/dump.h"
#include "emitter/record/sample.h"
#include "emitter/record/site.h"
#include "protocol/name.h"

/* A unit and its factor. The tables below end with an empty row. */
struct unit { const char *name; uint64_t factor; };

static const struct unit time_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { 0, 0 }
};
static const struct unit byte_units[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { 0, 0 } };
static const struct unit count_units[] = { { "", 1 }, { "k", 1000 }, { "M", 1000000 }, { 0, 0 } };

static bool parse_quantity(const char *text, const struct unit *units, uint64_t *out)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (end == text || *text == '-' || errno)
		return false;
	for (; units->name; units++)
		if (!strcmp(end, units->name))
			return !__builtin_mul_overflow(number, units->factor, out);
	return false;
}

static int parse_level(const char *text)
{
	for (int level = LEVEL_OFF; level <= LEVEL_ALL; level++)
		if (!strcmp(text, level_name((unsigned)level)))
			return level;
	return -1;
}

/* Reads "1/100" and returns 100 in *out. */
static bool parse_share(const char *text, uint32_t *out)
{
	char *end;
	unsigned long number = strncmp(text, "1/", 2) ? 0 : strtoul(text + 2, &end, 10);

	*out = (uint32_t)number;
	return number > 0 && number <= UINT32_MAX && *end == '\0' && text[2] != '-';
}

/* Reads "10k/s" and returns 10000 in *out. */
static bool parse_rate(char *text, uint64_t *out)
{
	char *slash = strchr(text, '/');

	if (!slash || strcmp(slash, "/s"))
		return false;
	*slash = '\0';
	return parse_quantity(text, count_units, out) && *out > 0;
}

/* Reads CLASS=LEVEL,keep=1/N,limit=N/s,burst=N/s, of which every part may be missing. */
static int set_class(const char *name, char *value)
{
	char *save = NULL;
	uint32_t one_in = 0;
	uint64_t per_second = 0, burst = 0;
	bool is_limited;
	int level = -1;

	for (char *part = strtok_r(value, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
		bool is_good = !strncmp(part, "keep=", 5)    ? parse_share(part + 5, &one_in)
			       : !strncmp(part, "limit=", 6) ? parse_rate(part + 6, &per_second)
			       : !strncmp(part, "burst=", 6) ? parse_rate(part + 6, &burst) && burst <= UINT32_MAX
							     : (level = parse_level(part)) >= 0;

		if (!is_good)
			return -EINVAL;
	}
	is_limited = one_in || per_second || burst;
	if (!strcmp(name, "all") && level >= 0 && !is_limited)
		class_level_of_all((uint8_t)level);
	else if (!strcmp(name, "all") || (level < 0 && !is_limited))
		return -EINVAL;
	else if (level >= 0)
		class_level_by_name(name, (uint8_t)level);
	if (one_in || per_second)
		class_limit_by_name(name, one_in, per_second);
	if (burst)
		class_burst_by_name(name, (uint32_t)burst);
	return 0;
}

/* Reads CLASS.NAME=LEVEL, or 1/N for a span, of a site that is registered. */
static int set_site(const char *name, const char *value)
{
	int level = parse_level(value), id = site_find(name, level < 0 ? SITE_SPAN : 0u);
	uint32_t every;

	if (id < 0)
		return -ENOENT;
	if (level >= 0) {
		site_table.rows[id].own_level = (uint8_t)level;
		return 0;
	}
	return parse_share(value, &every) ? site_every((uint32_t)id, every) : -EINVAL;
}

static int set_policy(char *value)
{
	char *colon = strchr(value, ':');
	uint64_t wait_ns = 0;

	if (colon) {
		*colon = '\0';
		if (strcmp(value, "block") || !parse_quantity(colon + 1, time_units, &wait_ns))
			return -EINVAL;
	}
	if (!strcmp(value, "drop"))
		return telem_set_policy(TELEM_DROP, 0);
	if (!strcmp(value, "overwrite"))
		return telem_set_policy(TELEM_OVERWRITE, 0);
	if (!strcmp(value, "block"))
		return telem_set_policy(TELEM_BLOCK, colon ? wait_ns : 10000000);
	return -EINVAL;
}

static int set_one(struct config *config, char *key, char *value)
{
	uint64_t number;

	if (!strcmp(key, "sink")) {
		if (config->sink_count == sizeof config->sinks / sizeof *config->sinks)
			return -ENOSPC;
		config->sinks[config->sink_count++] = value;
		return 0;
	}
	if (!strcmp(key, "flush"))
		return parse_quantity(value, time_units, &number) ? telem_set_flush_interval(number) : -EINVAL;
	if (!strcmp(key, "ring"))
		return parse_quantity(value, byte_units, &number) ? telem_set_ring_bytes(number) : -EINVAL;
	if (!strcmp(key, "samples"))
		return parse_quantity(value, byte_units, &number) ? samples_room(number) : -EINVAL;
	if (!strcmp(key, "policy"))
		return set_policy(value);
	if (!strcmp(key, "name")) {
		name_copy(settings.name, sizeof settings.name, value);
		return 0;
	}
	if (!strcmp(key, "dump"))
		return dump_want_directory(value);
	if (!strcmp(key, "discovery")) {
		config->no_discovery = !strcmp(value, "off");
		return config->no_discovery || !strcmp(value, "on") ? 0 : -EINVAL;
	}
	if (!*key)
		return -EINVAL;
	return strchr(key, '.') ? set_site(key, value) : set_class(key, value);
}

int config_apply(struct config *config, const char *string)
{
	size_t used = strlen(config->text) + (config->text[0] != '\0');
	char *text = config->text + used, *save = NULL;
	int result = 0;

	if (strlen(string) >= sizeof config->text - used) {
		error_set("TELEM: settings longer than %zu bytes are ignored", sizeof config->text);
		return -EINVAL;
	}
	strcpy(text, string);
	for (char *setting = strtok_r(text, ";", &save); setting; setting = strtok_r(NULL, ";", &save)) {
		char *equals = strchr(setting, '=');

		if (equals)
			*equals = '\0';
		if (!equals || set_one(config, setting, equals + 1) < 0) {
			error_set("TELEM: bad setting \"%s%s%s\" ignored (sink=ADDRESS "
				  "CLASS=off|sum|all[,keep=1/100][,limit=10k/s][,burst=20/s] "
				  "CLASS.SPAN=1/16 flush=100ms ring=1M samples=64K policy=drop|overwrite|block:5ms "
				  "name=TEXT dump=DIR discovery=on|off)",
				      setting, equals ? "=" : "", equals ? equals + 1 : "");
			result = -EINVAL;
		}
	}
	return result;
}
