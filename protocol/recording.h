/* recording.h -- a stream saved in a file: where a reader can enter it, and how it ends.
 *
 * A recording is the stream itself. At its start, and then every LIMIT_INDEX_BYTES or
 * LIMIT_INDEX_NS, it has an index point: a block that begins with HELLO and INDEX, followed by all
 * definitions and values. A recording that was closed in order ends in an END block of fixed size. */
#ifndef TELEM_PROTOCOL_RECORDING_H
#define TELEM_PROTOCOL_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/block.h"
#include "protocol/message.h"

/* What a writer remembers between two blocks. */
struct recording {
	uint64_t offset;             /* bytes written so far; always the end of a block */
	uint64_t index_offset, index_ns;     /* where and when the latest index point was written */
	uint64_t index_count;
	uint64_t first_ns, last_ns, events;  /* of the events since that point */
};

/* The bytes of an END message with its CHECK. */
#define RECORDING_END_BYTES (2 + 10 + 9 + 9 + CHECK_BYTES)

/* Returns whether an index point is due at now_ns: the latest one began gap_bytes or LIMIT_INDEX_NS ago. A file has
 * gaps of LIMIT_INDEX_BYTES. */
bool recording_is_due(const struct recording *recording, uint64_t gap_bytes, uint64_t now_ns);
/* Makes the INDEX message to write at recording->offset. Call it when the block that holds it
 * starts there. */
void recording_index(struct recording *recording, uint64_t now_ns, struct message *out);
/* Writes the END block as block number of the stream with this marker. */
void recording_end(const struct recording *recording, uint8_t out[RECORDING_END_BYTES],
		   const uint8_t marker[MARKER_BYTES], uint64_t number);
/* Reads an END block into the two results. Returns false, and leaves them alone, when the bytes are
 * not an END block. */
bool recording_end_read(const uint8_t bytes[RECORDING_END_BYTES], uint64_t *index_offset, uint64_t *index_count);
#endif
