/* reporter.h -- the list of reporters: functions of the program that return a value.
 *
 * The list only grows; the entry of a removed reporter is used again by the next reporter of its path. Changes are
 * under the emitter's lock; the flusher walks the list without it. */
#ifndef TELEM_EMITTER_DELIVER_REPORTER_H
#define TELEM_EMITTER_DELIVER_REPORTER_H

#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/limits.h"

struct reporter {
	struct reporter *next;
	char path[LIMIT_NAME_BYTES];
	enum telem_reporter_kind kind;
	telem_reporter_fn *function; /* NULL when removed; of a provider it is reporter_provides() */
	telem_provider_fn *provide;  /* the function of a provider, which has no value of its own */
	void *arg;
	int64_t value;               /* the latest value that was returned without a failure */
	int64_t said;                /* the value of reporter_say(), for a path that is not asked */
	struct telem_site site;
};

/* The class is not exported, because a program may define a class of that name, which is then the same class. */
extern struct telem_class telem_class_reports_ __attribute__((visibility("hidden")));

/* Returns the first reporter of the list. Locked. */
struct reporter *reporter_first(void);
/* Finds a reporter by its path, or returns NULL. Locked. */
struct reporter *reporter_find(const char *path);
/* Stands in the place of a provider's function, which is called with its own argument. */
int reporter_provides(void *reporter, int64_t *value);
/* Sets the value of a path of the emitter's own, whose reporter is made at the first call. cls NULL means class report.
 * Not locked. */
void reporter_say(struct telem_class *cls, const char *path, enum telem_unit unit, int64_t value);
#endif
