/* burst.h -- bursts of log lines: of the lines of one place that look alike, only the first ones of a second are sent.
 *
 * Lines look alike when their texts differ in digits only. So a function that all log lines of a program go through is not
 * one place. Each thread has a small table of the looks it has had lately, which it alone writes; the flusher takes from
 * it how many lines were left out, once a burst is over. */
#ifndef TELEM_EMITTER_RECORD_BURST_H
#define TELEM_EMITTER_RECORD_BURST_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"

/* Bytes of a text that are kept to say what the lines that were left out looked like. */
enum { BURST_TEXT_BYTES = 88, BURST_LOOKS = 64 };

struct look {
	uint64_t key;                /* of its site and text; 0: free */
	uint64_t from_ticks;         /* when its present second began */
	uint64_t last_ticks;         /* when a line was left out last; atomic */
	uint32_t count;              /* lines of this second */
	uint32_t folded;             /* lines left out that nobody has told yet; atomic */
	uint32_t site;
	uint32_t version;            /* odd while text is being written; atomic */
	uint64_t text[BURST_TEXT_BYTES / 8];         /* atomic words; zeros behind its end */
};

/* All functions accept NULL for a look or looks. */

/* Returns the look of a line, or NULL when there is no place for it. The thread that owns the looks calls this and the
 * next two. */
struct look *burst_look(struct look *looks, uint32_t site, const char *text, uint32_t length, uint64_t now);
/* Returns whether a line is left out, because more than `most` lines of its look came in this second. Otherwise *folded is
 * how many were left out before it. */
bool burst_folds(struct look *look, uint32_t most, uint64_t now, uint32_t *folded);
/* Adds lines that are left out: one whose text was not made, or what burst_folds() returned in *folded when the line was
 * lost that should have told it. */
void burst_leave_out(struct look *look, uint32_t count, uint64_t now);

struct burst_over { uint32_t site, folded; char text[BURST_TEXT_BYTES + 1]; };
/* Takes the next look, from *at on, whose burst is over; all are when its thread has ended. Returns false when there are no
 * more. For the flusher. */
bool burst_next(struct look *looks, uint32_t *at, uint64_t now, bool has_ended, struct burst_over *out);
/* Forgets all of them, when no thread uses them. */
void bursts_forget(struct look *looks);
#endif
