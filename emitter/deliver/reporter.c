#include "emitter/deliver/reporter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/record/place.h"
#include "emitter/record/site.h"

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
	reporter->cost_ns = reporter->asked_ns = 0;
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

void reporter_set(const struct telem_site *site, int64_t value)
{
	lock_take();
	if (site->id && telem_level_(site) != TELEM_OFF) {
		site_table.rows[site->id].asked_value = value;
		site_table.rows[site->id].asked_count++;
	}
	lock_release();
}

/* Takes the place of a function where nobody is asked. */
static int nobody(void *arg, int64_t *value)
{
	(void)arg, (void)value;
	return -1;
}

bool reporter_is_asked(const struct reporter *reporter)
{
	return reporter->function && reporter->function != nobody;
}

/* Returns NULL when there is no room, when the program has removed the path, or when the path belongs to a reporter of
 * the program, which is not replaced. */
static struct reporter *told(struct telem_class *cls, const char *path, enum telem_unit unit)
{
	struct reporter *reporter;

	lock_take();
	reporter = reporter_find(path);
	/* What is added stands first in the list. */
	if (!reporter && add(cls, path, TELEM_REPORT_OTHER, unit, nobody, NULL) == 0)
		reporter = reporters;
	if (reporter && reporter->function != nobody)
		reporter = NULL;
	lock_release();
	if (reporter)
		place_register_own(&reporter->site);
	return reporter;
}

void reporter_offer(const char *path, enum telem_unit unit)
{
	char name[sizeof "report." + LIMIT_NAME_BYTES];

	if (!told(&telem_class_reports_, path, unit))
		return;
	snprintf(name, sizeof name, "report.%s", path);
	telem_level_set(name, TELEM_OFF);
}

bool reporter_is_wanted(const char *path)
{
	const struct reporter *reporter;
	bool is_wanted;

	lock_take();
	reporter = reporter_find(path);
	is_wanted = reporter && reporter->function && telem_level_(&reporter->site) != TELEM_OFF;
	lock_release();
	return is_wanted;
}

void reporter_say(struct telem_class *cls, const char *path, enum telem_unit unit, int64_t value)
{
	struct reporter *reporter = told(cls ? cls : &telem_class_reports_, path, unit);

	if (reporter)
		reporter_set(&reporter->site, value);
}
