/* map.h -- ids to positions: a hash table that only grows, bounded by its user. */
#ifndef TELEM_MONITOR_MODEL_MAP_H
#define TELEM_MONITOR_MODEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct map {
	struct map_slot { uint64_t key; uint32_t value; bool is_used; } *slots;    /* own */
	uint32_t slot_count, used_count;
};

void map_fini(struct map *map);
/* The value of a key, or UINT32_MAX. */
uint32_t map_get(const struct map *map, uint64_t key);
/* Adds or replaces. False when memory is out. */
bool map_put(struct map *map, uint64_t key, uint32_t value);
void map_remove(struct map *map, uint64_t key);
bool map_copy(struct map *out, const struct map *map);
#endif
