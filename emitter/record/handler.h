/* handler.h -- functions of the program that are called for its events.
 *
 * Names, sets and handlers change under the emitter's lock; dispatching takes none. A set
 * is an array that never changes: whoever attaches or detaches publishes another. What a
 * thread may still be reading is kept until it has left: each thread says when it entered
 * (epoch) and in which handler it is, in stores of its own that the one who changes things
 * makes visible with membarrier(2), so that dispatching needs no fence. */
#ifndef TELEM_EMITTER_HANDLER_H
#define TELEM_EMITTER_HANDLER_H

#include "emitter/core/emitter.h"

/* What others may still be reading: freed when every thread has come in after it went. */
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

/* What both sides look at: who changes the table, and who calls. */
extern struct dispatch {
	uint64_t epoch;
	uint32_t strangers;          /* threads without a state of their own that call now */
	bool has_membarrier;
} dispatch __attribute__((visibility("hidden")));

/* Before what it tells others, as the heavy side of heavy_fence(): without membarrier(2) a
 * fence of its own. */
#define TELL(field, value)                                                                       \
	do {                                                                                     \
		if (__builtin_expect(__atomic_load_n(&dispatch.has_membarrier, __ATOMIC_RELAXED), 1)) { \
			__atomic_store_n(&(field), (value), __ATOMIC_RELEASE);                   \
			__atomic_signal_fence(__ATOMIC_SEQ_CST);                                 \
		} else {                                                                         \
			(void)__atomic_exchange_n(&(field), (value), __ATOMIC_SEQ_CST);              \
		}                                                                                \
	} while (0)

/* An event's name, known since something was attached to it. */
struct happening {
	struct happening *next;      /* with the same hash */
	struct handler_set *set;     /* NULL: none */
	char name[2 * LIMIT_NAME_BYTES];
};

/* NULL: nothing was ever attached to it. Any thread, not locked. */
struct happening *happening_named(const char *name);
/* It said that it cannot go on. Not locked. */
void handler_failed(struct handler *handler, const char *event, int result);
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
