/* pool.h -- the memory of blocks: what is being filled, and what waits for readers.
 *
 * A block goes back when its last reference is given up, and its events count as delivered if any
 * reader's kernel took it whole. The flusher, or locked while the flusher is not there. */
#ifndef TELEM_EMITTER_DELIVER_POOL_H
#define TELEM_EMITTER_DELIVER_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/limits.h"

struct block_buffer {
	struct block_buffer *next;   /* free list */
	uint32_t references, length, event_count;
	bool is_delivered, is_private;
	uint64_t number;
	uint8_t bytes[LIMIT_BLOCK_BYTES];
};

/* Empty, with one reference; NULL: no memory. */
struct block_buffer *pool_take(void);
/* Gives up a reference. */
void pool_release(struct block_buffer *block);
/* Unmaps pages of blocks that nobody needs, when a slow reader has left. */
void pool_trim(void);
/* In the child of fork(): all blocks are free. */
void pool_forget(void);
#endif
