/* format.h -- what the bytes of a stream mean: a format cuts them into blocks of messages.
 *
 * Whatever the bytes are, the blocks are those of protocol/block.h: a format of another tool translates. Decoder, model,
 * recorder and timeline therefore know one format only. A format is one file and one row in formats.def. */
#ifndef TELEM_MONITOR_FORMAT_FORMAT_H
#define TELEM_MONITOR_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/block.h"

/* So many bytes of a stream tell its format. A stream that ends before them has none. */
#define FORMAT_SNIFF_BYTES 16

struct format_figures {
	uint64_t skipped_bytes;      /* damaged or foreign bytes, so far */
	uint64_t damaged_count;      /* blocks that were found and whose bytes were not right */
};

struct format {
	const char *name;
	/* Whether bytes that begin like these are certainly of this format. */
	bool (*sniff)(const uint8_t *bytes, size_t count);
	/* Begins a stream; NULL when memory is out. close() ends it. */
	void *(*open)(void);
	void (*close)(void *state);
	/* Gives room for at least 64 KiB, as long as next() is called until it returns false; and hears how many bytes
	 * came into it. */
	uint8_t *(*room)(void *state, size_t *room);
	void (*filled)(void *state, size_t count);
	/* Gives out the next whole block, followed by its CHECK, or returns false when more bytes are needed. The block
	 * is valid until the next room(). */
	bool (*next)(void *state, struct block *block);
	/* The bytes that follow do not continue those before; they begin at this offset of the stream. */
	void (*gap)(void *state, uint64_t offset);
	void (*figures)(const void *state, struct format_figures *out);
	/* The marker of the blocks given out; valid until the next next(). */
	const uint8_t *(*marker)(const void *state);
};

/* The format that bytes at the beginning of a file certainly are of; NULL: none. */
const struct format *format_sniff(const uint8_t *bytes, size_t count);

/* A stream of a format that its first bytes tell. When no format is sure of them, the stream is taken for one of format
 * telem, whose first block may come later: a FIFO can hold the rest of an earlier stream. */
struct parser {
	const struct format *format; /* NULL until FORMAT_SNIFF_BYTES have come */
	void *state;                 /* own: the format's */
	uint8_t *lead;               /* own: the bytes until then */
	size_t lead_count;
	uint8_t *given;              /* the room that was given out last */
	uint64_t offset;             /* where the next byte is in the stream */
	uint8_t first[8];            /* what came first, for the message that it is not a stream */
	uint32_t first_count;
};

/* 0 or -ENOMEM. */
int parser_init(struct parser *parser);
void parser_fini(struct parser *parser);
/* Where the next bytes go. */
uint8_t *parser_room(struct parser *parser, size_t *room);
/* Count bytes came. 0, or -ENOMEM when there is no memory for the format; then the bytes are lost. */
int parser_filled(struct parser *parser, size_t count);
/* Gives out the next whole block, followed by its CHECK, or returns false when more bytes are needed. The block is valid
 * until the next parser_room(). */
bool parser_next(struct parser *parser, struct block *block);
/* The bytes that follow do not continue those before (another connection, another place in a file); they begin at this
 * offset of the stream. */
void parser_gap(struct parser *parser, uint64_t offset);
/* Begins anew at an offset, with figures of 0, and of the same format. 0 or -ENOMEM; then nothing has changed. */
int parser_restart(struct parser *parser, uint64_t offset);
struct format_figures parser_figures(const struct parser *parser);
/* The marker of the stream, for blocks that are added to it. Valid until the next parser_next(). */
const uint8_t *parser_marker(const struct parser *parser);

#define FORMAT(name) extern const struct format format_##name;
#include "monitor/format/formats.def"
#undef FORMAT
#endif
