#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>
#include <jansson.h>

#include "protocol/decode.h"
#include "tests/support/fixture.h"
#include "tests/support/wire.h"

#define SUITE "tests/data/msgpack/msgpack-test-suite.json"
#define BAD_INPUTS "tests/data/msgpack/bad-inputs.tsv"
#define RSS_MAX_BYTES (16 << 20)

static struct decoder *decoder;
static uint64_t begun;           /* decoder_offset() when the test's bytes began */

static int setup(void **state)
{
	(void)state;
	decoder = decoder_new();
	begun = 0;
	return decoder ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	decoder_free(decoder);
	return 0;
}

/* ---- answers, however the bytes are cut ---- */

typedef int ask_fn(struct digest *digest, const uint8_t **bytes, size_t *count);

static int ask_value(struct digest *digest, const uint8_t **bytes, size_t *count)
{
	const struct token *tape;
	uint32_t token_count;
	int result = decode_value(decoder, bytes, count, &tape, &token_count);

	for (uint32_t i = 0; result == DECODE_MESSAGE && i < token_count; i++) {
		digest_number(digest, tape[i].type);
		digest_number(digest, tape[i].count);
		if (tape[i].type == TOKEN_TEXT || tape[i].type == TOKEN_BIN || tape[i].type == TOKEN_EXT)
			digest_add(digest, tape[i].bytes, tape[i].count + (tape[i].type == TOKEN_EXT));
		else
			digest_number(digest, tape[i].bits);
	}
	return result;
}

static int ask_message(struct digest *digest, const uint8_t **bytes, size_t *count)
{
	struct message message;
	int result = decode_next(decoder, bytes, count, &message);

	if (result == DECODE_MESSAGE) {
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		message_show(out, &message);
		fprintf(out, " %u", message.field_count);
		fclose(out);
		digest_add(digest, text, length);
		free(text);
	}
	return result;
}

/* Feeds one piece from memory of exactly its size, so that a sanitizer notices a read past its end. */
static void feed(ask_fn *ask, struct digest *digest, const uint8_t *bytes, size_t count)
{
	uint8_t *copy = malloc(count + !count);
	const uint8_t *at = copy;
	size_t left = count;

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	for (;;) {
		uint64_t before = decoder_offset(decoder);
		int result = ask(digest, &at, &left);

		if (result == DECODE_MORE)
			break;
		assert_true(decoder_offset(decoder) > before);   /* no error sticks */
		digest_number(digest, (uint64_t)result);
		digest_number(digest, decoder_offset(decoder) - begun);
	}
	assert_int_equal(left, 0);
	free(copy);
}

/* Feeds a piece of `first` bytes, then pieces of `step` bytes. */
static struct digest answers(ask_fn *ask, const uint8_t *bytes, size_t count, size_t first, size_t step)
{
	struct digest digest = { 0 };

	decoder_reset(decoder);
	begun = decoder_offset(decoder);
	feed(ask, &digest, bytes, first);
	for (size_t at = first; at < count; at += step)
		feed(ask, &digest, bytes + at, count - at < step ? count - at : step);
	digest_number(&digest, decoder_offset(decoder) - begun);
	digest_number(&digest, decoder_is_inside(decoder));
	return digest;
}

static void same_at_every_cut(ask_fn *ask, const uint8_t *bytes, size_t count)
{
	struct digest whole = answers(ask, bytes, count, count, count);
	struct digest bytewise = answers(ask, bytes, count, 0, 1);

	assert_int_equal(bytewise.hash, whole.hash);
	assert_int_equal(bytewise.count, whole.count);
	for (size_t cut = 1; cut < count; cut++) {
		struct digest two = answers(ask, bytes, count, cut, count);

		if (two.hash != whole.hash || two.count != whole.count)
			fail_msg("cut at %zu of %zu: another answer", cut, count);
	}
}

/* Returns the first answer of the decoder. */
static int value_of(const uint8_t *bytes, size_t count, const struct token **tape, uint32_t *token_count, size_t *taken)
{
	uint64_t start;
	size_t left = count;
	int result;

	decoder_reset(decoder);
	start = decoder_offset(decoder);
	result = decode_value(decoder, &bytes, &left, tape, token_count);
	*taken = count - left;
	assert_int_equal(decoder_offset(decoder) - start, *taken);
	return result;
}

static int message_of(const uint8_t *bytes, size_t count, struct message *out)
{
	decoder_reset(decoder);
	return decode_next(decoder, &bytes, &count, out);
}

static int message_of_hex(const char *hex, struct message *out)
{
	static uint8_t bytes[8192];      /* texts of *out point here */

	return message_of(bytes, hex_read(hex, bytes, sizeof bytes), out);
}

/* ---- msgpack-test-suite.json ---- */

/* Compares an ext or binary value with the suite's text, like "01-02". */
static void has_bytes(const char *bytes, uint32_t count, const char *hex)
{
	uint8_t expected[64];

	assert_int_equal(hex_read(hex, expected, sizeof expected), count);
	assert_memory_equal(bytes, expected, count);
}

static void is_integer(const struct token *token, const char *digits)
{
	uint64_t bits = digits[0] == '-' ? (uint64_t)strtoll(digits, NULL, 10) : strtoull(digits, NULL, 10);
	double value;

	if (token->type == TOKEN_DOUBLE) {
		memcpy(&value, &token->bits, sizeof value);
		assert_true(value == strtod(digits, NULL));
		return;
	}
	assert_int_equal(token->type, digits[0] == '-' ? TOKEN_INT : TOKEN_UINT);
	assert_int_equal(token->bits, bits);
}

