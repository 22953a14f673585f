/* writer.h -- puts messages into blocks, and blocks into the queues of sinks. Only the flusher uses it.
 *
 * The blocks of the shared writer go to every sink that streams, with the same bytes for each. Those of a private
 * writer go to one sink. */
#ifndef TELEM_EMITTER_DELIVER_WRITER_H
#define TELEM_EMITTER_DELIVER_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "emitter/deliver/pool.h"
#include "protocol/encode.h"

struct sink;

struct writer {
	struct sink *sink;           /* NULL in the shared writer */
	struct block_buffer *block;  /* the block that is being filled, or NULL */
	struct encoder encoder;
	struct batch_encoder batch;
	bool has_batch;
	int batch_task;
	uint64_t batch_stamp;        /* of its first event, in ticks */
	uint64_t opened_ns;          /* when the first message came into the block */
};
extern struct writer writer_shared __attribute__((visibility("hidden")));

/* Begins a new stream: the shared writer has no block yet. */
void writer_begin(void);
/* Writes a message. now_ns is the time of the block. Returns false only when there is no memory for a block. */
bool writer_message(struct writer *writer, const struct message *message, uint64_t now_ns);
/* Writes an event record. seq is how many events of its task came before; stamp is time_ns in ticks. */
bool writer_event(struct writer *writer, int task, uint64_t seq, uint32_t site, uint64_t time_ns, uint64_t stamp,
		  uint64_t value, uint64_t now_ns);
/* Counts an event that writer_message() wrote. */
void writer_count_event(struct writer *writer);
/* Ends the block and queues it for its sinks. Does nothing when there is no block. */
void writer_seal(struct writer *writer);
#endif
