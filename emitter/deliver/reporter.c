#include "emitter/deliver/reporter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/record/place.h"

struct telem_class telem_class_reports_ = { "report", "values the program is asked for", TELEM_SUM, 0,
					    { 0, 0, 0, 0, 0, 0 } };

static struct reporter *reporters;
static uint32_t reporter_count;

struct reporter *reporter_first(void)
{
	return reporters;
}

struct reporter *reporter_find(const char *path)
{
	struct reporter *reporter = reporters;

	while (reporter && strcmp(reporter->path, path))
		reporter = reporter->next;
	return reporter;
}

static int add(struct telem_class *cls, const char *path, enum telem_reporter_kind kind, enum telem_unit unit,
	       telem_reporter_fn *function, void *arg)
{
	struct reporter *reporter = reporter_find(path);

	if (reporter && reporter->function)
		return -EEXIST;
	/* A reporter with another unit is another gauge. */
	if (reporter && reporter->site.unit != unit)
		reporter = NULL;
	if (!reporter) {
		if (reporter_count == LIMIT_REPORTERS)
			return -ENOSPC;
		reporter = memory_keep(sizeof *reporter);
		if (!reporter)
			return -ENOMEM;
		snprintf(reporter->path, sizeof reporter->path, "%s", path);
		reporter->site = (struct telem_site){ .kind = TELEM_KIND_GAUGE_, .unit = (uint8_t)unit, .cls = cls,
						      .name = reporter->path, .file = "" };
		reporter->next = reporters;
		reporters = reporter;
		reporter_count++;
	}
	reporter->kind = kind;
	reporter->arg = arg;
	reporter->function = function;
	return 0;
}

int telem_reporter(const char *path, enum telem_reporter_kind kind, enum telem_unit unit, telem_reporter_fn *function,
		   void *arg)
{
	int saved = errno, result;
	struct reporter *reporter;

	if (!path || !*path || strlen(path) >= LIMIT_NAME_BYTES || !function || kind > TELEM_REPORT_HEAP ||
	    unit > TELEM_BYTES)
		return -EINVAL;
	fork_restart();
	lock_take();
	result = add(&telem_class_reports_, path, kind, unit, function, arg);
	reporter = reporter_find(path);
	lock_release();
	if (result == 0)
		place_register_own(&reporter->site);
	errno = saved;
	return result;
}

int reporter_provides(void *arg, int64_t *value)
{
	const struct reporter *reporter = arg;

	*value = 0;
	reporter->provide(reporter->arg);
	return 0;
}

int telem_provider(const char *name, telem_provider_fn *function, void *arg)
{
	int saved = errno, result;

	if (!name || !*name || strlen(name) >= LIMIT_NAME_BYTES || !function)
		return -EINVAL;
	fork_restart();
	lock_take();
	result = add(&telem_class_reports_, name, TELEM_REPORT_OTHER, TELEM_NONE, reporter_provides, arg);
	if (result == 0)
		reporter_find(name)->provide = function;
	lock_release();
	errno = saved;
	return result;
}

static int repeat(void *arg, int64_t *value)
{
	*value = *(const int64_t *)arg;
	return 0;
}

void reporter_say(struct telem_class *cls, const char *path, enum telem_unit unit, int64_t value)
{
	struct reporter *reporter;

	lock_take();
	if (!reporter_find(path))
		add(cls ? cls : &telem_class_reports_, path, TELEM_REPORT_OTHER, unit, repeat, NULL);
	reporter = reporter_find(path);
	/* The path may belong to a reporter of the program, which is not replaced. */
	if (reporter && reporter->function == repeat) {
		reporter->arg = &reporter->said;
		reporter->said = value;
	}
	lock_release();
	if (reporter)
		place_register_own(&reporter->site);
}
