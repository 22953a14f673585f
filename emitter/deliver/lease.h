/* lease.h -- the levels that viewers hold: a lease ends when its viewer is gone.
 *
 * A class or site may be leased by several viewers; the latest lease counts. It is pushed into the
 * row of the class or site; levels_apply() then puts it in force. All of this is called with the
 * lock held. */
#ifndef TELEM_EMITTER_DELIVER_LEASE_H
#define TELEM_EMITTER_DELIVER_LEASE_H

#include <stdbool.h>
#include <stdint.h>

struct sink;

/* Takes a lease for a class (site 0) or a site, in place of the one this sink has. Returns false when there are
 * LIMIT_LEASES. */
bool lease_take(const struct sink *sink, uint8_t class_id, uint32_t site, uint8_t level);
/* Gives a lease back, if the sink has it. */
void lease_return(const struct sink *sink, uint8_t class_id, uint32_t site);
/* Returns how many viewers hold a level of this class. */
uint32_t lease_count(uint8_t class_id);
/* Called when a viewer is gone: ends all its leases and applies the levels. */
void leases_drop(const struct sink *sink);
/* Ends all leases, when telemetry has stopped or in a forked child: there are no viewers. */
void leases_forget(void);
#endif
