#include "emitter/record/happening.h"

#include <stdio.h>
#include <string.h>

#include "emitter/core/memory.h"
#include "protocol/name.h"

#define NAME_SLOTS 1024u

static struct happening *slots[NAME_SLOTS];
static uint32_t name_count;
bool happenings_are_sealed;

static uint32_t slot_of(const char *name)
{
	return name_hash(name, NAME_HASH) % NAME_SLOTS;
}

struct happening *happening_find(const char *name)
{
	struct happening *happening = __atomic_load_n(&slots[slot_of(name)], __ATOMIC_ACQUIRE);

	while (happening && strcmp(happening->name, name))
		happening = happening->next;
	return happening;
}

struct happening *happening_make(const char *name)
{
	struct happening *happening = happening_find(name), **slot = &slots[slot_of(name)];

	if (happening)
		return happening;
	if (name_count == LIMIT_HANDLER_NAMES)
		return NULL;
	happening = memory_keep(sizeof *happening);
	if (!happening)
		return NULL;
	name_count++;
	snprintf(happening->name, sizeof happening->name, "%s", name);
	happening->next = *slot;
	__atomic_store_n(slot, happening, __ATOMIC_RELEASE);
	return happening;
}

struct happening *happening_next(const struct happening *happening)
{
	uint32_t slot = happening ? slot_of(happening->name) + 1 : 0;

	if (happening && happening->next)
		return happening->next;
	while (slot < NAME_SLOTS && !slots[slot])
		slot++;
	return slot < NAME_SLOTS ? slots[slot] : NULL;
}

uint32_t happening_count(void)
{
	return name_count;
}
