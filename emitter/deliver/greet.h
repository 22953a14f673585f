/* greet.h -- what a reader must know before it understands events. The flusher, locked. */
#ifndef TELEM_EMITTER_DELIVER_GREET_H
#define TELEM_EMITTER_DELIVER_GREET_H

#include <stdbool.h>
#include <stdint.h>

struct sink;
struct task;
struct writer;

/* Everything, to one sink: HELLO, definitions, values, books. To a file as an index point. */
void greet(struct sink *sink, uint64_t tick, uint64_t now_ns);
/* The sinks that are new. */
void greet_new(uint64_t tick, uint64_t now_ns);
/* These, those that lost something or asked, files at an index point, and each of them every
 * LIMIT_SYNC_NS, for readers that joined in the middle. */
void greet_due(uint64_t tick, uint64_t now_ns);
/* Everything goes to every sink again, at the next turn. Any thread, locked. */
void greet_all_soon(void);
/* Telemetry starts. */
void greet_begin(uint64_t now_ns);
/* Definitions and levels that are new, to all. */
void greet_news(uint64_t now_ns);
/* To one writer: the classes and sites that have come since there were so many. */
void greet_later(struct writer *writer, uint32_t *class_count, uint32_t *site_count, uint64_t now_ns);
void greet_task(struct writer *writer, const struct task *task, bool ended, uint64_t now_ns);
/* The last words to one sink: totals, with nothing queued. */
void goodbye(struct sink *sink, uint64_t tick, uint64_t now_ns);
#endif
