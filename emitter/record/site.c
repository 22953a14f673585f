/* site.c -- classes and sites: who is registered, and how loud.
 *
 * Modules hand over their classes and sites when they are loaded. Places with the same
 * class, kind and name are one site with one id. Names are copied: the module may go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/deliver/request.h"
#include "emitter/core/emitter.h"
#include "emitter/record/handler.h"

#define CLASS(name_, help_, level_) \
	struct telem_class telem_class_##name_ = { #name_, help_, level_, 0, { 0, 0, 0, 0, 0, 0 } };
#include "protocol/classes.def"
/* Not one that every program has: it comes with its first site. */
CLASS(telem, "telemetry itself", TELEM_SUM)
#undef CLASS

/* telem_class.reserved[0] */
enum { CLASS_NEW = 0, CLASS_REGISTERED = 1, CLASS_REFUSED = 2 };

/* Places: telem_site.reserved[0] links those of one site, [1] is the module. */
static struct telem_site *place_next(const struct telem_site *place)
{
	return (struct telem_site *)(uintptr_t)place->reserved[0];
}

/* ---- names ---- */

static uint32_t strings_used;

/* A copy that lives for ever, or NULL. Long names are cut. */
static const char *string_copy(const char *string, uint32_t most)
{
	uint32_t length = (uint32_t)strnlen(string, most - 1);
	char *copy = strings_used + length + 1 <= LIMIT_STRINGS_BYTES ? emitter_keep(length + 1) : NULL;

	if (copy)
		memcpy(copy, string, length);
	strings_used += copy ? length + 1 : 0;
	return copy;
}

/* ---- classes ---- */

/* Levels and limits asked for by name before the class came: from TELEM, mostly. */
static struct awaited {
	char name[LIMIT_NAME_BYTES];
	uint8_t level;               /* LEVEL_FOLLOW: the class's own, or that of all */
	uint32_t keep;
	uint64_t per_second;
} awaited[LIMIT_CLASSES];
static uint32_t awaited_count;
static struct { bool is_set; uint8_t level; } awaited_all;

int class_find(const char *name)
{
	for (uint32_t i = 0; i < emitter.class_count; i++)
		if (!strcmp(emitter.classes[i].name, name))
			return (int)i;
	return -1;
}

static void class_register(struct telem_class *cls)
{
	struct class_entry *entry;
	int found = class_find(cls->name);

	if (found < 0 && emitter.class_count == LIMIT_CLASSES) {
		cls->reserved[0] = CLASS_REFUSED;
		emitter_error("class %s: there are %d already", cls->name, LIMIT_CLASSES);
		return;
	}
	if (found < 0) {
		found = (int)emitter.class_count++;
		entry = &emitter.classes[found];
		snprintf(entry->name, sizeof entry->name, "%s", cls->name);
		snprintf(entry->help, sizeof entry->help, "%s", cls->help);
		entry->own_level = awaited_all.is_set ? awaited_all.level : cls->own_level;
		for (uint32_t i = 0; i < awaited_count; i++)
			if (!strcmp(awaited[i].name, cls->name)) {
				if (awaited[i].level != LEVEL_FOLLOW)
					entry->own_level = awaited[i].level;
				entry->limit.keep = awaited[i].keep;
				entry->limit.per_second = awaited[i].per_second;
			}
	}
	cls->id = (uint8_t)found;
	cls->reserved[0] = CLASS_REGISTERED;
}

