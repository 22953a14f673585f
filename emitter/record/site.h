/* site.h -- the table of sites: everything of one class, kind, unit, detail and name is one site.
 *
 * A site may stand at several places in the program's source; place.h registers these. Names are
 * copied, because the module that has them may be unloaded. Under the emitter's lock, except
 * where a field says otherwise. */
#ifndef TELEM_EMITTER_RECORD_SITE_H
#define TELEM_EMITTER_RECORD_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"
#include "emitter/record/class.h"
#include "emitter/record/happening.h"
#include "protocol/limits.h"
#include "protocol/message.h"

struct site_entry {
	struct telem_site *places;   /* all that are this site, linked by place_next() */
	uint8_t class_id, kind, unit, detail;
	uint8_t own_level;           /* LEVEL_NONE: the class's */
	uint8_t leased_level;        /* what a viewer holds, or LEVEL_NONE; set by whoever keeps the leases */
	uint8_t level;               /* in force */
	bool is_sent, is_level_sent;
	uint32_t skip_mask;          /* one in skip_mask + 1 is timed; for spans a setting */
	struct telem_site *lifetime; /* of an allocation's type: the latency of its sampled ones; atomic */
	const char *name, *file;     /* copies */
	uint32_t line, field_count;
	uint32_t owner;              /* the shard that set a gauge last, or 0; written by producers */
	/* Of a reporter: how often it gave a value, how often at the last tick, and the latest
	 * value, which belongs to no task. */
	uint64_t asked_count, previous_asked_count;
	int64_t asked_value;
	const char *fields[LIMIT_FIELDS];
	struct happening *happening; /* the handlers of its name, or NULL; atomic */
};

extern struct site_table {
	struct site_entry *rows;     /* [LIMIT_EMITTER_SITES], from 1; a row's index is the site's id */
	uint32_t count;              /* the highest id + 1 */
} site_table __attribute__((visibility("hidden")));

static inline bool site_kind_has_handlers(unsigned kind)
{
	return kind == SITE_SPAN || kind == SITE_LATENCY || kind == SITE_EVENT;
}

/* The other places of a site: telem_site.reserved[0] links them. */
static inline struct telem_site *place_next(const struct telem_site *place)
{
	return (struct telem_site *)(uintptr_t)place->reserved[0];
}

/* The id of the site that a place is, made if need be, which sets *is_new; 0: there is no room.
 * The place's class must be registered. */
uint32_t site_of(const struct telem_site *place, bool *is_new);
/* By "class.name" and kind, 0: any. -1 when there is none. */
int site_find(const char *class_dot_name, unsigned kind);
bool site_is_named(const struct site_entry *site, const char *class_dot_name);
/* Sets that a span is timed once in n. -ENOENT: it is no span; -EINVAL. */
int site_every(uint32_t id, uint32_t n);
/* A copy of a name that is never freed, cut to most - 1 bytes; NULL: no room. */
const char *site_text(const char *string, uint32_t most);
#endif
