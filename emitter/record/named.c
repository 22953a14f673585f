#include "emitter/record/named.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/api.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/record/place.h"
#include "emitter/record/site.h"
#include "emitter/record/thread.h"
#include "protocol/name.h"

/* Half of the slots are used at most, so that a look-up rarely meets another name. */
#define SLOTS (4 * LIMIT_NAMED_SITES)
static_assert((SLOTS & (SLOTS - 1)) == 0, "the number of slots is a power of two");

/* A site and its names, of which the site has copies too. It is never freed, for the program keeps the site. */
struct named {
	struct telem_site site;
	struct telem_class *cls;
	uint32_t kind, unit;
	char name[LIMIT_NAME_BYTES];
};

static struct named **slots;         /* atomic; a slot is written once, with the lock held */
static uint32_t named_count;         /* with the lock held */
/* A site of this class is registered by name, so that a program can name its classes at run time too. */
static struct telem_class *classes[LIMIT_CLASSES];
static uint32_t class_count;
/* Stands in for a site that cannot be made. Its level is never set. */
static struct telem_site nowhere = { .cls = &telem_class_telem, .name = "", .file = "" };

#define OTHERS "(others)"

static struct named *find(const char *cls, uint32_t kind, uint32_t unit, const char *name, uint32_t *slot)
{
	struct named **all = __atomic_load_n(&slots, __ATOMIC_ACQUIRE), *named;
	uint32_t at = name_hash(name, name_hash(cls, NAME_HASH ^ kind ^ unit << 16)) % SLOTS;

	for (; all && (named = __atomic_load_n(&all[at], __ATOMIC_ACQUIRE)); at = (at + 1) % SLOTS)
		if (named->kind == kind && named->unit == unit && !strcmp(named->name, name) &&
		    !strcmp(named->cls->name, cls))
			return named;
	*slot = at;
	return NULL;
}

/* Finds the class of this name, or makes it. */
static struct telem_class *class_named(const char *name)
{
	struct { struct telem_class cls; char name[LIMIT_NAME_BYTES]; } *made;

	for (uint32_t i = 0; i < class_count; i++)
		if (!strcmp(classes[i]->name, name))
			return classes[i];
	made = class_count < LIMIT_CLASSES ? memory_keep(sizeof *made) : NULL;
	if (!made)
		return NULL;
	name_copy(made->name, sizeof made->name, name);
	made->cls = (struct telem_class){ .name = made->name, .help = "", .own_level = TELEM_SUM };
	return classes[class_count++] = &made->cls;
}

static struct named *make(struct telem_class *cls, uint32_t kind, uint32_t unit, const char *name, uint32_t slot)
{
	struct named *named = memory_keep(sizeof *named);

	if (!named)
		return NULL;
	*named = (struct named){ .cls = cls, .kind = kind, .unit = unit };
	name_copy(named->name, sizeof named->name, name);
	named->site = (struct telem_site){ .kind = kind & 0xff, .unit = (uint8_t)unit, .detail = (uint8_t)(kind >> 8),
					   .cls = cls, .name = named->name, .file = "" };
	place_register_locked(&named->site);
	__atomic_store_n(&slots[slot], named, __ATOMIC_RELEASE);
	return named;
}

/* Call with the lock held. Beyond LIMIT_NAMED_SITES names share a site for each class and kind. */
static struct named *find_or_make(const char *cls_name, uint32_t kind, uint32_t unit, const char *name)
{
	struct telem_class *cls;
	uint32_t slot;
	struct named *named;

	if (!slots)
		__atomic_store_n(&slots, memory_map(SLOTS * sizeof *slots), __ATOMIC_RELEASE);
	named = find(cls_name, kind, unit, name, &slot);
	if (named || !slots)
		return named;
	if (named_count >= LIMIT_NAMED_SITES) {
		name = OTHERS;
		named = find(cls_name, kind, unit, name, &slot);
		if (named || named_count >= 2 * LIMIT_NAMED_SITES)
			return named;
	}
	cls = class_named(cls_name);
	named = cls ? make(cls, kind, unit, name, slot) : NULL;
	named_count += named != NULL;
	return named;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct telem_site *telem_log_site(const char *file, int line, enum telem_severity severity)
{
	char name[LIMIT_NAME_BYTES];

	snprintf(name, sizeof name, "%s:%d", file_name(file), line);
	return telem_site_new(telem_class_log.name, (enum telem_kind)(TELEM_KIND_LOG_ | (unsigned)severity << 8), TELEM_NONE,
			      name);
}

void name_by_place(struct telem_site *place)
{
	char name[LIMIT_NAME_BYTES];
	int length = snprintf(name, sizeof name, "%s:%u", file_name(place->file), (unsigned)place->line);
	char *kept = length > 0 && length < LIMIT_NAME_BYTES ? memory_keep((size_t)length + 1) : NULL;

	if (kept)
		place->name = strcpy(kept, name);
}

struct telem_site *telem_site_new(const char *cls, enum telem_kind kind, enum telem_unit unit, const char *name)
{
	int saved = errno;
	char short_cls[LIMIT_NAME_BYTES], short_name[LIMIT_NAME_BYTES];
	struct named *named;
	uint32_t slot;

	/* What takes time is a time, and what takes memory is bytes. */
	if ((kind & 0xff) == TELEM_KIND_SPAN_ || (kind & 0xff) == TELEM_KIND_LATENCY_)
		unit = TELEM_NS;
	if ((kind & 0xff) == TELEM_KIND_ALLOC_ || (kind & 0xff) == TELEM_KIND_TAG_) {
		unit = TELEM_BYTES;
		cls = telem_class_mem.name;
	}
	if (strnlen(cls, LIMIT_NAME_BYTES) == LIMIT_NAME_BYTES || strnlen(name, LIMIT_NAME_BYTES) == LIMIT_NAME_BYTES) {
		name_copy(short_cls, sizeof short_cls, cls);
		name_copy(short_name, sizeof short_name, name);
		cls = short_cls;
		name = short_name;
	}
	named = find(cls, kind, unit, name, &slot);
	if (!named && !thread_is_inside) {
		lock_take();
		named = find_or_make(cls, kind, unit, name);
		lock_release();
	}
	errno = saved;
	return named ? &named->site : &nowhere;
}
