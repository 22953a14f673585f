#include "emitter/record/level.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/record/sample.h"
#include "emitter/record/site.h"

char levels_changed_by[64];

uint8_t level_in_force(const struct site_entry *site)
{
	if (!settings_is_running())
		return TELEM_OFF;
	if (site->leased_level != LEVEL_NONE)
		return site->leased_level;
	return site->own_level != LEVEL_NONE ? site->own_level : class_table.rows[site->class_id].level;
}

void level_renew_places(uint32_t id)
{
	struct site_entry *entry = &site_table.rows[id];
	struct handler_set *set = entry->happening ? entry->happening->set : NULL;
	uint8_t level = level_in_force(entry);

	if (level == TELEM_ALL && class_is_limited(entry->class_id))
		level |= TELEM_LIMITED_;
	/* Handlers are called for every span, so every span must be timed. */
	if (set && settings_is_running())
		level |= TELEM_HANDLED_;
	else if (level != TELEM_OFF && entry->kind == SITE_SPAN && entry->skip_mask)
		level |= TELEM_SAMPLED_;
	for (struct telem_site *place = entry->places; place; place = place_next(place)) {
		if (site_kind_has_handlers(entry->kind))
			__atomic_store_n(&place->handlers, happenings_are_sealed ? set : NULL, __ATOMIC_RELEASE);
		if (entry->kind == SITE_SPAN)
			__atomic_store_n(&place->skip_mask, entry->skip_mask, __ATOMIC_RELAXED);
		__atomic_store_n(&place->level, level, __ATOMIC_RELAXED);
	}
}

static void class_apply(struct class_entry *entry, const char *by)
{
	uint8_t level = entry->leased_level != LEVEL_NONE ? entry->leased_level : entry->own_level;

	/* The levels in force stay after the stop, because the last figures are sent with them. */
	if (!settings_is_running() || level == entry->level)
		return;
	entry->is_level_sent = false;
	entry->level = level;
	entry->was_off |= level == TELEM_OFF;
	snprintf(entry->level_by, sizeof entry->level_by, "%s", by);
}

static void site_apply(uint32_t id)
{
	struct site_entry *entry = &site_table.rows[id];
	uint8_t level = level_in_force(entry);

	level_renew_places(id);
	if (!settings_is_running())
		return;
	entry->was_off |= level == TELEM_OFF;
	if (level == entry->level)
		return;
	entry->level = level;
	if (entry->own_level != LEVEL_NONE || entry->leased_level != LEVEL_NONE)
		entry->is_level_sent = false;
}

/* Returns whether the frees of a type are not recorded. Those that name no type have a site of their own. */
static bool is_not_freed(uint32_t type)
{
	const struct site_entry *entry = &site_table.rows[type];

	return entry->level == TELEM_OFF ||
	       (entry->detail == ALLOC_IS_FREED_ELSEWHERE && site_table.rows[telem_freed_.id].level == TELEM_OFF);
}

/* Forgets the samples whose frees are not recorded from now on. */
static void forget_samples(void)
{
	for (uint32_t id = 1; id < site_table.count; id++)
		if (site_table.rows[id].kind == SITE_ALLOC && site_table.rows[id].level == TELEM_OFF) {
			samples_forget(is_not_freed);
			return;
		}
}

void levels_apply(const char *by)
{
	for (uint32_t i = 0; i < class_table.count; i++)
		class_apply(&class_table.rows[i], by);
	for (uint32_t id = 1; id < site_table.count; id++)
		site_apply(id);
	forget_samples();
	snprintf(levels_changed_by, sizeof levels_changed_by, "%s", by);
	wake_signal();
}

