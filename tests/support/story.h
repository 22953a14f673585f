/* story.h -- the stream of a small program, tick by tick, for tests of the monitor.
 *
 * The program has two classes at level all and one at sum, log lines, a span, a value, two types, a
 * counter, a gauge and an event, and tasks that start and end. Figures and books agree with the
 * events, so that a reader of the whole stream finds nothing lost. The same calls make the same
 * bytes. */
#ifndef TELEM_TESTS_SUPPORT_STORY_H
#define TELEM_TESTS_SUPPORT_STORY_H

#include "protocol/histogram.h"
#include "tests/support/wire.h"

enum { STORY_MEM, STORY_NET, STORY_LOG, STORY_CLASSES };
enum { STORY_REQUEST = 1, STORY_SIZE, STORY_NODE, STORY_LEAF, STORY_BYTES_IN, STORY_CLIENTS, STORY_DONE, STORY_LINE,
       STORY_SITES };
enum { STORY_MAIN = 2, STORY_WORKER, STORY_TASKS = 16 };
#define STORY_SECOND 1000000000ull
/* The time of the first tick. */
#define STORY_FIRST_NS (7 * STORY_SECOND)

struct story {
	struct wire wire;
	struct message_hello hello;  /* the HELLO of the greeting; a test may change it */
	uint64_t now_ns, tick, random;
	uint64_t tick_ns;            /* one second by default */
	uint32_t events_a_tick;      /* events of the span in a tick; 20 by default */
	uint64_t first_worker, worker;       /* task ids of workers: those in [first_worker, worker) are alive */
	uint64_t sums[STORY_TASKS][STORY_SITES][4];  /* [0] is the whole program, [1] the ended tasks; a worker
						      * is at its id % 8 + 8 */
	uint64_t buckets[2][STORY_SITES][HISTOGRAM_BUCKETS];         /* [0] is the whole program, [1] is main */
	uint64_t taken[STORY_CLASSES], dropped[STORY_CLASSES];
};

void story_init(struct story *story, uint64_t stream);
void story_fini(struct story *story);
/* Writes HELLO, all definitions, all figures, and a SNAPSHOT that is not a tick. */
void story_greet(struct story *story);
/* Writes a second of work in one to three blocks, and then its figures. */
void story_tick(struct story *story);
/* Does the same with blocks that never reach the reader: their events count as taken, but the
 * blocks are not in wire. */
void story_lose_tick(struct story *story);
void story_ticks(struct story *story, int count);
void story_bye(struct story *story);
#endif
