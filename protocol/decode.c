#include "protocol/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/encode.h"

/* What the callbacks of the parser write to. */
struct tape {
	struct token tokens[LIMIT_ITEMS + 1];
	uint32_t count;
	size_t refused_at;                   /* where the bytes of a text over the limit start, or 0 */
};

struct nothing { char unused; };     /* the result is on the tape: the parser's own objects are empty */

static inline int push(struct tape *tape, struct token token)
{
	if (tape->count > LIMIT_ITEMS)
		return DECODE_LIMIT;
	tape->tokens[tape->count++] = token;
	return 0;
}

#define PUSH(type_, count_, bits_) push(*tape, (struct token){ .type = (type_), .count = (count_), { .bits = (bits_) } })
#define SCALAR(name, c_type, type_, bits_)                                                       \
	static inline int on_##name(struct tape **tape, c_type value, struct nothing *object)    \
	{                                                                                        \
		(void)object;                                                                    \
		return PUSH(type_, 0, bits_);                                                    \
	}
#define SIGNED(name, c_type) SCALAR(name, c_type, value < 0 ? TOKEN_INT : TOKEN_UINT, (uint64_t)(int64_t)value)
#define SIMPLE(name, type_, bits_)                                                               \
	static inline int on_##name(struct tape **tape, struct nothing *object)                  \
	{                                                                                        \
		(void)object;                                                                    \
		return PUSH(type_, 0, bits_);                                                    \
	}

static uint64_t double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline struct nothing on__root(struct tape **tape)
{
	(void)tape;
	return (struct nothing){ 0 };
}
SIMPLE(_nil, TOKEN_NIL, 0)
SIMPLE(_true, TOKEN_BOOL, 1)
SIMPLE(_false, TOKEN_BOOL, 0)
SCALAR(_uint8, uint8_t, TOKEN_UINT, value)
SCALAR(_uint16, uint16_t, TOKEN_UINT, value)
SCALAR(_uint32, uint32_t, TOKEN_UINT, value)
SCALAR(_uint64, uint64_t, TOKEN_UINT, value)
SIGNED(_int8, int8_t)
SIGNED(_int16, int16_t)
SIGNED(_int32, int32_t)
SIGNED(_int64, int64_t)
SCALAR(_float, float, TOKEN_DOUBLE, double_bits((double)value))
SCALAR(_double, double, TOKEN_DOUBLE, double_bits(value))

static inline int on_container(struct tape **tape, uint32_t count, struct nothing *object, int type)
{
	*object = (struct nothing){ 0 };
	return count > LIMIT_ITEMS ? DECODE_LIMIT : PUSH((unsigned)type, count, 0);
}
static inline int on__array(struct tape **tape, uint32_t count, struct nothing *object)
{
	return on_container(tape, count, object, TOKEN_ARRAY);
}
static inline int on__map(struct tape **tape, uint32_t count, struct nothing *object)
{
	return on_container(tape, count, object, TOKEN_MAP);
}
static inline int on__array_item(struct tape **tape, struct nothing *object, struct nothing item)
{
	(void)tape, (void)object, (void)item;
	return 0;
}
static inline int on__map_item(struct tape **tape, struct nothing *object, struct nothing key, struct nothing value)
{
	(void)tape, (void)object, (void)key, (void)value;
	return 0;
}

