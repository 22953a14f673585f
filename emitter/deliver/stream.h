/* stream.h -- the stream that readers get: who it is, and the books of its events. */
#ifndef TELEM_EMITTER_DELIVER_STREAM_H
#define TELEM_EMITTER_DELIVER_STREAM_H

#include <stdint.h>

#include "protocol/block.h"

/* Written by the flusher; what is marked atomic is read by any thread. */
extern struct stream {
	uint8_t marker[MARKER_BYTES];
	uint64_t id, start_ns;       /* start_ns: of the process, since boot */
	uint64_t number;             /* of the last shared block */
	uint64_t taken, delivered, dropped;  /* events in shared blocks, of former streams as well; atomic */
	uint64_t bytes_sent;         /* to all readers; atomic */
} stream __attribute__((visibility("hidden")));

/* A new stream, whose books go on. Locked. */
void stream_begin(void);
/* In the child of fork(): the books are empty. */
void stream_forget(void);
#endif
