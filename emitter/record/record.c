/* record.c -- what an event writes, where that is more than the inline case of telem.h: a
 * thread's first time, distributions, the stream, and the shared shard of threads beyond
 * the limits, whose cells are added to with locked instructions. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "emitter/core/clock.h"
#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/record/cell.h"
#include "emitter/record/dispatch.h"
#include "emitter/record/heap.h"
#include "emitter/record/histogram.h"
#include "emitter/record/place.h"
#include "emitter/record/ring.h"
#include "emitter/record/shard.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

/* Kept out of the hot text: it runs once for a thread and site, or not even that. */
#define COLD __attribute__((cold))

/* Returns this thread's cell, made with all it needs; NULL: the event goes to the shared shard, if at all. */
COLD struct telem_cell *telem_cell_make_(struct telem_site *site)
{
	struct telem_cell *cell;
	struct thread *thread;
	struct shard *shard;
	int saved = errno;

	if (!thread_is_inside)
		fork_restart();
	thread = thread_self();
	if (thread && !thread_is_inside && site->id && !telem_cell_(site)) {
		/* More sites have come since the shard was made: the thread gets a larger one, and keeps the old
		 * one as it is. */
		thread_is_inside++;
		lock_take();
		shard = thread_shard_in(thread, thread->stack[thread->depth]->task);
		lock_release();
		if (shard && shard->cell_count > site->id) {
			thread->stack[thread->depth] = shard;
			shard_enter(shard);
		}
		thread_is_inside--;
	}
	cell = telem_cell_(site);
	errno = saved;
	return cell;
}

/* For threads without a cell, and signal handlers that interrupt a slow path: where several
 * may add at once. NULL: telemetry is not running. */
static COLD struct telem_cell *cell_shared(const struct telem_site *site)
{
	if (!settings_is_running() || site->id == 0 || site->id >= LIMIT_EMITTER_SITES)
		return NULL;
	__atomic_store_n(&task_shared.is_used, true, __ATOMIC_RELAXED);
	return &shard_shared.cells[site->id];
}

COLD void telem_heap_slow_(int64_t bytes, bool is_free)
{
	struct telem_site *tag = telem_thread_.tag;
	struct telem_cell *cell;

	if ((uint64_t)(telem_thread_.heap_moved + HEAP_STEP) >= 2 * HEAP_STEP)
		heap_publish();
	if (!tag) {
		telem_thread_.heap_step = HEAP_STEP;
		return;
	}
	cell = telem_cell_(tag);
	if (!cell)
		cell = telem_cell_make_(tag);
	/* A tag's events are not streamed, because the allocation itself may be. */
	if (cell && !is_free) {
		telem_add_(&cell->sum, (uint64_t)bytes);
		telem_add_(&cell->count, 1);
	} else if (cell) {
		telem_add_(&cell->freed_bytes, (uint64_t)-bytes);
		telem_add_(&cell->free_count, 1);
	}
}

static COLD void shared_add(struct telem_site *site, uint64_t count, uint64_t sum, uint64_t frees, uint64_t freed_bytes)
{
	struct telem_cell *cell = cell_shared(site);

	if (!cell)
		return;
	__atomic_fetch_add(&cell->sum, sum, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->freed_bytes, freed_bytes, __ATOMIC_RELAXED);
	if (site->kind == TELEM_KIND_ALLOC_)
		heap_move((int64_t)(sum - freed_bytes));
	if ((telem_level_(site) & TELEM_LEVEL_) == TELEM_ALL) {       /* no ring is shared, so it is lost */
		__atomic_fetch_add(&cell->streamed, count, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->streamed_frees, frees, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->dropped, count + frees, __ATOMIC_RELAXED);
	} else {
		__atomic_fetch_add(&cell->count, count, __ATOMIC_RELAXED);
		__atomic_fetch_add(&cell->free_count, frees, __ATOMIC_RELAXED);
	}
}

COLD void telem_add_slow_(struct telem_site *site, uint64_t n)
{
	if (telem_cell_make_(site))
		telem_count_(site, telem_level_(site), n);
	else
		shared_add(site, 1, n, 0, 0);
}

