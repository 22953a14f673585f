/* gc.c -- the pauses of a garbage collector, and the figures of the heap after each. */
#include "emitter/core/api.h"
#include "emitter/record/place.h"
#include "protocol/message.h"

enum { GENERATIONS = 4 };            /* the last one stands for all older generations, too */

/* Each generation has a span of its own, because their pauses differ by orders of magnitude. */
static struct telem_site *pause_site(uint32_t generation)
{
	switch (generation) {
	case 0: return OWN_SITE(gc, TELEM_KIND_SPAN_, TELEM_NS, SPAN_IS_PAUSE, "gen 0");
	case 1: return OWN_SITE(gc, TELEM_KIND_SPAN_, TELEM_NS, SPAN_IS_PAUSE, "gen 1");
	case 2: return OWN_SITE(gc, TELEM_KIND_SPAN_, TELEM_NS, SPAN_IS_PAUSE, "gen 2");
	default: return OWN_SITE(gc, TELEM_KIND_SPAN_, TELEM_NS, SPAN_IS_PAUSE, "gen 3+");
	}
}

static uint64_t starts[GENERATIONS]; /* atomic: begin and end may come from different threads */

static uint32_t slot_of(uint32_t generation)
{
	return generation < GENERATIONS ? generation : GENERATIONS - 1;
}

static void set_bytes(struct telem_site *site, uint64_t bytes)
{
	uint8_t level = telem_level_(site);

	if (level != TELEM_OFF && site->kind == TELEM_KIND_GAUGE_)
		telem_gauge_set_(site, level, (int64_t)bytes);
	else if (level != TELEM_OFF)
		telem_count_(site, level, bytes);
}

#define BYTES(KIND, name) OWN_SITE(gc, TELEM_KIND_##KIND##_, TELEM_BYTES, 0, name)

void telem_gc_begin(uint32_t generation)
{
	struct telem_span span = telem_span_begin(pause_site(generation));

	__atomic_store_n(&starts[slot_of(generation)], span.start, __ATOMIC_RELAXED);
}

void telem_gc_end(uint32_t generation, const struct telem_gc *gc)
{
	struct telem_span span = {
		pause_site(generation), __atomic_exchange_n(&starts[slot_of(generation)], 0, __ATOMIC_RELAXED), 1
	};

	telem_span_end(&span);
	if (!gc)
		return;
	set_bytes(BYTES(GAUGE, "live"), gc->live_bytes);
	set_bytes(BYTES(GAUGE, "heap"), gc->heap_bytes);
	set_bytes(BYTES(GAUGE, "slop"), gc->slop_bytes);
	set_bytes(BYTES(COUNTER, "copied"), gc->copied_bytes);
	set_bytes(BYTES(COUNTER, "collected"), gc->collected_bytes);
}
