/* reporter.h -- the list of reporters: functions of the program that return a value.
 *
 * The list only grows; the entry of a removed reporter is used again by the next reporter of its path. Changes are
 * under the emitter's lock; the flusher walks the list without it. */
#ifndef TELEM_EMITTER_DELIVER_REPORTER_H
#define TELEM_EMITTER_DELIVER_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/limits.h"

struct reporter {
	struct reporter *next;
	char path[LIMIT_NAME_BYTES];
	enum telem_reporter_kind kind;
	/* NULL when removed; reporter_provides() when this is a provider; nobody() when reporter_say() sets the value. */
	telem_reporter_fn *function;
	telem_provider_fn *provide;  /* the function of a provider, which has no value of its own */
	void *arg;
	int64_t value;               /* the latest value that was returned without a failure */
	uint64_t cost_ns;            /* what a call takes of the processor, on average; 0 before the first */
	uint64_t asked_ns;           /* when that was */
	struct telem_site site;
};

/* The class is not exported, because a program may define a class of that name, which is then the same class. */
extern struct telem_class telem_class_reports_ __attribute__((visibility("hidden")));

/* Returns the first reporter of the list. Call with the lock held. */
struct reporter *reporter_first(void);
/* Finds a reporter by its path, or returns NULL. Call with the lock held. */
struct reporter *reporter_find(const char *path);
/* The function of a reporter that is a provider: it calls the provider's own function with the provider's argument. */
int reporter_provides(void *reporter, int64_t *value);
/* Returns whether the reporter has a function to ask: it was not removed, and its value is not set by reporter_say().
 * Call with the lock held. */
bool reporter_is_asked(const struct reporter *reporter);
/* Sets the value of a site, unless the site is off. Call without the lock. */
void reporter_set(const struct telem_site *site, int64_t value);
/* Makes one of the emitter's own paths, of class report, that is off until a viewer or the program wants it. */
void reporter_offer(const char *path, enum telem_unit unit);
/* Returns whether a path is there, was not removed and is not off. Call without the lock. */
bool reporter_is_wanted(const char *path);
/* Sets the value of one of the emitter's own paths, and makes the path's reporter at the first call. cls NULL means
 * class report. Call without the lock. */
void reporter_say(struct telem_class *cls, const char *path, enum telem_unit unit, int64_t value);
#endif
