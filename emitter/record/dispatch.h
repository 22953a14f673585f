/* dispatch.h -- calls the handlers of an event, without a lock or fence: two stores for each handler.
 *
 * handler.c changes names, sets and handlers under the emitter's lock. A set is an array that never changes:
 * attaching or detaching a handler publishes a new set. The old one is freed when no thread can still be reading
 * it. For this each thread publishes when it entered (its epoch) and in which handler it is. The thread that
 * changes a set calls membarrier(2) to see these stores, so that dispatching needs no fence. */
#ifndef TELEM_EMITTER_RECORD_DISPATCH_H
#define TELEM_EMITTER_RECORD_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/limits.h"

/* Memory that other threads may still be reading. It is freed once all threads that were inside when the memory was
 * retired have left. */
struct retired { struct retired *next; uint64_t epoch; size_t bytes; };

struct handler {
	struct retired retired;
	struct handler *next;        /* in the order of attachment */
	char id[LIMIT_NAME_BYTES];
	telem_handler *function;
	void *config;
	uint32_t max_failures, failures;     /* failures: atomic */
	bool is_detached;            /* atomic */
	uint32_t strangers_inside;   /* how many threads without a state of their own are in it; atomic */
};

struct handler_set {
	struct retired retired;
	const char *name;            /* the name of the event */
	uint32_t count;
	struct handler *handlers[];
};

/* The state shared by the thread that changes sets and the threads that call handlers. */
extern struct dispatch {
	uint64_t epoch;
	uint32_t strangers;          /* how many threads without a state of their own are calling handlers now */
	bool has_membarrier;
	/* Called when a handler has returned a failure; set before the first handler is attached. */
	void (*failed)(struct handler *handler, const char *event, int result);
} dispatch __attribute__((visibility("hidden")));

/* Stores a value that the thread which detaches a handler must see, before anything that follows. Where
 * membarrier(2) works it is a plain store, because that thread pays for the fence; elsewhere a fence follows it. */
#define PUBLISH(field, value)                                                                    \
	do {                                                                                     \
		if (__builtin_expect(__atomic_load_n(&dispatch.has_membarrier, __ATOMIC_RELAXED), 1)) { \
			__atomic_store_n(&(field), (value), __ATOMIC_RELEASE);                   \
			__atomic_signal_fence(__ATOMIC_SEQ_CST);                                 \
		} else {                                                                         \
			(void)__atomic_exchange_n(&(field), (value), __ATOMIC_SEQ_CST);              \
		}                                                                                \
	} while (0)

/* Calls the handlers of an event. Places call it when their level says that there are any. */
void handlers_call(struct telem_site *site, enum telem_phase phase, uint64_t value, const struct telem_field *fields,
		   uint32_t field_count);
#endif
