#include "emitter/record/record.h"

#include <errno.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/record/shard.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

/* Runs at most once for a thread and site, so the compiler keeps it apart from code that runs often. */
#define COLD __attribute__((cold))

__attribute__((noinline)) bool record_is_left_out(uint32_t site)
{
	uint32_t class_id = site_table.rows[site].class_id;
	struct class_limit *limit = &class_table.rows[class_id].limit;
	uint32_t one_in = __atomic_load_n(&limit->one_in, __ATOMIC_RELAXED);
	uint64_t most = __atomic_load_n(&limit->per_second, __ATOMIC_RELAXED), now;

	if (one_in > 1 && my_thread && my_thread->limited[class_id]++ % one_in)
		return true;
	if (most == 0)
		return false;
	/* Two threads may begin a new second at once. Then a few more events pass than the limit says. */
	now = clock_ticks();
	if (clock_duration_ns(now - __atomic_load_n(&limit->second_ticks, __ATOMIC_RELAXED)) >= 1000000000u) {
		__atomic_store_n(&limit->second_ticks, now, __ATOMIC_RELAXED);
		__atomic_store_n(&limit->let_through, 0, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&limit->let_through, __ATOMIC_RELAXED) >= most ||
	       __atomic_fetch_add(&limit->let_through, 1, __ATOMIC_RELAXED) >= most;
}

/* Makes the ring, at this thread's first event at level all; NULL when there are too many rings or memory is out. */
static COLD struct ring *ring_make(void)
{
	int saved = errno;
	struct ring *ring = NULL;

	if (my_thread && !thread_is_inside) {
		thread_is_inside++;
		lock_take();
		ring = my_thread->ring;
		if (!ring && thread_table.ring_count < LIMIT_RINGS) {
			size_t bytes = __atomic_load_n(&settings.ring_bytes, __ATOMIC_RELAXED);

			/* A smaller ring is better than none. */
			while (!(ring = ring_new(bytes)) && bytes > LIMIT_RING_BYTES_MIN)
				bytes /= 2;
			thread_table.ring_count += ring != NULL;
			if (ring) {
				ring->task = my_thread->stack[my_thread->depth]->task->id;
				my_thread->ring = ring;
			}
		}
		lock_release();
		telem_thread_.ring = ring;
		thread_is_inside--;
	}
	errno = saved;
	return ring;
}

static inline bool drops(void)
{
	return __atomic_load_n(&settings.policy, __ATOMIC_RELAXED) == TELEM_DROP;
}

/* Counts one of its oldest events, which this thread has given up under policy `overwrite`. */
static void count_lost(int task, uint32_t site)
{
	struct shard *shard = my_thread ? my_thread->shards : NULL;

	while (shard && (shard->task->id != task || site >= shard->cell_count ||
			 !(shard->cells[site].streamed | shard->cells[site].streamed_frees)))
		shard = shard->next;
	if (shard)
		telem_add_(&shard->cells[site].dropped, 1);
	else                            /* the task has ended, and its sums have gone there, too */
		__atomic_fetch_add(&shard_ended.cells[site].dropped, 1, __ATOMIC_RELAXED);
}

/* Counts the events of the oldest segment, which the ring has given up, then puts the record in. */
static COLD __attribute__((noinline)) enum ring_result put_again(struct ring *ring, uint32_t site, uint64_t ticks,
								 uint64_t value, const void *payload)
{
	enum ring_result result;
	uint32_t lost_site;
	int task;

	do {
		while (ring_lost_next(ring, &task, &lost_site))
			count_lost(task, lost_site);
		result = ring_put_slow(ring, site, ticks, value, payload);
	} while (result == RING_GAVE_UP);
	return result;
}

static inline bool put_slow(struct ring *ring, uint32_t site, uint64_t ticks, uint64_t value, const void *payload)
{
	enum ring_result result = ring_put_slow(ring, site, ticks, value, payload);

	if (__builtin_expect(result == RING_GAVE_UP, 0))
		result = put_again(ring, site, ticks, value, payload);
	return result == RING_PUT;
}

/* Puts an event into the ring in all cases that need a call. The usual cases below make no call, so that no registers
 * are saved. */
static __attribute__((noinline)) void stream_rest(const struct telem_site *site, struct telem_cell *cell,
						  uint64_t value, uint64_t ticks)
{
	struct ring *ring = telem_thread_.ring;

	if (!ring)
		ring = ring_make();
	if (!ring || (drops() && ring_is_full(ring)) || !put_slow(ring, site->id, ticks, value, NULL))
		telem_add_(&cell->dropped, 1);
}

__attribute__((noinline)) void record_stream_slow(const struct telem_site *site, struct telem_cell *cell, uint64_t value,
						  uint64_t ticks)
{
	const struct ring *ring = telem_thread_.ring;

	if (ring && ring_is_still_full(ring) && drops())
		telem_add_(&cell->dropped, 1);
	else
		stream_rest(site, cell, value, ticks);
}

/* Streams an event of a class that has a limit. It is called last, so that the usual cases need no call. */
static __attribute__((noinline)) void stream_limited(const struct telem_site *site, struct telem_cell *cell,
						     uint64_t value, uint64_t ticks, bool is_free)
{
	if (record_level(site, telem_level_(site)) != TELEM_ALL) {
		telem_add_(is_free ? &cell->free_count : &cell->count, 1);
		return;
	}
	telem_add_(is_free ? &cell->streamed_frees : &cell->streamed, 1);
	record_stream_slow(site, cell, value, ticks);
}

static inline bool is_limited(const struct telem_site *site)
{
	return __builtin_expect(telem_level_(site) > TELEM_ALL, 0);
}

void telem_stream_(struct telem_site *site, struct telem_cell *cell, uint64_t value)
{
#ifdef __x86_64__
	struct ring *ring = telem_thread_.ring;
	uint64_t head, limit;
#endif

	if (is_limited(site)) {
		stream_limited(site, cell, value, 0, false);
		return;
	}
	telem_add_(&cell->streamed, 1);
#ifdef __x86_64__
	/* The ring is claimed before the stamp is taken, because a full ring is detected in less time than a stamp
	 * takes. */
	if (__builtin_expect(ring && __atomic_load_n(&telem_clock_is_tsc_, __ATOMIC_RELAXED) &&
			     ring_claim(ring, &head, &limit), 1))
		ring_commit(ring, head, limit, __builtin_ia32_rdtsc() << 16 | site->id, value);
	else
		record_stream_slow(site, cell, value, 0);
#else
	record_stream(site, cell, value, telem_stamp());
#endif
}

void telem_stream_coarse_(struct telem_site *site, struct telem_cell *cell, uint64_t value)
{
	/* coarse_ticks is 0 while no reader is there. The slow path then takes an exact stamp. */
	uint64_t ticks = __atomic_load_n(&settings.coarse_ticks, __ATOMIC_RELAXED);

	if (is_limited(site)) {
		stream_limited(site, cell, value, ticks, false);
		return;
	}
	telem_add_(&cell->streamed, 1);
	record_stream(site, cell, value, ticks);
}

void telem_stream_free_(struct telem_site *site, struct telem_cell *cell, uint64_t bytes)
{
	uint64_t ticks = __atomic_load_n(&settings.coarse_ticks, __ATOMIC_RELAXED);

	if (is_limited(site)) {
		stream_limited(site, cell, (uint64_t)0 - bytes, ticks, true);
		return;
	}
	telem_add_(&cell->streamed_frees, 1);
	record_stream(site, cell, (uint64_t)0 - bytes, ticks);
}

bool record_payload(struct telem_site *site, struct telem_cell *cell, const void *payload, uint32_t bytes)
{
	struct ring *ring = telem_thread_.ring;

	telem_add_(&cell->streamed, 1);
	if (!ring)
		ring = ring_make();
	if (ring && put_slow(ring, site->id | RING_PAYLOAD, 0, bytes, payload))
		return true;
	telem_add_(&cell->dropped, 1);
	return false;
}
