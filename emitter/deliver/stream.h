/* stream.h -- the stream that readers get: its id, and the books of its events. */
#ifndef TELEM_EMITTER_DELIVER_STREAM_H
#define TELEM_EMITTER_DELIVER_STREAM_H

#include <stdint.h>

#include "protocol/block.h"

/* The flusher writes all fields; any thread may read those that are marked atomic. */
extern struct stream {
	uint8_t marker[MARKER_BYTES];
	uint64_t id, start_ns;       /* start_ns: of the process, since boot */
	uint64_t number;             /* the number of the last shared block */
	uint64_t taken, delivered, dropped;  /* events in shared blocks, also of earlier streams; atomic */
	uint64_t bytes_sent;         /* to all readers; atomic */
} stream __attribute__((visibility("hidden")));

/* Begins a new stream. The books are not reset. Call with the lock held. */
void stream_begin(void);
/* In the child of fork(): empties the books. */
void stream_forget(void);
#endif
