/* control.h -- what a viewer may ask, and the levels viewers hold. */
#ifndef TELEM_EMITTER_CONTROL_H
#define TELEM_EMITTER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink;

/* The level a viewer holds for a class (site 0) or a site: the latest lease; -1: none. Locked. */
int lease_level(uint8_t class_id, uint32_t site);
bool lease_is_of_site(uint32_t site);
uint32_t lease_count(uint8_t class_id);
/* The viewer is gone: what it held returns. Locked. */
void leases_drop(const struct sink *sink);
void leases_forget(void);

/* How many bytes to read at once: not more requests than are answered in a second. */
size_t control_room(const struct sink *sink);
/* Bytes that came from a viewer. False: it talks nonsense, close it. By the flusher. */
bool control_bytes(struct sink *sink, const uint8_t *bytes, size_t count, uint64_t now_ns);
#endif
