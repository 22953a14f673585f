/* handler.h -- functions of the program that are called for its events.
 *
 * Names, sets and handlers change under the emitter's lock; dispatching takes none. A set
 * is an array that never changes: whoever attaches or detaches publishes another. What a
 * thread may still be reading is kept until it has left: each thread says when it entered
 * (epoch) and in which handler it is, in stores of its own that the one who changes things
 * makes visible with membarrier(2), so that dispatching needs no fence. */
#ifndef TELEM_EMITTER_HANDLER_H
#define TELEM_EMITTER_HANDLER_H

#include "emitter/emitter.h"

struct handler_set;

/* An event's name, known since something was attached to it. */
struct happening {
	struct happening *next;      /* with the same hash */
	struct handler_set *set;     /* NULL: none */
	char name[2 * LIMIT_NAME_BYTES];
};

/* Ties a site to its name's handlers, if its kind has any. Locked. */
void handlers_meet(struct site_entry *entry);
/* Has handlers to be called? */
bool handlers_wait_at(const struct site_entry *entry);
/* Calls them. For places whose level says so. */
void handlers_call(struct telem_site *site, enum telem_phase phase, uint64_t value, const struct telem_field *fields,
		   uint32_t field_count);
/* The sites' places have changed, or what is attached: NULL or the set itself. Locked. */
void handlers_seal(struct site_entry *entry, struct telem_site *place);
/* A thread has ended, or is the parent's: it is in no handler. */
void handlers_leave(struct thread *thread);
#endif
