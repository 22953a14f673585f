/* greet.h -- sends what a reader must know before it can understand events. The flusher calls this, with the lock held. */
#ifndef TELEM_EMITTER_DELIVER_GREET_H
#define TELEM_EMITTER_DELIVER_GREET_H

#include <stdbool.h>
#include <stdint.h>

struct sink;
struct task;
struct writer;

/* Sends everything to one sink: HELLO, definitions, values, books. In a file this makes an index point. */
void greet(struct sink *sink, uint64_t tick, uint64_t now_ns);
/* Greets the sinks that are new. */
void greet_new(uint64_t tick, uint64_t now_ns);
/* Greets new sinks, sinks that lost blocks or whose viewer asked, and files at an index point. Every LIMIT_SYNC_NS it
 * greets all, for readers that joined in the middle. */
void greet_due(uint64_t tick, uint64_t now_ns);
/* Has every sink greeted again at the next turn. Any thread, with the lock held. */
void greet_all_soon(void);
/* Called when telemetry starts. */
void greet_begin(uint64_t now_ns);
/* Sends definitions and levels that are new to all sinks. */
void greet_news(uint64_t now_ns);
/* Writes the classes and sites that were registered since there were so many, and updates both counts. */
void greet_later(struct writer *writer, uint32_t *class_count, uint32_t *site_count, uint64_t now_ns);
void greet_task(struct writer *writer, const struct task *task, bool ended, uint64_t now_ns);
/* Writes the last messages to one sink whose queue is empty: its totals and BYE. */
void goodbye(struct sink *sink, uint64_t tick, uint64_t now_ns);
#endif
