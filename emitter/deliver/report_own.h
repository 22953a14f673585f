/* report_own.h -- the reporters that come with the library: malloc, the process, telemetry itself. */
#ifndef TELEM_EMITTER_DELIVER_REPORT_OWN_H
#define TELEM_EMITTER_DELIVER_REPORT_OWN_H

#include <stdint.h>

/* Tells how many bytes of the heap the program's reporters account for. What malloc() has given out beyond them is then
 * reported as heap/unclassified. For the flusher, without the lock. */
void report_heap_claimed(int64_t bytes);
#endif
