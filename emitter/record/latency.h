/* latency.h -- the time between two events that only a key connects.
 *
 * Open latencies are in a table of fixed size, in the bucket to which their site and key hash. Any thread may
 * begin and end one. A slot is taken, and given back, by one compare and swap of its state, which holds a version
 * that differs at each use of the slot. No thread waits: it skips a slot that is being filled. */
#ifndef TELEM_EMITTER_RECORD_LATENCY_H
#define TELEM_EMITTER_RECORD_LATENCY_H

/* In the child of fork(): forgets the latencies that its parent began. */
void latencies_forget(void);
#endif