static void is_real(const struct token *token, double expected)
{
	double value;

	assert_int_equal(token->type, TOKEN_DOUBLE);
	memcpy(&value, &token->bits, sizeof value);
	assert_true(value == expected);
}

static uint64_t big_endian(const char *bytes, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value = value << 8 | (uint8_t)bytes[i];
	return value;
}

/* Compares the extension type -1, which has seconds and nanoseconds. */
static void is_timestamp(const struct token *token, int64_t seconds, int64_t ns)
{
	const char *data = token->bytes + 1;
	uint64_t word;

	assert_int_equal(token->type, TOKEN_EXT);
	assert_int_equal((int8_t)token->bytes[0], -1);
	if (token->count == 4) {
		assert_int_equal(big_endian(data, 4), seconds);
		assert_int_equal(0, ns);
	} else if (token->count == 8) {
		word = big_endian(data, 8);
		assert_int_equal(word & 0x3ffffffff, seconds);
		assert_int_equal(word >> 34, ns);
	} else {
		assert_int_equal(token->count, 12);
		assert_int_equal(big_endian(data, 4), ns);
		assert_int_equal((int64_t)big_endian(data + 4, 8), seconds);
	}
}

/* Returns how many tokens the value has. */
static uint32_t is_json(const struct token *token, json_t *json)
{
	uint32_t span = 1;
	char digits[32];
	const char *key;
	json_t *item;
	size_t i;

	switch (json_typeof(json)) {
	case JSON_NULL:
		assert_int_equal(token->type, TOKEN_NIL);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		assert_int_equal(token->type, TOKEN_BOOL);
		assert_int_equal(token->bits, json_is_true(json));
		break;
	case JSON_INTEGER:
		snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
		is_integer(token, digits);
		break;
	case JSON_REAL:
		is_real(token, json_real_value(json));
		break;
	case JSON_STRING:
		assert_int_equal(token->type, TOKEN_TEXT);
		assert_int_equal(token->count, json_string_length(json));
		assert_memory_equal(token->bytes, json_string_value(json), token->count);
		break;
	case JSON_ARRAY:
		assert_int_equal(token->type, TOKEN_ARRAY);
		assert_int_equal(token->count, json_array_size(json));
		json_array_foreach(json, i, item)
			span += is_json(token + span, item);
		break;
	case JSON_OBJECT:
		assert_int_equal(token->type, TOKEN_MAP);
		assert_int_equal(token->count, json_object_size(json));
		json_object_foreach(json, key, item) {
			assert_int_equal(token[span].type, TOKEN_TEXT);
			has_bytes(token[span].bytes, token[span].count, "61");     /* all keys are "a" */
			assert_string_equal(key, "a");
			span++;
			span += is_json(token + span, item);
		}
		break;
	}
	return span;
}

/* Compares one value of the suite. The name of its member says what it is. */
static uint32_t is_suite_value(const struct token *token, json_t *entry)
{
	json_t *value;

	if ((value = json_object_get(entry, "bignum"))) {
		is_integer(token, json_string_value(value));
	} else if ((value = json_object_get(entry, "binary"))) {
		assert_int_equal(token->type, TOKEN_BIN);
		has_bytes(token->bytes, token->count, json_string_value(value));
	} else if ((value = json_object_get(entry, "timestamp"))) {
		is_timestamp(token, json_integer_value(json_array_get(value, 0)),
			     json_integer_value(json_array_get(value, 1)));
	} else if ((value = json_object_get(entry, "ext"))) {
		assert_int_equal(token->type, TOKEN_EXT);
		assert_int_equal(token->bytes[0], json_integer_value(json_array_get(value, 0)));
		has_bytes(token->bytes + 1, token->count, json_string_value(json_array_get(value, 1)));
	} else {
		const char *const plain[] = { "nil", "bool", "number", "string", "array", "map" };

		for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
			if ((value = json_object_get(entry, plain[i])))
				return is_json(token, value);
		fail_msg("a value of a new sort in the suite");
	}
	return 1;
}

static void every_encoding_of_the_suite_gives_its_value_at_every_cut(void **state)
{
	json_t *suite = json_load_file(SUITE, 0, NULL), *group, *entry, *encoding;
	const char *name;
	size_t i, j, encoding_count = 0;

	(void)state;
	assert_non_null(suite);
	json_object_foreach(suite, name, group) {
		json_array_foreach(group, i, entry) {
			json_array_foreach(json_object_get(entry, "msgpack"), j, encoding) {
				uint8_t bytes[64];
				size_t count = hex_read(json_string_value(encoding), bytes, sizeof bytes), taken;
				const struct token *tape;
				uint32_t token_count;

				assert_int_equal(value_of(bytes, count, &tape, &token_count, &taken), DECODE_MESSAGE);
				assert_int_equal(taken, count);
				assert_int_equal(is_suite_value(tape, entry), token_count);
				same_at_every_cut(ask_value, bytes, count);
				encoding_count++;
			}
		}
	}
	json_decref(suite);
	assert_int_equal(encoding_count, 233);
}

/* ---- bad-inputs.tsv ---- */

