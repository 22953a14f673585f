/* control.h -- what a viewer may ask, and the levels viewers hold. */
#ifndef TELEM_EMITTER_CONTROL_H
#define TELEM_EMITTER_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct sink;

/* The level a viewer holds for a class (site 0) or a site: the latest lease; -1: none. Locked. */
int lease_level(uint8_t class_id, uint32_t site);
bool lease_is_of_site(uint32_t site);
uint32_t lease_count(uint8_t class_id);
/* The viewer is gone: what it held returns. Locked. */
void leases_drop(const struct sink *sink);
void leases_forget(void);

/* CLOSED: the viewer's end is, or the way is broken. */
enum control_result { CONTROL_FINE, CONTROL_CLOSED, CONTROL_NONSENSE };
/* Reads what a viewer asks, and answers: not more requests at once than in a second. By the flusher. */
enum control_result control_read(struct sink *sink, int fd, uint64_t now_ns);
#endif