void classes_begin(void)
{
#define CLASS(name, help, level) \
	if (telem_class_##name.reserved[0] == CLASS_NEW) \
		class_register(&telem_class_##name);
#include "protocol/classes.def"
#undef CLASS
}

/* NULL: no room. */
static struct awaited *await(const char *name)
{
	uint32_t i = 0;

	while (i < awaited_count && strcmp(awaited[i].name, name))
		i++;
	if (i == LIMIT_CLASSES)
		return NULL;
	if (i == awaited_count) {
		awaited_count++;
		awaited[i] = (struct awaited){ .level = LEVEL_FOLLOW };
		snprintf(awaited[i].name, sizeof awaited[i].name, "%s", name);
	}
	return &awaited[i];
}

void class_level_by_name(const char *name, uint8_t level)
{
	int found = class_find(name);
	struct awaited *wish = await(name);

	if (found >= 0)
		emitter.classes[found].own_level = level;
	if (wish)
		wish->level = level;
}

void class_limit_by_name(const char *name, uint32_t keep, uint64_t per_second)
{
	int found = class_find(name);
	struct awaited *wish = await(name);

	if (found >= 0)
		class_limit((uint32_t)found, keep, per_second);
	if (wish) {
		wish->keep = keep;
		wish->per_second = per_second;
	}
}

void class_limit(uint32_t id, uint32_t keep, uint64_t per_second)
{
	struct class_entry *entry = &emitter.classes[id];

	__atomic_store_n(&entry->limit.keep, keep, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->limit.per_second, per_second, __ATOMIC_RELAXED);
	entry->is_told = false;
}

void class_level_of_all(uint8_t level)
{
	for (uint32_t i = 0; i < emitter.class_count; i++)
		emitter.classes[i].own_level = level;
	awaited_all.is_set = true;
	awaited_all.level = level;
	for (uint32_t i = 0; i < awaited_count; i++)
		awaited[i].level = LEVEL_FOLLOW;
}

/* ---- sites ---- */

#define HASH_SLOTS (2u * LIMIT_EMITTER_SITES)

static uint32_t *hash_slots;         /* ids; 0: empty */

static uint32_t hash_of(uint8_t class_id, const struct telem_site *place)
{
	uint32_t hash = 2166136261u ^ class_id ^ (uint32_t)place->kind << 8 ^ (uint32_t)place->unit << 16 ^
			(uint32_t)place->detail << 24;

	for (const char *at = place->name; *at && at - place->name < LIMIT_NAME_BYTES - 1; at++)
		hash = (hash ^ (uint8_t)*at) * 16777619u;
	return hash;
}

static bool is_same(const struct site_entry *entry, uint8_t class_id, const struct telem_site *place)
{
	return entry->class_id == class_id && entry->kind == place->kind && entry->unit == place->unit &&
	       entry->detail == place->detail &&
	       !strncmp(entry->name, place->name, LIMIT_NAME_BYTES - 1);
}

static uint8_t level_in_force(const struct site_entry *entry, uint32_t id)
{
	int leased = lease_level(entry->class_id, id);

	if (!emitter_runs())
		return TELEM_OFF;
	if (leased >= 0)
		return (uint8_t)leased;
	return entry->own_level != LEVEL_FOLLOW ? entry->own_level : emitter.classes[entry->class_id].level;
}

static bool class_is_limited(uint32_t class_id)
{
	const struct class_limit *limit = &emitter.classes[class_id].limit;

	return limit->keep > 1 || limit->per_second;
}

static void place_level(struct telem_site *place, uint8_t level)
{
	__atomic_store_n(&place->level, level, __ATOMIC_RELAXED);
}

void site_renew(uint32_t id)
{
	struct site_entry *entry = &emitter.sites[id];
	uint8_t level = level_in_force(entry, id);

	if (level == TELEM_ALL && class_is_limited(entry->class_id))
		level |= TELEM_LIMITED_;
	/* Handlers are for every span. */
	if (handlers_wait_at(entry) && emitter_runs())
		level |= TELEM_HANDLED_;
	else if (level != TELEM_OFF && entry->kind == SITE_SPAN && entry->skip_mask)
		level |= TELEM_SAMPLED_;
	for (struct telem_site *place = entry->places; place; place = place_next(place)) {
		handlers_seal(entry, place);
		if (entry->kind == SITE_SPAN)
			__atomic_store_n(&place->skip_mask, entry->skip_mask, __ATOMIC_RELAXED);
		place_level(place, level);
	}
}

/* 0: no room. */
static uint32_t site_new(uint8_t class_id, const struct telem_site *place)
{
	struct site_entry *entry = &emitter.sites[emitter.site_count];

	if (emitter.site_count == LIMIT_EMITTER_SITES)
		return 0;
	*entry = (struct site_entry){ .class_id = class_id, .kind = place->kind, .unit = place->unit,
				      .detail = place->detail, .own_level = LEVEL_FOLLOW, .line = place->line };
	entry->name = string_copy(place->name, LIMIT_NAME_BYTES);
	entry->file = string_copy(place->file, LIMIT_PATH_BYTES);
	if (!entry->name || !entry->file)
		return 0;
	/* And its cells: of the ended, the shared, and the total. */
	emitter_use(sizeof *entry + 3 * CELL_BYTES);
	return emitter.site_count++;
}

static void site_register(struct telem_site *place, const struct telem_module_ *module)
{
	struct site_entry *entry;
	uint32_t slot, id;

	if (place->id)
		return;
	if (place->cls->reserved[0] == CLASS_NEW)
		class_register(place->cls);
	if (!emitter.sites) {
		emitter.sites = emitter_reserve(sizeof *emitter.sites * LIMIT_EMITTER_SITES);
		hash_slots = emitter_map(sizeof *hash_slots * HASH_SLOTS);
		emitter.site_count = 1;
	}
	if (!emitter.sites || !hash_slots || place->cls->reserved[0] == CLASS_REFUSED)
		return;
	for (slot = hash_of(place->cls->id, place) % HASH_SLOTS; (id = hash_slots[slot]); slot = (slot + 1) % HASH_SLOTS)
		if (is_same(&emitter.sites[id], place->cls->id, place))
			break;
	if (id == 0) {
		id = hash_slots[slot] = site_new(place->cls->id, place);
		if (id == 0) {
			emitter_error("site %s.%s: no room for more sites", place->cls->name, place->name);
			return;
		}
		emitter.sites[id].level = level_in_force(&emitter.sites[id], id);
		handlers_meet(&emitter.sites[id]);
	}
	entry = &emitter.sites[id];
	if (entry->kind == SITE_GAUGE)
		__atomic_store_n(&place->owner, &entry->owner, __ATOMIC_RELAXED);
	place->reserved[0] = (uintptr_t)entry->places;
	place->reserved[1] = (uintptr_t)module;
	entry->places = place;
	place->id = id;
	site_renew(id);
}

bool site_fields_are_known(const struct telem_site *place)
{
	return __atomic_load_n(&place->fields_known, __ATOMIC_RELAXED) != 0;
}

void site_fields(struct telem_site *place, const struct telem_field *fields, uint32_t field_count)
{
	struct site_entry *entry = &emitter.sites[place->id];

	emitter_lock();
	for (uint32_t i = 0; i < field_count; i++) {
		const char *known = i < entry->field_count ? entry->fields[i] : NULL;

		if (known && !strncmp(known, fields[i].name, LIMIT_NAME_BYTES - 1))
			continue;
		/* Another place has another field here: no name is better than a wrong one. */
		entry->fields[i] = known ? "?" : string_copy(fields[i].name, LIMIT_NAME_BYTES);
		if (!entry->fields[i])
			entry->fields[i] = "?";
		entry->is_told = false;
	}
	if (field_count > entry->field_count)
		entry->field_count = field_count;
	__atomic_store_n(&place->fields_known, 1, __ATOMIC_RELAXED);
	emitter_unlock();
}

void telem_module_enter_(struct telem_module_ *module)
{
	if (module->abi != TELEM_ABI_)
		return;
	emitter_lock();
	if (module->entered++ > 0) {
		emitter_unlock();
		return;
	}
	classes_begin();
	for (struct telem_class **cls = module->classes; cls < module->classes_end; cls++)
		if (*cls && (*cls)->reserved[0] == CLASS_NEW)
			class_register(*cls);
	for (struct telem_site **site = module->sites; site < module->sites_end; site++)
		if (*site)
			site_register(*site, module);
	levels_apply("program");
	emitter_unlock();
}

void telem_site_register_(struct telem_site *site, const struct telem_module_ *module)
{
	if (module->abi != TELEM_ABI_)
		return;
	emitter_lock();
	classes_begin();
	site_register(site, module);
	emitter_unlock();
}

void telem_module_leave_(struct telem_module_ *module)
{
	if (module->abi != TELEM_ABI_ || emitter_is_orphan())
		return;
	emitter_lock();
	if (--module->entered > 0) {
		emitter_unlock();
		return;
	}
	for (uint32_t id = 1; id < emitter.site_count; id++) {
		struct telem_site *place = emitter.sites[id].places, *next, *kept = NULL;

		for (; place; place = next) {
			next = place_next(place);
			if (place->reserved[1] == (uintptr_t)module) {
				place_level(place, TELEM_OFF);
			} else {
				place->reserved[0] = (uintptr_t)kept;
				kept = place;
			}
		}
		emitter.sites[id].places = kept;
	}
	emitter_unlock();
}

void site_register_own(struct telem_site *site)
{
	int saved = errno;

	/* Not where a signal handler has interrupted a slow path: the next time, then. */
	if (__atomic_load_n(&site->id, __ATOMIC_RELAXED) || thread_is_inside)
		return;
	emitter_lock();
	classes_begin();
	site_register(site, NULL);
	levels_apply("program");                /* its class may be new */
	emitter_unlock();
	errno = saved;
}

void own_count(struct telem_site *site)
{
	uint8_t level = telem_level_(site);

	if (level != TELEM_OFF)
		telem_count_(site, level, 1);
}

bool site_is_named(const struct site_entry *entry, const char *class_dot_name)
{
	const char *class_name = emitter.classes[entry->class_id].name;
	size_t length = strlen(class_name);

	return !strncmp(class_dot_name, class_name, length) && class_dot_name[length] == '.' &&
	       !strcmp(class_dot_name + length + 1, entry->name);
}

int site_find(const char *class_dot_name, unsigned kind)
{
	for (uint32_t id = 1; id < emitter.site_count; id++)
		if ((kind == 0 || emitter.sites[id].kind == kind) && site_is_named(&emitter.sites[id], class_dot_name))
			return (int)id;
	return -1;
}

/* ---- levels ---- */

void levels_apply(const char *by)
{
	for (uint32_t i = 0; i < emitter.class_count; i++) {
		struct class_entry *entry = &emitter.classes[i];
		int leased = lease_level((uint8_t)i, 0);
		uint8_t level = leased >= 0 ? (uint8_t)leased : entry->own_level;

		/* When telemetry stops, its last words are the levels that it had. */
		if (!emitter_runs() || level == entry->level)
			continue;
		entry->is_level_told = false;
		entry->level = level;
		entry->was_off |= level == TELEM_OFF;
		if (level == TELEM_OFF)
			samples_forget();
		snprintf(entry->level_by, sizeof entry->level_by, "%s", by);
	}
	for (uint32_t id = 1; id < emitter.site_count; id++) {
		struct site_entry *entry = &emitter.sites[id];
		uint8_t level = level_in_force(entry, id);

		site_renew(id);
		if (!emitter_runs() || level == entry->level)
			continue;
		entry->level = level;
		if (entry->own_level != LEVEL_FOLLOW || lease_is_of_site(id))
			entry->is_level_told = false;
	}
	snprintf(emitter.level_by, sizeof emitter.level_by, "%s", by);
	flusher_wake();
}

int telem_class_level(struct telem_class *cls, enum telem_level level)
{
	int saved = errno;

	if (level > TELEM_ALL)
		return -EINVAL;
	emitter_lock();
	classes_begin();
	if (cls->reserved[0] == CLASS_NEW)
		class_register(cls);
	if (cls->reserved[0] == CLASS_REGISTERED) {
		emitter.classes[cls->id].own_level = (uint8_t)level;
		emitter.classes[cls->id].is_level_told = false;
	}
	levels_apply("program");
	emitter_unlock();
	errno = saved;
	return 0;
}

int telem_level_set(const char *name, enum telem_level level)
{
	int saved = errno, cls, site = -1;

	if (level > TELEM_ALL)
		return -EINVAL;
	emitter_lock();
	classes_begin();
	cls = class_find(name);
	if (cls < 0)
		site = site_find(name, 0);
	if (cls >= 0) {
		emitter.classes[cls].own_level = (uint8_t)level;
		emitter.classes[cls].is_level_told = false;
	}
	if (site >= 0) {
		emitter.sites[site].own_level = (uint8_t)level;
		emitter.sites[site].is_level_told = false;
	}
	levels_apply("program");
	emitter_unlock();
	errno = saved;
	return cls < 0 && site < 0 ? -ENOENT : 0;
}

int telem_level_get(const char *name)
{
	int cls, site, level = -ENOENT, saved = errno;

	emitter_lock();
	classes_begin();
	cls = class_find(name);
	site = cls < 0 ? site_find(name, 0) : -1;
	if (cls >= 0)
		level = emitter.classes[cls].level;
	else if (site >= 0)
		level = emitter.sites[site].level;
	if (level > TELEM_OFF && !emitter_runs())
		level = TELEM_OFF;
	emitter_unlock();
	errno = saved;
	return level;
}

void telem_enable_all(bool on)
{
	int saved = errno;

	emitter_lock();
	classes_begin();
	for (uint32_t i = 0; i < emitter.class_count; i++) {
		emitter.classes[i].own_level = on ? TELEM_ALL : TELEM_OFF;
		emitter.classes[i].is_level_told = false;
	}
	levels_apply("program");
	emitter_unlock();
	errno = saved;
}

int telem_class_limit(const char *name, uint32_t keep_one_in, uint64_t per_second)
{
	int saved = errno;

	if (!name || !*name || strlen(name) >= LIMIT_NAME_BYTES)
		return -EINVAL;
	emitter_lock();
	classes_begin();
	class_limit_by_name(name, keep_one_in, per_second);
	levels_apply("program");
	emitter_unlock();
	errno = saved;
	return 0;
}

int site_every(uint32_t id, uint32_t n)
{
	uint32_t mask = 0;

	/* A frame is timed by itself. */
	if (emitter.sites[id].kind != SITE_SPAN || emitter.sites[id].detail == SPAN_IS_FRAME)
		return -ENOENT;
	if (n == 0 || n > LIMIT_SPAN_EVERY)
		return -EINVAL;
	while (mask + 1 < n)
		mask = mask * 2 + 1;
	emitter.sites[id].skip_mask = mask;
	emitter.sites[id].is_told = false;
	return 0;
}

int telem_span_every(const char *class_dot_name, uint32_t n)
{
	int saved = errno, id, result = -ENOENT;

	emitter_lock();
	classes_begin();
	id = class_dot_name ? site_find(class_dot_name, SITE_SPAN) : -1;
	if (id >= 0)
		result = site_every((uint32_t)id, n);
	levels_apply("program");
	emitter_unlock();
	errno = saved;
	return result;
}
