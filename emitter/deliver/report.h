/* report.h -- values that the program is asked for: at each tick, by the flusher, while somebody
 * reads. Each is a gauge of class report, under its path. */
#ifndef TELEM_EMITTER_DELIVER_REPORT_H
#define TELEM_EMITTER_DELIVER_REPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Asks them all. The flusher, before a tick; not locked. False: the thread of that generation was left
 * behind meanwhile, and must go without touching anything. */
bool reporters_ask(uint64_t generation);
/* Is one being asked now, by this thread? Locked. */
bool reporter_is_asked_by(pthread_t thread);
/* In the child of fork(). */
void reporters_forget(void);
#endif
