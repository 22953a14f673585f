/* happening.h -- the names of events to which handlers are, or were, attached.
 *
 * Names are never freed: there are as many as the program has written down. They change under the
 * emitter's lock; any thread may look for one without it. */
#ifndef TELEM_EMITTER_RECORD_HAPPENING_H
#define TELEM_EMITTER_RECORD_HAPPENING_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"

struct handler_set;

struct happening {
	struct happening *next;      /* the next one with the same hash */
	struct handler_set *set;     /* NULL while no handler is attached; atomic */
	char name[2 * LIMIT_NAME_BYTES];     /* "class.name" */
};

/* Finds a name; NULL when no handler was ever attached to it. Any thread may call this, without the lock. */
struct happening *happening_find(const char *name);
/* Finds a name or makes it; NULL when memory is out or there are LIMIT_HANDLER_NAMES. Call with the lock held. */
struct happening *happening_make(const char *name);
/* Returns the name after this one, the first for NULL, and NULL after the last. Call with the lock held. */
struct happening *happening_next(const struct happening *happening);
uint32_t happening_count(void);
/* Whether telem_persist() is in force. Places then hold a pointer to their set of handlers. Read and written with
 * the lock held. */
extern bool happenings_are_sealed __attribute__((visibility("hidden")));
#endif
