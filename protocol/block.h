/* block.h -- blocks: whole messages closed by a CHECK, found again after any damage.
 *
 * A block is at most LIMIT_BLOCK_BYTES long, its CHECK included. CHECK carries a marker,
 * half of it random per stream and told in HELLO, so that no text a program logs can
 * forge one; the number of the block, how many bytes of messages lie before it, and
 * the CRC-32C of those bytes and of CHECK up to the CRC. A reader gives out a block only
 * when all of that is right, so one damage costs one block. */
#ifndef TELEM_PROTOCOL_BLOCK_H
#define TELEM_PROTOCOL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/encode.h"
#include "protocol/limits.h"

#define MARKER_BYTES 16
#define CHECK_BYTES 39
/* What messages may take of a block. */
#define BLOCK_ROOM (LIMIT_BLOCK_BYTES - CHECK_BYTES)
/* HELLO up to and including its own CRC: fixed widths, so that it can be found. */
#define HELLO_FIXED_BYTES 94

extern const uint8_t hello_magic[8];
extern const uint8_t end_magic[8];

/* A marker from 8 random bytes. */
void marker_make(uint8_t marker[MARKER_BYTES], const uint8_t random[8]);

/* HELLO with its fixed part; magic and crc of the struct are not looked at. */
bool hello_encode(struct encoder *encoder, const struct message_hello *hello);

/* Writes CHECK behind count bytes of messages (at most BLOCK_ROOM); there must be room for
 * CHECK_BYTES more. Returns the bytes of the whole block. */
uint32_t block_seal(uint8_t *bytes, uint32_t count, const uint8_t marker[MARKER_BYTES], uint64_t number);

/* ---- the reader ---- */

struct block {
	const uint8_t *bytes;        /* messages; valid until the next block_reader_room() */
	uint32_t byte_count;
	uint64_t number;
	uint64_t offset;             /* of its first byte in the stream */
	uint64_t skipped_bytes;      /* damaged or foreign, right before it */
};

enum block_result { BLOCK_MORE = 0, BLOCK_WHOLE = 1 };

#define BLOCK_READER_BYTES (128 << 10)

struct block_reader {
	uint8_t bytes[BLOCK_READER_BYTES];
	size_t start, scan, end;     /* of what is not given out; where the search goes on; of what came */
	uint64_t offset;             /* of bytes[0] in the stream */
	uint64_t skipped_now;        /* since the last block */
	uint8_t needle[4 + MARKER_BYTES];    /* how this stream's CHECK starts */
	bool is_synced;              /* what is held starts right behind a block, or behind its damage */
	bool has_marker;             /* needle is that of the stream, also while lost */
	/* figures */
	bool was_synced;             /* a HELLO has ever come */
	uint64_t skipped_bytes;      /* in all, damage and what came before the first HELLO */
	uint64_t damaged_count;      /* CHECKs found whose block was not right */
	uint64_t examined_bytes;     /* a CRC was taken of: the work done */
	uint8_t first[8];            /* how the stream began, for the message about what is none */
	uint32_t first_count;
};

void block_reader_init(struct block_reader *reader);
/* Where the next bytes go: room for at least half of BLOCK_READER_BYTES, as long as
 * block_reader_next() is called until it says BLOCK_MORE. */
uint8_t *block_reader_room(struct block_reader *reader, size_t *room);
void block_reader_filled(struct block_reader *reader, size_t count);
/* The next whole block, or BLOCK_MORE. */
int block_reader_next(struct block_reader *reader, struct block *out);
/* The stream is cut here (reconnected, reopened, sought): what is unfinished is given up
 * and the next bytes must show a HELLO. */
void block_reader_gap(struct block_reader *reader, uint64_t offset);
/* The stream is at its end: bytes held that never became a block. */
size_t block_reader_rest(const struct block_reader *reader);
/* The marker in force, for those who add blocks of their own. */
const uint8_t *block_reader_marker(const struct block_reader *reader);
#endif
