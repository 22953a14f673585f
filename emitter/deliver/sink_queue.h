/* sink_queue.h -- the blocks that wait for one reader. Only the flusher uses it. */
#ifndef TELEM_EMITTER_DELIVER_SINK_QUEUE_H
#define TELEM_EMITTER_DELIVER_SINK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct block_buffer;
struct sink;

/* QUEUE_BROKEN: the reader is gone. QUEUE_DISK_FULL: the disk is full, and the file was cut back to its last whole
 * block. */
enum queue_result { QUEUE_FINE, QUEUE_BROKEN, QUEUE_DISK_FULL };

/* Adds a block and takes a reference. Returns false when the queue has `room` blocks already. */
bool queue_push(struct sink *sink, struct block_buffer *block, uint32_t room);
/* Writes as much as the kernel takes without blocking. Call without the lock. */
enum queue_result queue_write(struct sink *sink);
/* Releases all blocks and counts their events as dropped. */
void queue_drop(struct sink *sink);
#endif
