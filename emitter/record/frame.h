/* frame.h -- frames, the turns of the program's main loops: what each took, checked against a budget. The latest
 * ones are kept in an array that is used as a ring.
 *
 * The end of a frame takes no lock: its figures are its own thread's, or atomic. Kept frames and budgets have a
 * sequence number, by which a reader knows that they were written while it read them. */
#ifndef TELEM_EMITTER_RECORD_FRAME_H
#define TELEM_EMITTER_RECORD_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"
#include "protocol/message.h"

/* The figures of a frame that has ended, all of 8 bytes, so that they can be copied word by word. */
struct frame_record {
	uint64_t frame, task, number, time_ns, duration_ns, allocations, broken, budget_ns, counter_count;
	int64_t heap_bytes, heap_peak;
	uint64_t logs[SEVERITY_COUNT], counters[LIMIT_COUNTERS_A_FRAME];
};

/* Adds one watcher of a WATCH_ thing, or removes one. Any thread may call this. */
void frames_watch(bool by_viewer, unsigned what, bool on);
bool frames_are_inspected(void);
/* Returns how many frames were kept so far. They are numbered from 0, so this is the number of the next one. */
uint64_t frames_kept(void);
/* Has the flusher woken when so many frames have been kept; UINT64_MAX: it is not woken. */
void frames_wake_at(uint64_t count);
/* Copies one of the latest LIMIT_FRAMES_KEPT frames. Returns false when it is not there, or not there any more. */
bool frame_get(uint64_t number, struct frame_record *out);
/* Return the site of the record's frame, and of one of its counters. */
uint32_t frame_site(const struct frame_record *record);
uint32_t frame_counter_site(const struct frame_record *record, uint32_t which);
/* In the child of fork(): forgets the frames that the parent kept. */
void frames_forget(void);
#endif
