/* block.h -- blocks: whole messages closed by a CHECK, which a reader finds again after any damage.
 *
 * A block is at most LIMIT_BLOCK_BYTES long, its CHECK included. CHECK carries a marker, the number
 * of the block, the count of message bytes before it, and the CRC-32C of those bytes and of CHECK
 * up to the CRC. Half of the marker is random for each stream and sent in HELLO, so no text that a
 * program logs can forge a CHECK. A reader gives out a block only when all of this is right, so one
 * damage costs one block. */
#ifndef TELEM_PROTOCOL_BLOCK_H
#define TELEM_PROTOCOL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/encode.h"
#include "protocol/limits.h"

#define MARKER_BYTES 16
#define CHECK_BYTES 39
/* The bytes that messages may take in a block. */
#define BLOCK_ROOM (LIMIT_BLOCK_BYTES - CHECK_BYTES)
/* The bytes of HELLO up to and including its own CRC. They have fixed widths, so that a reader can
 * find HELLO in any bytes. */
#define HELLO_FIXED_BYTES 94

extern const uint8_t hello_magic[8];
extern const uint8_t end_magic[8];

/* Makes a marker from 8 random bytes. */
void marker_make(uint8_t marker[MARKER_BYTES], const uint8_t random[8]);

/* Encodes HELLO, with its first part in fixed widths. Magic and CRC are made here; those of *hello
 * are ignored. Returns false when there is no room. */
bool hello_encode(struct encoder *encoder, const struct message_hello *hello);

/* Writes CHECK behind count bytes of messages, at most BLOCK_ROOM; bytes must have room for
 * CHECK_BYTES more. Returns the bytes of the whole block. */
uint32_t block_seal(uint8_t *bytes, uint32_t count, const uint8_t marker[MARKER_BYTES], uint64_t number);

/* ---- the reader ---- */

struct block {
	const uint8_t *bytes;        /* messages, without CHECK; valid until the next block_reader_room() */
	uint32_t byte_count;
	uint64_t number;
	uint64_t offset;             /* where its first byte is in the stream */
	uint64_t skipped_bytes;      /* damaged or foreign bytes right before it */
};

enum block_result { BLOCK_MORE = 0, BLOCK_WHOLE = 1 };

#define BLOCK_READER_BYTES (128 << 10)

struct block_reader {
	uint8_t bytes[BLOCK_READER_BYTES];
	size_t start, scan, end;     /* the first byte not given out yet, where the search goes on, and the end
				      * of what was received */
	uint64_t offset;             /* where bytes[0] is in the stream */
	uint64_t skipped_now;        /* skipped since the last block */
	uint8_t needle[4 + MARKER_BYTES];    /* how a CHECK of this stream starts */
	bool is_synced;              /* bytes[start] follows directly on a block or on a damaged CHECK */
	bool has_marker;             /* needle has the marker of the stream; stays true while the reader is lost */
	/* Figures for the user. */
	uint64_t skipped_bytes;      /* in all: damaged bytes, and bytes before the first HELLO */
	uint64_t damaged_count;      /* CHECKs found whose block was not right */
	uint64_t examined_bytes;     /* bytes a CRC was computed of; tests bound the work with it */
};

void block_reader_init(struct block_reader *reader);
/* Where to put the next bytes. *room is at least half of BLOCK_READER_BYTES, as long as the caller
 * calls block_reader_next() until it returns BLOCK_MORE. */
uint8_t *block_reader_room(struct block_reader *reader, size_t *room);
void block_reader_filled(struct block_reader *reader, size_t count);
/* Gives out the next whole block in *out and returns BLOCK_WHOLE, or returns BLOCK_MORE when more
 * bytes are needed. */
int block_reader_next(struct block_reader *reader, struct block *out);
/* Call when the bytes that follow do not continue those before (reconnected, reopened, sought). The
 * reader gives up the unfinished block, and believes the following bytes only after a HELLO. offset
 * is where they begin in the stream. */
void block_reader_gap(struct block_reader *reader, uint64_t offset);
/* At the end of the stream: how many bytes are held that never became a block. */
size_t block_reader_rest(const struct block_reader *reader);
/* The marker of the current stream, for writers that add blocks of their own. Valid until the next
 * block_reader_next(). */
const uint8_t *block_reader_marker(const struct block_reader *reader);
#endif
