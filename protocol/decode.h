/* decode.h -- msgpack in any pieces to whole messages; trusts no length.
 *
 * msgpack-c's push parser (unpack_template.h) with our callbacks: a message becomes a
 * flat tape of tokens in memory the decoder owns, then a struct. No object tree, no
 * allocation. Every limit is checked before the bytes it speaks of arrive. */
#ifndef TELEM_PROTOCOL_DECODE_H
#define TELEM_PROTOCOL_DECODE_H

#include "protocol/limits.h"
#include "protocol/message.h"

enum decode_result {
	DECODE_MORE = 0,             /* the pieces so far end inside a message */
	DECODE_MESSAGE = 1,          /* *out is whole */
	DECODE_SKIPPED = 2,          /* a whole message of a kind we do not know; ping.request: its number, if any */
	/* Errors; the decoder has let go of what it held and starts afresh with the next byte. */
	DECODE_BAD_TYPE = -1,        /* no msgpack */
	DECODE_LIMIT = -2,           /* well-formed as far as it came, but over one of limits.h */
	DECODE_SCHEMA = -3           /* well-formed, but no message: not an array, or a field of a wrong type */
};
/* "over a limit" …, for messages to people. */
const char *decode_error(int result);

/* One value of a message as it came. A container is followed by its items: count of
 * them for an array, key and value in turn for a map. */
struct token {
	enum { TOKEN_NIL, TOKEN_BOOL, TOKEN_UINT, TOKEN_INT /* negative */, TOKEN_DOUBLE, TOKEN_TEXT, TOKEN_BIN,
	       TOKEN_EXT, TOKEN_ARRAY, TOKEN_MAP } type;
	uint32_t count;              /* items or pairs; bytes of a text (ext: of its data) */
	union {
		uint64_t bits;       /* number, bool */
		const char *bytes;   /* text, bin; ext: its type byte, then data */
	};
};

struct decoder;

/* NULL when memory is out; about 300 KiB. */
struct decoder *decoder_new(void);
void decoder_free(struct decoder *decoder);
/* For who has memory of his own, zeroed, of so many bytes; decoder_reset() makes it one. */
size_t decoder_bytes(void);
/* Forgets a message that came in part. */
void decoder_reset(struct decoder *decoder);

/* Takes bytes from *bytes (moving it and *count on) up to the end of one message. Texts
 * and lists in *out live until the next call, and as long as *bytes. Returns a
 * decode_result. */
int decode_next(struct decoder *decoder, const uint8_t **bytes, size_t *count, struct message *out);
/* The same for any msgpack value, as a tape: for tests and unknown kinds. */
int decode_value(struct decoder *decoder, const uint8_t **bytes, size_t *count, const struct token **tape,
		 uint32_t *token_count);
/* Bytes since decoder_new() to the latest error, or to the end of what was taken. */
uint64_t decoder_offset(const struct decoder *decoder);
/* True while bytes of an unfinished message are held. */
bool decoder_is_inside(const struct decoder *decoder);
#endif
