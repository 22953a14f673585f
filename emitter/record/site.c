#include "emitter/record/site.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "emitter/core/memory.h"
#include "emitter/record/shard.h"
#include "protocol/name.h"

struct site_table site_table;

#define HASH_SLOTS (2u * LIMIT_EMITTER_SITES)

static uint32_t *hash_slots;         /* ids; 0: empty */
static uint32_t strings_used;        /* bytes of all copies */

const char *site_text(const char *string, uint32_t most)
{
	uint32_t length = (uint32_t)strnlen(string, most - 1);
	char *copy = strings_used + length + 1 <= LIMIT_STRINGS_BYTES ? memory_keep(length + 1) : NULL;

	if (copy)
		memcpy(copy, string, length);
	strings_used += copy ? length + 1 : 0;
	return copy;
}

/* name is the place's, cut. */
static uint32_t hash_of(uint8_t class_id, const struct telem_site *place, const char *name)
{
	return name_hash(name, NAME_HASH ^ class_id ^ (uint32_t)place->kind << 8 ^ (uint32_t)place->unit << 16 ^
				       (uint32_t)place->detail << 24);
}

static bool is_same(const struct site_entry *entry, uint8_t class_id, const struct telem_site *place, const char *name)
{
	return entry->class_id == class_id && entry->kind == place->kind && entry->unit == place->unit &&
	       entry->detail == place->detail &&
	       !strcmp(entry->name, name);
}

/* Returns 0 when there is no room. */
static uint32_t add(uint8_t class_id, const struct telem_site *place, const char *name)
{
	struct site_entry *entry = &site_table.rows[site_table.count];

	if (site_table.count == site_table.room)
		return 0;
	*entry = (struct site_entry){ .class_id = class_id, .kind = place->kind, .unit = place->unit,
				      .detail = place->detail, .own_level = LEVEL_NONE, .leased_level = LEVEL_NONE,
				      .line = place->line, .was_off = class_table.rows[class_id].was_off };
	entry->name = site_text(name, LIMIT_NAME_BYTES);
	entry->file = site_text(place->file, LIMIT_PATH_BYTES);
	if (!entry->name || !entry->file)
		return 0;
	/* Each site also has a cell in shard_ended and in shard_shared, and one in the totals. */
	memory_use(sizeof *entry + 3 * CELL_BYTES);
	return site_table.count++;
}

bool sites_begin(void)
{
	if (!site_table.rows) {
		site_table.room = LIMIT_EMITTER_SITES;
		site_table.rows = memory_reserve_most(sizeof *site_table.rows, &site_table.room, LIMIT_EMITTER_SITES_MIN);
		site_table.count = 1;
	}
	if (!hash_slots)
		hash_slots = memory_map(sizeof *hash_slots * HASH_SLOTS);
	return site_table.rows && hash_slots;
}

bool sites_shrink(uint32_t room)
{
	if (room < site_table.count)
		return false;
	site_table.room = room;
	return true;
}

uint32_t site_of(const struct telem_site *place, bool *is_new)
{
	uint8_t class_id = place->cls->id;
	char name[LIMIT_NAME_BYTES];
	uint32_t slot, id;

	*is_new = false;
	if (!sites_begin())
		return 0;
	name_copy(name, sizeof name, place->name);
	for (slot = hash_of(class_id, place, name) % HASH_SLOTS; (id = hash_slots[slot]); slot = (slot + 1) % HASH_SLOTS)
		if (is_same(&site_table.rows[id], class_id, place, name))
			return id;
	id = hash_slots[slot] = add(class_id, place, name);
	assert(id < LIMIT_EMITTER_SITES);
	*is_new = id != 0;
	return id;
}

bool site_is_named(const struct site_entry *entry, const char *class_dot_name)
{
	const char *class_name = class_table.rows[entry->class_id].name;
	size_t length = strlen(class_name);

	return !strncmp(class_dot_name, class_name, length) && class_dot_name[length] == '.' &&
	       !strcmp(class_dot_name + length + 1, entry->name);
}

int site_find(const char *class_dot_name, unsigned kind)
{
	for (uint32_t id = 1; id < site_table.count; id++)
		if ((kind == 0 || site_table.rows[id].kind == kind) &&
		    site_is_named(&site_table.rows[id], class_dot_name))
			return (int)id;
	return -1;
}

int site_every(uint32_t id, uint32_t n)
{
	uint32_t mask = 0;

	/* Each frame is timed, because it is checked against a budget. */
	if (site_table.rows[id].kind != SITE_SPAN || site_table.rows[id].detail == SPAN_IS_FRAME)
		return -ENOENT;
	if (n == 0 || n > LIMIT_SPAN_EVERY)
		return -EINVAL;
	while (mask + 1 < n)
		mask = mask * 2 + 1;
	site_table.rows[id].skip_mask = mask;
	site_table.rows[id].is_sent = false;
	return 0;
}
