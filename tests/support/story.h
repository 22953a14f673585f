/* story.h -- the stream of a small program, tick by tick, for tests of the monitor.
 *
 * Two classes at level all, one at sum, log lines; a span, a value, two types, a counter, a
 * gauge and an event; tasks that come and go. Figures and books agree with the events, so
 * a reader that hears all of it finds nothing lost. The same calls make the same bytes. */
#ifndef TELEM_TESTS_SUPPORT_STORY_H
#define TELEM_TESTS_SUPPORT_STORY_H

#include "protocol/histogram.h"
#include "tests/support/wire.h"

enum { STORY_MEM, STORY_NET, STORY_LOG, STORY_CLASSES };
enum { STORY_REQUEST = 1, STORY_SIZE, STORY_NODE, STORY_LEAF, STORY_BYTES_IN, STORY_CLIENTS, STORY_DONE, STORY_LINE,
       STORY_SITES };
enum { STORY_MAIN = 2, STORY_WORKER, STORY_TASKS = 16 };
#define STORY_SECOND 1000000000ull
/* Of the first tick. */
#define STORY_FIRST_NS (7 * STORY_SECOND)

struct story {
	struct wire wire;
	struct message_hello hello;  /* how it will greet: may be changed */
	uint64_t now_ns, tick, random;
	uint64_t tick_ns;            /* a second */
	uint32_t events_a_tick;      /* of the span; 20 */
	uint64_t first_worker, worker;       /* ids of the tasks that come and go; alive: [first, worker) */
	uint64_t sums[STORY_TASKS][STORY_SITES][4];  /* [0]: of all; a worker's is at its id % 8 + 8, [1]: ended ones */
	uint64_t buckets[2][STORY_SITES][HISTOGRAM_BUCKETS];         /* [0]: of all; [1]: of main */
	uint64_t taken[STORY_CLASSES], dropped[STORY_CLASSES];
};

void story_init(struct story *story, uint64_t stream);
void story_fini(struct story *story);
/* HELLO, all definitions, all figures and a SNAPSHOT that is no tick. */
void story_greet(struct story *story);
/* A second of work in one to three blocks, then its figures. */
void story_tick(struct story *story);
/* The same with blocks that never reach the reader: taken, but not in wire. */
void story_lose_tick(struct story *story);
void story_ticks(struct story *story, int count);
void story_bye(struct story *story);
#endif
