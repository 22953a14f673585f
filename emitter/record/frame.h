/* frame.h -- turns of the program: what each took, kept in a ring, checked against a budget.
 *
 * A frame's end takes no lock: its figures are its own thread's, or atomic. Kept frames and
 * budgets are read behind a sequence number, which says when they were written meanwhile. */
#ifndef TELEM_EMITTER_RECORD_FRAME_H
#define TELEM_EMITTER_RECORD_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"
#include "protocol/message.h"

/* A frame that has ended, in words. */
struct frame_record {
	uint64_t frame, task, number, time_ns, duration_ns, allocations, broken, budget_ns, counter_count;
	int64_t heap_bytes, heap_peak;
	uint64_t logs[SEVERITY_COUNT], counters[LIMIT_COUNTERS_A_FRAME];
};

/* A reference to a WATCH_ thing more, or less. Any thread. */
void frames_watch(bool by_viewer, unsigned what, bool on);
bool frames_are_inspected(void);
/* How many frames were kept so far: the next one is of that number, from 0. */
uint64_t frames_kept(void);
/* Copies one of the latest LIMIT_FRAMES_KEPT; false: it is not there (any more). */
bool frame_get(uint64_t number, struct frame_record *out);
/* The site of a record's frame, and of its counters. */
uint32_t frame_site(const struct frame_record *record);
uint32_t frame_counter_site(const struct frame_record *record, uint32_t which);
/* In the child of fork(): what the parent kept. */
void frames_forget(void);
#endif