static inline int on_bytes(struct tape **tape, const char *base, const char *bytes, uint32_t count, int type)
{
	struct token token = { .type = (unsigned)type, .count = count };

	if (count > LIMIT_TEXT_BYTES) {
		(*tape)->refused_at = (size_t)(bytes - base);
		return DECODE_LIMIT;
	}
	token.bytes = bytes;
	return push(*tape, token);
}
static inline int on__str(struct tape **tape, const char *base, const char *bytes, uint32_t count, struct nothing *object)
{
	(void)object;
	return on_bytes(tape, base, bytes, count, TOKEN_TEXT);
}
static inline int on__bin(struct tape **tape, const char *base, const char *bytes, uint32_t count, struct nothing *object)
{
	(void)object;
	return on_bytes(tape, base, bytes, count, TOKEN_BIN);
}
static inline int on__ext(struct tape **tape, const char *base, const char *bytes, uint32_t count, struct nothing *object)
{
	(void)object;
	/* count includes the type byte. The template wraps 0xffffffff + 1 round to 0, and then its
	 * position is the last byte of the header. */
	if (count == 0)
		return DECODE_LIMIT;
	return on_bytes(tape, base, bytes, count - 1, TOKEN_EXT);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define MSGPACK_EMBED_STACK_SIZE LIMIT_NESTING
#include <msgpack/sysdep.h>
#include <msgpack/unpack.h>
#include <msgpack/unpack_define.h>
#define msgpack_unpack_struct(name) struct parser##name
#define msgpack_unpack_func(type, name) static type parser##name
#define msgpack_unpack_callback(name) on_##name
#define msgpack_unpack_object struct nothing
#define msgpack_unpack_user struct tape *
#include <msgpack/unpack_template.h>
#pragma GCC diagnostic pop

/* An event has at least three bytes in a message. */
#define EVENTS_MAX (LIMIT_BLOCK_BYTES / 3)

struct decoder {
	struct parser_context parser;
	struct tape tape;
	uint8_t held[LIMIT_BLOCK_BYTES];     /* the message that arrived in pieces */
	uint32_t held_count;
	size_t parsed;                       /* how many bytes of held the parser has read */
	uint64_t offset;
	struct number numbers[LIMIT_ITEMS + 1];
	struct text texts[LIMIT_ITEMS + 1];
	struct event events[EVENTS_MAX];
};

const char *decode_error(int result)
{
	return result == DECODE_BAD_TYPE ? "not msgpack" : result == DECODE_LIMIT ? "over a limit" : "not a message";
}

struct decoder *decoder_new(void)
{
	struct decoder *decoder = calloc(1, sizeof *decoder);

	if (decoder)
		decoder_reset(decoder);
	return decoder;
}

size_t decoder_bytes(void)
{
	return sizeof(struct decoder);
}

void decoder_free(struct decoder *decoder)
{
	free(decoder);
}

static void parser_restart(struct decoder *decoder)
{
	decoder->parser.user = &decoder->tape;
	parser_init(&decoder->parser);
	decoder->tape.count = 0;
	decoder->tape.refused_at = 0;
}

void decoder_reset(struct decoder *decoder)
{
	parser_restart(decoder);
	decoder->held_count = 0;
}

uint64_t decoder_offset(const struct decoder *decoder)
{
	return decoder->offset;
}

bool decoder_is_inside(const struct decoder *decoder)
{
	return decoder->held_count > 0;
}

/* Parses from *off on. After an error *off is where the next message is looked for. That place must
 * not depend on how the bytes were cut, so it is after the byte that was wrong, after the header
 * that announced too much, or after the whole of a message that is too long. */
static int parse(struct decoder *decoder, const uint8_t *bytes, size_t count, size_t *off)
{
	int result = parser_execute(&decoder->parser, (const char *)bytes, count, off);

	switch (result) {
	case 1:
		return DECODE_MESSAGE;
	case 0:
		if (decoder->parser.cs >= MSGPACK_ACS_STR_VALUE && decoder->parser.trail > LIMIT_TEXT_BYTES &&
		    !(decoder->parser.cs == MSGPACK_ACS_EXT_VALUE && decoder->parser.trail == LIMIT_TEXT_BYTES + 1))
			return DECODE_LIMIT;
		if (count < LIMIT_BLOCK_BYTES)
			return DECODE_MORE;
		*off = count;
		return DECODE_LIMIT;
	case MSGPACK_UNPACK_NOMEM_ERROR:          /* too deep, or over one of our own limits */
		*off = decoder->tape.refused_at ? decoder->tape.refused_at : *off + 1;
		return DECODE_LIMIT;
	default:
		++*off;
		return DECODE_BAD_TYPE;
	}
}
static_assert((int)MSGPACK_UNPACK_NOMEM_ERROR == (int)DECODE_LIMIT &&
	      (int)MSGPACK_UNPACK_PARSE_ERROR == (int)DECODE_BAD_TYPE, "the template's codes and ours mean the same");

static void take(struct decoder *decoder, const uint8_t **bytes, size_t *count, size_t taken)
{
	*bytes += taken;
	*count -= taken;
	decoder->offset += taken;
}

/* A message that is whole in *bytes is parsed in place. A part of one is copied to held and parsed
 * again there, so that its texts point into held. */
static int parse_fresh(struct decoder *decoder, const uint8_t **bytes, size_t *count)
{
	size_t off = 0, most = *count < LIMIT_BLOCK_BYTES ? *count : LIMIT_BLOCK_BYTES;
	int result;

	if (most == 0)
		return DECODE_MORE;
	parser_restart(decoder);
	result = parse(decoder, *bytes, most, &off);
	if (result == DECODE_MORE) {
		memcpy(decoder->held, *bytes, most);
		decoder->held_count = (uint32_t)most;
		parser_restart(decoder);
		decoder->parsed = 0;
		parse(decoder, decoder->held, most, &decoder->parsed);
		off = most;
	}
	take(decoder, bytes, count, off);
	return result;
}

static int parse_held(struct decoder *decoder, const uint8_t **bytes, size_t *count)
{
	size_t before = decoder->held_count, room = LIMIT_BLOCK_BYTES - before;
	size_t added = *count < room ? *count : room;
	int result;

	if (added == 0)
		return DECODE_MORE;
	memcpy(decoder->held + before, *bytes, added);
	result = parse(decoder, decoder->held, before + added, &decoder->parsed);
	if (result == DECODE_MORE) {
		decoder->held_count = (uint32_t)(before + added);
		take(decoder, bytes, count, added);
		return result;
	}
	/* What was held is part of this message, and the parser decides nothing without at least
	 * one more byte. */
	assert(decoder->parsed > before);
	decoder->held_count = 0;
	take(decoder, bytes, count, decoder->parsed - before);
	return result;
}

static int parse_one(struct decoder *decoder, const uint8_t **bytes, size_t *count)
{
	return decoder->held_count ? parse_held(decoder, bytes, count) : parse_fresh(decoder, bytes, count);
}

int decode_value(struct decoder *decoder, const uint8_t **bytes, size_t *count, const struct token **tape,
		 uint32_t *token_count)
{
	int result = parse_one(decoder, bytes, count);

	if (result == DECODE_MESSAGE) {
		*tape = decoder->tape.tokens;
		*token_count = decoder->tape.count;
	}
	return result;
}

/* ---- BATCH in fixed widths, as our own encoder writes it ---- */

static uint16_t load_u16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return __builtin_bswap16(value);
}
static uint32_t load_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return __builtin_bswap32(value);
}
static uint64_t load_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return __builtin_bswap64(value);
}

