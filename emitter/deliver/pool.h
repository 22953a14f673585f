/* pool.h -- the memory of blocks that are being filled or wait for readers.
 *
 * A block is freed when its last reference is given up. Its events count as delivered if the kernel took the whole
 * block for at least one reader. Called by the flusher, or with the lock held while there is none. */
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

/* Returns an empty block with one reference; NULL when memory is out. */
struct block_buffer *pool_take(void);
/* Gives up a reference. */
void pool_release(struct block_buffer *block);
/* Unmaps blocks that are not needed any more, after a slow reader has gone. */
void pool_trim(void);
/* In the child of fork(): frees all blocks. */
void pool_forget(void);
#endif
