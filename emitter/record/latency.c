#include "emitter/record/latency.h"

#include <errno.h>
#include <string.h>

#include "emitter/core/clock.h"
#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/record/place.h"
#include "protocol/limits.h"

#define SLOTS_A_BUCKET 8u
#define BUCKETS (LIMIT_OPEN_LATENCIES / SLOTS_A_BUCKET)

/* The state of a slot is version << 32 | site. Site 0 means that it is free, SLOT_BUSY that it is being filled. */
#define SLOT_BUSY 0xffffffffu
struct slot { uint64_t state, key, start; };

static struct slot *table;           /* atomic; mapped at the first begin */
static uint64_t expiry_ns = LIMIT_LATENCY_EXPIRY_NS_DEFAULT;

static uint32_t site_in(uint64_t state) { return (uint32_t)state; }
static uint64_t next_version(uint64_t state) { return (state >> 32) + 1; }

static struct slot *bucket_of(struct slot *slots, uint32_t site, uint64_t key)
{
	uint64_t hash = (key ^ (uint64_t)site << 40) * 0x9e3779b97f4a7c15;

	return slots + (hash >> 32) % BUCKETS * SLOTS_A_BUCKET;
}

static struct slot *table_make(void)
{
	struct slot *slots = NULL;
	int saved = errno;

	if (!thread_is_inside) {
		lock_take();
		slots = table;
		if (!slots)
			slots = memory_map(LIMIT_OPEN_LATENCIES * sizeof *slots);
		__atomic_store_n(&table, slots, __ATOMIC_RELEASE);
		lock_release();
	}
	errno = saved;
	return slots;
}

void latencies_forget(void)
{
	if (table)
		memset(table, 0, LIMIT_OPEN_LATENCIES * sizeof *table);
}

/* Adds one to a counter of class telem. */
static void count(struct telem_site *site)
{
	uint8_t level = telem_level_(site);

	if (level != TELEM_OFF)
		telem_count_(site, level, 1);
}
#define COUNT(name) count(OWN_SITE(telem, TELEM_KIND_COUNTER_, TELEM_NONE, 0, name))

/* Takes a slot if it is still in the state it was seen in, and fills it. */
static bool slot_take(struct slot *slot, uint64_t seen, uint32_t site, uint64_t key)
{
	uint64_t version = next_version(seen);

	if (!__atomic_compare_exchange_n(&slot->state, &seen, version << 32 | SLOT_BUSY, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&slot->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->start, telem_stamp(), __ATOMIC_RELAXED);
	__atomic_store_n(&slot->state, version << 32 | site, __ATOMIC_RELEASE);
	return true;
}

/* Finds the open latency of this key; returns the state that its slot was seen in, or 0. */
static uint64_t slot_find(struct slot *bucket, uint32_t site, uint64_t key, struct slot **slot)
{
	for (struct slot *at = bucket; at < bucket + SLOTS_A_BUCKET; at++) {
		uint64_t state = __atomic_load_n(&at->state, __ATOMIC_ACQUIRE);

		if (site_in(state) == site && __atomic_load_n(&at->key, __ATOMIC_RELAXED) == key) {
			*slot = at;
			return state;
		}
	}
	return 0;
}

/* Returns whether the open latency is older than the expiry, so that its end is not expected any more. */
static bool is_expired(const struct slot *slot, uint64_t now)
{
	uint64_t start = __atomic_load_n(&slot->start, __ATOMIC_RELAXED);

	return now > start && clock_duration_ns(now - start) > __atomic_load_n(&expiry_ns, __ATOMIC_RELAXED);
}

void telem_latency_begin_(struct telem_site *site, uint64_t key)
{
	struct slot *slots = __atomic_load_n(&table, __ATOMIC_ACQUIRE), *bucket, *slot;
	uint64_t now, state;

	fork_restart();
	if (!slots)
		slots = table_make();
	if (!slots || site->id == 0)
		return;
	bucket = bucket_of(slots, site->id, key);
	/* A latency of this key is open already. It starts anew. */
	state = slot_find(bucket, site->id, key, &slot);
	if (state && slot_take(slot, state, site->id, key)) {
		COUNT("latency restarted");
		return;
	}
	for (slot = bucket; slot < bucket + SLOTS_A_BUCKET; slot++) {
		state = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
		if (site_in(state) == 0 && slot_take(slot, state, site->id, key))
			return;
	}
	now = telem_stamp();
	for (slot = bucket; slot < bucket + SLOTS_A_BUCKET; slot++) {
		state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
		if (site_in(state) != 0 && site_in(state) != SLOT_BUSY && is_expired(slot, now) &&
		    slot_take(slot, state, site->id, key)) {
			COUNT("latency expired");
			return;
		}
	}
	COUNT("latency overflowed");
}

void telem_latency_end_(struct telem_site *site, uint64_t key)
{
	struct slot *slots = __atomic_load_n(&table, __ATOMIC_ACQUIRE), *slot;
	uint64_t state = slots ? slot_find(bucket_of(slots, site->id, key), site->id, key, &slot) : 0, start = 0;

	if (state) {
		start = __atomic_load_n(&slot->start, __ATOMIC_RELAXED);
		/* If the state has not changed, the start that was read belongs to this latency, and no other thread
		 * has ended it. */
		if (!__atomic_compare_exchange_n(&slot->state, &state, next_version(state) << 32, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			state = 0;
	}
	if (state)
		telem_duration_(site, start);
	else
		COUNT("latency unmatched");
}

int telem_set_latency_expiry(uint64_t ns)
{
	if (ns < LIMIT_LATENCY_EXPIRY_NS_MIN || ns > LIMIT_LATENCY_EXPIRY_NS_MAX)
		return -EINVAL;
	__atomic_store_n(&expiry_ns, ns, __ATOMIC_RELAXED);
	return 0;
}
