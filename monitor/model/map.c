#include "monitor/model/map.h"

#include <stdlib.h>
#include <string.h>

/* Mixes all bits of a key (finaliser of MurmurHash3), because ids that follow each other would fill neighbouring
 * slots. */
static uint32_t slot_of(const struct map *map, uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdull;
	key ^= key >> 33;
	return (uint32_t)key & (map->slot_count - 1);
}

void map_fini(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}

static struct map_slot *find(const struct map *map, uint64_t key)
{
	if (map->slot_count == 0)
		return NULL;
	for (uint32_t at = slot_of(map, key); map->slots[at].is_used; at = (at + 1) & (map->slot_count - 1))
		if (map->slots[at].key == key)
			return &map->slots[at];
	return NULL;
}

uint32_t map_get(const struct map *map, uint64_t key)
{
	const struct map_slot *slot = find(map, key);

	return slot ? slot->value : UINT32_MAX;
}

static void insert(struct map *map, uint64_t key, uint32_t value)
{
	uint32_t at = slot_of(map, key);

	while (map->slots[at].is_used)
		at = (at + 1) & (map->slot_count - 1);
	map->slots[at] = (struct map_slot){ key, value, true };
	map->used_count++;
}

bool map_put(struct map *map, uint64_t key, uint32_t value)
{
	struct map_slot *slot = find(map, key);

	if (slot) {
		slot->value = value;
		return true;
	}
	if (map->used_count * 2 >= map->slot_count) {
		struct map larger = { .slot_count = map->slot_count ? map->slot_count * 2 : 64 };

		larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
		if (!larger.slots)
			return false;
		for (uint32_t i = 0; i < map->slot_count; i++)
			if (map->slots[i].is_used)
				insert(&larger, map->slots[i].key, map->slots[i].value);
		free(map->slots);
		*map = larger;
	}
	insert(map, key, value);
	return true;
}

void map_remove(struct map *map, uint64_t key)
{
	struct map_slot *slot = find(map, key);
	uint32_t at;

	if (!slot)
		return;
	slot->is_used = false;
	map->used_count--;
	/* The keys in the slots behind it may have been put there because their own slot was taken: insert them
	 * again. */
	for (at = ((uint32_t)(slot - map->slots) + 1) & (map->slot_count - 1); map->slots[at].is_used;
	     at = (at + 1) & (map->slot_count - 1)) {
		struct map_slot moved = map->slots[at];

		map->slots[at].is_used = false;
		map->used_count--;
		insert(map, moved.key, moved.value);
	}
}

bool map_copy(struct map *out, const struct map *map)
{
	*out = *map;
	if (map->slot_count == 0)
		return true;
	out->slots = malloc(map->slot_count * sizeof *out->slots);
	if (out->slots)
		memcpy(out->slots, map->slots, map->slot_count * sizeof *out->slots);
	return out->slots != NULL;
}
