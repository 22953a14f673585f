#include "emitter/deliver/cost.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/record/histogram.h"
#include "emitter/record/price.h"
#include "emitter/record/ring.h"
#include "emitter/record/thread.h"

enum { ROUNDS = 256, TRIES = 5 };    /* so many records fit into the smallest ring */

static void record(struct telem_site *site, uint8_t level)
{
	switch (site->kind) {
	case TELEM_KIND_SPAN_: {
		struct telem_span span = telem_span_begin(site);

		telem_span_end(&span);
		break;
	}
	case TELEM_KIND_LATENCY_: telem_duration_(site, 1); break;
	case TELEM_KIND_VALUE_: telem_value_(site, 1000); break;
	case TELEM_KIND_COUNTER_: telem_count_(site, level, 1); break;
	case TELEM_KIND_GAUGE_: telem_gauge_add_(site, level, 1); break;
	case TELEM_KIND_ALLOC_: telem_alloc_(site, level, 1); break;
	case TELEM_KIND_MARK_: telem_mark_(site, level, 1); break;
	case TELEM_KIND_EVENT_: telem_event_(site, (struct telem_field[2]){ { "a", 0, 1 }, { "b", 0, 2 } }, 2); break;
	case TELEM_KIND_LOG_:
		telem_thread_.cells->max = 0;   /* so that the line is not part of a burst */
		telem_log_(site, "a line of %d", 7);
		break;
	default: break;
	}
}

/* Returns the least of several tries, because the others were slowed down by something else. */
static uint32_t measure(struct telem_site *site, struct ring *ring)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t start;

		ring_reset(ring);
		record(site, site->level);   /* the first one costs more */
		start = clock_ns();
		for (int j = 0; j < ROUNDS; j++)
			record(site, site->level);
		start = clock_ns() - start;
		least = start < least ? start : least;
	}
	return (uint32_t)(least * 1000 / ROUNDS);
}

/* Records into a cell, a ring and a site that belong to no thread; this thread's own state is put back. */
static void measure_all(void)
{
	price_table measured = { { 0 } };
	struct telem_thread_ before = telem_thread_;
	struct thread *thread = my_thread;
	struct telem_cell cell;
	struct ring *ring = ring_new(LIMIT_RING_BYTES_MIN);
	sigset_t all, mask;
	uint64_t *buckets;

	lock_take();
	buckets = histogram_take();
	lock_release();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	my_thread = NULL;
	telem_thread_ = (struct telem_thread_){ .cells = &cell, .cell_count = 1, .ring = ring, .heap_step = INT32_MAX };
	/* Kind 0 records nothing, so it measures the loop itself. */
	for (uint8_t kind = 0; ring && buckets && kind <= SITE_LOG; kind++)
		for (uint8_t level = LEVEL_SUM; level <= LEVEL_ALL; level++) {
			struct telem_site site = { .level = level, .kind = kind, .cls = &telem_class_telem,
						   .name = "price", .file = "", .detail = TELEM_DEBUG };

			if (kind == SITE_EVENT)
				site.fields_known = 1;
			cell = (struct telem_cell){ .buckets = buckets, .max = kind <= SITE_VALUE ? UINT64_MAX : 0 };
			measured[kind][level] = measure(&site, ring);
			if (kind && measured[0][level] < measured[kind][level])
				measured[kind][level] -= measured[0][level];
		}
	telem_thread_ = before;
	my_thread = thread;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	lock_take();
	prices_set(measured);
	if (buckets)
		histogram_give(buckets);
	lock_release();
	if (ring)
		ring_free(ring);
}

void cost_measure(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int saved = errno;

	pthread_once(&once, measure_all);
	errno = saved;
}
