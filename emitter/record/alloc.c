/* alloc.c -- some allocations, followed from birth to death: lifetimes by type, a hook, and
 * what a task holds.
 *
 * A place of the table is an address; what is known of it lies beside. Whoever puts TAKEN
 * there owns the place: a birth that finds none, the death of that address, or a birth that
 * drives out one that has lived long. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "emitter/core/emitter.h"
#include "emitter/record/handler.h"

#define TAKEN 1u
#define MEAN 64u                     /* allocations to a sample; a power of two */
#define OLD_NS 60000000000ull

uint64_t telem_samples_[TELEM_SAMPLES_];
static struct sample { uint64_t born_ticks, bytes; uint32_t site; int task; } samples[TELEM_SAMPLES_];

static struct telem_site *sampled_site(void)
{
	return OWN_SITE(mem, TELEM_KIND_EVENT_, TELEM_NONE, 0, "sampled");
}

/* The site of a type's lifetimes, made at its first sample; NULL: no memory. */
static struct telem_site *lifetime_of(uint32_t type)
{
	struct site_entry *entry = &emitter.sites[type];
	struct { struct telem_site site; char name[LIMIT_NAME_BYTES]; } *made;

	if (entry->lifetime || thread_is_inside)
		return entry->lifetime;
	emitter_lock();
	made = emitter_keep(sizeof *made);
	emitter_unlock();
	if (!made)
		return NULL;
	snprintf(made->name, sizeof made->name, "%.*s lifetime", LIMIT_NAME_BYTES - 10, entry->name);
	made->site = (struct telem_site){ .kind = TELEM_KIND_LATENCY_, .unit = TELEM_NS, .cls = &telem_class_mem,
					  .name = made->name, .file = "" };
	site_register_own(&made->site);
	emitter_lock();
	if (made->site.id)
		emitter.sites[made->site.id].skip_mask = MEAN - 1;
	/* Another thread's, made meanwhile, is another place of the same site. */
	__atomic_store_n(&entry->lifetime, &made->site, __ATOMIC_RELEASE);
	emitter_unlock();
	return &made->site;
}

/* To who wants to hear: handlers, and viewers at level all. */
static void tell(const struct sample *sample, const void *address, uint64_t age_ns, bool is_freed)
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

/* What stands beside a place, while it may be written. */
static struct sample sample_at(const uint64_t *place)
{
	const struct sample *sample = &samples[place - telem_samples_];

	return (struct sample){
		__atomic_load_n(&sample->born_ticks, __ATOMIC_ACQUIRE), __atomic_load_n(&sample->bytes, __ATOMIC_ACQUIRE),
		__atomic_load_n(&sample->site, __ATOMIC_ACQUIRE), __atomic_load_n(&sample->task, __ATOMIC_ACQUIRE),
	};
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
		tell(&sample, address, clock_duration_ns(telem_stamp() - sample.born_ticks), true);
}

void telem_sample_ends_(const struct telem_site *site, const void *address)
{
	uint64_t *place = &telem_samples_[TELEM_SAMPLE_PLACE_(address)], expected = (uint64_t)(uintptr_t)address;
	int saved = errno;

	if (emitter_runs() && !thread_is_inside &&
	    __atomic_compare_exchange_n(place, &expected, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		/* Of another type: the end of that one was not told. */
		if (site && sample_at(place).site != site->id)
			__atomic_store_n(place, 0, __ATOMIC_RELEASE);
		else
			end_sample(place, address, true);
	}
	errno = saved;
}

void samples_forget(void)
{
	for (uint32_t i = 0; i < TELEM_SAMPLES_; i++) {
		uint64_t there = __atomic_load_n(&telem_samples_[i], __ATOMIC_RELAXED);

		if (there > TAKEN)
			__atomic_compare_exchange_n(&telem_samples_[i], &there, 0, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
}

uint32_t sample_distance(void)
{
	/* 0 to twice the mean, or what repeats in the program would be met in step. */
	return (uint32_t)(telem_stamp() * 0x9e3779b97f4a7c15u >> 40) % (2 * MEAN - 1);
}

/* False: another one lives there, or is about to. */
static bool take(uint64_t *place, uint64_t now, uint64_t address)
{
	uint64_t there = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	/* Its own address: that was freed behind our back. */
	if (there == TAKEN ||
	    (there != 0 && there != address && clock_duration_ns(now - sample_at(place).born_ticks) < OLD_NS) ||
	    !__atomic_compare_exchange_n(place, &there, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	if (there == 0 || there == address)
		return true;
	end_sample(place, NULL, false);
	there = 0;
	return __atomic_compare_exchange_n(place, &there, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void telem_sampled_(struct telem_site *site, const void *address, uint64_t bytes)
{
	uint64_t *place = &telem_samples_[TELEM_SAMPLE_PLACE_(address)], now = telem_stamp();
	int saved = errno;
	struct thread *thread;

	telem_thread_.unsampled = sample_distance();
	thread = thread_self();
	if (thread && !thread_is_inside && take(place, now, (uint64_t)(uintptr_t)address)) {
		struct sample *beside = &samples[place - telem_samples_];
		struct sample sample = { now, bytes, site->id, thread->stack[thread->depth]->task->id };

		__atomic_store_n(&beside->born_ticks, sample.born_ticks, __ATOMIC_RELAXED);
		__atomic_store_n(&beside->bytes, sample.bytes, __ATOMIC_RELAXED);
		__atomic_store_n(&beside->site, sample.site, __ATOMIC_RELAXED);
		__atomic_store_n(&beside->task, sample.task, __ATOMIC_RELAXED);
		tell(&sample, address, 0, false);
		__atomic_store_n(place, (uint64_t)(uintptr_t)address, __ATOMIC_RELEASE);
	}
	errno = saved;
}

bool samples_next(uint32_t *at, int task, struct sample_info *out)
{
	while (*at < TELEM_SAMPLES_) {
		const uint64_t *place = &telem_samples_[(*at)++];
		uint64_t there = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		struct sample sample = sample_at(place);

		/* Another address since: what was read may be half of each. */
		if (there <= TAKEN || __atomic_load_n(place, __ATOMIC_RELAXED) != there)
			continue;
		*out = (struct sample_info){ sample.site, sample.task, sample.bytes, sample.born_ticks, there };
		if (task == 0 || task == sample.task)
			return true;
	}
	return false;
}

uint32_t telem_allocations(int task, struct telem_allocation *out, uint32_t room)
{
	uint32_t count = 0, at = 0;
	uint64_t now = telem_stamp();
	struct sample_info info;

	while (count < room && samples_next(&at, task, &info))
		out[count++] = (struct telem_allocation){
			emitter.sites[info.site].name, (const void *)(uintptr_t)info.address, info.bytes,
			now > info.born_ticks ? clock_duration_ns(now - info.born_ticks) : 0, info.task, false,
		};
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
		emitter.sites[fields[0].bits].name, (const void *)(uintptr_t)fields[2].bits, fields[1].bits,
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
	/* Freed only when no thread is in it any more. */
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
