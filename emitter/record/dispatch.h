/* dispatch.h -- calling the handlers of an event: no lock, no fence, two stores a handler.
 *
 * Names, sets and handlers change under the emitter's lock (handler.c); dispatching takes none. A
 * set is an array that never changes: whoever attaches or detaches publishes another. What a
 * thread may still be reading is kept until it has left: each thread publishes when it entered
 * (its epoch) and in which handler it is, in stores of its own that the thread which changes
 * things makes visible with membarrier(2), so that dispatching needs no fence. */
#ifndef TELEM_EMITTER_RECORD_DISPATCH_H
#define TELEM_EMITTER_RECORD_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/limits.h"

/* Memory that others may still be reading: freed when every thread has entered after it was retired. */
struct retired { struct retired *next; uint64_t epoch; size_t bytes; };

struct handler {
	struct retired retired;
	struct handler *next;        /* in the order of attachment */
	char id[LIMIT_NAME_BYTES];
	telem_handler *function;
	void *config;
	uint32_t max_failures, failures;     /* failures: atomic */
	bool is_detached;            /* atomic */
	uint32_t strangers_inside;   /* threads without a state of their own; atomic */
};

struct handler_set {
	struct retired retired;
	const char *name;            /* the event's */
	uint32_t count;
	struct handler *handlers[];
};

/* What both sides look at: the thread that changes the table, and the threads that call. */
extern struct dispatch {
	uint64_t epoch;
	uint32_t strangers;          /* threads without a state of their own that call now */
	bool has_membarrier;
	/* Called when a handler has returned a failure; set before the first handler is attached. */
	void (*failed)(struct handler *handler, const char *event, int result);
} dispatch __attribute__((visibility("hidden")));

/* A store that the thread which detaches a handler must see, ordered before what follows: a plain
 * one where membarrier(2) is the heavy side of the fence, else one with a fence of its own. */
#define PUBLISH(field, value)                                                                    \
	do {                                                                                     \
		if (__builtin_expect(__atomic_load_n(&dispatch.has_membarrier, __ATOMIC_RELAXED), 1)) { \
			__atomic_store_n(&(field), (value), __ATOMIC_RELEASE);                   \
			__atomic_signal_fence(__ATOMIC_SEQ_CST);                                 \
		} else {                                                                         \
			(void)__atomic_exchange_n(&(field), (value), __ATOMIC_SEQ_CST);              \
		}                                                                                \
	} while (0)

/* Calls them. For places whose level says so. */
void handlers_call(struct telem_site *site, enum telem_phase phase, uint64_t value, const struct telem_field *fields,
		   uint32_t field_count);
#endif
