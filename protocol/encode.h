/* encode.h -- messages to msgpack, in the caller's buffer.
 *
 * Nothing is allocated. A message that does not fit leaves what is used as it was. */
#ifndef TELEM_PROTOCOL_ENCODE_H
#define TELEM_PROTOCOL_ENCODE_H

#include "protocol/message.h"

struct encoder {
	uint8_t *bytes;              /* borrowed */
	uint32_t used, room;         /* room: bytes that may be used in all */
	bool overflow;               /* within one message: the first that did not fit sticks */
};

void encoder_init(struct encoder *encoder, uint8_t *bytes, uint32_t room);
/* Any kind but CHECK, HELLO and BATCH has the shortest form of every field; those three
 * have fixed widths (docs/PROTOCOL.md). Text longer than LIMIT_TEXT_BYTES is cut at a
 * character. Returns false when it does not fit. */
bool encode_message(struct encoder *encoder, const struct message *message);

/* The fields from first on, without the array's head: for kinds that begin in fixed widths. */
bool encode_fields(struct encoder *encoder, const struct message *message, uint32_t first);

/* A BATCH, written event by event in fixed width: begin, add while it returns true, end.
 * Narrow records have 13 bytes and 32-bit values, wide ones 17 and 64-bit values. */
struct batch_encoder {
	struct encoder *encoder;
	uint32_t start, count;
	uint64_t base_ns;
	bool wide;
};
#define BATCH_HEADER_BYTES 28
static inline uint32_t batch_record_bytes(bool wide) { return wide ? 17 : 13; }

/* False when not even one event would fit. */
bool batch_begin(struct batch_encoder *batch, struct encoder *encoder, uint32_t task, uint64_t seq, uint64_t base_ns,
		 bool wide);
/* False, and nothing written, when the batch must end first: no room, the time is outside
 * base_ns + 32 bits, or the value is too large for a narrow record. */
bool batch_add(struct batch_encoder *batch, uint32_t site, uint64_t time_ns, uint64_t value);
/* Completes the counts; a batch without events vanishes. Returns its events. */
uint32_t batch_end(struct batch_encoder *batch);

/* Fixed-width pieces that CHECK, HELLO and BATCH are made of; return the end. */
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

/* How many more events fit. */
static inline uint32_t batch_room(const struct batch_encoder *batch)
{
	return (batch->encoder->room - batch->encoder->used) / batch_record_bytes(batch->wide);
}
/* One event, dt_ns after the batch's base, both 32 bits; value too, unless wide. */
static inline uint8_t *batch_put(uint8_t *at, bool wide, uint32_t site, uint64_t dt_ns, uint64_t value)
{
	at = put_u32(put_u16(at, (uint16_t)site), (uint32_t)dt_ns);
	return wide ? put_u64(at, value) : put_u32(at, (uint32_t)value);
}
/* So many were put behind each other where the encoder was. */
static inline void batch_advance(struct batch_encoder *batch, uint32_t count)
{
	batch->encoder->used += count * batch_record_bytes(batch->wide);
	batch->count += count;
}
#endif
