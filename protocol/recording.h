/* recording.h -- a stream kept in a file: where it can be entered, and how it ends.
 *
 * A recording is the stream itself. At its start and then each LIMIT_INDEX_BYTES or
 * LIMIT_INDEX_NS stands an index point: a block that begins with HELLO and an INDEX, then
 * all definitions and values. A clean end is an END block of fixed size. */
#ifndef TELEM_PROTOCOL_RECORDING_H
#define TELEM_PROTOCOL_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/block.h"
#include "protocol/message.h"

/* What a writer keeps in mind. */
struct recording {
	uint64_t offset;             /* bytes written, a block's end */
	uint64_t index_offset, index_ns;     /* of the latest index point */
	uint64_t index_count;
	uint64_t first_ns, last_ns, events;  /* since that point */
};

/* An END message with its CHECK. */
#define RECORDING_END_BYTES (2 + 10 + 9 + 9 + CHECK_BYTES)

/* Is it time for an index point? */
bool recording_is_due(const struct recording *recording, uint64_t now_ns);
/* The INDEX to write at offset; call when its block starts there. */
void recording_index(struct recording *recording, uint64_t now_ns, struct message *out);
/* Writes the END block. */
void recording_end(const struct recording *recording, uint8_t out[RECORDING_END_BYTES],
		   const uint8_t marker[MARKER_BYTES], uint64_t number);
/* Reads an END block; false when these bytes are none. */
bool recording_end_read(const uint8_t bytes[RECORDING_END_BYTES], uint64_t *index_offset, uint64_t *index_count);
#endif