/* One masked compare for each record, whose results are combined and tested once at the end: there
 * is no branch to mispredict. */
static uint64_t records_narrow(struct event *events, const uint8_t *at, uint32_t count)
{
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < count; i++, at += 13) {
		uint64_t head = load_u64(at);

		wrong |= ((head ^ 0xcd0000ce00000000ull) & 0xff0000ff00000000ull) | (uint64_t)(at[8] ^ 0xce);
		events[i] = (struct event){ .value = load_u32(at + 9), .dt_ns = (uint32_t)head,
					    .site = (head >> 40) & 0xffff };
	}
	return wrong;
}

static uint64_t records_wide(struct event *events, const uint8_t *at, uint32_t count)
{
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < count; i++, at += 17) {
		uint64_t head = load_u64(at);

		wrong |= ((head ^ 0xcd0000ce00000000ull) & 0xff0000ff00000000ull) | (uint64_t)(at[8] ^ 0xcf);
		events[i] = (struct event){ .value = load_u64(at + 9), .dt_ns = (uint32_t)head,
					    .site = (head >> 40) & 0xffff };
	}
	return wrong;
}

/* Returns true when the bytes start with a whole BATCH in fixed widths. Anything else is left to
 * the functions below, which know every form. */
static bool batch_fast(struct decoder *decoder, const uint8_t **bytes, size_t *count, struct message *out)
{
	const uint8_t *at = *bytes;
	uint32_t items, event_count, record_bytes, batch_bytes;
	bool wide;
	uint64_t wrong;

	if (*count < BATCH_HEADER_BYTES + 13 || at[0] != 0x95 || at[1] != KIND_BATCH || at[2] != 0xce || at[7] != 0xcf ||
	    at[16] != 0xcf || at[25] != 0xdc)
		return false;
	items = load_u16(at + 26);
	event_count = items / 3;
	wide = at[BATCH_HEADER_BYTES + 8] == 0xcf;
	record_bytes = batch_record_bytes(wide);
	batch_bytes = BATCH_HEADER_BYTES + event_count * record_bytes;
	if (items % 3 || event_count == 0 || batch_bytes > LIMIT_BLOCK_BYTES || *count < batch_bytes)
		return false;
	wrong = wide ? records_wide(decoder->events, at + BATCH_HEADER_BYTES, event_count)
		     : records_narrow(decoder->events, at + BATCH_HEADER_BYTES, event_count);
	if (wrong)
		return false;
	out->kind = KIND_BATCH;
	out->field_count = 4;
	out->batch = (struct message_batch){ load_u32(at + 3), load_u64(at + 8), load_u64(at + 17),
					     { decoder->events, event_count } };
	take(decoder, bytes, count, batch_bytes);
	return true;
}

