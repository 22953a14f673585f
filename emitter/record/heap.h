/* heap.h -- how large the program's heap is, by its typed allocations and frees. Any thread. */
#ifndef TELEM_EMITTER_RECORD_HEAP_H
#define TELEM_EMITTER_RECORD_HEAP_H

#include <stdint.h>

/* A thread adds what it has allocated and freed to the program's figure once that is so many bytes. */
#define HEAP_STEP (16 << 10)

/* Live bytes, and their peak since the end of a frame reset it; atomic. */
extern struct heap { int64_t bytes, peak; } heap __attribute__((visibility("hidden")));

void heap_move(int64_t bytes);
/* Adds to the program's figure what this thread has not yet added. */
void heap_publish(void);
#endif
