/* happening.h -- the names of events that handlers are, or were, attached to.
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
	struct happening *next;      /* with the same hash */
	struct handler_set *set;     /* NULL: none is attached now; atomic */
	char name[2 * LIMIT_NAME_BYTES];     /* "class.name" */
};

/* NULL: no handler was ever attached to it. Any thread, not locked. */
struct happening *happening_find(const char *name);
/* The same, made if need be; NULL: no memory, or there are LIMIT_HANDLER_NAMES. Locked. */
struct happening *happening_make(const char *name);
/* Each of them: the first after NULL, NULL after the last. Locked. */
struct happening *happening_next(const struct happening *happening);
uint32_t happening_count(void);
/* Does telem_persist() hold? Then places keep a pointer to their set of handlers. Locked. */
extern bool happenings_are_sealed __attribute__((visibility("hidden")));
#endif