/* ---- BATCH in numbers of any widths, as encoders of other languages write it ---- */

/* What the first byte of a number says: how many bytes follow, whether it is signed, or that it is
 * not a number. */
enum { NUMBER_BYTES = 15, NUMBER_SIGNED = 16, NUMBER_NONE = 128 };
#define EIGHT_OF(info) info, info, info, info, info, info, info, info
#define THIRTY_TWO_OF(info) EIGHT_OF(info), EIGHT_OF(info), EIGHT_OF(info), EIGHT_OF(info)
static const uint8_t number_info[256] = {
	THIRTY_TWO_OF(0), THIRTY_TWO_OF(0), THIRTY_TWO_OF(0), THIRTY_TWO_OF(0),
	THIRTY_TWO_OF(NUMBER_NONE), THIRTY_TWO_OF(NUMBER_NONE),
	EIGHT_OF(NUMBER_NONE), NUMBER_NONE, NUMBER_NONE, NUMBER_NONE, NUMBER_NONE, 1, 2, 4, 8,
	NUMBER_SIGNED | 1, NUMBER_SIGNED | 2, NUMBER_SIGNED | 4, NUMBER_SIGNED | 8, NUMBER_NONE, NUMBER_NONE, NUMBER_NONE,
	NUMBER_NONE, EIGHT_OF(NUMBER_NONE), THIRTY_TWO_OF(NUMBER_SIGNED),
};
#define NUMBER_BYTES_MAX 9

/* Reads one number and moves *at past it; NUMBER_BYTES_MAX bytes must be readable there. It has no
 * branch, because the width of the next number cannot be predicted. Sets a bit of *wrong when the
 * bytes are not an integer. */
static inline __attribute__((always_inline)) uint64_t number_take(const uint8_t **at, uint64_t *wrong)
{
	uint32_t info = number_info[**at], bytes = info & NUMBER_BYTES, shift = (64 - 8 * bytes) & 63;
	uint64_t raw = load_u64(*at + 1), value = bytes ? raw >> shift : **at;
	int64_t extended = bytes ? (int64_t)raw >> shift : (int8_t)**at;

	*wrong |= info & NUMBER_NONE;
	*at += 1 + bytes;
	return info & NUMBER_SIGNED ? (uint64_t)extended : value;
}

