/* snapshot.h -- the figures since the start, summed over all shards. The flusher calls all of this, with the lock held. */
#ifndef TELEM_EMITTER_DELIVER_SNAPSHOT_H
#define TELEM_EMITTER_DELIVER_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"

struct writer;
struct sink;

/* Writes VALUES, BUCKETS, BOOKS, and SNAPSHOT, which ends the tick. Writes everything, or else what has changed since
 * the previous call with everything false. */
void snapshot_write(struct writer *writer, uint64_t tick, uint64_t interval_ns, bool everything, uint64_t now_ns);
/* Writes the books of one sink. */
void snapshot_sink(struct writer *writer, struct sink *sink, uint64_t tick, uint64_t now_ns);
/* Events at level all since the start: how many there were, how many of them never reached a block, and how many did. */
struct book { uint64_t emitted, dropped, taken; };
/* Returns the book of each class. */
void snapshot_books(struct book books[LIMIT_CLASSES]);
/* Returns what each class's events have cost the program, by the prices of record/price.c. */
struct tally { uint64_t events, cost_ps, emitted, dropped; };
void snapshot_tallies(struct tally tallies[LIMIT_CLASSES]);
/* Returns emitted and dropped of all classes. */
void snapshot_totals(uint64_t *emitted, uint64_t *dropped);
#endif
