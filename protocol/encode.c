#include "protocol/encode.h"

#include <string.h>

#include "protocol/block.h"
#include "protocol/limits.h"

/* The template expects an int. It is always 0: encoder->overflow sticks and is checked once at the end. */
static int append(struct encoder *encoder, const void *bytes, size_t count)
{
	if (encoder->overflow || count > encoder->room - encoder->used) {
		encoder->overflow = true;
	} else if (count > 0) {
		memcpy(encoder->bytes + encoder->used, bytes, count);
		encoder->used += (uint32_t)count;
	}
	return 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <limits.h>
#include <msgpack/pack_define.h>
#include <msgpack/timestamp.h>
#define msgpack_pack_inline_func(name) static inline int pack##name
#define msgpack_pack_inline_func_cint(name) static inline int pack##name
#define msgpack_pack_inline_func_fixint(name) static inline int pack_fix##name
#define msgpack_pack_user struct encoder *
#define msgpack_pack_append_buffer(encoder, bytes, count) return append(encoder, bytes, count)
#include <msgpack/pack_template.h>
#pragma GCC diagnostic pop

/* The length of text cut to most bytes, before a UTF-8 character that would not be whole. Bytes
 * that are not UTF-8 may be cut anywhere. */
static uint32_t text_cut(const struct text *text, uint32_t most)
{
	if (text->length <= most)
		return text->length;
	for (uint32_t back = 0; back < 4; back++)
		if (((uint8_t)text->bytes[most - back] & 0xc0) != 0x80)
			return most - back;
	return most;
}

static void encode_text(struct encoder *encoder, const struct text *text)
{
	uint32_t length = text_cut(text, LIMIT_TEXT_BYTES);

	pack_str(encoder, length);
	append(encoder, text->bytes, length);
}

static void encode_number(struct encoder *encoder, const struct number *number)
{
	double value;

	if (number->type == NUMBER_UINT) {
		pack_uint64(encoder, number->bits);
	} else if (number->type == NUMBER_INT) {
		pack_int64(encoder, (int64_t)number->bits);
	} else {
		memcpy(&value, &number->bits, sizeof value);
		pack_double(encoder, value);
	}
}

static void encode_events(struct encoder *encoder, const struct events *events)
{
	pack_array(encoder, events->count * 3);
	for (uint32_t i = 0; i < events->count; i++) {
		pack_uint32(encoder, events->events[i].site);
		pack_uint32(encoder, events->events[i].dt_ns);
		pack_uint64(encoder, events->events[i].value);
	}
}

static void encode_field(struct encoder *encoder, enum field_type type, const uint8_t *field)
{
	const struct text *text = (const void *)field;
	const struct list *list = (const void *)field;
	const struct texts *texts = (const void *)field;

	switch (type) {
	case FIELD_UINT:
		pack_uint64(encoder, *(const uint64_t *)(const void *)field);
		break;
	case FIELD_INT:
		pack_int64(encoder, *(const int64_t *)(const void *)field);
		break;
	case FIELD_TEXT:
		encode_text(encoder, text);
		break;
	case FIELD_BIN:
		pack_bin(encoder, text->length);
		append(encoder, text->bytes, text->length);
		break;
	case FIELD_LIST:
		pack_array(encoder, list->count);
		for (uint32_t i = 0; i < list->count; i++)
			encode_number(encoder, &list->numbers[i]);
		break;
	case FIELD_TEXTS:
		pack_array(encoder, texts->count);
		for (uint32_t i = 0; i < texts->count; i++)
			encode_text(encoder, &texts->texts[i]);
		break;
	case FIELD_EVENTS:
		encode_events(encoder, (const void *)field);
		break;
	}
}

void encoder_init(struct encoder *encoder, uint8_t *bytes, uint32_t room)
{
	*encoder = (struct encoder){ .bytes = bytes, .room = room };
}

bool encode_fields(struct encoder *encoder, const struct message *message, uint32_t first)
{
	const struct kind_row *row = kind_row(message->kind);
	const uint8_t *field = (const uint8_t *)&message->check;
	uint32_t start = encoder->used;

	for (uint32_t i = 0; i < row->field_count; i++) {
		if (i >= first)
			encode_field(encoder, row->fields[i].type, field);
		field += field_bytes(row->fields[i].type);
	}
	if (!encoder->overflow)
		return true;
	encoder->used = start;
	encoder->overflow = false;
	return false;
}

bool encode_message(struct encoder *encoder, const struct message *message)
{
	const struct kind_row *row = kind_row(message->kind);
	uint32_t start = encoder->used;

	if (message->kind == KIND_HELLO)
		return hello_encode(encoder, &message->hello);
	pack_array(encoder, row->field_count + 1u);
	pack_uint16(encoder, row->id);
	if (encode_fields(encoder, message, 0))
		return true;
	encoder->used = start;
	return false;
}

/* On the wire [5, task, seq, base_ns, [...]]: 95 05, ce task, cf seq, cf base_ns, dc count. */
bool batch_begin(struct batch_encoder *batch, struct encoder *encoder, uint32_t task, uint64_t seq, uint64_t base_ns,
		 bool wide)
{
	uint8_t *at = encoder->bytes + encoder->used;

	if (encoder->room - encoder->used < BATCH_HEADER_BYTES + batch_record_bytes(wide))
		return false;
	*batch = (struct batch_encoder){ .encoder = encoder, .start = encoder->used, .base_ns = base_ns, .wide = wide };
	*at++ = 0x95;
	*at++ = KIND_BATCH;
	at = put_u32(at, task);
	at = put_u64(at, seq);
	at = put_u64(at, base_ns);
	*at = 0xdc;
	encoder->used += BATCH_HEADER_BYTES;
	return true;
}

bool batch_add(struct batch_encoder *batch, uint32_t site, uint64_t time_ns, uint64_t value)
{
	uint64_t dt_ns = time_ns - batch->base_ns;

	if (batch_room(batch) == 0 || dt_ns >> 32 || (!batch->wide && value >> 32))
		return false;
	batch_put(batch->encoder->bytes + batch->encoder->used, batch->wide, site, dt_ns, value);
	batch_advance(batch, 1);
	return true;
}

uint32_t batch_end(struct batch_encoder *batch)
{
	struct encoder *encoder = batch->encoder;
	uint16_t items = __builtin_bswap16((uint16_t)(batch->count * 3));

	if (batch->count == 0)
		encoder->used = batch->start;
	else
		memcpy(encoder->bytes + batch->start + BATCH_HEADER_BYTES - 2, &items, 2);
	return batch->count;
}
