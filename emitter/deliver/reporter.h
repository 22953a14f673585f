/* reporter.h -- the list of reporters: functions of the program that know a value.
 *
 * The list only grows; the place of a removed reporter is free for another of its path. Under the
 * emitter's lock; whoever asks walks it without. */
#ifndef TELEM_EMITTER_DELIVER_REPORTER_H
#define TELEM_EMITTER_DELIVER_REPORTER_H

#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/limits.h"

struct reporter {
	struct reporter *next;
	char path[LIMIT_NAME_BYTES];
	enum telem_reporter_kind kind;
	telem_reporter_fn *function; /* NULL: removed; a provider has reporter_provides() here */
	telem_provider_fn *provide;  /* of a provider, which has no value of its own */
	void *arg;
	int64_t value;               /* the latest that did not fail */
	int64_t said;                /* of one that is not asked: what reporter_say() said */
	struct telem_site site;
};

/* Its class is not exported: a program may have one of that name, and then it is the same. */
extern struct telem_class telem_class_reports_ __attribute__((visibility("hidden")));

/* The first of the list. Locked. */
struct reporter *reporter_first(void);
/* NULL: there is none of that path. Locked. */
struct reporter *reporter_find(const char *path);
/* Stands in the place of a provider's function, which is called with its own argument. */
int reporter_provides(void *reporter, int64_t *value);
/* The value of a path of the emitter's own, whose reporter is made at its first time; cls NULL:
 * report. Not locked. */
void reporter_say(struct telem_class *cls, const char *path, enum telem_unit unit, int64_t value);
#endif
