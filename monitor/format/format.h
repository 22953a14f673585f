/* format.h -- what the bytes of a stream mean: a format cuts them into blocks of messages.
 *
 * Whatever the bytes are, the blocks are those of protocol/block.h: a format of another tool translates. Decoder,
 * model, recorder and timeline therefore know one format only. A format is one file and one row in formats.def. */
#ifndef TELEM_MONITOR_FORMAT_FORMAT_H
#define TELEM_MONITOR_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/block.h"

/* The format is recognized by so many first bytes. A shorter stream has no format. */
#define FORMAT_SNIFF_BYTES 16

struct format_figures {
	uint64_t skipped_bytes;      /* damaged or foreign bytes, so far */
	uint64_t damaged_count;      /* blocks that were found, but whose checksum was wrong */
};

struct format {
	const char *name;
	/* Whether block.offset is the place of the block in the bytes that came in, so that a reader can begin there. A
	 * format that translates is read from the beginning only. */
	bool is_enterable;
	/* Whether bytes that begin like these are certainly of this format. */
	bool (*sniff)(const uint8_t *bytes, size_t count);
	/* Begins a stream; NULL when memory is out. close() ends it. */
	void *(*open)(void);
	void (*close)(void *state);
	/* room() returns memory for at least 64 KiB, if next() was called until it returned false; filled() gets how
	 * many bytes came into it. */
	uint8_t *(*room)(void *state, size_t *room);
	void (*filled)(void *state, size_t count);
	/* Returns the next whole block, followed by its CHECK, in *block, or false when more bytes are needed. The
	 * block is valid until the next room(). */
	bool (*next)(void *state, struct block *block);
	/* The bytes that follow do not continue those before; they begin at this offset of the stream. */
	void (*gap)(void *state, uint64_t offset);
	void (*figures)(const void *state, struct format_figures *out);
	/* Returns the marker of the latest block; valid until the next call of next(). */
	const uint8_t *(*marker)(const void *state);
};

/* Returns the format that the first bytes of a file certainly have, or NULL. */
const struct format *format_sniff(const uint8_t *bytes, size_t count);

/* A stream whose format is recognized by its first bytes. When no format is sure of them, the stream is taken for
 * format telem, whose first block may come later, because a FIFO can hold the rest of an earlier stream. */
struct parser {
	const struct format *format; /* NULL until FORMAT_SNIFF_BYTES have come */
	void *state;                 /* own; made by the format's open() */
	struct format_figures before;        /* of the connections before this one */
	uint8_t *lead;               /* own; the bytes that came before the format was known */
	size_t lead_count;
	uint8_t *given;              /* the memory that parser_room() returned last */
	uint64_t offset;             /* the offset of the next byte in the stream */
	uint8_t first[8];            /* the first bytes, for the error that it is not a stream */
	uint32_t first_count;
};

/* Returns 0 or -ENOMEM. */
int parser_init(struct parser *parser);
void parser_fini(struct parser *parser);
/* Returns memory for the next bytes, and its size in *room. */
uint8_t *parser_room(struct parser *parser, size_t *room);
/* Called when count bytes have come into that memory. Returns 0, or -ENOMEM when there is no memory for the format;
 * then the bytes are lost. */
int parser_filled(struct parser *parser, size_t count);
/* Returns the next whole block, followed by its CHECK, in *block, or false when more bytes are needed. The block is
 * valid until the next parser_room(). */
bool parser_next(struct parser *parser, struct block *block);
/* The bytes that follow do not continue those before, because the connection is another; they begin at this offset of the
 * stream. Their format is recognized anew. */
void parser_gap(struct parser *parser, uint64_t offset);
/* Begins anew at an offset, with figures of 0 and the same format. Returns 0, or -ENOMEM when nothing has changed. */
int parser_restart(struct parser *parser, uint64_t offset);
struct format_figures parser_figures(const struct parser *parser);
/* Returns the marker of the stream, for blocks that are added to it. Valid until the next parser_next(). */
const uint8_t *parser_marker(const struct parser *parser);

#define FORMAT(name) extern const struct format format_##name;
#include "monitor/format/formats.def"
#undef FORMAT
#endif