/* Returns true when a whole, valid BATCH is there. Anything else is left to the parser. */
static bool batch_any(struct decoder *decoder, const uint8_t **bytes, size_t *count, struct message *out)
{
	enum { ITEMS_MAX = LIMIT_ITEMS - 16, EVENT_BYTES_MAX = 3 * NUMBER_BYTES_MAX };
	const uint8_t *at = *bytes, *end = at + (*count < LIMIT_BLOCK_BYTES ? *count : LIMIT_BLOCK_BYTES);
	uint8_t rest[3 * EVENT_BYTES_MAX];
	uint64_t wrong = 0, head[3];
	size_t taken = 0;
	uint32_t items;

	if (*count < 2 + EVENT_BYTES_MAX + 5 || at[0] != 0x95 || at[1] != KIND_BATCH)
		return false;
	at += 2;
	for (int i = 0; i < 3; i++) {
		wrong |= number_info[*at] & NUMBER_SIGNED;
		head[i] = number_take(&at, &wrong);
	}
	if ((*at & 0xf0) == 0x90) {
		items = *at & 0xf;
		at += 1;
	} else if (*at == 0xdc) {
		items = load_u16(at + 1);
		at += 3;
	} else {
		return false;
	}
	if (wrong || items == 0 || items % 3 || items > ITEMS_MAX)
		return false;
	for (uint32_t i = 0; i < items / 3; i++) {
		uint64_t site, dt_ns;

		/* The last events are read from a copy with zeros behind it, so that no read passes
		 * the end. */
		if (end - at < EVENT_BYTES_MAX && taken == 0) {
			taken = (size_t)(at - *bytes);
			memset(rest, 0, sizeof rest);
			memcpy(rest, at, (size_t)(end - at));
			end = rest + (end - at);
			at = rest;
		}
		if (at >= end)
			return false;
		site = number_take(&at, &wrong);
		dt_ns = number_take(&at, &wrong);
		wrong |= site / LIMIT_SITES | dt_ns >> 32;
		decoder->events[i] = (struct event){ .value = number_take(&at, &wrong), .dt_ns = (uint32_t)dt_ns,
						     .site = (uint32_t)site };
	}
	if (wrong || at > end)
		return false;
	taken += (size_t)(at - (taken ? rest : *bytes));
	out->kind = KIND_BATCH;
	out->field_count = 4;
	out->batch = (struct message_batch){ head[0], head[1], head[2], { decoder->events, items / 3 } };
	take(decoder, bytes, count, taken);
	return true;
}

/* ---- from the tape to a struct ---- */

/* How many tokens the value at token takes, itself and its items included. */
static uint32_t token_span(const struct token *token)
{
	uint32_t open = 1, span = 0;

	while (open > 0) {
		open--;
		if (token[span].type == TOKEN_ARRAY)
			open += token[span].count;
		else if (token[span].type == TOKEN_MAP)
			open += token[span].count * 2;
		span++;
	}
	return span;
}

static bool number_from(const struct token *token, struct number *out)
{
	switch (token->type) {
	case TOKEN_UINT:
		*out = (struct number){ token->bits, NUMBER_UINT };
		return true;
	case TOKEN_INT:
		*out = (struct number){ token->bits, NUMBER_INT };
		return true;
	case TOKEN_DOUBLE:
		*out = (struct number){ token->bits, NUMBER_DOUBLE };
		return true;
	default:
		return false;
	}
}

static bool list_from(struct decoder *decoder, const struct token *token, struct list *out)
{
	if (token->type != TOKEN_ARRAY)
		return false;
	for (uint32_t i = 0; i < token->count; i++)
		if (!number_from(token + 1 + i, &decoder->numbers[i]))
			return false;
	*out = (struct list){ decoder->numbers, token->count };
	return true;
}