struct bad_input { uint8_t bytes[16384]; size_t count; char answer[32]; };

/* Calls each() for every line of the file. */
static void bad_inputs(void (*each)(const struct bad_input *input))
{
	char *text = fixture_read(BAD_INPUTS, NULL), *save = NULL;
	struct bad_input *input = malloc(sizeof *input);
	size_t input_count = 0;

	assert_non_null(input);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *tab = strchr(line, '\t');

		if (line[0] == '#')
			continue;
		assert_non_null(tab);
		*tab = '\0';
		input->count = hex_read(line, input->bytes, sizeof input->bytes);
		assert_int_equal(sscanf(tab + 1, "%31[^\t]", input->answer), 1);
		each(input);
		input_count++;
	}
	free(input);
	free(text);
	assert_int_equal(input_count, 36);
}

static bool is_one_of(const char *answer, const char *list)
{
	const char *at = strstr(list, answer);

	return at && (at == list || at[-1] == ' ') && (at[strlen(answer)] == ' ' || at[strlen(answer)] == '\0');
}

static void has_its_answer(const struct bad_input *input)
{
	const struct token *tape;
	uint32_t token_count;
	size_t taken;
	int result = value_of(input->bytes, input->count, &tape, &token_count, &taken);
	struct message message;

	if (strcmp(input->answer, "bad-type") == 0) {
		assert_int_equal(result, DECODE_BAD_TYPE);
		assert_int_equal(taken, 1);
	} else if (strcmp(input->answer, "limit") == 0) {
		assert_int_equal(result, DECODE_LIMIT);
		assert_true(taken <= 13);      /* at the header, not after what it announces */
	} else if (strcmp(input->answer, "need-more") == 0) {
		assert_int_equal(result, DECODE_MORE);
		assert_int_equal(taken, input->count);
		assert_true(decoder_is_inside(decoder));
	} else {
		/* The input is valid msgpack but not a message. Other answers concern the layers above. */
		assert_true(is_one_of(input->answer, "schema escape saturate decode decode-or-schema"));
		assert_int_equal(result, DECODE_MESSAGE);
		assert_int_equal(taken, input->count);
		assert_int_equal(message_of(input->bytes, input->count, &message), DECODE_SCHEMA);
		assert_false(decoder_is_inside(decoder));
	}
}

static void is_the_same_at_every_cut(const struct bad_input *input)
{
	same_at_every_cut(ask_value, input->bytes, input->count);
}

static void every_bad_input_gets_its_class_of_answer(void **state)
{
	(void)state;
	bad_inputs(has_its_answer);
}

static void every_bad_input_gets_the_same_answer_at_every_cut(void **state)
{
	(void)state;
	bad_inputs(is_the_same_at_every_cut);
}

static void is_taken_whole_and_bytewise(const struct bad_input *input)
{
	const size_t steps[] = { input->count, 1 };

	for (size_t i = 0; i < 2; i++) {
		size_t step = steps[i];

		decoder_reset(decoder);
		for (size_t at = 0; at < input->count; at += step) {
			const uint8_t *bytes = input->bytes + at;
			size_t count = step;
			struct message message;

			while (decode_next(decoder, &bytes, &count, &message) != DECODE_MORE)
				;
		}
	}
}

/* This test must run first, because it measures the peak of memory since the program started. */
static void bad_inputs_take_less_than_16_mib(void **state)
{
	struct rusage before, after;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	bad_inputs(is_taken_whole_and_bytewise);
	getrusage(RUSAGE_SELF, &after);
	assert_true((after.ru_maxrss - before.ru_maxrss) * 1024 < RSS_MAX_BYTES);
}

/* A message is decoded right after a bad input, or after a reset when the input was not complete. */
static void leaves_the_decoder_usable(const struct bad_input *input)
{
	static const uint8_t ping[] = { 0x92, KIND_PING, 7 };
	const uint8_t *bytes = input->bytes;
	size_t count = input->count;
	struct message message;
	int result;

	decoder_reset(decoder);
	do
		result = decode_next(decoder, &bytes, &count, &message);
	while (result != DECODE_MORE);
	if (strcmp(input->answer, "need-more") == 0 || decoder_is_inside(decoder))
		decoder_reset(decoder);
	bytes = ping;
	count = sizeof ping;
	assert_int_equal(decode_next(decoder, &bytes, &count, &message), DECODE_MESSAGE);
	assert_int_equal(message.kind, KIND_PING);
	assert_int_equal(message.ping.request, 7);
}

static void after_every_bad_input_the_decoder_goes_on(void **state)
{
	(void)state;
	bad_inputs(leaves_the_decoder_usable);
}

