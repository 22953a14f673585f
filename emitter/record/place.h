/* place.h -- the places in the program's source where sites are, and their registration.
 *
 * A module (the program or a shared object) registers its classes and places when it is loaded, and removes them
 * when it is unloaded. */
#ifndef TELEM_EMITTER_RECORD_PLACE_H
#define TELEM_EMITTER_RECORD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"

/* A site of the emitter's own; its level is 0 while it cannot be registered. Call without the lock. */
#define OWN_SITE(cls, kind, unit, detail, name)                                                  \
	__extension__({                                                                          \
		static struct telem_site own_site_ = TELEM_SITE_INIT_(cls, kind, unit, detail, name);    \
		place_register_own(&own_site_);                                                  \
		&own_site_;                                                                      \
	})
void place_register_own(struct telem_site *place);
/* The same. Call with the lock held. */
void place_register_locked(struct telem_site *place);
/* Registers the names of an event's fields, when its place is first at level all. Takes the lock. */
bool place_has_fields(const struct telem_site *place);
void place_fields(struct telem_site *place, const struct telem_field *fields, uint32_t field_count);
/* Called when a name gets its first handler: makes the sites of that name point to it. Call with the lock held. */
struct happening;
void places_meet(struct happening *happening);
#endif
