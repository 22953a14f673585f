/* encode.h -- encodes messages as msgpack into the caller's buffer.
 *
 * Nothing is allocated. A message that does not fit leaves encoder->used as it was. */
#ifndef TELEM_PROTOCOL_ENCODE_H
#define TELEM_PROTOCOL_ENCODE_H

#include "protocol/message.h"

struct encoder {
	uint8_t *bytes;              /* borrowed */
	uint32_t used, room;         /* room: how many bytes may be used in all */
	bool overflow;               /* inside one message: a piece did not fit; this sticks until the message ends */
};

void encoder_init(struct encoder *encoder, uint8_t *bytes, uint32_t room);
/* Encodes one message. Every field has its shortest msgpack form, but for HELLO, whose first part
 * has fixed widths (docs/PROTOCOL.md); block_seal() writes CHECK and the batch functions below
 * write a BATCH of fixed widths. A text longer than LIMIT_TEXT_BYTES is cut between two characters.
 * Returns false, and writes nothing, when the message does not fit. */
bool encode_message(struct encoder *encoder, const struct message *message);

/* Encodes the fields from number first on, without the head of the array: for kinds that begin in
 * fixed widths. Returns false when they do not fit. */
bool encode_fields(struct encoder *encoder, const struct message *message, uint32_t first);

/* A BATCH, written event by event in fixed widths: call batch_begin(), then batch_add() while it
 * returns true, then batch_end(). A narrow record has 13 bytes and a 32-bit value, a wide one 17
 * bytes and a 64-bit value. */
struct batch_encoder {
	struct encoder *encoder;
	uint32_t start, count;
	uint64_t base_ns;
	bool wide;
};
#define BATCH_HEADER_BYTES 28
static inline uint32_t batch_record_bytes(bool wide) { return wide ? 17 : 13; }

/* Returns false when there is no room for even one event. */
bool batch_begin(struct batch_encoder *batch, struct encoder *encoder, uint32_t task, uint64_t seq, uint64_t base_ns,
		 bool wide);
/* Returns false and writes nothing when the batch must end first: there is no room, the time is
 * outside base_ns + 32 bits, or the value is too large for a narrow record. */
bool batch_add(struct batch_encoder *batch, uint32_t site, uint64_t time_ns, uint64_t value);
/* Completes the counts. A batch without events leaves nothing in the encoder. Returns how many
 * events it has. */
uint32_t batch_end(struct batch_encoder *batch);

/* The fixed-width pieces of CHECK, HELLO and BATCH. Each function writes at `at` and returns the
 * end of what it wrote. */
static inline uint8_t *put_u16(uint8_t *at, uint16_t value)
{
	at[0] = 0xcd;
	value = __builtin_bswap16(value);
	__builtin_memcpy(at + 1, &value, 2);
	return at + 3;
}
static inline uint8_t *put_u32(uint8_t *at, uint32_t value)
{
	at[0] = 0xce;
	value = __builtin_bswap32(value);
	__builtin_memcpy(at + 1, &value, 4);
	return at + 5;
}
static inline uint8_t *put_u64(uint8_t *at, uint64_t value)
{
	at[0] = 0xcf;
	value = __builtin_bswap64(value);
	__builtin_memcpy(at + 1, &value, 8);
	return at + 9;
}
static inline uint8_t *put_bin(uint8_t *at, const void *bytes, uint8_t count)
{
	at[0] = 0xc4;
	at[1] = count;
	__builtin_memcpy(at + 2, bytes, count);
	return at + 2 + count;
}

/* How many more events fit into the batch. */
static inline uint32_t batch_room(const struct batch_encoder *batch)
{
	return (batch->encoder->room - batch->encoder->used) / batch_record_bytes(batch->wide);
}
/* Writes one event at `at`, dt_ns after the base of the batch, and returns the end. dt_ns fits 32
 * bits, and so does value unless wide is true. The caller has checked the room. */
static inline uint8_t *batch_put(uint8_t *at, bool wide, uint32_t site, uint64_t dt_ns, uint64_t value)
{
	at = put_u32(put_u16(at, (uint16_t)site), (uint32_t)dt_ns);
	return wide ? put_u64(at, value) : put_u32(at, (uint32_t)value);
}
/* Accounts for count events that batch_put() wrote one after the other from encoder->used on. */
static inline void batch_advance(struct batch_encoder *batch, uint32_t count)
{
	batch->encoder->used += count * batch_record_bytes(batch->wide);
	batch->count += count;
}
#endif
