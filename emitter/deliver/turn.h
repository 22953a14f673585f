/* turn.h -- one turn of the flusher: drain, greet, sum, encode, write.
 *
 * Rings are drained every 0.5 to 10 ms while anything is at level all; sums go out at the tick,
 * once a second unless a viewer asks for another interval. All calls by the flusher, not locked
 * unless they say so. */
#ifndef TELEM_EMITTER_DELIVER_TURN_H
#define TELEM_EMITTER_DELIVER_TURN_H

#include <stdbool.h>
#include <stdint.h>

void turn_begin(uint64_t now_ns);
/* All of it. False: the thread of that generation was left behind in a reporter, and must go
 * without touching anything. is_last: everything leaves now, due or not. */
bool turn(uint64_t now_ns, uint64_t generation, bool is_last);
/* A part of it, from within a task that takes long. */
void turn_meanwhile(void);
/* The last figures, with nothing on its way any more. Locked. */
void turn_end(uint64_t now_ns);
/* When something is due without being woken; UINT64_MAX: never. */
uint64_t turn_due_ns(void);
/* The number of the latest tick. */
uint64_t turn_tick(void);
#endif