void levels_await_passage(void)
{
	if (!settings_is_running())
		return;
	for (uint32_t id = 1; id < site_table.count; id++)
		/* The program does not pass what the flusher reports. */
		if (site_table.rows[id].level != TELEM_OFF &&
		    strcmp(class_table.rows[site_table.rows[id].class_id].name, "report") != 0)
			return;
	for (uint32_t id = 1; id < site_table.count; id++) {
		unsigned kind = site_table.rows[id].kind;

		/* These are counted by functions of slow.c and distribution.c while the thread has no cells. */
		if (kind != SITE_COUNTER && kind != SITE_GAUGE && kind != SITE_SPAN && kind != SITE_VALUE &&
		    kind != SITE_MARK && kind != SITE_ALLOC)
			continue;
		for (struct telem_site *place = site_table.rows[id].places; place; place = place_next(place))
			__atomic_store_n(&place->level, TELEM_SUM, __ATOMIC_RELAXED);
	}
}

bool level_is_all_somewhere(void)
{
	for (uint32_t i = 0; i < class_table.count; i++)
		if (class_table.rows[i].level == TELEM_ALL)
			return true;
	for (uint32_t i = 1; i < site_table.count; i++)
		if (site_table.rows[i].level == TELEM_ALL)
			return true;
	return false;
}

/* ---- the program's own calls ---- */

int telem_class_level(struct telem_class *cls, enum telem_level level)
{
	int saved = errno;

	if (level > TELEM_ALL)
		return -EINVAL;
	lock_take();
	classes_begin();
	if (class_register(cls)) {
		class_table.rows[cls->id].own_level = (uint8_t)level;
		class_table.rows[cls->id].is_level_sent = false;
	}
	levels_apply("program");
	lock_release();
	errno = saved;
	return 0;
}

int telem_level_set(const char *name, enum telem_level level)
{
	int saved = errno, cls, site = -1;

	if (level > TELEM_ALL)
		return -EINVAL;
	lock_take();
	classes_begin();
	cls = class_find(name);
	if (cls < 0)
		site = site_find(name, 0);
	if (cls >= 0) {
		class_table.rows[cls].own_level = (uint8_t)level;
		class_table.rows[cls].is_level_sent = false;
	}
	if (site >= 0) {
		site_table.rows[site].own_level = (uint8_t)level;
		site_table.rows[site].is_level_sent = false;
	}
	levels_apply("program");
	lock_release();
	errno = saved;
	return cls < 0 && site < 0 ? -ENOENT : 0;
}

int telem_level_get(const char *name)
{
	int cls, site, level = -ENOENT, saved = errno;

	lock_take();
	classes_begin();
	cls = class_find(name);
	site = cls < 0 ? site_find(name, 0) : -1;
	if (cls >= 0)
		level = class_table.rows[cls].level;
	else if (site >= 0)
		level = site_table.rows[site].level;
	if (level > TELEM_OFF && !settings_is_running())
		level = TELEM_OFF;
	lock_release();
	errno = saved;
	return level;
}

void telem_enable_all(bool on)
{
	int saved = errno;

	lock_take();
	classes_begin();
	for (uint32_t i = 0; i < class_table.count; i++) {
		class_table.rows[i].own_level = on ? TELEM_ALL : TELEM_OFF;
		class_table.rows[i].is_level_sent = false;
	}
	levels_apply("program");
	lock_release();
	errno = saved;
}

int telem_class_limit(const char *name, uint32_t keep_one_in, uint64_t per_second)
{
	int saved = errno;

	if (!name || !*name || strlen(name) >= LIMIT_NAME_BYTES)
		return -EINVAL;
	lock_take();
	classes_begin();
	class_limit_by_name(name, keep_one_in, per_second);
	levels_apply("program");
	lock_release();
	errno = saved;
	return 0;
}

int telem_log_burst(const char *name, uint32_t per_second)
{
	int saved = errno;

	if (!name || !*name || strlen(name) >= LIMIT_NAME_BYTES)
		return -EINVAL;
	lock_take();
	classes_begin();
	class_burst_by_name(name, per_second);
	lock_release();
	wake_signal();
	errno = saved;
	return 0;
}

int telem_span_every(const char *class_dot_name, uint32_t n)
{
	int saved = errno, id, result = -ENOENT;

	lock_take();
	classes_begin();
	id = class_dot_name ? site_find(class_dot_name, SITE_SPAN) : -1;
	if (id >= 0)
		result = site_every((uint32_t)id, n);
	levels_apply("program");
	lock_release();
	errno = saved;
	return result;
}