/* A field is accepted or refused by its type alone. A text with escape sequences arrives as it was sent. */
static void in_a_field_is_judged_by_its_type(const struct bad_input *input)
{
	static const uint8_t log_head[] = { 0x97, KIND_LOG, 2, 1, 1, 1 },
		gauge_head[] = { 0x95, KIND_RECORD, 2, 1, 1, 0x91 };
	static const uint8_t flush_head[] = { 0x92, KIND_FLUSH };
	uint8_t bytes[128];
	const struct token *tape;
	struct message message;
	struct token token;
	uint32_t token_count;
	size_t taken;

	if (value_of(input->bytes, input->count, &tape, &token_count, &taken) != DECODE_MESSAGE)
		return;
	token = tape[0];
	memcpy(bytes, log_head, sizeof log_head);
	memcpy(bytes + sizeof log_head, input->bytes, input->count);
	bytes[sizeof log_head + input->count] = 0;
	if (token.type == TOKEN_TEXT) {
		assert_int_equal(message_of(bytes, sizeof log_head + input->count + 1, &message), DECODE_MESSAGE);
		assert_int_equal(message.log.text.length, token.count);
		assert_memory_equal(message.log.text.bytes, token.bytes, token.count);
	} else {
		assert_int_equal(message_of(bytes, sizeof log_head + input->count + 1, &message), DECODE_SCHEMA);
	}

	memcpy(bytes, gauge_head, sizeof gauge_head);
	memcpy(bytes + sizeof gauge_head, input->bytes, input->count);
	if (token.type == TOKEN_UINT || token.type == TOKEN_INT || token.type == TOKEN_DOUBLE) {
		assert_int_equal(message_of(bytes, sizeof gauge_head + input->count, &message), DECODE_MESSAGE);
		assert_int_equal(message.record.values.count, 1);
		assert_int_equal(message.record.values.numbers[0].bits, token.bits);
	} else {
		assert_int_equal(message_of(bytes, sizeof gauge_head + input->count, &message), DECODE_SCHEMA);
	}

	memcpy(bytes, flush_head, sizeof flush_head);
	memcpy(bytes + sizeof flush_head, input->bytes, input->count);
	assert_int_equal(message_of(bytes, sizeof flush_head + input->count, &message),
			 token.type == TOKEN_UINT ? DECODE_MESSAGE : DECODE_SCHEMA);
}

static void a_bad_input_in_a_field_is_judged_by_its_type(void **state)
{
	(void)state;
	bad_inputs(in_a_field_is_judged_by_its_type);
}

/* ---- errors and limits ---- */

