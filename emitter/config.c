#include "emitter/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emitter/emitter.h"

/* A number and a unit out of the table; false when it is none. */
struct unit { const char *name; uint64_t factor; };

static const struct unit time_units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { 0, 0 } };
static const struct unit byte_units[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { 0, 0 } };

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
	int level;

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
	if (!strcmp(key, "policy"))
		return set_policy(value);
	if (!strcmp(key, "name")) {
		snprintf(emitter.name, sizeof emitter.name, "%s", value);
		return 0;
	}
	if (!strcmp(key, "discovery")) {
		config->no_discovery = !strcmp(value, "off");
		return config->no_discovery || !strcmp(value, "on") ? 0 : -EINVAL;
	}
	level = parse_level(value);
	if (level < 0 || !*key)
		return -EINVAL;
	if (!strcmp(key, "all"))
		class_level_of_all((uint8_t)level);
	else
		class_level_by_name(key, (uint8_t)level);
	return 0;
}

int config_apply(struct config *config, const char *settings)
{
	size_t used = strlen(config->text) + (config->text[0] != '\0');
	char *text = config->text + used, *save = NULL;
	int result = 0;

	if (strlen(settings) >= sizeof config->text - used) {
		emitter_error("TELEM: settings longer than %zu bytes are ignored", sizeof config->text);
		return -EINVAL;
	}
	strcpy(text, settings);
	for (char *setting = strtok_r(text, ";", &save); setting; setting = strtok_r(NULL, ";", &save)) {
		char *equals = strchr(setting, '=');

		if (equals)
			*equals = '\0';
		if (!equals || set_one(config, setting, equals + 1) < 0) {
			emitter_error("TELEM: bad setting \"%s%s%s\" ignored (sink=ADDRESS CLASS=off|sum|all flush=100ms ring=1M policy=drop|overwrite|block:5ms name=TEXT discovery=on|off)",
				      setting, equals ? "=" : "", equals ? equals + 1 : "");
			result = -EINVAL;
		}
	}
	return result;
}
