/* alloc.c -- sampled allocations, followed until they are freed: lifetimes by type, and a hook. */
#include "emitter/core/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/record/distribution.h"
#include "emitter/record/place.h"
#include "emitter/record/sample.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

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
	made->site = (struct telem_site){ .kind = TELEM_KIND_LATENCY_, .unit = TELEM_NS, .detail = LATENCY_IS_LIFETIME,
					  .cls = &telem_class_mem, .name = made->name, .file = "" };
	place_register_own(&made->site);
	lock_take();
	/* If another thread has made one meanwhile, both are places of the same site. */
	__atomic_store_n(&entry->lifetime, &made->site, __ATOMIC_RELEASE);
	lock_release();
	return &made->site;
}

/* Makes the event that handlers and viewers at level all get. */
static void report(const struct sample *sample, uint64_t age_ns, bool is_freed)
{
	struct telem_site *site = sampled_site();
	const struct telem_field fields[] = {
		{ "type", TELEM_FIELD_UINT_, sample->type },
		{ "bytes", TELEM_FIELD_UINT_, sample->bytes },
		{ "address", TELEM_FIELD_UINT_, sample->address },
		{ "age ns", TELEM_FIELD_UINT_, age_ns },
		{ "task", TELEM_FIELD_INT_, (uint64_t)sample->task },
		{ "freed", TELEM_FIELD_UINT_, is_freed },
	};

	if (telem_level_(site) != TELEM_OFF)
		telem_event_(site, fields, sizeof fields / sizeof *fields);
}

/* Counts the lifetime for all allocations that the sample stands for, and makes the event. */
static void end_sample(const struct sample *sample, struct thread *thread)
{
	uint64_t now = telem_stamp(), age = now > sample->born_ticks ? clock_duration_ns(now - sample->born_ticks) : 0;
	struct telem_site *lifetime = lifetime_of(sample->type);

	if (lifetime)
		distribution_add(lifetime, age, sampler_weight(&thread->sampler, sample));
	report(sample, age, true);
}

void telem_birth_(struct telem_site *site, const void *address, uint64_t bytes)
{
	int saved = errno;
	struct thread *thread = thread_self();
	int64_t distance = INT64_MAX;    /* a thread without a state has nothing to draw a distance with */
	bool is_kept = thread && sampler_keeps(&thread->sampler, bytes, &distance) && !thread_is_inside;

	telem_thread_.unsampled = distance;
	if (is_kept && telem_level_(site) != TELEM_OFF) {
		const struct telem_site *tag = telem_thread_.tag;
		const struct sample sample = {
			.address = (uint64_t)(uintptr_t)address, .born_ticks = telem_stamp(), .bytes = bytes,
			.task = thread->stack[thread->depth]->task->id, .type = site->id, .tag = tag ? tag->id : 0,
			.shift = thread->sampler.shift,
		};

		report(&sample, 0, false);
		sample_put(&sample, &thread->sampler);
	}
	errno = saved;
}

void telem_death_(const struct telem_site *site, const void *address)
{
	int saved = errno;
	struct sample sample;
	struct thread *thread;

	/* What is taken may be of another type: an allocation at this address whose free was not recorded. */
	if (settings_is_running() && sample_take((uint64_t)(uintptr_t)address, &sample) &&
	    (!site || sample.type == site->id)) {
		thread = thread_self();
		if (thread && !thread_is_inside)
			end_sample(&sample, thread);
	}
	errno = saved;
}

uint32_t telem_allocations(int task, struct telem_allocation *out, uint32_t room)
{
	uint32_t count = 0, at = 0;
	uint64_t now = telem_stamp();
	struct sample sample;

	while (count < room && samples_next(&at, &sample)) {
		if (task != 0 && task != sample.task)
			continue;
		out[count++] = (struct telem_allocation){
			site_table.rows[sample.type].name, (const void *)(uintptr_t)sample.address, sample.bytes,
			now > sample.born_ticks ? clock_duration_ns(now - sample.born_ticks) : 0, sample.task, false,
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
