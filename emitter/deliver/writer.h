/* writer.h -- messages into blocks, blocks to sinks. The flusher's alone.
 *
 * The shared writer's blocks go to every sink that streams, the same bytes to each; a private
 * writer's go to one. */
#ifndef TELEM_EMITTER_DELIVER_WRITER_H
#define TELEM_EMITTER_DELIVER_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/deliver/pool.h"
#include "protocol/encode.h"

struct sink;

struct writer {
	struct sink *sink;           /* NULL: shared */
	struct block_buffer *block;  /* being filled, or NULL */
	struct encoder encoder;
	struct batch_encoder batch;
	bool has_batch;
	int batch_task;
	uint64_t batch_stamp;        /* of its first event, in ticks */
	uint64_t opened_ns;          /* when the first message came into the block */
};
extern struct writer writer_shared __attribute__((visibility("hidden")));

/* A new stream: the shared writer has no block. */
void writer_begin(void);
/* Another message; false only when there is no memory for a block. now_ns dates the block. */
bool writer_message(struct writer *writer, const struct message *message, uint64_t now_ns);
/* An event record, the one after seq others from its task. stamp: the ticks that time_ns was made of. */
bool writer_event(struct writer *writer, int task, uint64_t seq, uint32_t site, uint64_t time_ns, uint64_t stamp,
		  uint64_t value, uint64_t now_ns);
/* Counts an event that writer_message() wrote. */
void writer_count_event(struct writer *writer);
/* Closes the block and hands it on; does nothing when there is none. */
void writer_seal(struct writer *writer);
#endif