static void an_error_ends_at_its_byte_and_the_next_one_starts_afresh(void **state)
{
	static const struct { const char *hex; int result; size_t taken; } rows[] = {
		{ "c1", DECODE_BAD_TYPE, 1 },
		{ "92 07 c1", DECODE_BAD_TYPE, 3 },
		{ "82 07 07 91 c1", DECODE_BAD_TYPE, 5 },
		{ "91 91 91 91 91", DECODE_LIMIT, 5 },            /* the fifth level, */
		{ "91 91 91 91 80", DECODE_LIMIT, 5 },            /* also an empty one */
		{ "dc 1001", DECODE_LIMIT, 3 },
		{ "dd 00001001", DECODE_LIMIT, 5 },
		{ "de 1001", DECODE_LIMIT, 3 },
		{ "df ffffffff", DECODE_LIMIT, 5 },
		{ "92 07 da 0801", DECODE_LIMIT, 5 },
		{ "db 00000801", DECODE_LIMIT, 5 },
		{ "c5 0801", DECODE_LIMIT, 3 },
		{ "c6 ffffffff", DECODE_LIMIT, 5 },
		{ "c8 0801", DECODE_LIMIT, 3 },
		{ "c9 00000801", DECODE_LIMIT, 5 },
		{ "c9 ffffffff", DECODE_LIMIT, 5 },               /* one more is 0 in 32 bits */
		{ "c9 fffffffe", DECODE_LIMIT, 5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t bytes[64];
		size_t count = hex_read(rows[i].hex, bytes, sizeof bytes), taken;
		const struct token *tape;
		uint32_t token_count;

		count += hex_read("92 48 07  92 48 08  01", bytes + count, sizeof bytes - count);
		assert_int_equal(value_of(bytes, count, &tape, &token_count, &taken), rows[i].result);
		assert_int_equal(taken, rows[i].taken);
		assert_int_equal(value_of(bytes + taken, count - taken, &tape, &token_count, &taken), DECODE_MESSAGE);
		assert_int_equal(token_count, 3);
		assert_int_equal(tape[2].bits, 7);
		same_at_every_cut(ask_value, bytes, count);
		same_at_every_cut(ask_message, bytes, count);
	}
}

static void four_levels_are_fine(void **state)
{
	uint8_t bytes[16];
	const struct token *tape;
	uint32_t token_count;
	size_t count = hex_read("91 81 01 91 90", bytes, sizeof bytes), taken;

	(void)state;
	assert_int_equal(value_of(bytes, count, &tape, &token_count, &taken), DECODE_MESSAGE);
	assert_int_equal(token_count, 5);
	same_at_every_cut(ask_value, bytes, count);
}

/* Decodes head, which announces length bytes, these bytes, and a 7 after them. */
static void text_of_length(const char *head, uint32_t length, int result)
{
	uint8_t bytes[LIMIT_BLOCK_BYTES];
	size_t head_count = hex_read(head, bytes, sizeof bytes), count = head_count + length, taken;
	const struct token *tape;
	uint32_t token_count;

	memset(bytes + head_count, 7, length + 1);
	assert_int_equal(value_of(bytes, count + 1, &tape, &token_count, &taken), result);
	assert_int_equal(taken, result == DECODE_MESSAGE ? count : head_count);
	if (result == DECODE_MESSAGE)
		assert_int_equal(tape[0].count, length - (tape[0].type == TOKEN_EXT));
	same_at_every_cut(ask_value, bytes, count + 1);
}

static void a_text_of_2048_bytes_is_taken_and_one_of_2049_refused_at_its_header(void **state)
{
	(void)state;
	assert_int_equal(LIMIT_TEXT_BYTES, 0x800);
	text_of_length("da 0800", 0x800, DECODE_MESSAGE);
	text_of_length("da 0801", 0x801, DECODE_LIMIT);
	text_of_length("db 00000800", 0x800, DECODE_MESSAGE);
	text_of_length("db 00000801", 0x801, DECODE_LIMIT);
	text_of_length("c5 0800", 0x800, DECODE_MESSAGE);
	text_of_length("c5 0801", 0x801, DECODE_LIMIT);
	text_of_length("c8 0800", 0x801, DECODE_MESSAGE);       /* an ext has a type byte more */
	text_of_length("c8 0801", 0x802, DECODE_LIMIT);
}

/* [text of 2048 bytes, text of the rest]. */
static size_t message_of_bytes(uint8_t *bytes, size_t count)
{
	size_t at = hex_read("92 da 0800", bytes, 4);

	memset(bytes + at, 'x', count - at);
	at += 0x800;
	bytes[at++] = 0xda;
	bytes[at] = (uint8_t)((count - at - 2) >> 8);
	bytes[at + 1] = (uint8_t)(count - at - 2);
	return count;
}

static void a_message_of_4096_bytes_is_taken_and_a_longer_one_is_not(void **state)
{
	uint8_t bytes[LIMIT_BLOCK_BYTES + 16];
	const struct token *tape;
	uint32_t token_count;
	size_t count = message_of_bytes(bytes, LIMIT_BLOCK_BYTES), taken;

	(void)state;
	assert_int_equal(value_of(bytes, count, &tape, &token_count, &taken), DECODE_MESSAGE);
	assert_int_equal(taken, LIMIT_BLOCK_BYTES);
	same_at_every_cut(ask_value, bytes, count);

	count = message_of_bytes(bytes, LIMIT_BLOCK_BYTES + 1);
	assert_int_equal(value_of(bytes, count, &tape, &token_count, &taken), DECODE_LIMIT);
	assert_int_equal(taken, LIMIT_BLOCK_BYTES);
	same_at_every_cut(ask_value, bytes, count);
}

static void as_many_items_as_a_message_has_room_for_are_taken(void **state)
{
	uint8_t bytes[LIMIT_BLOCK_BYTES + 64];
	const struct token *tape;
	uint32_t token_count;
	size_t taken;

	(void)state;
	memset(bytes, 0xc0, sizeof bytes);
	memcpy(bytes, "\xdc\x0f\xfd", 3);
	assert_int_equal(value_of(bytes, sizeof bytes, &tape, &token_count, &taken), DECODE_MESSAGE);
	assert_int_equal(token_count, LIMIT_BLOCK_BYTES - 2);
	memcpy(bytes, "\xdc\x10\x00", 3);        /* 4096 items: allowed, but too long a message */
	assert_int_equal(value_of(bytes, sizeof bytes, &tape, &token_count, &taken), DECODE_LIMIT);
	assert_int_equal(taken, LIMIT_BLOCK_BYTES);
	same_at_every_cut(ask_value, bytes, sizeof bytes);
}

static void nothing_of_nothing_is_asked_for_more(void **state)
{
	const uint8_t *bytes = NULL;
	size_t count = 0;
	struct message message;

	(void)state;
	assert_int_equal(decode_next(decoder, &bytes, &count, &message), DECODE_MORE);
	assert_false(decoder_is_inside(decoder));
}

/* The bytes are random, and most of them are headers. However they are cut, the decoder gives the same answers. */
static void noise_gets_the_same_answers_at_every_cut(void **state)
{
	uint64_t random = random_seed(1);

	(void)state;
	for (int round = 0; round < 300; round++) {
		uint8_t bytes[200];

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)(random_below(&random, 2) ? 0x80 + random_below(&random, 0x60)
								      : random_below(&random, 256));
		same_at_every_cut(ask_value, bytes, sizeof bytes);
		same_at_every_cut(ask_message, bytes, sizeof bytes);
	}
}

/* ---- BATCH ---- */

/* Decodes with the general parser. A message whose first byte is a piece of its own never takes the fast path. */
static struct digest by_the_parser(const uint8_t *bytes, size_t count)
{
	return answers(ask_message, bytes, count, 1, count);
}

static uint32_t batch_make(uint8_t *bytes, uint32_t room, uint32_t event_count, bool wide)
{
	struct encoder encoder;
	struct batch_encoder batch;

	encoder_init(&encoder, bytes, room);
	assert_true(batch_begin(&batch, &encoder, 70000, 1ull << 40, 1000, wide));
	for (uint32_t i = 0; i < event_count; i++)
		assert_true(batch_add(&batch, i * 60000 / event_count, 1000 + i, wide ? UINT64_MAX - i : UINT32_MAX - i));
	assert_int_equal(batch_end(&batch), event_count);
	return encoder.used;
}

