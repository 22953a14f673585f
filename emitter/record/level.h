/* level.h -- the levels in force, of classes, of sites, and at each place.
 *
 * A site's level is the one that a viewer leased for it, else its own, else that of its class. A class's level is
 * the one that a viewer leased, else its own. All of this is called with the lock held. */
#ifndef TELEM_EMITTER_RECORD_LEVEL_H
#define TELEM_EMITTER_RECORD_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

struct site_entry;

/* The name of who changed the level of a site last. */
extern char levels_changed_by[64] __attribute__((visibility("hidden")));

/* Puts own and leased levels in force at every site, and wakes the flusher, which sends them. by
 * is the name of who wanted it. */
void levels_apply(const char *by);
uint8_t level_in_force(const struct site_entry *site);
/* Writes to the places of a site its level, and whether its name has handlers. */
void level_renew_places(uint32_t site);
/* In a forked child telemetry starts anew with the first event. When every site of the program is off, this lets the
 * first place that is passed start it; nothing is counted there. Call in the child. */
void levels_await_passage(void);
/* Returns whether any site is at level all. */
bool level_is_all_somewhere(void);
#endif
