/* alloc.c -- sampled allocations, followed until they are freed: lifetimes by type, and a hook. */
#include "emitter/core/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/record/place.h"
#include "emitter/record/sample.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

#define OLD_NS 60000000000ull

static struct telem_site *sampled_site(void)
{
	return OWN_SITE(mem, TELEM_KIND_EVENT_, TELEM_NONE, 0, "sampled");
}

/* Returns the site of a type's lifetimes, which is made at its first sample; NULL when memory is out. */
static struct telem_site *lifetime_of(uint32_t type)
{
	struct site_entry *entry = &site_table.rows[type];
	struct telem_site *lifetime = __atomic_load_n(&entry->lifetime, __ATOMIC_ACQUIRE);
	struct { struct telem_site site; char name[LIMIT_NAME_BYTES]; } *made;

	if (lifetime || thread_is_inside)
		return lifetime;
	lock_take();
	made = memory_keep(sizeof *made);
	lock_release();
	if (!made)
		return NULL;
	snprintf(made->name, sizeof made->name, "%.*s lifetime", LIMIT_NAME_BYTES - 10, entry->name);
	made->site = (struct telem_site){ .kind = TELEM_KIND_LATENCY_, .unit = TELEM_NS, .cls = &telem_class_mem,
					  .name = made->name, .file = "" };
	place_register_own(&made->site);
	lock_take();
	if (made->site.id)
		site_table.rows[made->site.id].skip_mask = SAMPLE_MEAN - 1;
	/* If another thread has made one meanwhile, both are places of the same site. */
	__atomic_store_n(&entry->lifetime, &made->site, __ATOMIC_RELEASE);
	lock_release();
	return &made->site;
}

/* Makes the event that handlers and viewers at level all get. */
static void report(const struct sample *sample, const void *address, uint64_t age_ns, bool is_freed)
{
	struct telem_site *site = sampled_site();
	const struct telem_field fields[] = {
		{ "type", TELEM_FIELD_UINT_, sample->site },
		{ "bytes", TELEM_FIELD_UINT_, sample->bytes },
		{ "address", TELEM_FIELD_UINT_, (uint64_t)(uintptr_t)address },
		{ "age ns", TELEM_FIELD_UINT_, age_ns },
		{ "task", TELEM_FIELD_INT_, (uint64_t)sample->task },
		{ "freed", TELEM_FIELD_UINT_, is_freed },
	};

	if (telem_level_(site) != TELEM_OFF)
		telem_event_(site, fields, sizeof fields / sizeof *fields);
}

static void end_sample(uint64_t *place, const void *address, bool is_freed)
{
	struct sample sample = sample_at(place);
	struct telem_site *lifetime;

	__atomic_store_n(place, 0, __ATOMIC_RELEASE);
	lifetime = lifetime_of(sample.site);
	if (lifetime && telem_level_(lifetime) != TELEM_OFF)
		telem_duration_(lifetime, sample.born_ticks);
	if (is_freed)
		report(&sample, address, clock_duration_ns(telem_stamp() - sample.born_ticks), true);
}

void telem_sample_ends_(const struct telem_site *site, const void *address)
{
	uint64_t *place = &telem_samples_[TELEM_SAMPLE_PLACE_(address)], expected = (uint64_t)(uintptr_t)address;
	int saved = errno;

	if (settings_is_running() && !thread_is_inside &&
	    __atomic_compare_exchange_n(place, &expected, SAMPLE_TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		/* The sample in this place may be of another type: an allocation at this address whose free was not
		 * recorded. */
		if (site && sample_at(place).site != site->id)
			__atomic_store_n(place, 0, __ATOMIC_RELEASE);
		else
			end_sample(place, address, true);
	}
	errno = saved;
}

/* Takes a place for a new address. Returns false when another thread owns the place, or when an allocation is there
 * that has not lived for OLD_NS yet. */
static bool take(uint64_t *place, uint64_t now, uint64_t address)
{
	uint64_t there = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	/* The place may hold this very address, if its free was not recorded. */
	if (there == SAMPLE_TAKEN ||
	    (there != 0 && there != address && clock_duration_ns(now - sample_at(place).born_ticks) < OLD_NS) ||
	    !__atomic_compare_exchange_n(place, &there, SAMPLE_TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	if (there == 0 || there == address)
		return true;
	end_sample(place, NULL, false);
	there = 0;
	return __atomic_compare_exchange_n(place, &there, SAMPLE_TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void telem_sampled_(struct telem_site *site, const void *address, uint64_t bytes)
{
	uint64_t *place = &telem_samples_[TELEM_SAMPLE_PLACE_(address)], now = telem_stamp();
	int saved = errno;
	struct thread *thread;

	telem_thread_.unsampled = sample_distance();
	thread = thread_self();
	if (thread && !thread_is_inside && take(place, now, (uint64_t)(uintptr_t)address)) {
		struct sample sample = { now, bytes, site->id, thread->stack[thread->depth]->task->id };

		sample_put(place, sample);
		report(&sample, address, 0, false);
		__atomic_store_n(place, (uint64_t)(uintptr_t)address, __ATOMIC_RELEASE);
	}
	errno = saved;
}

uint32_t telem_allocations(int task, struct telem_allocation *out, uint32_t room)
{
	uint32_t count = 0, at = 0;
	uint64_t now = telem_stamp();
	struct sample_info info;

	while (count < room && samples_next(&at, task, &info)) {
		uint64_t born = info.sample.born_ticks;

		out[count++] = (struct telem_allocation){
			site_table.rows[info.sample.site].name, (const void *)(uintptr_t)info.address,
			info.sample.bytes,
			now > born ? clock_duration_ns(now - born) : 0, info.sample.task, false,
		};
	}
	return count;
}

/* ---- the hook ---- */

#define HOOK_ID "telem_alloc_hook"

struct hook { telem_alloc_function *function; void *arg; };

static int call_hook(const struct telem_happening *what, void *config)
{
	const struct hook *hook = config;
	const struct telem_field *fields = what->fields;
	const struct telem_allocation allocation = {
		site_table.rows[fields[0].bits].name, (const void *)(uintptr_t)fields[2].bits, fields[1].bits,
		fields[3].bits, (int)fields[4].bits, fields[5].bits != 0,
	};

	hook->function(&allocation, hook->arg);
	return 0;
}

int telem_alloc_hook(telem_alloc_function *function, void *arg)
{
	static const char *const event = "mem.sampled";
	static struct hook *present;
	struct hook *hook, *before;
	int result;

	sampled_site();
	result = telem_detach(HOOK_ID);
	/* The previous hook is freed when no thread can be in it any more. */
	before = __atomic_exchange_n(&present, NULL, __ATOMIC_ACQ_REL);
	if (result != -EINPROGRESS)
		free(before);
	if (!function)
		return 0;
	hook = malloc(sizeof *hook);
	if (!hook)
		return -ENOMEM;
	*hook = (struct hook){ function, arg };
	result = telem_attach_many(HOOK_ID, &event, 1, call_hook, hook, 0);
	if (result < 0)
		free(hook);
	else
		__atomic_store_n(&present, hook, __ATOMIC_RELEASE);
	return result;
}
