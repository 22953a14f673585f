/* heap.h -- the program's heap, as its typed allocations and frees move it. Any thread. */
#ifndef TELEM_EMITTER_RECORD_HEAP_H
#define TELEM_EMITTER_RECORD_HEAP_H

#include <stdint.h>

/* A thread adds what it has allocated and freed to the program's figure when it is so many bytes. */
#define HEAP_STEP (16 << 10)

/* Live bytes, and their peak since a frame's end set it back; atomic. */
extern struct heap { int64_t bytes, peak; } heap __attribute__((visibility("hidden")));

void heap_move(int64_t bytes);
/* Adds what this thread has not added yet. */
void heap_publish(void);
#endif
