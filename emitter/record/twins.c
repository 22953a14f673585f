/* twins.c -- asserts that constants which are both in telem.h and in protocol/ are equal.
 *
 * telem.h is installed without protocol/, so it has constants of its own. */
#include "emitter/core/api.h"

#include <assert.h>
#include <limits.h>

#include "protocol/limits.h"
#include "protocol/message.h"

#define SAME(ours, wire) static_assert((int)(ours) == (int)(wire), #ours " is " #wire)

SAME(TELEM_KIND_SPAN_, SITE_SPAN);
SAME(TELEM_KIND_LATENCY_, SITE_LATENCY);
SAME(TELEM_KIND_VALUE_, SITE_VALUE);
SAME(TELEM_KIND_COUNTER_, SITE_COUNTER);
SAME(TELEM_KIND_GAUGE_, SITE_GAUGE);
SAME(TELEM_KIND_ALLOC_, SITE_ALLOC);
SAME(TELEM_KIND_MARK_, SITE_MARK);
SAME(TELEM_KIND_EVENT_, SITE_EVENT);
SAME(TELEM_KIND_LOG_, SITE_LOG);
SAME(TELEM_KIND_TAG_, SITE_TAG);
static_assert((int)SITE_TAG + 1 == (int)SITE_KIND_COUNT, "every kind of site is named in both");

SAME(TELEM_NONE, UNIT_PLAIN);
SAME(TELEM_NS, UNIT_TIME);
SAME(TELEM_BYTES, UNIT_SIZE);

SAME(TELEM_OFF, LEVEL_OFF);
SAME(TELEM_SUM, LEVEL_SUM);
SAME(TELEM_ALL, LEVEL_ALL);
static_assert(TELEM_LEVEL_ >= TELEM_ALL, "a place's level holds every level");

SAME(TELEM_FATAL + 1, SEVERITY_COUNT);

SAME(TELEM_RECORDING, WATCH_RECORDING);
SAME(TELEM_INSPECTION, WATCH_INSPECTION);
SAME(TELEM_BUDGETS, WATCH_BUDGETS);
static_assert((int)TELEM_BUDGETS + 1 == (int)WATCH_COUNT, "all that can be watched is named in both");

SAME(TELEM_BROKE_TIME, BROKE_TIME);
SAME(TELEM_BROKE_HEAP, BROKE_HEAP);
SAME(TELEM_BROKE_LOGS, BROKE_LOGS);
SAME(TELEM_BROKE_COUNTER, BROKE_COUNTER);

/* Sizes that telem.h has as numbers. */
#define FIELD(type, name) (((struct type *)0)->name)
SAME(sizeof FIELD(telem_handler_info, id), LIMIT_NAME_BYTES);
SAME(sizeof FIELD(telem_handler_info, event), 2 * LIMIT_NAME_BYTES);
SAME(sizeof FIELD(telem_frame_info, logs) / sizeof *FIELD(telem_frame_info, logs), SEVERITY_COUNT);
SAME(sizeof FIELD(telem_frame_info, counters) / sizeof *FIELD(telem_frame_info, counters), LIMIT_COUNTERS_A_FRAME);
static_assert(sizeof(struct telem_site) * CHAR_BIT == 512,
	      "a place fills one cache line, so the first load brings it all");
static_assert(sizeof(struct telem_cell) * CHAR_BIT == 512, "and so does a cell");
static_assert(TELEM_SAMPLED_ROOM_ == 1u << (64 - 47), "TELEM_SAMPLED_AT_ keeps the 17 upper bits of a product");
