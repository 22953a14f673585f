/* greet.h -- what a reader must be told. All calls locked, by the flusher. */
#ifndef TELEM_EMITTER_GREET_H
#define TELEM_EMITTER_GREET_H

#include <stdint.h>

struct sink;

/* Everything, to one sink: HELLO, definitions, values, books. To a file as an index point. */
void greet(struct sink *sink, uint64_t tick, uint64_t now_ns);
/* Definitions and levels that are new, to all. */
void tell_news(uint64_t now_ns);
/* The last words to one sink: totals, with nothing queued. */
void goodbye(struct sink *sink, uint64_t tick, uint64_t now_ns);
#endif
