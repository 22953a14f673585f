/* burst.h -- events as fast as the threads can, to see what arrives. */
#ifndef TELEM_DEMO_BURST_H
#define TELEM_DEMO_BURST_H

#include <stdbool.h>
#include <stdint.h>

/* Emits exactly event_count events from thread_count threads, after waiting for a
 * reader when wait is set, and prints "emitted N delivered N dropped N". Returns the
 * program's exit status: 0 when the three add up. */
int burst_run(uint64_t event_count, uint32_t thread_count, bool wait);
#endif