static void a_batch_gives_the_events_that_went_in(void **state)
{
	uint8_t bytes[BLOCK_ROOM];

	(void)state;
	for (int wide = 0; wide <= 1; wide++) {
		struct message message;

		assert_int_equal(message_of(bytes, batch_make(bytes, sizeof bytes, 200, wide), &message), DECODE_MESSAGE);
		assert_int_equal(message.kind, KIND_BATCH);
		assert_int_equal(message.field_count, 4);
		assert_int_equal(message.batch.task, 70000);
		assert_int_equal(message.batch.seq, 1ull << 40);
		assert_int_equal(message.batch.base_ns, 1000);
		assert_int_equal(message.batch.events.count, 200);
		for (uint32_t i = 0; i < 200; i++) {
			const struct event *event = &message.batch.events.events[i];

			assert_int_equal(event->site, i * 60000 / 200);
			assert_int_equal(event->dt_ns, i);
			assert_int_equal(event->value, wide ? UINT64_MAX - i : UINT32_MAX - i);
		}
	}
}

static void a_batch_gives_the_same_at_every_cut(void **state)
{
	uint8_t bytes[2 * BLOCK_ROOM];

	(void)state;
	for (uint32_t event_count = 1; event_count < 50; event_count += 12) {
		uint32_t count = batch_make(bytes, BLOCK_ROOM, event_count, false);

		count += batch_make(bytes + count, BLOCK_ROOM, event_count, true);
		same_at_every_cut(ask_message, bytes, count);
	}
}

static void a_batch_with_a_flipped_bit_gives_what_the_parser_gives(void **state)
{
	uint8_t bytes[256], damaged[256];

	(void)state;
	for (int wide = 0; wide <= 1; wide++) {
		uint32_t count = batch_make(bytes, sizeof bytes, 8, wide);

		count += (uint32_t)hex_read("92 48 07", bytes + count, sizeof bytes - count);
		for (uint32_t bit = 0; bit < count * 8; bit++) {
			struct digest fast, slow;

			memcpy(damaged, bytes, count);
			damaged[bit / 8] ^= (uint8_t)(1u << bit % 8);
			fast = answers(ask_message, damaged, count, count, count);
			slow = by_the_parser(damaged, count);
			if (fast.hash != slow.hash || fast.count != slow.count)
				fail_msg("bit %u of a %s batch: another answer", bit, wide ? "wide" : "narrow");
		}
	}
}

/* Writes a number in one of the forms that can hold it. The bits of pick choose the form. */
static size_t any_width(uint8_t *out, uint64_t number, uint32_t pick)
{
	int64_t as_signed = (int64_t)number;
	bool is_signed = as_signed < 0 || pick & 4;
	uint32_t width = 0;                  /* log2 of its bytes */

	if (pick & 8 && as_signed >= -32 && as_signed < 128) {
		out[0] = (uint8_t)number;
		return 1;
	}
	while (width < 3 && (is_signed ? as_signed >> ((8 << width) - 1) != 0 && as_signed >> ((8 << width) - 1) != -1
				       : number >> (8 << width) != 0))
		width++;
	width += pick % (4 - width);
	out[0] = (uint8_t)((is_signed ? 0xd0 : 0xcc) + width);
	for (uint32_t i = 0; i < 1u << width; i++)
		out[1 + i] = (uint8_t)(number >> 8 * ((1u << width) - 1 - i));
	return 1 + (1u << width);
}

/* The numbers have any widths, and some are wrong. The fast path must give what the parser gives. */
static void a_batch_of_any_widths_is_what_the_parser_gives(void **state)
{
	uint8_t bytes[4096];
	uint32_t random = 12345;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint32_t event_count = 1 + (uint32_t)round % 40, damage;
		size_t count = (size_t)hex_read("95 05", bytes, sizeof bytes);
		struct digest fast, slow;

		for (uint32_t i = 0; i < 3; i++)
			count += any_width(bytes + count, (uint64_t)i << (random >> 20 & 31), random >> 8);
		if (event_count < 6) {
			bytes[count++] = (uint8_t)(0x90 | event_count * 3);
		} else {
			bytes[count++] = 0xdc;
			bytes[count++] = (uint8_t)(event_count * 3 >> 8);
			bytes[count++] = (uint8_t)(event_count * 3);
		}
		for (uint32_t i = 0; i < event_count * 3; i++) {
			random = random * 1664525 + 1013904223;
			count += any_width(bytes + count, i % 3 == 0 ? random >> 16 : i % 3 == 1 ? random >> (random & 31)
					   : (uint64_t)(int64_t)(int32_t)random >> (random & 31), random >> 12);
		}
		/* The message is cut short, or another one follows it. */
		if (random & 64)
			count += (size_t)hex_read("92 48 07", bytes + count, sizeof bytes - count);
		else
			count -= random >> 9 & 3;
		damage = random >> 5 & 1 ? random % (uint32_t)(count * 8) : 0;
		bytes[damage / 8] ^= (uint8_t)(damage ? 1u << damage % 8 : 0);
		fast = answers(ask_message, bytes, count, count, count);
		slow = by_the_parser(bytes, (uint32_t)count);
		if (fast.hash != slow.hash || fast.count != slow.count)
			fail_msg("round %d: another answer", round);
	}
}

static void a_batch_longer_than_a_block_is_refused_either_way(void **state)
{
	static uint8_t bytes[8192];
	struct message message;
	uint32_t fits = (LIMIT_BLOCK_BYTES - BATCH_HEADER_BYTES) / 13;

	(void)state;
	assert_int_equal(message_of(bytes, batch_make(bytes, sizeof bytes, fits, false), &message), DECODE_MESSAGE);
	assert_int_equal(message_of(bytes, batch_make(bytes, sizeof bytes, fits + 1, false), &message), DECODE_LIMIT);
	same_at_every_cut(ask_message, bytes, batch_make(bytes, sizeof bytes, fits + 1, false));
}

