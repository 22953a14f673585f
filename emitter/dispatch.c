/* dispatch.c -- calling an event's handlers: no lock, no fence, two stores a handler. */
#include "emitter/handler.h"

/* Nobody goes into one that is detached: told first, asked then. Who detaches it sees us, or
 * we see that it is. mine: where this thread tells where it is; NULL: it has no state of its
 * own, being beyond the limits or at its end, and is counted. */
static inline __attribute__((always_inline)) uint32_t call_set(const struct handler_set *set, struct telem_happening *what,
							       struct handler **mine)
{
	uint32_t called = 0;

	for (uint32_t i = 0; set && i < set->count; i++) {
		struct handler *handler = set->handlers[i];
		int result = 0;

		what->event = set->name;
		if (mine)
			TELL(*mine, handler);
		else
			__atomic_fetch_add(&handler->strangers_inside, 1, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&handler->is_detached, __ATOMIC_ACQUIRE)) {
			result = handler->function(what, handler->config);
			called++;
		}
		if (mine)
			__atomic_store_n(mine, NULL, __ATOMIC_RELEASE);
		else
			__atomic_fetch_sub(&handler->strangers_inside, 1, __ATOMIC_SEQ_CST);
		if (__builtin_expect(result != 0, 0))
			handler_failed(handler, what->event, result);
	}
	return called;
}

static __attribute__((noinline)) uint32_t call_as_stranger(const struct happening *happening, struct telem_happening *what)
{
	uint32_t called;

	__atomic_fetch_add(&dispatch.strangers, 1, __ATOMIC_SEQ_CST);
	called = call_set(__atomic_load_n(&happening->set, __ATOMIC_ACQUIRE), what, NULL);
	__atomic_fetch_sub(&dispatch.strangers, 1, __ATOMIC_SEQ_CST);
	return called;
}

static const struct happening *happening_of(const struct telem_site *site)
{
	return __atomic_load_n(&emitter.sites[site->id].happening, __ATOMIC_ACQUIRE);
}

/* At a site whose table may be sealed, or of an event without one. The set is looked for
 * once we have said that we are here. */
static inline __attribute__((always_inline)) uint32_t call_all(struct thread *thread, const struct telem_site *site,
							       const struct happening *happening, struct telem_happening *what)
{
	/* A signal handler that comes in between leaves both as it found them. */
	uint64_t before = thread->dispatch_epoch;
	struct handler **mine = thread->inside;
	const struct handler_set *set;
	uint32_t called;

	while (__builtin_expect(*mine != NULL, 0))
		if (++mine == thread->inside + LIMIT_HANDLER_DEPTH)
			return 0;
	if (__builtin_expect(before == 0, 1))
		TELL(thread->dispatch_epoch, __atomic_load_n(&dispatch.epoch, __ATOMIC_ACQUIRE));
	set = site ? __atomic_load_n((struct handler_set *const *)(void *)&site->handlers, __ATOMIC_ACQUIRE) : NULL;
	if (!set)
		set = __atomic_load_n(&(site ? happening_of(site) : happening)->set, __ATOMIC_ACQUIRE);
	called = call_set(set, what, mine);
	__atomic_store_n(&thread->dispatch_epoch, before, __ATOMIC_RELEASE);
	return called;
}

void handlers_call(struct telem_site *site, enum telem_phase phase, uint64_t value, const struct telem_field *fields,
		   uint32_t field_count)
{
	struct telem_happening what = { NULL, phase, value, fields, field_count };
	struct thread *thread = my_thread ? my_thread : thread_self();

	if (thread)
		call_all(thread, site, NULL, &what);
	else
		call_as_stranger(happening_of(site), &what);
}

uint32_t telem_execute(const char *event, const struct telem_field *fields, uint32_t field_count)
{
	struct telem_happening what = { NULL, TELEM_HAPPENED, 0, fields, field_count };
	const struct happening *happening;
	struct thread *thread;

	if (!event || !emitter_runs())
		return 0;
	happening = happening_named(event);
	if (!happening)
		return 0;
	thread = thread_self();
	return thread ? call_all(thread, NULL, happening, &what) : call_as_stranger(happening, &what);
}
