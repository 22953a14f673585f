/* latency.h -- the time between two events that nothing connects but a key.
 *
 * Open ones lie in a table of fixed size, in the bucket their site and key hash to. Any thread
 * begins and ends; a slot is taken, and given back, by one compare and swap of its state, in
 * which a version tells a slot's uses apart. No thread waits: a slot that is being filled is
 * passed over. */
#ifndef TELEM_EMITTER_RECORD_LATENCY_H
#define TELEM_EMITTER_RECORD_LATENCY_H

/* In the child of fork(): what its parent began. */
void latencies_forget(void);
#endif
