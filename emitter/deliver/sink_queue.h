/* sink_queue.h -- the blocks that wait for one reader. The flusher's. */
#ifndef TELEM_EMITTER_DELIVER_SINK_QUEUE_H
#define TELEM_EMITTER_DELIVER_SINK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct block_buffer;
struct sink;

/* QUEUE_BROKEN: the reader is gone. QUEUE_DISK_FULL: the file was cut back to its last whole block. */
enum queue_result { QUEUE_FINE, QUEUE_BROKEN, QUEUE_DISK_FULL };

/* Adds a block and takes a reference, unless there are room blocks: false. */
bool queue_push(struct sink *sink, struct block_buffer *block, uint32_t room);
/* Writes what the kernel takes. Not locked. */
enum queue_result queue_write(struct sink *sink);
/* Gives up all blocks and counts their events as dropped. */
void queue_drop(struct sink *sink);
#endif
