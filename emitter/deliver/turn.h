/* turn.h -- one turn of the flusher: drain, greet, sum, encode, write.
 *
 * Rings are drained every 0.5 to 10 ms while any site is at level all. Sums are sent at the tick, once a second
 * unless a viewer asks for another interval. The flusher calls all of this, without the lock unless a comment says so. */
#ifndef TELEM_EMITTER_DELIVER_TURN_H
#define TELEM_EMITTER_DELIVER_TURN_H

#include <stdbool.h>
#include <stdint.h>

void turn_begin(uint64_t now_ns);
/* Does one turn. With is_last everything is sent, due or not. Returns false when the thread of this generation was left
 * behind in a reporter: it must end without touching anything. */
bool turn(uint64_t now_ns, uint64_t generation, bool is_last);
/* Does the urgent part of a turn. Called in the middle of work that takes long. */
void turn_meanwhile(void);
/* Writes the last figures, when all events have been taken. Call with the lock held. */
void turn_end(uint64_t now_ns);
/* Returns when the next turn is due even if nothing wakes the flusher; UINT64_MAX when none is. */
uint64_t turn_due_ns(void);
/* Returns the number of the latest tick. */
uint64_t turn_tick(void);
#endif
