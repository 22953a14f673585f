/* report.h -- values that the program is asked for. */
#ifndef TELEM_EMITTER_REPORT_H
#define TELEM_EMITTER_REPORT_H

#include <stdint.h>

#include "emitter/core/emitter.h"

/* Asks them all. The flusher's, before a tick; not locked. False: it was left behind meanwhile
 * (flusher_is_left()), and must go without touching anything. */
bool reporters_ask(uint64_t generation);
/* Is one being asked now, by this thread? Locked. */
bool reporter_is_asked_by(pthread_t thread);
void reporters_forget(void);         /* in a child */

/* ---- for those that come along: report_own.c ---- */
/* A new round: what they know of no single path is said. */
void report_own(void);
/* The value of a path of ours, made at its first time; cls NULL: report. Not locked. */
void report_say(struct telem_class *cls, const char *path, enum telem_unit unit, int64_t value);
int64_t report_malloc_allocated(void);
#endif