static void a_batch_in_shortest_form_is_the_same_batch(void **state)
{
	struct message message;

	(void)state;
	assert_int_equal(message_of_hex("95 05 02 00 cd03e8 96 01 05 cd012c 02 06 ff", &message), DECODE_MESSAGE);
	assert_int_equal(message.batch.task, 2);
	assert_int_equal(message.batch.base_ns, 1000);
	assert_int_equal(message.batch.events.count, 2);
	assert_int_equal(message.batch.events.events[0].value, 300);
	assert_int_equal(message.batch.events.events[1].site, 2);
	assert_int_equal(message.batch.events.events[1].dt_ns, 6);
	assert_int_equal(message.batch.events.events[1].value, UINT64_MAX);    /* -1 */
	assert_int_equal(message_of_hex("95 05 02 00 01 90", &message), DECODE_MESSAGE);
	assert_int_equal(message.batch.events.count, 0);
}

static void events_that_are_none_are_refused(void **state)
{
	static const char *const hexes[] = {
		"95 05 02 00 01 91 01",                         /* a third of an event */
		"95 05 02 00 01 92 01 05",
		"95 05 02 00 01 93 ce00010000 05 01",           /* site 65536 */
		"95 05 02 00 01 93 ff 05 01",                   /* site -1 */
		"95 05 02 00 01 93 01 cf0000000100000000 01",   /* a time of 2^32 */
		"95 05 02 00 01 93 01 ff 01",
		"95 05 02 00 01 93 01 05 a131",                 /* a text for a value */
		"95 05 02 00 01 93 01 05 cb3ff0000000000000",   /* 1.0 */
		"95 05 02 00 01 93 01 05 c0",
		"95 05 02 00 01 93 91 01 05 01",                /* an array for a site: a longer tape */
		"95 05 02 00 01 83 01 05 01 01 05 01",          /* a map */
	};
	struct message message;

	(void)state;
	for (size_t i = 0; i < sizeof hexes / sizeof *hexes; i++)
		if (message_of_hex(hexes[i], &message) != DECODE_SCHEMA)
			fail_msg("%s: not refused", hexes[i]);
}

/* ---- messages of older, newer and wrong peers ---- */

static void an_unknown_kind_is_skipped_whole(void **state)
{
	uint8_t bytes[64];
	const uint8_t *at = bytes;
	size_t count = hex_read("95 63 a0 92 01 91 02 81 01 02 c40101  92 48 07", bytes, sizeof bytes);
	struct message message;

	(void)state;
	assert_int_equal(decode_next(decoder, &at, &count, &message), DECODE_SKIPPED);
	assert_int_equal(decode_next(decoder, &at, &count, &message), DECODE_MESSAGE);
	assert_int_equal(message.kind, KIND_PING);
	assert_int_equal(message_of_hex("91 cfffffffffffffffff", &message), DECODE_SKIPPED);
	assert_int_equal(message_of_hex("91 cd0100", &message), DECODE_SKIPPED);       /* not kind 0 */
}

static void fields_behind_the_known_ones_are_skipped(void **state)
{
	struct message message;

	(void)state;
	assert_int_equal(message_of_hex("97 0e 07 02 a2 6e6f  91 91 05 81 01 02 c7 02 05 0102", &message), DECODE_MESSAGE);
	assert_int_equal(message.kind, KIND_ACK);
	assert_int_equal(message.field_count, 3);
	assert_int_equal(message.ack.request, 7);
	assert_int_equal(message.ack.code, 2);
	assert_int_equal(message.ack.text.length, 2);
	assert_memory_equal(message.ack.text.bytes, "no", 2);
}

static void fields_that_are_missing_are_zero(void **state)
{
	struct message message;

	(void)state;
	memset(&message, 0xff, sizeof message);
	assert_int_equal(message_of_hex("92 0e 07", &message), DECODE_MESSAGE);
	assert_int_equal(message.field_count, 1);
	assert_int_equal(message.ack.request, 7);
	assert_int_equal(message.ack.code, 0);
	assert_int_equal(message.ack.text.length, 0);
	memset(&message, 0xff, sizeof message);
	assert_int_equal(message_of_hex("91 07", &message), DECODE_MESSAGE);
	assert_int_equal(message.field_count, 0);
	assert_int_equal(message.values.rows.count, 0);
}

static void what_is_no_message_is_refused(void **state)
{
	static const char *const hexes[] = { "00", "c0", "a0", "90", "91 c0", "91 a0", "91 90", "91 ff", "91 c3",
					     "91 cb0000000000000000", "81 48 07", "80" };
	struct message message;

	(void)state;
	for (size_t i = 0; i < sizeof hexes / sizeof *hexes; i++)
		assert_int_equal(message_of_hex(hexes[i], &message), DECODE_SCHEMA);
}

