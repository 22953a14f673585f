/* handler.c -- attaching and detaching functions of the program that are called for its events. */
#include "emitter/core/api.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/record/dispatch.h"
#include "emitter/record/happening.h"
#include "emitter/record/level.h"
#include "emitter/record/place.h"
#include "emitter/record/site.h"
#include "emitter/record/thread.h"

/* Read and written with the lock held. */
static struct {
	uint32_t handler_count;
	struct handler *first;
	struct retired *retired;
} table;

#ifdef __SANITIZE_THREAD__
static int membarrier(int command) { (void)command; return -1; }     /* ThreadSanitizer does not know what it does */
#else
static int membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }
#endif

/* Makes sure that every other thread either has published where it is before the fence, or sees afterwards what this
 * thread has published. */
static void heavy_fence(void)
{
	__atomic_fetch_add(&dispatch.strangers, 0, __ATOMIC_SEQ_CST);
	if (dispatch.has_membarrier && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return;
	/* The process registers the first time, and again in a forked child. */
	__atomic_store_n(&dispatch.has_membarrier,
			 membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
				 membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0, __ATOMIC_SEQ_CST);
}

static void retire(struct retired *memory)
{
	memory->epoch = __atomic_fetch_add(&dispatch.epoch, 1, __ATOMIC_ACQ_REL);
	memory->next = table.retired;
	table.retired = memory;
}

/* Returns the smallest epoch of all threads that are calling handlers now. */
static uint64_t oldest_epoch(void)
{
	uint64_t oldest = UINT64_MAX;

	if (__atomic_load_n(&dispatch.strangers, __ATOMIC_ACQUIRE))
		return 0;
	for (struct thread *thread = thread_table.first; thread; thread = thread->next) {
		uint64_t entered = __atomic_load_n(&thread->dispatch_epoch, __ATOMIC_ACQUIRE);

		if (entered && entered < oldest)
			oldest = entered;
	}
	return oldest;
}

static void reclaim(void)
{
	struct retired **link = &table.retired, *memory;
	uint64_t oldest;

	if (!table.retired)
		return;
	heavy_fence();
	oldest = oldest_epoch();
	while ((memory = *link))
		if (memory->epoch < oldest) {
			*link = memory->next;
			memory_unmap(memory, memory->bytes);
		} else {
			link = &memory->next;
		}
}

static bool is_anybody_in(const struct handler *handler)
{
	if (__atomic_load_n(&handler->strangers_inside, __ATOMIC_ACQUIRE))
		return true;
	for (struct thread *thread = thread_table.first; thread; thread = thread->next)
		for (uint32_t i = 0; i < LIMIT_HANDLER_DEPTH; i++)
			if (__atomic_load_n(&thread->inside[i], __ATOMIC_ACQUIRE) == handler)
				return true;
	return false;
}

/* ---- names ---- */

/* Renews the places of the sites of one name, or of all names when it is NULL. */
static void renew_places(const struct happening *happening)
{
	for (uint32_t id = 1; id < site_table.count; id++)
		if (site_table.rows[id].happening && (!happening || site_table.rows[id].happening == happening))
			level_renew_places(id);
}

static struct happening *name_make(const char *name)
{
	struct happening *happening = happening_find(name);

	if (!happening) {
		happening = happening_make(name);
		if (happening)
			places_meet(happening);
	}
	return happening;
}

/* ---- sets ---- */

static bool set_has(const struct handler_set *set, const struct handler *handler)
{
	for (uint32_t i = 0; set && i < set->count; i++)
		if (set->handlers[i] == handler)
			return true;
	return false;
}

static void set_publish(struct happening *happening, struct handler_set *set)
{
	struct handler_set *old = happening->set;

	__atomic_store_n(&happening->set, set, __ATOMIC_RELEASE);
	renew_places(happening);
	if (old)
		retire(&old->retired);
}

/* Returns pages that may be given to retire() later. */
static void *pages_new(size_t bytes)
{
	struct retired *memory = memory_map(bytes);

	if (memory)
		memory->bytes = bytes;
	return memory;
}

static struct handler_set *set_new(const struct happening *happening, uint32_t count)
{
	struct handler_set *set = pages_new(sizeof *set + count * sizeof(struct handler *));

	if (set)
		set->name = happening->name;
	return set;
}

static bool set_add(struct happening *happening, struct handler *handler)
{
	struct handler_set *old = happening->set, *set;
	uint32_t count = old ? old->count : 0;

	if (set_has(old, handler))
		return true;
	set = set_new(happening, count + 1);
	if (!set)
		return false;
	for (uint32_t i = 0; i < count; i++)
		set->handlers[i] = old->handlers[i];
	set->handlers[count] = handler;
	set->count = count + 1;
	set_publish(happening, set);
	return true;
}

/* Replaces the set by one without the handler. Returns false when there is no memory for it: then the handler stays in
 * the set, but is not called, because it is detached. */
static bool set_remove(struct happening *happening, const struct handler *handler)
{
	struct handler_set *old = happening->set, *set = NULL;

	if (!set_has(old, handler))
		return true;
	if (old->count > 1) {
		set = set_new(happening, old->count - 1);
		if (!set)
			return false;
		for (uint32_t i = 0; i < old->count; i++)
			if (old->handlers[i] != handler)
				set->handlers[set->count++] = old->handlers[i];
	}
	set_publish(happening, set);
	return true;
}

/* ---- attach and detach ---- */

static struct handler *handler_find(const char *id)
{
	struct handler *handler = table.first;

	while (handler && strcmp(handler->id, id))
		handler = handler->next;
	return handler;
}

/* Takes a handler out of all sets and the list. Returns false when its memory can never be freed. */
static bool handler_remove(struct handler *handler)
{
	bool is_out = true;

	__atomic_store_n(&handler->is_detached, true, __ATOMIC_RELEASE);
	for (struct happening *happening = happening_next(NULL); happening; happening = happening_next(happening))
		is_out &= set_remove(happening, handler);
	for (struct handler **link = &table.first; *link; link = &(*link)->next)
		if (*link == handler) {
			*link = handler->next;
			table.handler_count--;
			break;
		}
	return is_out;
}

static void unpersist(void)
{
	happenings_are_sealed = false;
	renew_places(NULL);
}

static void failed(struct handler *handler, const char *event, int result);

static int attach(const char *id, const char *const *events, uint32_t event_count, telem_handler *function,
		  void *config, uint32_t max_failures)
{
	struct handler *handler, **link;
	int result = 0;

	if (table.handler_count == LIMIT_HANDLERS)
		return -ENOSPC;
	if (!dispatch.has_membarrier)
		heavy_fence();
	reclaim();
	if (handler_find(id))
		return -EEXIST;
	handler = pages_new(sizeof *handler);
	if (!handler)
		return -ENOMEM;
	snprintf(handler->id, sizeof handler->id, "%s", id);
	handler->function = function;
	handler->config = config;
	handler->max_failures = max_failures;
	__atomic_store_n(&dispatch.failed, failed, __ATOMIC_RELAXED);
	unpersist();
	for (link = &table.first; *link; link = &(*link)->next)
		;
	*link = handler;
	table.handler_count++;
	for (uint32_t i = 0; i < event_count && result == 0; i++) {
		struct happening *happening = name_make(events[i]);

		if (!happening)
			result = happening_count() == LIMIT_HANDLER_NAMES ? -ENOSPC : -ENOMEM;
		else if (!set_add(happening, handler))
			result = -ENOMEM;
	}
	if (result < 0 && handler_remove(handler))
		retire(&handler->retired);
	return result;
}

static bool is_name(const char *name, size_t room)
{
	return name && *name && strlen(name) < room;
}

int telem_attach_many(const char *id, const char *const *events, uint32_t event_count, telem_handler *function,
		      void *config, uint32_t max_failures)
{
	int saved = errno, result;

	if (!is_name(id, LIMIT_NAME_BYTES) || !events || event_count == 0 || !function)
		return -EINVAL;
	for (uint32_t i = 0; i < event_count; i++)
		if (!is_name(events[i], sizeof((struct happening *)0)->name))
			return -EINVAL;
	fork_restart();
	lock_take();
	result = attach(id, events, event_count, function, config, max_failures);
	lock_release();
	errno = saved;
	return result;
}

int telem_attach(const char *id, const char *event, telem_handler *function, void *config)
{
	return telem_attach_many(id, &event, 1, function, config, 1);
}

/* Waits until no thread is in the handler. A thread that is itself in a handler does not wait, because two such threads
 * could wait for each other. Call with the lock held; it is released in between. */
static int wait_until_left(const struct handler *handler)
{
	bool may_wait = !my_thread || !my_thread->inside[0];

	heavy_fence();
	while (is_anybody_in(handler)) {
		if (!may_wait)
			return -EINPROGRESS;
		lock_pause();
	}
	return 0;
}

static int detach(const char *id, bool wait)
{
	int saved = errno, result = -ENOENT;
	struct handler *handler;

	fork_restart();
	lock_take();
	reclaim();
	handler = id ? handler_find(id) : NULL;
	if (handler) {
		bool is_out = handler_remove(handler);

		result = wait ? wait_until_left(handler) : 0;
		if (is_out)
			retire(&handler->retired);
	}
	lock_release();
	errno = saved;
	return result;
}

int telem_detach(const char *id) { return detach(id, true); }
int telem_detach_async(const char *id) { return detach(id, false); }

void telem_persist(void)
{
	int saved = errno;

	lock_take();
	happenings_are_sealed = true;
	renew_places(NULL);
	lock_release();
	errno = saved;
}

void telem_unpersist(void)
{
	int saved = errno;

	lock_take();
	unpersist();
	lock_release();
	errno = saved;
}

static void info_of(const struct handler *handler, const char *event, struct telem_handler_info *out)
{
	memset(out, 0, sizeof *out);
	snprintf(out->id, sizeof out->id, "%s", handler->id);
	snprintf(out->event, sizeof out->event, "%s", event);
	out->function = handler->function;
	out->config = handler->config;
	out->failures = __atomic_load_n(&handler->failures, __ATOMIC_RELAXED);
}

uint32_t telem_list_handlers(const char *prefix, struct telem_handler_info *out, uint32_t room)
{
	int saved = errno;
	uint32_t count = 0;

	lock_take();
	for (const struct handler *handler = table.first; handler; handler = handler->next)
		for (const struct happening *name = happening_next(NULL); name; name = happening_next(name))
			if (!strncmp(name->name, prefix, strlen(prefix)) && set_has(name->set, handler)) {
				if (count < room)
					info_of(handler, name->name, &out[count]);
				count++;
			}
	lock_release();
	errno = saved;
	return count;
}

/* ---- failures ---- */

static void say_detached(const struct handler *handler, const char *event, int result, uint32_t failures)
{
	static const char text[] = "handler %s of %s failed with %d (%u in all) and is detached";
	struct telem_site *line = OWN_SITE(log, TELEM_KIND_LOG_, TELEM_NONE, TELEM_ERROR, text);
	struct telem_site *failure = OWN_SITE(telem, TELEM_KIND_EVENT_, TELEM_NONE, 0, "handler.failure");
	const struct telem_field fields[] = { TELEM_F("result", result), TELEM_F("failures", failures) };

	if (telem_level_(line) != TELEM_OFF)
		telem_log_(line, "handler %s of %s failed with %d (%u in all) and is detached", handler->id, event,
			   result, failures);
	if (telem_level_(failure) != TELEM_OFF)
		telem_event_(failure, fields, 2);
}

static void failed(struct handler *handler, const char *event, int result)
{
	uint32_t failures = __atomic_add_fetch(&handler->failures, 1, __ATOMIC_RELAXED);
	bool is_detached = false;
	int saved = errno;

	/* A signal handler that has interrupted a slow path cannot detach the handler; its next failure does. */
	if (handler->max_failures && failures >= handler->max_failures && !thread_is_inside) {
		lock_take();
		if (!handler->is_detached) {
			is_detached = true;
			if (handler_remove(handler))
				retire(&handler->retired);
		}
		lock_release();
	}
	if (is_detached)
		say_detached(handler, event, result, failures);
	errno = saved;
}