COLD void telem_gauge_slow_(struct telem_site *site, int64_t n, bool add)
{
	if (telem_cell_make_(site)) {
		if (add)
			telem_gauge_add_(site, telem_level_(site), n);
		else
			telem_gauge_set_(site, telem_level_(site), n);
	} else if (add) {
		shared_add(site, 1, (uint64_t)n, 0, 0);
	} else {
		struct telem_cell *cell = cell_shared(site);

		if (cell) {
			__atomic_store_n(&cell->sum, (uint64_t)n, __ATOMIC_RELAXED);
			__atomic_store_n(site->owner, shard_shared.id, __ATOMIC_RELAXED);
			shared_add(site, 1, 0, 0, 0);
		}
	}
}

COLD void telem_alloc_slow_(struct telem_site *site, uint64_t bytes, bool is_free)
{
	if (!telem_cell_make_(site))
		shared_add(site, !is_free, is_free ? 0 : bytes, is_free, is_free ? bytes : 0);
	else if (is_free)
		telem_free_(site, telem_level_(site), bytes);
	else
		telem_alloc_(site, telem_level_(site), bytes);
}

/* Does the limit of its class leave this event out of the stream? Then it is only summed. */
static __attribute__((noinline)) bool is_left_out(const struct telem_site *site)
{
	uint32_t class_id = site_table.rows[site->id].class_id;
	struct class_limit *limit = &class_table.rows[class_id].limit;
	uint32_t one_in = __atomic_load_n(&limit->one_in, __ATOMIC_RELAXED);
	uint64_t most = __atomic_load_n(&limit->per_second, __ATOMIC_RELAXED), now;

	if (one_in > 1 && my_thread && my_thread->limited[class_id]++ % one_in)
		return true;
	if (most == 0)
		return false;
	/* A new second may begin in two threads at once: then it lets a few more through. */
	now = clock_ticks();
	if (clock_duration_ns(now - __atomic_load_n(&limit->second_ticks, __ATOMIC_RELAXED)) >= 1000000000u) {
		__atomic_store_n(&limit->second_ticks, now, __ATOMIC_RELAXED);
		__atomic_store_n(&limit->let_through, 0, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&limit->let_through, __ATOMIC_RELAXED) >= most ||
	       __atomic_fetch_add(&limit->let_through, 1, __ATOMIC_RELAXED) >= most;
}

/* Returns the level that counts for one event. */
static inline uint8_t level_for(const struct telem_site *site, uint8_t level)
{
	return __builtin_expect(level & TELEM_LIMITED_, 0) && is_left_out(site) ? TELEM_SUM : level & TELEM_LEVEL_;
}

/* Makes the ring, at this thread's first event at level all; NULL: there are too many, or no memory. */
static COLD struct ring *ring_make(void)
{
	int saved = errno;
	struct ring *ring = NULL;

	if (my_thread && !thread_is_inside) {
		thread_is_inside++;
		lock_take();
		ring = my_thread->ring;
		if (!ring && thread_table.ring_count < LIMIT_RINGS) {
			ring = ring_new(__atomic_load_n(&settings.ring_bytes, __ATOMIC_RELAXED));
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

/* Policy `overwrite`: this thread has given up one of its own oldest events. */
static void count_lost(int task, uint32_t site)
{
	struct shard *shard = my_thread ? my_thread->shards : NULL;

	while (shard && (shard->task->id != task || site >= shard->cell_count ||
			 !(shard->cells[site].streamed | shard->cells[site].streamed_frees)))
		shard = shard->next;
	if (shard)
		telem_add_(&shard->cells[site].dropped, 1);
	else                            /* of a task that ended: where its sums went */
		__atomic_fetch_add(&shard_ended.cells[site].dropped, 1, __ATOMIC_RELAXED);
}

/* The ring has given up its oldest segment, which is counted before the record goes in. */
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

/* The straight cases below make no call, so that they save no registers, nor does a ring that
 * stays full; all others end here. */
static __attribute__((noinline)) void stream_rest(const struct telem_site *site, struct telem_cell *cell,
						  uint64_t value, uint64_t ticks)
{
	struct ring *ring = telem_thread_.ring;

	if (!ring)
		ring = ring_make();
	if (!ring || (drops() && ring_is_full(ring)) || !put_slow(ring, site->id, ticks, value, NULL))
		telem_add_(&cell->dropped, 1);
}

static __attribute__((noinline)) void stream_slow(const struct telem_site *site, struct telem_cell *cell,
						  uint64_t value, uint64_t ticks)
{
	const struct ring *ring = telem_thread_.ring;

	if (ring && ring_is_still_full(ring) && drops())
		telem_add_(&cell->dropped, 1);
	else
		stream_rest(site, cell, value, ticks);
}

/* ticks 0 says that the caller has no stamp: the slow path takes one. */
static inline __attribute__((always_inline)) void stream(const struct telem_site *site, struct telem_cell *cell,
							 uint64_t value, uint64_t ticks)
{
	struct ring *ring = telem_thread_.ring;
	uint64_t head, limit;

	if (__builtin_expect(ring && ticks && ring_claim(ring, &head, &limit), 1))
		ring_commit(ring, head, limit, ticks << 16 | site->id, value);
	else
		stream_slow(site, cell, value, ticks);
}

/* Of a class that streams a part only. Called last, so that the straight ways stay without a
 * call of their own. */
static __attribute__((noinline)) void stream_limited(const struct telem_site *site, struct telem_cell *cell,
						     uint64_t value, uint64_t ticks, bool is_free)
{
	if (level_for(site, telem_level_(site)) != TELEM_ALL) {
		telem_add_(is_free ? &cell->free_count : &cell->count, 1);
		return;
	}
	telem_add_(is_free ? &cell->streamed_frees : &cell->streamed, 1);
	stream_slow(site, cell, value, ticks);
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
	/* The ring is claimed first, because that it is full is found out in less time than a stamp takes. */
	if (__builtin_expect(ring && __atomic_load_n(&telem_clock_is_tsc_, __ATOMIC_RELAXED) &&
			     ring_claim(ring, &head, &limit), 1))
		ring_commit(ring, head, limit, __builtin_ia32_rdtsc() << 16 | site->id, value);
	else
		stream_slow(site, cell, value, 0);
#else
	stream(site, cell, value, telem_stamp());
#endif
}

void telem_stream_coarse_(struct telem_site *site, struct telem_cell *cell, uint64_t value)
{
	/* The stamp is 0 while no reader is there: then the slow path takes an exact one. */
	uint64_t ticks = __atomic_load_n(&settings.coarse_ticks, __ATOMIC_RELAXED);

	if (is_limited(site)) {
		stream_limited(site, cell, value, ticks, false);
		return;
	}
	telem_add_(&cell->streamed, 1);
	stream(site, cell, value, ticks);
}

void telem_stream_free_(struct telem_site *site, struct telem_cell *cell, uint64_t bytes)
{
	uint64_t ticks = __atomic_load_n(&settings.coarse_ticks, __ATOMIC_RELAXED);

	if (is_limited(site)) {
		stream_limited(site, cell, (uint64_t)0 - bytes, ticks, true);
		return;
	}
	telem_add_(&cell->streamed_frees, 1);
	stream(site, cell, (uint64_t)0 - bytes, ticks);
}

/* Puts an event with a payload into the ring; false: it is lost, and counted. */
static bool stream_payload(struct telem_site *site, struct telem_cell *cell, const void *payload, uint32_t bytes)
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

COLD void telem_mark_slow_(struct telem_site *site, uint64_t key)
{
	if (telem_cell_make_(site))
		telem_mark_(site, telem_level_(site), key);
	else
		shared_add(site, 1, 0, 0, 0);
}

/* Counts value one event late. The address of its bucket hangs on a stamp just read, and
 * an access there would hold up the next stamp: a third of what a span costs. */
static inline __attribute__((always_inline)) void histogram_put(uint64_t *buckets, uint64_t value)
{
	uint64_t *late = &buckets[HISTOGRAM_BUCKETS], index = histogram_index(value);
	uint64_t before = __atomic_load_n(late, __ATOMIC_RELAXED);

	if (__builtin_expect(before == HISTOGRAM_BUSY, 0)) {    /* a signal handler in between */
		telem_add_(&buckets[index], 1);
		return;
	}
	__atomic_store_n(late, HISTOGRAM_BUSY, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(before != 0, 1))
		telem_add_(&buckets[before - 1], 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(late, index + 1, __ATOMIC_RELAXED);
}

static COLD __attribute__((noinline)) void histogram_first(struct telem_cell *cell)
{
	int saved = errno;

	if (!thread_is_inside) {
		thread_is_inside++;
		lock_take();
		/* The store is a release, so that the flusher that sees the pointer sees zeroes behind it. */
		__atomic_store_n(&cell->buckets, histogram_take(), __ATOMIC_RELEASE);
		lock_release();
		thread_is_inside--;
	}
	errno = saved;
}

static inline __attribute__((always_inline)) void count_value(const struct telem_site *site, struct telem_cell *cell,
							      uint8_t level, uint64_t value, uint64_t ticks)
{
	telem_add_(&cell->sum, value);
	if (__builtin_expect(cell->buckets != NULL, 1))
		histogram_put(cell->buckets, value);
	if (level == TELEM_ALL) {
		telem_add_(&cell->streamed, 1);
		stream(site, cell, value, ticks);
	} else {
		telem_add_(&cell->count, 1);
	}
}

static void distribution_prepare(const struct telem_site *site, struct telem_cell *cell, uint64_t value)
{
	if (!cell->buckets && !__atomic_load_n(&histograms_are_spent, __ATOMIC_RELAXED))
		histogram_first(cell);
	if (value < cell->min || (cell->max == 0 && cell->sum == 0) || cell_count(cell, site->kind) == 0)
		__atomic_store_n(&cell->min, value, __ATOMIC_RELAXED);
	if (value > cell->max)
		__atomic_store_n(&cell->max, value, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void distribute_slow(struct telem_site *site, uint8_t level, uint64_t value,
						      uint64_t ticks)
{
	struct telem_cell *cell = telem_cell_(site);

	if (!cell)
		cell = telem_cell_make_(site);
	if (!cell) {
		shared_add(site, 1, value, 0, 0);
		return;
	}
	distribution_prepare(site, cell, value);
	count_value(site, cell, level, value, ticks);
}

/* A span that stands for weight of them, which were counted when they began. */
static void distribute_weighted(struct telem_site *site, uint8_t level, uint64_t value, uint64_t ticks, uint64_t weight)
{
	struct telem_cell *cell = telem_cell_(site);

	if (!cell) {                     /* it was not counted either */
		distribute_slow(site, level, value, ticks);
		return;
	}
	distribution_prepare(site, cell, value);
	telem_add_(&cell->sum, value * weight);
	if (cell->buckets)
		telem_add_(&cell->buckets[histogram_index(value)], weight);
	if (level == TELEM_ALL) {
		telem_add_(&cell->count, (uint64_t)-1);
		telem_add_(&cell->streamed, 1);
		stream(site, cell, value, ticks);
	}
}

static inline __attribute__((always_inline)) void distribute(struct telem_site *site, uint8_t level, uint64_t value,
							     uint64_t ticks)
{
	struct telem_cell *cell = telem_cell_(site);

	if (__builtin_expect(!cell || !cell->buckets || value < cell->min || value > cell->max, 0)) {
		distribute_slow(site, level, value, ticks);
		return;
	}
	count_value(site, cell, level, value, ticks);
}

static __attribute__((noinline)) void value_limited(struct telem_site *site, uint64_t n)
{
	distribute_slow(site, level_for(site, telem_level_(site)), n, telem_stamp());
}

void telem_value_(struct telem_site *site, uint64_t n)
{
	uint8_t level = telem_level_(site);

	if (__builtin_expect(level <= TELEM_ALL, 1))
		distribute(site, level, n, level == TELEM_ALL ? telem_stamp() : 0);
	else
		value_limited(site, n);
}

/* Records a duration where its level asks for more than that. Handlers are called when it is recorded. */
static __attribute__((noinline)) void duration_more(struct telem_site *site, uint8_t level, uint64_t value,
						    uint64_t now, enum telem_phase phase)
{
	uint8_t recorded = level_for(site, level);

	if (level & TELEM_SAMPLED_ && phase == TELEM_STOPPED)
		distribute_weighted(site, recorded, value, now,
				    (uint64_t)__atomic_load_n(&site->skip_mask, __ATOMIC_RELAXED) + 1);
	else if (recorded != TELEM_OFF && phase != TELEM_ABANDONED)
		distribute_slow(site, recorded, value, now);
	if (level & TELEM_HANDLED_)
		handlers_call(site, phase, value, NULL, 0);
}

/* Stamps of two processors may differ by a little. */
static inline uint64_t duration(uint64_t start_ticks, uint64_t now)
{
	return now > start_ticks ? clock_duration_ns(now - start_ticks) : 0;
}

void telem_duration_(struct telem_site *site, uint64_t start_ticks)
{
	uint8_t level = telem_level_(site);
	uint64_t now;

	if (start_ticks == 0 || level == TELEM_OFF)
		return;
	now = telem_stamp();
	if (__builtin_expect(level <= TELEM_ALL, 1))
		distribute(site, level, duration(start_ticks, now), now);
	else
		duration_more(site, level, duration(start_ticks, now), now,
			      site->kind == TELEM_KIND_SPAN_ ? TELEM_STOPPED : TELEM_HAPPENED);
}

void telem_started_(struct telem_site *site)
{
	handlers_call(site, TELEM_STARTED, 0, NULL, 0);
}

void telem_abandoned_(struct telem_site *site, uint64_t start_ticks)
{
	uint8_t level = telem_level_(site);
	struct telem_cell *cell = telem_cell_(site);

	/* It was counted when it began, which also tells which one is the next to be timed. */
	if (level & TELEM_SAMPLED_ && cell)
		telem_add_(&cell->count, (uint64_t)-1);
	if (level > TELEM_ALL)
		duration_more(site, level, duration(start_ticks, telem_stamp()), 0, TELEM_ABANDONED);
}

static void event_record(struct telem_site *site, uint8_t level, const struct telem_field *fields, uint32_t field_count)
{
	struct telem_cell *cell = telem_cell_(site);
	uint64_t payload[1 + LIMIT_FIELDS];

	if (!cell)
		cell = telem_cell_make_(site);
	if (!cell) {
		shared_add(site, 1, 0, 0, 0);
		return;
	}
	if (level != TELEM_ALL) {
		telem_add_(&cell->count, 1);
		return;
	}
	if (field_count > LIMIT_FIELDS)
		field_count = LIMIT_FIELDS;
	if (!place_has_fields(site) && !thread_is_inside) {
		thread_is_inside++;
		place_fields(site, fields, field_count);
		thread_is_inside--;
	}
	/* The payload is two bits of type for each field, then the values. */
	payload[0] = 0;
	for (uint32_t i = 0; i < field_count; i++) {
		payload[0] |= (uint64_t)fields[i].type << (2 * i);
		payload[1 + i] = fields[i].bits;
	}
	stream_payload(site, cell, payload, (1 + field_count) * 8);
}

static __attribute__((noinline)) void event_happened(struct telem_site *site, uint8_t level,
						     const struct telem_field *fields, uint32_t field_count)
{
	uint8_t recorded = level_for(site, level);

	if (recorded != TELEM_OFF)
		event_record(site, recorded, fields, field_count);
	if (__builtin_expect(level & TELEM_HANDLED_, 0))
		handlers_call(site, TELEM_HAPPENED, 0, fields, field_count);
}

/* Both branches are tail calls, so no register is saved here. */
void telem_event_(struct telem_site *site, const struct telem_field *fields, uint32_t field_count)
{
	uint8_t level = telem_level_(site);

	if (level == TELEM_HANDLED_)
		handlers_call(site, TELEM_HAPPENED, 0, fields, field_count);
	else
		event_happened(site, level, fields, field_count);
}

/* Is this line part of a burst, whose texts say little more? A log's cell keeps since when it
 * counts (min), and how many came since then (max). */
static bool is_folded(struct telem_cell *cell)
{
	uint64_t now = telem_stamp();

	if (clock_duration_ns(now - cell->min) >= LIMIT_LOG_BURST_NS) {
		cell->min = now;
		cell->max = 0;
	}
	if (cell->max++ < LIMIT_LOG_BURST)
		return false;
	telem_add_(&cell->sum, 1);
	telem_add_(&cell->folded, 1);
	return true;
}

void telem_log_(struct telem_site *site, const char *format, ...)
{
	struct telem_cell *cell = telem_cell_(site);
	struct { uint32_t folded; char text[LIMIT_TEXT_BYTES + 1]; } line;
	int saved = errno, length;
	va_list arguments;

	if (!cell)
		cell = telem_cell_make_(site);
	if (!cell) {
		shared_add(site, 1, 0, 0, 0);
		return;
	}
	if (my_thread && site->detail < SEVERITY_COUNT)
		telem_add_(&my_thread->logs[site->detail], 1);
	if (level_for(site, telem_level_(site)) != TELEM_ALL || is_folded(cell)) {
		telem_add_(&cell->count, 1);
		return;
	}
	va_start(arguments, format);
	length = vsnprintf(line.text, sizeof line.text, format, arguments);
	va_end(arguments);
	line.folded = (uint32_t)cell->folded;
	cell->folded = 0;
	/* A text of LIMIT_TEXT_BYTES + 1 says that it was cut. */
	if (length >= 0 &&
	    !stream_payload(site, cell, &line, (uint32_t)sizeof line.folded +
			    ((uint32_t)length < sizeof line.text ? (uint32_t)length : (uint32_t)sizeof line.text)))
		telem_add_(&cell->folded, line.folded); /* the next line to be streamed carries it */
	errno = saved;
}
