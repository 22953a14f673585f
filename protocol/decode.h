/* decode.h -- decodes msgpack that arrives in any pieces into whole messages, and trusts no length
 * in it.
 *
 * The decoder is msgpack-c's push parser (unpack_template.h) with callbacks of our own. A message
 * becomes a flat list of tokens, the tape, in memory that the decoder owns, and then a struct.
 * There is no tree of objects, and nothing is allocated. Every limit is checked before the bytes it
 * concerns arrive. */
#ifndef TELEM_PROTOCOL_DECODE_H
#define TELEM_PROTOCOL_DECODE_H

#include "protocol/limits.h"
#include "protocol/message.h"

enum decode_result {
	DECODE_MORE = 0,             /* the bytes so far end inside a message */
	DECODE_MESSAGE = 1,          /* *out is a whole message */
	DECODE_SKIPPED = 2,          /* a whole message of an unknown kind; out->ping.request is its request
				      * number, or 0 */
	/* Errors. The decoder has dropped what it held, and starts again with the next byte. */
	DECODE_BAD_TYPE = -1,        /* the bytes are not msgpack */
	DECODE_LIMIT = -2,           /* msgpack so far, but over one of the limits of limits.h */
	DECODE_SCHEMA = -3           /* msgpack, but not a message: not an array, or a field has a wrong type */
};
/* The error in words, "over a limit" for example, for messages to people. */
const char *decode_error(int result);

/* One value of a message as it arrived. A container is followed by its items: count values for an
 * array, count pairs of key and value for a map. */
struct token {
	enum { TOKEN_NIL, TOKEN_BOOL, TOKEN_UINT, TOKEN_INT /* negative */, TOKEN_DOUBLE, TOKEN_TEXT, TOKEN_BIN,
	       TOKEN_EXT, TOKEN_ARRAY, TOKEN_MAP } type;
	uint32_t count;              /* items of an array, pairs of a map, bytes of a text, bin or ext (without
				      * its type byte) */
	union {
		uint64_t bits;       /* of a number or bool */
		const char *bytes;   /* of a text or bin; for an ext its type byte, then its data */
	};
};

struct decoder;

/* Returns NULL when memory is out. A decoder takes about 300 KiB. */
struct decoder *decoder_new(void);
void decoder_free(struct decoder *decoder);
/* For a caller that has zeroed memory of decoder_bytes() bytes: decoder_reset() makes it a decoder,
 * without decoder_new() and decoder_free(). */
size_t decoder_bytes(void);
/* Drops the part of an unfinished message that is held. */
void decoder_reset(struct decoder *decoder);

/* Decodes up to the end of one message; moves *bytes and *count past what was used. Texts and lists
 * in *out are valid until the next call, and only as long as the bytes at *bytes are. Returns an
 * enum decode_result. */
int decode_next(struct decoder *decoder, const uint8_t **bytes, size_t *count, struct message *out);
/* The same for any msgpack value, given out as a tape: for tests and for unknown kinds. */
int decode_value(struct decoder *decoder, const uint8_t **bytes, size_t *count, const struct token **tape,
		 uint32_t *token_count);
/* How many bytes the decoder has used since decoder_new(), up to the latest error if there was one. */
uint64_t decoder_offset(const struct decoder *decoder);
/* Returns whether the decoder holds a part of an unfinished message. */
bool decoder_is_inside(const struct decoder *decoder);
#endif
