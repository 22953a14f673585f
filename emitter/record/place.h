/* place.h -- the places in the program's source where sites stand, and their registration.
 *
 * Modules hand over their classes and places when they are loaded, and take them back when they
 * are unloaded. */
#ifndef TELEM_EMITTER_RECORD_PLACE_H
#define TELEM_EMITTER_RECORD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"

/* A site of the emitter's own; its level is 0 while it cannot be registered. Not locked. */
#define OWN_SITE(cls, kind, unit, detail, name)                                                  \
	__extension__({                                                                          \
		static struct telem_site own_site_ = TELEM_SITE_INIT_(cls, kind, unit, detail, name);    \
		place_register_own(&own_site_);                                                  \
		&own_site_;                                                                      \
	})
void place_register_own(struct telem_site *place);
/* The names of an event's fields, at a place's first time at level all. Takes the lock. */
bool place_has_fields(const struct telem_site *place);
void place_fields(struct telem_site *place, const struct telem_field *fields, uint32_t field_count);
/* A new name has handlers: the sites that are called so point to it from now on. Locked. */
struct happening;
void places_meet(struct happening *happening);
#endif
