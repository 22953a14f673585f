/* map.h -- finds a position by its id: a hash table that only grows, and whose user bounds it. */
#ifndef TELEM_MONITOR_MODEL_MAP_H
#define TELEM_MONITOR_MODEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct map {
	struct map_slot { uint64_t key; uint32_t value; bool is_used; } *slots;    /* own */
	uint32_t slot_count, used_count;     /* slot_count is a power of two */
};

void map_fini(struct map *map);
/* The value of a key; UINT32_MAX when the key is not there. */
uint32_t map_get(const struct map *map, uint64_t key);
/* Adds a key or replaces its value. Returns false when memory is out. */
bool map_put(struct map *map, uint64_t key, uint32_t value);
/* Does nothing when the key is not there. */
void map_remove(struct map *map, uint64_t key);
/* Returns false when memory is out; *out may then only be given to map_fini(). */
bool map_copy(struct map *out, const struct map *map);
#endif