/* A valid value of each type, and values that no field of that type accepts. */
static const char *const sound[] = {
	[FIELD_UINT] = "00", [FIELD_INT] = "ff", [FIELD_TEXT] = "a161", [FIELD_BIN] = "c40161", [FIELD_LIST] = "92 01 ff",
	[FIELD_TEXTS] = "92 a161 a0", [FIELD_EVENTS] = "93 01 02 03",
};
static const char *const wrong[] = {
	[FIELD_UINT] = "c0;ff;d38000000000000000;a0;c400;90;80;cb3ff0000000000000;ca3f800000;d40100",
	[FIELD_INT] = "c0;c3;a0;c400;90;80;cb3ff0000000000000;cfffffffffffffffff;d40100",
	[FIELD_TEXT] = "c0;00;ff;c3;c400;90;80;cb3ff0000000000000;d40100",
	[FIELD_BIN] = "c0;00;ff;c3;a0;90;80;cb3ff0000000000000;d40100",
	[FIELD_LIST] = "c0;00;a0;c400;80;91c0;91c3;91a0;9190;920191c0;d40100",
	[FIELD_TEXTS] = "c0;00;a0;c400;80;9100;91c400;9190;92a091a0;d40100",
	[FIELD_EVENTS] = "c0;00;a0;c400;80;9100;93a00203;930101c0;d40100",
};

/* Decodes a message whose fields are valid up to `last`, which is the given hex, and a PING after it. */
static int with_field(const struct kind_row *row, uint32_t last, const char *hex, int *behind)
{
	uint8_t bytes[512];
	const uint8_t *at = bytes;
	size_t count = 0;
	struct message message;
	int result;

	bytes[count++] = 0xdc;
	bytes[count++] = 0;
	bytes[count++] = (uint8_t)(last + 2);
	bytes[count++] = (uint8_t)row->id;
	for (uint32_t i = 0; i < last; i++)
		count += hex_read(sound[row->fields[i].type], bytes + count, sizeof bytes - count);
	count += hex_read(hex, bytes + count, sizeof bytes - count);
	count += hex_read("92 48 07", bytes + count, sizeof bytes - count);
	decoder_reset(decoder);
	result = decode_next(decoder, &at, &count, &message);
	*behind = decode_next(decoder, &at, &count, &message);
	return result;
}

static void a_field_of_a_wrong_type_refuses_the_message_and_no_more(void **state)
{
	(void)state;
	for (size_t k = 0; k < kind_row_count; k++) {
		for (uint32_t i = 0; i < kind_rows[k].field_count; i++) {
			enum field_type type = kind_rows[k].fields[i].type;
			char list[128], *save = NULL;
			int behind;

			assert_int_equal(with_field(&kind_rows[k], i, sound[type], &behind), DECODE_MESSAGE);
			assert_int_equal(behind, DECODE_MESSAGE);
			snprintf(list, sizeof list, "%s", wrong[type]);
			for (char *hex = strtok_r(list, ";", &save); hex; hex = strtok_r(NULL, ";", &save)) {
				if (with_field(&kind_rows[k], i, hex, &behind) != DECODE_SCHEMA)
					fail_msg("%s.%s takes %s", kind_rows[k].name, kind_rows[k].fields[i].name, hex);
				assert_int_equal(behind, DECODE_MESSAGE);
			}
		}
	}
}

/* Another encoder may write yes or no as a boolean. */
static void a_boolean_is_a_number(void **state)
{
	struct message message;

	(void)state;
	assert_int_equal(message_of_hex("93 0e c3 c2", &message), DECODE_MESSAGE);
	assert_int_equal(message.ack.request, 1);
	assert_int_equal(message.ack.code, 0);
}

static void errors_have_words(void **state)
{
	(void)state;
	assert_string_equal(decode_error(DECODE_BAD_TYPE), "not msgpack");
	assert_string_equal(decode_error(DECODE_LIMIT), "over a limit");
	assert_string_equal(decode_error(DECODE_SCHEMA), "not a message");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(bad_inputs_take_less_than_16_mib),
		TEST(every_encoding_of_the_suite_gives_its_value_at_every_cut),
		TEST(every_bad_input_gets_its_class_of_answer),
		TEST(every_bad_input_gets_the_same_answer_at_every_cut),
		TEST(after_every_bad_input_the_decoder_goes_on),
		TEST(a_bad_input_in_a_field_is_judged_by_its_type),
		TEST(an_error_ends_at_its_byte_and_the_next_one_starts_afresh),
		TEST(four_levels_are_fine),
		TEST(a_text_of_2048_bytes_is_taken_and_one_of_2049_refused_at_its_header),
		TEST(a_message_of_4096_bytes_is_taken_and_a_longer_one_is_not),
		TEST(as_many_items_as_a_message_has_room_for_are_taken),
		TEST(nothing_of_nothing_is_asked_for_more),
		TEST(noise_gets_the_same_answers_at_every_cut),
		TEST(a_batch_gives_the_events_that_went_in),
		TEST(a_batch_gives_the_same_at_every_cut),
		TEST(a_batch_with_a_flipped_bit_gives_what_the_parser_gives),
		TEST(a_batch_of_any_widths_is_what_the_parser_gives),
		TEST(a_batch_longer_than_a_block_is_refused_either_way),
		TEST(a_batch_in_shortest_form_is_the_same_batch),
		TEST(events_that_are_none_are_refused),
		TEST(an_unknown_kind_is_skipped_whole),
		TEST(fields_behind_the_known_ones_are_skipped),
		TEST(fields_that_are_missing_are_zero),
		TEST(what_is_no_message_is_refused),
		TEST(a_field_of_a_wrong_type_refuses_the_message_and_no_more),
		TEST(a_boolean_is_a_number),
		TEST(errors_have_words),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
