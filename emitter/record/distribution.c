/* distribution.c -- values and durations: the histogram of each, and the stream. */
#include "emitter/record/distribution.h"

#include <errno.h>

#include "emitter/core/api.h"
#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/record/cell.h"
#include "emitter/record/cell_shared.h"
#include "emitter/record/dispatch.h"
#include "emitter/record/histogram.h"
#include "emitter/record/record.h"

/* Counts the previous value, and stores the number of this value's bucket for the next call. That number depends on
 * a stamp just read, and using it at once would delay the next stamp by a third of what a span costs. */
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

static __attribute__((cold, noinline)) void histogram_first(struct telem_cell *cell)
{
	int saved = errno;

	if (!thread_is_inside) {
		thread_is_inside++;
		lock_take();
		/* Release: when the flusher sees the pointer, it sees the zeroed buckets. */
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
		record_stream(site, cell, value, ticks);
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
	/* In a forked child it may only have been passed to start telemetry anew (levels_await_passage()). */
	if (telem_level_(site) == TELEM_OFF)
		return;
	if (!cell) {
		cell_shared_add(site, 1, value, 0, 0);
		return;
	}
	distribution_prepare(site, cell, value);
	count_value(site, cell, level, value, ticks);
}

static void sum_weighted(const struct telem_site *site, struct telem_cell *cell, uint64_t value, uint64_t weight)
{
	distribution_prepare(site, cell, value);
	telem_add_(&cell->sum, value * weight);
	if (cell->buckets)
		telem_add_(&cell->buckets[histogram_index(value)], weight);
}

void distribution_add(struct telem_site *site, uint64_t value, uint64_t weight)
{
	uint8_t level = telem_level_(site);
	struct telem_cell *cell = telem_cell_(site);

	if (level == TELEM_OFF)
		return;
	if (!cell)
		cell = telem_cell_make_(site);
	if (cell) {
		sum_weighted(site, cell, value, weight);
		telem_add_(&cell->count, weight);
	} else {
		cell_shared_add(site, weight, value * weight, 0, 0);
	}
	if (level & TELEM_HANDLED_)
		handlers_call(site, TELEM_HAPPENED, value, NULL, 0);
}

/* Records a span that stands for `weight` spans, which were counted when they began. */
static void distribute_weighted(struct telem_site *site, uint8_t level, uint64_t value, uint64_t ticks, uint64_t weight)
{
	struct telem_cell *cell = telem_cell_(site);

	if (!cell) {                     /* it was not counted either */
		distribute_slow(site, level, value, ticks);
		return;
	}
	sum_weighted(site, cell, value, weight);
	if (level == TELEM_ALL) {
		telem_add_(&cell->count, (uint64_t)-1);
		telem_add_(&cell->streamed, 1);
		record_stream(site, cell, value, ticks);
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
	distribute_slow(site, record_level(site, telem_level_(site)), n, telem_stamp());
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
	uint8_t recorded = record_level(site, level);

	if (level & TELEM_SAMPLED_ && phase == TELEM_STOPPED)
		distribute_weighted(site, recorded, value, now,
				    (uint64_t)__atomic_load_n(&site->skip_mask, __ATOMIC_RELAXED) + 1);
	else if (recorded != TELEM_OFF && phase != TELEM_ABANDONED)
		distribute_slow(site, recorded, value, now);
	if (level & TELEM_HANDLED_)
		handlers_call(site, phase, value, NULL, 0);
}

/* Returns 0 for an end before the begin, because stamps of two processors may differ by a little. */
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

	/* A sampled span was counted when it began, because that count also selects the next span to be timed. */
	if (level & TELEM_SAMPLED_ && cell)
		telem_add_(&cell->count, (uint64_t)-1);
	if (level > TELEM_ALL)
		duration_more(site, level, duration(start_ticks, telem_stamp()), 0, TELEM_ABANDONED);
}
