/* burst.h -- emits events as fast as its threads can, to measure how many arrive. */
#ifndef TELEM_DEMO_BURST_H
#define TELEM_DEMO_BURST_H

#include <stdbool.h>
#include <stdint.h>

/* Emits exactly event_count events from thread_count threads and prints "emitted N delivered N
 * dropped N". When wait is true, it first waits up to 10 s for a reader. Returns the program's exit
 * status: 0 when the three numbers balance. */
int burst_run(uint64_t event_count, uint32_t thread_count, bool wait);
#endif
