#include "emitter/record/class.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/error.h"
#include "protocol/name.h"

#define CLASS(name_, help_, level_) \
	struct telem_class telem_class_##name_ = { #name_, help_, level_, 0, { 0, 0, 0, 0, 0, 0 } };
#include "protocol/classes.def"
/* Class telem is registered with its first site, so a program may be without it. */
CLASS(telem, "telemetry itself", TELEM_SUM)
#undef CLASS

struct class_table class_table;

/* What telem_class.reserved[0] holds. */
enum { CLASS_NEW = 0, CLASS_REGISTERED = 1, CLASS_REFUSED = 2 };

/* Levels and limits asked for by name before the class came, mostly by the TELEM variable. */
static struct awaited {
	char name[LIMIT_NAME_BYTES];
	uint8_t level;               /* LEVEL_NONE when only a limit was asked for */
	uint32_t one_in;
	uint64_t per_second;
	uint32_t burst;
} awaited[LIMIT_CLASSES];
static uint32_t awaited_count;
static struct { bool is_set; uint8_t level; } awaited_all;

int class_find(const char *name)
{
	for (uint32_t i = 0; i < class_table.count; i++)
		if (!strcmp(class_table.rows[i].name, name))
			return (int)i;
	return -1;
}

static void add(const struct telem_class *cls)
{
	struct class_entry *entry = &class_table.rows[class_table.count++];

	assert(class_table.count <= LIMIT_CLASSES);
	name_copy(entry->name, sizeof entry->name, cls->name);
	snprintf(entry->help, sizeof entry->help, "%s", cls->help);
	entry->leased_level = LEVEL_NONE;
	entry->own_level = awaited_all.is_set ? awaited_all.level : cls->own_level;
	for (uint32_t i = 0; i < awaited_count; i++)
		if (!strcmp(awaited[i].name, cls->name)) {
			if (awaited[i].level != LEVEL_NONE)
				entry->own_level = awaited[i].level;
			entry->limit.one_in = awaited[i].one_in;
			entry->limit.per_second = awaited[i].per_second;
			entry->limit.burst = awaited[i].burst;
		}
}

bool class_register(struct telem_class *cls)
{
	int found;

	if (cls->reserved[0] != CLASS_NEW)
		return cls->reserved[0] == CLASS_REGISTERED;
	found = class_find(cls->name);
	if (found < 0 && class_table.count == LIMIT_CLASSES) {
		cls->reserved[0] = CLASS_REFUSED;
		error_set("class %s: there are %d already", cls->name, LIMIT_CLASSES);
		return false;
	}
	if (found < 0) {
		found = (int)class_table.count;
		add(cls);
	}
	cls->id = (uint8_t)found;
	cls->reserved[0] = CLASS_REGISTERED;
	return true;
}

void classes_begin(void)
{
#define CLASS(name, help, level) class_register(&telem_class_##name);
#include "protocol/classes.def"
#undef CLASS
}

/* Finds or makes the row of a class that has not come yet, by name; NULL when there is no room. */
static struct awaited *await(const char *name)
{
	uint32_t i = 0;

	while (i < awaited_count && strcmp(awaited[i].name, name))
		i++;
	if (i == LIMIT_CLASSES)
		return NULL;
	if (i == awaited_count) {
		awaited_count++;
		awaited[i] = (struct awaited){ .level = LEVEL_NONE };
		snprintf(awaited[i].name, sizeof awaited[i].name, "%s", name);
	}
	return &awaited[i];
}

void class_level_by_name(const char *name, uint8_t level)
{
	int found = class_find(name);
	struct awaited *wish = await(name);

	if (found >= 0)
		class_table.rows[found].own_level = level;
	if (wish)
		wish->level = level;
}

void class_limit_by_name(const char *name, uint32_t one_in, uint64_t per_second)
{
	int found = class_find(name);
	struct awaited *wish = await(name);

	if (found >= 0)
		class_limit((uint32_t)found, one_in, per_second);
	if (wish) {
		wish->one_in = one_in;
		wish->per_second = per_second;
	}
}

void class_burst(uint32_t id, uint32_t burst)
{
	__atomic_store_n(&class_table.rows[id].limit.burst, burst, __ATOMIC_RELAXED);
	class_table.rows[id].is_sent = false;
}

void class_burst_by_name(const char *name, uint32_t burst)
{
	int found = class_find(name);
	struct awaited *wish = await(name);

	if (found >= 0)
		class_burst((uint32_t)found, burst);
	if (wish)
		wish->burst = burst;
}

void class_limit(uint32_t id, uint32_t one_in, uint64_t per_second)
{
	struct class_entry *entry = &class_table.rows[id];

	__atomic_store_n(&entry->limit.one_in, one_in, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->limit.per_second, per_second, __ATOMIC_RELAXED);
	entry->is_sent = false;
}

bool class_is_limited(uint32_t class_id)
{
	const struct class_limit *limit = &class_table.rows[class_id].limit;

	return limit->one_in > 1 || limit->per_second;
}

void class_level_of_all(uint8_t level)
{
	for (uint32_t i = 0; i < class_table.count; i++)
		class_table.rows[i].own_level = level;
	awaited_all.is_set = true;
	awaited_all.level = level;
	for (uint32_t i = 0; i < awaited_count; i++)
		awaited[i].level = LEVEL_NONE;
}
