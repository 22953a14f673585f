#include "emitter/record/handler.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME_SLOTS 1024u

/* Locked, but for what is read while dispatching: names, their sets, epoch. */
static struct {
	struct happening *names[NAME_SLOTS];
	uint32_t name_count, handler_count;
	struct handler *first;
	struct retired *retired;
	bool is_persisted;
} table;
struct dispatch dispatch = { .epoch = 1 };

/* ---- who is where ---- */

#ifdef __SANITIZE_THREAD__
static int membarrier(int command) { (void)command; return -1; }     /* it does not know what that does */
#else
static int membarrier(int command) { return (int)syscall(SYS_membarrier, command, 0, 0); }
#endif

/* After it every thread has either told where it is, or will see what we have published. */
static void heavy_fence(void)
{
	__atomic_fetch_add(&dispatch.strangers, 0, __ATOMIC_SEQ_CST);
	if (dispatch.has_membarrier && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return;
	/* The first time, or the first in a child. */
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

/* The oldest epoch a thread has been inside since. */
static uint64_t oldest_epoch(void)
{
	uint64_t oldest = UINT64_MAX;

	if (__atomic_load_n(&dispatch.strangers, __ATOMIC_ACQUIRE))
		return 0;
	for (struct thread *thread = emitter.threads; thread; thread = thread->next) {
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
			emitter_unmap(memory, memory->bytes);
		} else {
			link = &memory->next;
		}
}

static bool is_anybody_in(const struct handler *handler)
{
	if (__atomic_load_n(&handler->strangers_inside, __ATOMIC_ACQUIRE))
		return true;
	for (struct thread *thread = emitter.threads; thread; thread = thread->next)
		for (uint32_t i = 0; i < LIMIT_HANDLER_DEPTH; i++)
			if (__atomic_load_n(&thread->inside[i], __ATOMIC_ACQUIRE) == handler)
				return true;
	return false;
}

void handlers_leave(struct thread *thread)
{
	for (uint32_t i = 0; i < LIMIT_HANDLER_DEPTH; i++)
		__atomic_store_n(&thread->inside[i], NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&thread->dispatch_epoch, 0, __ATOMIC_RELEASE);
}

/* ---- names ---- */

static uint32_t slot_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 16777619u;
	return hash % NAME_SLOTS;
}

struct happening *happening_named(const char *name)
{
	struct happening *happening = __atomic_load_n(&table.names[slot_of(name)], __ATOMIC_ACQUIRE);

	while (happening && strcmp(happening->name, name))
		happening = happening->next;
	return happening;
}

static bool has_handlers(const struct site_entry *entry)
{
	return entry->kind == SITE_SPAN || entry->kind == SITE_LATENCY || entry->kind == SITE_EVENT;
}

static void meet(struct site_entry *entry, struct happening *happening)
{
	if (has_handlers(entry) && site_is_named(entry, happening->name))
		__atomic_store_n(&entry->happening, happening, __ATOMIC_RELEASE);
}

/* Names stay: there are as many as the program has written down. */
static struct happening *name_make(const char *name)
{
	struct happening *happening = happening_named(name), **slot = &table.names[slot_of(name)];

	if (happening)
		return happening;
	if (table.name_count == LIMIT_HANDLER_NAMES)
		return NULL;
	happening = emitter_keep(sizeof *happening);
	if (!happening)
		return NULL;
	table.name_count++;
	snprintf(happening->name, sizeof happening->name, "%s", name);
	happening->next = *slot;
	__atomic_store_n(slot, happening, __ATOMIC_RELEASE);
	for (uint32_t id = 1; id < emitter.site_count; id++)
		meet(&emitter.sites[id], happening);
	return happening;
}

void handlers_meet(struct site_entry *entry)
{
	if (table.name_count == 0)
		return;
	for (uint32_t i = 0; i < NAME_SLOTS && !entry->happening; i++)
		for (struct happening *happening = table.names[i]; happening; happening = happening->next)
			meet(entry, happening);
}

bool handlers_wait_at(const struct site_entry *entry)
{
	return entry->happening && entry->happening->set;
}

void handlers_seal(struct site_entry *entry, struct telem_site *place)
{
	struct handler_set *set = table.is_persisted && entry->happening ? entry->happening->set : NULL;

	if (has_handlers(entry))
		__atomic_store_n(&place->handlers, set, __ATOMIC_RELEASE);
}

static void seal_sites(const struct happening *happening)
{
	for (uint32_t id = 1; id < emitter.site_count; id++)
		if (emitter.sites[id].happening && (!happening || emitter.sites[id].happening == happening))
			site_renew(id);
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
	seal_sites(happening);
	if (old)
		retire(&old->retired);
}

/* To be retired; never of malloc(), see emitter_keep(). */
static void *pages_new(size_t bytes)
{
	struct retired *memory = emitter_map(bytes);

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

/* Without memory for a smaller set the handler stays in the old one: it is not called any
 * more all the same. Returns false then. */
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

/* Out of all sets and the list. Returns false when it must be kept for ever. */
static bool handler_remove(struct handler *handler)
{
	bool is_out = true;

	__atomic_store_n(&handler->is_detached, true, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < NAME_SLOTS; i++)
		for (struct happening *happening = table.names[i]; happening; happening = happening->next)
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
	table.is_persisted = false;
	seal_sites(NULL);
}

static int attach(const char *id, const char *const *events, uint32_t event_count, telem_handler *function, void *config,
		  uint32_t max_failures)
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
	unpersist();
	for (link = &table.first; *link; link = &(*link)->next)
		;
	*link = handler;
	table.handler_count++;
	for (uint32_t i = 0; i < event_count && result == 0; i++) {
		struct happening *happening = name_make(events[i]);

		if (!happening)
			result = table.name_count == LIMIT_HANDLER_NAMES ? -ENOSPC : -ENOMEM;
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
	emitter_restart_in_child();
	emitter_lock();
	result = attach(id, events, event_count, function, config, max_failures);
	emitter_unlock();
	errno = saved;
	return result;
}

int telem_attach(const char *id, const char *event, telem_handler *function, void *config)
{
	return telem_attach_many(id, &event, 1, function, config, 1);
}

/* Waits until nobody is in it, but not from inside a handler: two could wait for each
 * other. Locked on entry and exit, not in between. */
static int wait_until_left(const struct handler *handler)
{
	bool may_wait = !my_thread || !my_thread->inside[0];

	heavy_fence();
	while (is_anybody_in(handler)) {
		if (!may_wait)
			return -EINPROGRESS;
		emitter_rest();
	}
	return 0;
}

static int detach(const char *id, bool wait)
{
	int saved = errno, result = -ENOENT;
	struct handler *handler;

	emitter_restart_in_child();
	emitter_lock();
	reclaim();
	handler = id ? handler_find(id) : NULL;
	if (handler) {
		bool is_out = handler_remove(handler);

		result = wait ? wait_until_left(handler) : 0;
		if (is_out)
			retire(&handler->retired);
	}
	emitter_unlock();
	errno = saved;
	return result;
}

int telem_detach(const char *id) { return detach(id, true); }
int telem_detach_async(const char *id) { return detach(id, false); }

void telem_persist(void)
{
	int saved = errno;

	emitter_lock();
	table.is_persisted = true;
	seal_sites(NULL);
	emitter_unlock();
	errno = saved;
}

void telem_unpersist(void)
{
	int saved = errno;

	emitter_lock();
	unpersist();
	emitter_unlock();
	errno = saved;
}

uint32_t telem_list_handlers(const char *prefix, struct telem_handler_info *out, uint32_t room)
{
	int saved = errno;
	uint32_t count = 0;

	emitter_lock();
	for (const struct handler *handler = table.first; handler; handler = handler->next)
		for (uint32_t i = 0; i < NAME_SLOTS; i++)
			for (const struct happening *name = table.names[i]; name; name = name->next) {
				if (strncmp(name->name, prefix, strlen(prefix)) || !set_has(name->set, handler))
					continue;
				if (count < room) {
					struct telem_handler_info *info = &out[count];

					memset(info, 0, sizeof *info);
					snprintf(info->id, sizeof info->id, "%s", handler->id);
					snprintf(info->event, sizeof info->event, "%s", name->name);
					info->function = handler->function;
					info->config = handler->config;
					info->failures = __atomic_load_n(&handler->failures, __ATOMIC_RELAXED);
				}
				count++;
			}
	emitter_unlock();
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

void handler_failed(struct handler *handler, const char *event, int result)
{
	uint32_t failures = __atomic_add_fetch(&handler->failures, 1, __ATOMIC_RELAXED);
	bool is_detached = false;
	int saved = errno;

	/* In a signal handler that has interrupted a slow path it waits for its next failure. */
	if (handler->max_failures && failures >= handler->max_failures && !thread_is_inside) {
		emitter_lock();
		if (!handler->is_detached) {
			is_detached = true;
			if (handler_remove(handler))
				retire(&handler->retired);
		}
		emitter_unlock();
	}
	if (is_detached)
		say_detached(handler, event, result, failures);
	errno = saved;
}
