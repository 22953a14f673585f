#include "emitter/record/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/error.h"
#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/record/level.h"
#include "emitter/record/named.h"
#include "emitter/record/site.h"

/* A new site may have a name to which handlers are attached already. */
static void meet_handlers(struct site_entry *entry)
{
	char name[2 * LIMIT_NAME_BYTES];

	if (happening_count() == 0 || !site_kind_has_handlers(entry->kind))
		return;
	snprintf(name, sizeof name, "%s.%s", class_table.rows[entry->class_id].name, entry->name);
	__atomic_store_n(&entry->happening, happening_find(name), __ATOMIC_RELEASE);
}

void places_meet(struct happening *happening)
{
	for (uint32_t id = 1; id < site_table.count; id++) {
		struct site_entry *entry = &site_table.rows[id];

		if (site_kind_has_handlers(entry->kind) && site_is_named(entry, happening->name))
			__atomic_store_n(&entry->happening, happening, __ATOMIC_RELEASE);
	}
}

struct telem_site telem_freed_ = TELEM_SITE_INIT_(mem, TELEM_KIND_ALLOC_, TELEM_BYTES, ALLOC_IS_FREES, "(freed)");

/* Call with the lock held. place->reserved[0] links the places of one site, [1] is the module. */
static void place_register(struct telem_site *place, const struct telem_module_ *module)
{
	struct site_entry *entry;
	bool is_new;
	uint32_t id;

	if (place->id || !class_register(place->cls))
		return;
	if (place->kind == SITE_LOG && !strcmp(place->name, "%s"))
		name_by_place(place);
	id = site_of(place, &is_new);
	if (id == 0) {
		error_set("site %s.%s: no room for more sites", place->cls->name, place->name);
		return;
	}
	entry = &site_table.rows[id];
	if (is_new) {
		entry->level = level_in_force(entry);
		meet_handlers(entry);
	}
	if (entry->kind == SITE_GAUGE)
		__atomic_store_n(&place->owner, &entry->owner, __ATOMIC_RELAXED);
	place->reserved[0] = (uintptr_t)entry->places;
	place->reserved[1] = (uintptr_t)module;
	entry->places = place;
	__atomic_store_n(&place->id, id, __ATOMIC_RELEASE);
	level_renew_places(id);
	/* What counts the frees must be there before the first of them. */
	if (entry->kind == SITE_ALLOC && entry->detail == ALLOC_IS_FREED_ELSEWHERE)
		place_register(&telem_freed_, NULL);
}

bool place_has_fields(const struct telem_site *place)
{
	return __atomic_load_n(&place->fields_known, __ATOMIC_RELAXED) != 0;
}

void place_fields(struct telem_site *place, const struct telem_field *fields, uint32_t field_count)
{
	struct site_entry *entry = &site_table.rows[place->id];

	lock_take();
	for (uint32_t i = 0; i < field_count; i++) {
		const char *known = i < entry->field_count ? entry->fields[i] : NULL;

		if (known && !strncmp(known, fields[i].name, LIMIT_NAME_BYTES - 1))
			continue;
		/* Two places of this site give the field different names: "?" is better than a wrong name. */
		entry->fields[i] = known ? "?" : site_text(fields[i].name, LIMIT_NAME_BYTES);
		if (!entry->fields[i])
			entry->fields[i] = "?";
		entry->is_sent = false;
	}
	if (field_count > entry->field_count)
		entry->field_count = field_count;
	__atomic_store_n(&place->fields_known, 1, __ATOMIC_RELAXED);
	lock_release();
}

void telem_module_enter_(struct telem_module_ *module)
{
	if (module->abi != TELEM_ABI_)
		return;
	lock_take();
	if (module->entered++ > 0) {
		lock_release();
		return;
	}
	classes_begin();
	for (struct telem_class **cls = module->classes; cls < module->classes_end; cls++)
		if (*cls)
			class_register(*cls);
	for (struct telem_site **site = module->sites; site < module->sites_end; site++)
		if (*site)
			place_register(*site, module);
	levels_apply("program");
	lock_release();
}

void telem_site_register_(struct telem_site *site, const struct telem_module_ *module)
{
	if (module->abi != TELEM_ABI_)
		return;
	lock_take();
	classes_begin();
	place_register(site, module);
	lock_release();
}

void telem_module_leave_(struct telem_module_ *module)
{
	if (module->abi != TELEM_ABI_ || lock_is_of_parent())
		return;
	lock_take();
	if (--module->entered > 0) {
		lock_release();
		return;
	}
	for (uint32_t id = 1; id < site_table.count; id++) {
		struct telem_site *place = site_table.rows[id].places, *next, *kept = NULL;

		for (; place; place = next) {
			next = place_next(place);
			if (place->reserved[1] == (uintptr_t)module) {
				__atomic_store_n(&place->level, TELEM_OFF, __ATOMIC_RELAXED);
			} else {
				place->reserved[0] = (uintptr_t)kept;
				kept = place;
			}
		}
		site_table.rows[id].places = kept;
	}
	lock_release();
}

void place_register_locked(struct telem_site *site)
{
	uint32_t class_count = class_table.count;

	classes_begin();
	place_register(site, NULL);
	if (class_table.count != class_count)
		levels_apply("program");
}

void place_register_own(struct telem_site *site)
{
	int saved = errno;

	/* A signal handler that has interrupted a slow path must not wait for the lock; the next call registers. */
	if (__atomic_load_n(&site->id, __ATOMIC_ACQUIRE) || thread_is_inside)
		return;
	lock_take();
	place_register_locked(site);
	lock_release();
	errno = saved;
}
