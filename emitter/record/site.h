/* site.h -- the table of sites: places of the same class, kind, unit, detail and name are one site.
 *
 * A site may have several places in the program's source; place.h registers these. Names are copied, because the
 * module that has them may be unloaded. All of this is under the emitter's lock, except where a field says
 * otherwise. */
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
	struct telem_site *places;   /* the site's places, linked by place_next() */
	uint8_t class_id, kind, unit, detail;
	uint8_t own_level;           /* LEVEL_NONE when the site follows its class */
	uint8_t leased_level;        /* what a viewer holds, or LEVEL_NONE; set by deliver/lease.c */
	uint8_t level;               /* in force */
	bool was_off;                /* since the start: the sums of an allocation type then have a gap */
	bool is_sent, is_level_sent;
	uint32_t skip_mask;          /* one event in skip_mask + 1 is timed; set for spans by site_every() */
	struct telem_site *lifetime; /* of an allocation type: the lifetimes of its samples; atomic */
	const char *name, *file;     /* copies */
	uint32_t line, field_count;
	uint32_t owner;              /* the shard that set the gauge last, or 0; written by threads that record */
	/* Of the gauge of a reporter: how often it returned a value, how often at the last tick, and the latest value,
	 * which belongs to no task. */
	uint64_t asked_count, previous_asked_count;
	int64_t asked_value;
	const char *fields[LIMIT_FIELDS];
	struct happening *happening; /* the handlers of its name, or NULL; atomic */
};

extern struct site_table {
	struct site_entry *rows;     /* [room], from 1; a row's index is the site's id */
	uint32_t room;               /* LIMIT_EMITTER_SITES, or fewer where memory is limited */
	uint32_t count;              /* the highest id + 1 */
} site_table __attribute__((visibility("hidden")));

/* Makes the table when there is none. Returns false when memory is out. Call with the lock held. */
bool sites_begin(void);
/* Leaves room for so many sites only, because something else has no place for more. Returns false when there are more. */
bool sites_shrink(uint32_t room);

static inline bool site_kind_has_handlers(unsigned kind)
{
	return kind == SITE_SPAN || kind == SITE_LATENCY || kind == SITE_EVENT;
}

/* Returns the next place of the same site. telem_site.reserved[0] links them. */
static inline struct telem_site *place_next(const struct telem_site *place)
{
	return (struct telem_site *)(uintptr_t)place->reserved[0];
}

/* Returns the id of the site to which a place belongs. When there is no such site, it is made and *is_new set; 0 means
 * that there is no room. The place's class must be registered. */
uint32_t site_of(const struct telem_site *place, bool *is_new);
/* Finds a site by "class.name" and kind, or any kind when that is 0. Returns its id or -1. */
int site_find(const char *class_dot_name, unsigned kind);
bool site_is_named(const struct site_entry *site, const char *class_dot_name);
/* Makes one span in n timed. Returns 0, -ENOENT when the site is not a span, or -EINVAL. */
int site_every(uint32_t id, uint32_t n);
/* Returns a copy of a name, cut to most - 1 bytes, which is never freed; NULL when there is no room. */
const char *site_text(const char *string, uint32_t most);
#endif
