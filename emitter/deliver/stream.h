/* stream.h -- messages into blocks, blocks to sinks. The flusher's alone.
 *
 * The shared writer's blocks go to every sink that streams, the same bytes to each; a
 * private writer's go to one. A block is given back when the last sink has let go of it,
 * and its events count as delivered if any sink's kernel took it whole. */
#ifndef TELEM_EMITTER_STREAM_H
#define TELEM_EMITTER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/block.h"
#include "protocol/encode.h"

struct sink;
struct task;

struct block_buffer {
	struct block_buffer *next;   /* free list */
	uint32_t references, length, event_count;
	bool is_delivered, is_private;
	uint64_t number;
	uint8_t bytes[LIMIT_BLOCK_BYTES];
};

struct writer {
	struct sink *sink;           /* NULL: shared */
	struct block_buffer *block;  /* being filled, or NULL */
	struct encoder encoder;
	struct batch_encoder batch;
	bool has_batch;
	int batch_task;
	uint64_t batch_stamp;        /* of its first event, as that came */
	uint64_t opened_ns;          /* when the first message came into the block */
};

struct stream {
	uint8_t marker[MARKER_BYTES];
	uint64_t id, start_ns;       /* start_ns: of the process, since boot */
	uint64_t number;             /* of the last shared block */
	uint64_t taken, delivered, dropped;  /* events in shared blocks, of former streams as well */
	struct writer shared;
};
extern struct stream stream __attribute__((visibility("hidden")));

void stream_begin(void);
/* Another message; false only when memory for a block is out. now_ns dates the block. */
bool writer_message(struct writer *writer, const struct message *message, uint64_t now_ns);
/* An event record, of which seq came before from its task. stamp: what time_ns was made of. */
bool writer_event(struct writer *writer, int task, uint64_t seq, uint32_t site, uint64_t time_ns, uint64_t stamp,
		  uint64_t value, uint64_t now_ns);
/* Counts an event that writer_message() wrote. */
void writer_count_event(struct writer *writer);
/* Closes the block and hands it on; nothing when it is empty. */
void writer_seal(struct writer *writer);
void block_release(struct block_buffer *block);
struct block_buffer *block_take(void);
/* Pages of blocks that nobody needs go back when a slow sink has left. */
void blocks_trim(void);
void blocks_forget(void);
#endif
