/* greet.h -- what a reader must be told. All calls locked, by the flusher. */
#ifndef TELEM_EMITTER_GREET_H
#define TELEM_EMITTER_GREET_H

#include <stdbool.h>
#include <stdint.h>

struct sink;
struct task;
struct writer;

/* Everything, to one sink: HELLO, definitions, values, books. To a file as an index point. */
void greet(struct sink *sink, uint64_t tick, uint64_t now_ns);
/* Definitions and levels that are new, to all. */
void tell_news(uint64_t now_ns);
/* To one writer, what has come since there were so many. */
void tell_later(struct writer *writer, uint32_t *class_count, uint32_t *site_count, uint64_t now_ns);
void tell_task(struct writer *writer, const struct task *task, bool ended, uint64_t now_ns);
/* The two common ones only when they hold something. */
bool is_worth_telling(const struct task *task);
/* The last words to one sink: totals, with nothing queued. */
void goodbye(struct sink *sink, uint64_t tick, uint64_t now_ns);
#endif