static bool texts_from(struct decoder *decoder, const struct token *token, struct texts *out)
{
	if (token->type != TOKEN_ARRAY)
		return false;
	for (uint32_t i = 0; i < token->count; i++) {
		if (token[1 + i].type != TOKEN_TEXT)
			return false;
		decoder->texts[i] = (struct text){ token[1 + i].bytes, token[1 + i].count };
	}
	*out = (struct texts){ decoder->texts, token->count };
	return true;
}

static bool events_from(struct decoder *decoder, const struct token *token, struct events *out)
{
	uint32_t event_count = token->count / 3;

	if (token->type != TOKEN_ARRAY || token->count % 3 || event_count > EVENTS_MAX)
		return false;
	for (uint32_t i = 0; i < event_count; i++) {
		const struct token *item = token + 1 + i * 3;

		if (item[0].type != TOKEN_UINT || item[0].bits >= LIMIT_SITES || item[1].type != TOKEN_UINT ||
		    item[1].bits >> 32 || (item[2].type != TOKEN_UINT && item[2].type != TOKEN_INT))
			return false;
		decoder->events[i] = (struct event){ item[2].bits, (uint32_t)item[1].bits, (uint32_t)item[0].bits };
	}
	*out = (struct events){ decoder->events, event_count };
	return true;
}

static bool field_from(struct decoder *decoder, enum field_type type, const struct token *token, void *field)
{
	switch (type) {
	case FIELD_UINT:
		*(uint64_t *)field = token->bits;
		return token->type == TOKEN_UINT || token->type == TOKEN_BOOL;
	case FIELD_INT:
		*(int64_t *)field = (int64_t)token->bits;
		return token->type == TOKEN_INT || (token->type == TOKEN_UINT && token->bits <= INT64_MAX);
	case FIELD_TEXT:
	case FIELD_BIN:
		*(struct text *)field = (struct text){ token->bytes, token->count };
		return token->type == (type == FIELD_TEXT ? TOKEN_TEXT : TOKEN_BIN);
	case FIELD_LIST:
		return list_from(decoder, token, field);
	case FIELD_TEXTS:
		return texts_from(decoder, token, field);
	case FIELD_EVENTS:
		return !PROTOCOL_IS_GUEST && events_from(decoder, token, field);
	}
	return false;
}

/* A message with fewer fields than the row comes from an older peer, and the missing ones are 0;
 * one with more fields comes from a newer peer, and the further ones are ignored. */
static int message_from(struct decoder *decoder, struct message *out)
{
	const struct token *token = decoder->tape.tokens;
	const struct kind_row *row;
	uint32_t item_count = token->count;
	uint8_t *field = (uint8_t *)&out->check;

	if (token->type != TOKEN_ARRAY || item_count == 0 || token[1].type != TOKEN_UINT)
		return DECODE_SCHEMA;
	row = kind_row(token[1].bits);
	memset(out, 0, sizeof *out);
	if (!row) {
		out->ping.request = item_count > 1 && token[2].type == TOKEN_UINT ? token[2].bits : 0;
		return DECODE_SKIPPED;
	}
	out->kind = (enum kind)row->id;
	token += 2;
	for (uint32_t i = 0; i < row->field_count && i + 1 < item_count; i++) {
		if (!field_from(decoder, row->fields[i].type, token, field))
			return DECODE_SCHEMA;
		field += field_bytes(row->fields[i].type);
		token += token_span(token);
		out->field_count++;
	}
	return DECODE_MESSAGE;
}

int decode_next(struct decoder *decoder, const uint8_t **bytes, size_t *count, struct message *out)
{
	int result;

	if (!PROTOCOL_IS_GUEST && decoder->held_count == 0 &&
	    (batch_fast(decoder, bytes, count, out) || batch_any(decoder, bytes, count, out)))
		return DECODE_MESSAGE;
	result = parse_one(decoder, bytes, count);
	return result == DECODE_MESSAGE ? message_from(decoder, out) : result;
}
