#include "emitter/record/dispatch.h"

#include "emitter/core/settings.h"
#include "emitter/record/happening.h"
#include "emitter/record/site.h"
#include "emitter/record/thread.h"

struct dispatch dispatch = { .epoch = 1 };

/* A thread first publishes that it is in the handler, then checks is_detached. So either the thread that
 * detaches the handler sees this one inside, or this one sees that the handler is detached. mine is where this
 * thread publishes it. It is NULL for a thread without a state of its own, which is beyond the limits or at its
 * end, and is counted in strangers_inside instead. */
static inline __attribute__((always_inline)) uint32_t call_one(struct handler *handler,
							       const struct telem_happening *what,
							       struct handler **mine)
{
	uint32_t called = 0;
	int result = 0;

	if (mine)
		PUBLISH(*mine, handler);
	else
		__atomic_fetch_add(&handler->strangers_inside, 1, __ATOMIC_SEQ_CST);
	if (__builtin_expect(!__atomic_load_n(&handler->is_detached, __ATOMIC_ACQUIRE), 1)) {
		result = handler->function(what, handler->config);
		called = 1;
	}
	if (mine)
		__atomic_store_n(mine, NULL, __ATOMIC_RELEASE);
	else
		__atomic_fetch_sub(&handler->strangers_inside, 1, __ATOMIC_SEQ_CST);
	if (__builtin_expect(result != 0, 0))
		__atomic_load_n(&dispatch.failed, __ATOMIC_RELAXED)(handler, what->event, result);
	return called;
}

static __attribute__((noinline)) uint32_t call_set(const struct handler_set *set, struct telem_happening *what,
						   struct handler **mine)
{
	uint32_t called = 0;

	if (!set)
		return 0;
	what->event = set->name;
	for (uint32_t i = 0; i < set->count; i++)
		called += call_one(set->handlers[i], what, mine);
	return called;
}

/* Loads the set of handlers. The thread must have published its epoch before. */
static const struct handler_set *set_of(const struct happening *happening)
{
	return __atomic_load_n(&happening->set, __ATOMIC_ACQUIRE);
}

static const struct happening *happening_of(const struct telem_site *site)
{
	return __atomic_load_n(&site_table.rows[site->id].happening, __ATOMIC_ACQUIRE);
}

/* Calls the handlers in the general case. The thread may be inside a handler already, or in a signal handler that
 * has interrupted one; what was published for that one stays published. */
static __attribute__((noinline)) uint32_t call_from(struct thread *thread, const struct happening *happening,
						    struct telem_happening *what)
{
	bool is_first = thread && thread->dispatch_epoch == 0;
	struct handler **mine = thread ? thread->inside : NULL;
	uint32_t called;

	while (mine && *mine)
		if (++mine == thread->inside + LIMIT_HANDLER_DEPTH)
			return 0;
	if (!thread)
		__atomic_fetch_add(&dispatch.strangers, 1, __ATOMIC_SEQ_CST);
	else if (is_first)
		PUBLISH(thread->dispatch_epoch, __atomic_load_n(&dispatch.epoch, __ATOMIC_ACQUIRE));
	called = call_set(set_of(happening), what, mine);
	if (!thread)
		__atomic_fetch_sub(&dispatch.strangers, 1, __ATOMIC_SEQ_CST);
	else if (is_first)
		__atomic_store_n(&thread->dispatch_epoch, 0, __ATOMIC_RELEASE);
	return called;
}

/* Most events have one handler, whose path has no loop. */
void handlers_call(struct telem_site *site, enum telem_phase phase, uint64_t value, const struct telem_field *fields,
		   uint32_t field_count)
{
	struct telem_happening what = { NULL, phase, value, fields, field_count };
	struct thread *thread = my_thread ? my_thread : thread_self();
	const struct handler_set *set;

	if (__builtin_expect(!thread || thread->dispatch_epoch, 0)) {
		call_from(thread, happening_of(site), &what);
		return;
	}
	PUBLISH(thread->dispatch_epoch, __atomic_load_n(&dispatch.epoch, __ATOMIC_ACQUIRE));
	set = __atomic_load_n((struct handler_set *const *)(void *)&site->handlers, __ATOMIC_ACQUIRE);
	if (!set)
		set = set_of(happening_of(site));
	if (__builtin_expect(set && set->count == 1, 1)) {
		what.event = set->name;
		call_one(set->handlers[0], &what, thread->inside);
	} else {
		call_set(set, &what, thread->inside);
	}
	__atomic_store_n(&thread->dispatch_epoch, 0, __ATOMIC_RELEASE);
}

uint32_t telem_execute(const char *event, const struct telem_field *fields, uint32_t field_count)
{
	struct telem_happening what = { NULL, TELEM_HAPPENED, 0, fields, field_count };
	const struct happening *happening;

	if (!event || !settings_is_running())
		return 0;
	happening = happening_find(event);
	return happening ? call_from(thread_self(), happening, &what) : 0;
}
