/* report.h -- asks the program for values: at each tick, in the flusher, while a reader is there. Each value is a gauge
 * of class report, named by its path.
 *
 * All together take at most a thousandth of a core, by the processor time that each took last: a dear one is not asked
 * at every tick. */
#ifndef TELEM_EMITTER_DELIVER_REPORT_H
#define TELEM_EMITTER_DELIVER_REPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Asks the reporters that are due, before a tick; a tick comes every tick_ns. For the flusher, without the lock.
 * Returns false when the thread of that generation was left behind meanwhile: it must end without touching anything. */
bool reporters_ask(uint64_t generation, uint64_t tick_ns, uint64_t now_ns);
/* Returns whether this thread is asking a reporter now. Call with the lock held. */
bool reporter_is_asked_by(pthread_t thread);
/* In the child of fork(): starts anew. */
void reporters_forget(void);
#endif
