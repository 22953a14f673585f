/* Encoder and decoder together, for every kind from the rows of kinds.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/block.h"
#include "protocol/decode.h"
#include "tests/support/fixture.h"
#include "tests/support/wire.h"

static struct decoder *decoder;

static int setup(void **state)
{
	(void)state;
	decoder = decoder_new();
	return decoder ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	decoder_free(decoder);
	return 0;
}

/* ---- values for every field ---- */

enum filling { FILL_ZERO, FILL_MAX, FILL_MIXED, FILL_COUNT };

/* "aé€😀" over and over: characters of 1, 2, 3 and 4 bytes. */
static char long_text[LIMIT_TEXT_BYTES * 2];
static struct number numbers[64];
static struct text text_items[LIMIT_FIELDS];
static struct event events[32];

static int group_setup(void **state)
{
	static const char letters[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";

	(void)state;
	for (size_t i = 0; i < sizeof long_text; i++)
		long_text[i] = letters[i % (sizeof letters - 1)];
	for (uint32_t i = 0; i < 64; i++) {
		double real = i * 0.5;

		numbers[i] = number_of(i < 32 ? 1ull << i : UINT64_MAX >> (i - 32));
		if (i % 4 == 1)
			numbers[i] = (struct number){ (uint64_t)(INT64_MIN >> i % 60), NUMBER_INT };
		if (i % 4 == 2) {
			numbers[i].type = NUMBER_DOUBLE;
			memcpy(&numbers[i].bits, &real, sizeof real);
		}
	}
	for (uint32_t i = 0; i < LIMIT_FIELDS; i++)
		text_items[i] = (struct text){ long_text + i * 10, i * 10 };
	for (uint32_t i = 0; i < 32; i++)
		events[i] = (struct event){ UINT64_MAX >> i * 2, UINT32_MAX >> i, i * 2114 };
	return 0;
}

static uint64_t uint_of(enum filling filling, uint32_t index)
{
	return filling == FILL_ZERO ? 0 : filling == FILL_MAX ? UINT64_MAX : UINT64_MAX >> index * 7 % 64;
}

static void fill_field(void *field, enum field_type type, enum filling filling, uint32_t index)
{
	bool empty = filling == FILL_ZERO;

	switch (type) {
	case FIELD_UINT:
		*(uint64_t *)field = uint_of(filling, index);
		break;
	case FIELD_INT:
		*(int64_t *)field = empty ? 0 : filling == FILL_MAX ? INT64_MAX : INT64_MIN >> index;
		break;
	case FIELD_TEXT:
	case FIELD_BIN:
		*(struct text *)field = (struct text){ long_text, empty ? 0 : filling == FILL_MAX ? 250 : index * 20 };
		break;
	case FIELD_LIST:
		*(struct list *)field = (struct list){ numbers, empty ? 0 : filling == FILL_MAX ? 64 : 3 };
		break;
	case FIELD_TEXTS:
		*(struct texts *)field = (struct texts){ text_items, empty ? 0 : filling == FILL_MAX ? LIMIT_FIELDS : 2 };
		break;
	case FIELD_EVENTS:
		*(struct events *)field = (struct events){ events, empty ? 0 : filling == FILL_MAX ? 32 : 1 };
		break;
	}
}

/* The start of HELLO has fixed widths and contents. */
static void fit_hello(struct message_hello *hello)
{
	hello->magic = (struct text){ (const char *)hello_magic, sizeof hello_magic };
	hello->marker = (struct text){ long_text, MARKER_BYTES };
	hello->major &= UINT16_MAX;
	hello->minor &= UINT16_MAX;
	hello->must &= UINT32_MAX;
	hello->may &= UINT32_MAX;
	hello->pid &= UINT32_MAX;
}

static void fill(struct message *message, const struct kind_row *row, enum filling filling)
{
	uint8_t *field = (uint8_t *)&message->check;

	memset(message, 0, sizeof *message);
	message->kind = (enum kind)row->id;
	for (uint32_t i = 0; i < row->field_count; i++) {
		fill_field(field, row->fields[i].type, filling, i);
		field += field_bytes(row->fields[i].type);
	}
	if (row->id == KIND_HELLO)
		fit_hello(&message->hello);
}

static uint32_t encoded(const struct message *message, uint8_t *bytes, uint32_t room)
{
	struct encoder encoder;

	encoder_init(&encoder, bytes, room);
	assert_true(encode_message(&encoder, message));
	return encoder.used;
}

/* Encodes and decodes a message. *out is valid until the next call. */
static void there_and_back(const struct message *message, struct message *out)
{
	static uint8_t bytes[LIMIT_BLOCK_BYTES];
	const uint8_t *at = bytes;
	size_t count = encoded(message, bytes, sizeof bytes);

	assert_int_equal(decode_next(decoder, &at, &count, out), DECODE_MESSAGE);
	assert_int_equal(count, 0);
	assert_int_equal(out->field_count, kind_row(message->kind)->field_count);
	if (message->kind == KIND_HELLO)
		out->hello.crc = message->hello.crc;    /* the encoder computes it */
}

/* ---- promises ---- */

static void every_kind_comes_back_as_it_went(void **state)
{
	(void)state;
	for (size_t k = 0; k < kind_row_count; k++) {
		for (enum filling filling = 0; filling < FILL_COUNT; filling++) {
			struct message message, out;

			fill(&message, &kind_rows[k], filling);
			there_and_back(&message, &out);
			assert_true(message_equal(&out, &message));
		}
	}
}

static void every_text_may_be_as_long_as_the_limit(void **state)
{
	(void)state;
	for (size_t k = 0; k < kind_row_count; k++) {
		size_t offset = 0;

		for (uint32_t i = 0; i < kind_rows[k].field_count; i++) {
			struct message message, out;
			struct text *text;

			fill(&message, &kind_rows[k], FILL_ZERO);
			text = (void *)((uint8_t *)&message.check + offset);
			offset += field_bytes(kind_rows[k].fields[i].type);
			if (kind_rows[k].fields[i].type != FIELD_TEXT)
				continue;
			*text = (struct text){ long_text, LIMIT_TEXT_BYTES };
			there_and_back(&message, &out);
			assert_true(message_equal(&out, &message));
		}
	}
}

static uint32_t length_after_cut(const char *bytes, uint32_t length)
{
	struct message message = { .kind = KIND_LOG, .log.text = { bytes, length } }, out;

	there_and_back(&message, &out);
	assert_true(out.log.text.length <= LIMIT_TEXT_BYTES);
	assert_memory_equal(out.log.text.bytes, bytes, out.log.text.length);
	return out.log.text.length;
}

static void a_longer_text_is_cut_at_a_character(void **state)
{
	char text[LIMIT_TEXT_BYTES + 4];

	(void)state;
	for (uint32_t start = 0; start < 10; start++) {
		uint32_t length = length_after_cut(long_text + start, LIMIT_TEXT_BYTES + 4);
		uint8_t next = (uint8_t)long_text[start + length];

		assert_true(length > LIMIT_TEXT_BYTES - 4);
		assert_true((next & 0xc0) != 0x80);
	}
	memset(text, 'x', sizeof text);
	assert_int_equal(length_after_cut(text, LIMIT_TEXT_BYTES), LIMIT_TEXT_BYTES);
	assert_int_equal(length_after_cut(text, LIMIT_TEXT_BYTES + 1), LIMIT_TEXT_BYTES);
	memcpy(text + LIMIT_TEXT_BYTES - 1, "\xc3\xa9", 2);
	assert_int_equal(length_after_cut(text, LIMIT_TEXT_BYTES + 1), LIMIT_TEXT_BYTES - 1);
	memcpy(text + LIMIT_TEXT_BYTES - 2, "\xc3\xa9x", 3);
	assert_int_equal(length_after_cut(text, LIMIT_TEXT_BYTES + 1), LIMIT_TEXT_BYTES);
}

static void a_text_that_is_no_utf8_is_cut_without_losing_it(void **state)
{
	char text[LIMIT_TEXT_BYTES + 4];

	(void)state;
	memset(text, 0x80, sizeof text);
	assert_int_equal(length_after_cut(text, sizeof text), LIMIT_TEXT_BYTES);
}

static void texts_in_a_list_are_cut_like_others(void **state)
{
	const struct text items[] = { { long_text, sizeof long_text }, { "b", 1 } };
	struct message message = { .kind = KIND_SITE, .site.fields = { items, 2 } }, out;

	(void)state;
	there_and_back(&message, &out);
	assert_int_equal(out.site.fields.count, 2);
	assert_in_range(out.site.fields.texts[0].length, LIMIT_TEXT_BYTES - 3, LIMIT_TEXT_BYTES);
	assert_int_equal(out.site.fields.texts[1].length, 1);
}

/* With every size of room that is too small the encoder returns false and writes nothing outside of the room. */
static void a_message_that_does_not_fit_leaves_the_buffer_as_it_was(void **state)
{
	enum { LEAD = 3 };

	(void)state;
	for (size_t k = 0; k < kind_row_count; k++) {
		for (enum filling filling = 0; filling < FILL_COUNT; filling++) {
			uint8_t whole[LIMIT_BLOCK_BYTES];
			struct message message;
			uint32_t size;

			fill(&message, &kind_rows[k], filling);
			size = encoded(&message, whole, sizeof whole);
			for (uint32_t room = 0; room <= size; room++) {
				uint8_t *bytes = malloc(LEAD + room);     /* exactly that size, for the sanitizer */
				struct encoder encoder;

				assert_non_null(bytes);
				memset(bytes, 0xee, LEAD + room);
				encoder_init(&encoder, bytes, LEAD + room);
				encoder.used = LEAD;
				assert_int_equal(encode_message(&encoder, &message), room == size);
				assert_int_equal(encoder.used, room == size ? LEAD + size : LEAD);
				assert_false(encoder.overflow);
				assert_memory_equal(bytes, "\xee\xee\xee", LEAD);
				if (room == size)
					assert_memory_equal(bytes + LEAD, whole, size);
				free(bytes);
			}
		}
	}
}

static void after_one_that_does_not_fit_a_smaller_one_does(void **state)
{
	uint8_t bytes[16];
	struct encoder encoder;

	(void)state;
	encoder_init(&encoder, bytes, sizeof bytes);
	assert_false(encode_message(&encoder, &(struct message){ .kind = KIND_LOG, .log.text = { long_text, 100 } }));
	assert_true(encode_message(&encoder, &(struct message){ .kind = KIND_PING, .ping = { 7 } }));
	assert_int_equal(encoder.used, 3);
	assert_memory_equal(bytes, "\x92\x48\x07", 3);
}

static void numbers_take_their_shortest_form(void **state)
{
	static const struct { uint64_t value; uint32_t size; } rows[] = {
		{ 0, 1 }, { 127, 1 }, { 128, 2 }, { 255, 2 }, { 256, 3 }, { 65535, 3 }, { 65536, 5 }, { UINT32_MAX, 5 },
		{ 1ull << 32, 9 }, { UINT64_MAX, 9 },
	};
	uint8_t bytes[16];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(encoded(&(struct message){ .kind = KIND_PING, .ping = { rows[i].value } }, bytes,
					 sizeof bytes),
				 2 + rows[i].size);
}

static void hello_starts_in_fixed_widths(void **state)
{
	static const char hex[] =
		"dc 0018 01  c4 08 c154454c454dc10a  cd 0001  cd 0000  ce 00000000  ce 00000000  cf 0000000000000001"
		"ce 00001267  cf 000000012a05f200  cf 0000000165a0bc00  cf 17979cfe362a0000  c4 10 c154454c43484bc1";
	uint8_t expected[HELLO_FIXED_BYTES], bytes[512];
	size_t expected_count = hex_read(hex, expected, sizeof expected);
	struct message message = { .kind = KIND_HELLO };
	struct wire wire;

	(void)state;
	wire_init(&wire, 1);
	message.hello = wire_hello_fields(&wire);
	encoded(&message, bytes, sizeof bytes);
	wire_fini(&wire);
	assert_int_equal(expected_count, HELLO_FIXED_BYTES - 8 - 5);
	assert_memory_equal(bytes, expected, expected_count);
	assert_int_equal(bytes[HELLO_FIXED_BYTES - 5], 0xce);
	assert_int_equal(bytes[HELLO_FIXED_BYTES], 0xa4);      /* "test" */
}

static void a_marker_is_a_fixed_and_a_random_half(void **state)
{
	uint8_t marker[MARKER_BYTES];

	(void)state;
	marker_make(marker, (const uint8_t *)"12345678");
	assert_memory_equal(marker, "\xc1TELCHK\xc1" "12345678", MARKER_BYTES);
}

/* ---- the wire as a file ---- */

#define EVERY_KIND "tests/streams/every_kind.hex"

static void show_bytes(FILE *out, const char *comment, const uint8_t *bytes, size_t count)
{
	fprintf(out, "# %s\n", comment);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%02x%s", bytes[i], i + 1 == count || i % 40 == 39 ? "\n" : i % 4 == 3 ? " " : "");
}

/* A stream of every kind, then a narrow and a wide BATCH as the emitter writes them. */
static char *every_kind_as_hex(void)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	struct wire wire;

	assert_non_null(out);
	wire_init(&wire, 1);
	wire_hello(&wire);
	for (size_t k = 0; k <= kind_row_count + 1; k++) {
		struct batch_encoder batch;
		struct message message;

		if (k >= kind_row_count) {
			assert_true(batch_begin(&batch, &wire.encoder, 2, 10 * k, 1000, k > kind_row_count));
			for (uint32_t i = 0; i < 3; i++)
				assert_true(batch_add(&batch, i, 1000 + i * 100, UINT32_MAX >> i));
			assert_int_equal(batch_end(&batch), 3);
		} else if (kind_rows[k].id != KIND_CHECK && kind_rows[k].id != KIND_HELLO) {
			fill(&message, &kind_rows[k], FILL_MIXED);
			wire_message(&wire, &message);
		}
		wire_close(&wire);
		if (wire.count > 0)
			show_bytes(out, k == 0 ? "hello" : k < kind_row_count ? kind_rows[k].name : "batch, fixed widths",
				   wire.bytes, wire.count);
		wire.count = 0;
	}
	wire_fini(&wire);
	fclose(out);
	return text;
}

/* A change of this file is a change of the wire, also for readers in other languages. GOLDEN=1 rewrites the file. */
static void the_wire_is_what_it_was(void **state)
{
	char *text = every_kind_as_hex(), *expected;

	(void)state;
	if (getenv("GOLDEN"))
		fixture_write(EVERY_KIND, text, strlen(text));
	expected = fixture_read(EVERY_KIND, NULL);
	if (strcmp(text, expected) != 0)
		fail_msg("%s is not what the encoder writes; GOLDEN=1 rewrites it", EVERY_KIND);
	free(expected);
	free(text);
}

static void the_file_of_every_kind_can_be_read(void **state)
{
	struct block_reader *reader = malloc(sizeof *reader);
	size_t count, room, kind_count = 0;
	uint8_t *bytes = hex_file(EVERY_KIND, &count);
	struct block block;

	(void)state;
	assert_non_null(reader);
	block_reader_init(reader);
	assert_non_null(memcpy(block_reader_room(reader, &room), bytes, count));
	block_reader_filled(reader, count);
	for (; block_reader_next(reader, &block) == BLOCK_WHOLE; kind_count++) {
		const uint8_t *at = block.bytes;
		size_t left = block.byte_count;
		struct message message;

		assert_int_equal(decode_next(decoder, &at, &left, &message), DECODE_MESSAGE);
		assert_int_equal(left, 0);
		assert_int_equal(message.field_count, kind_row(message.kind)->field_count);
	}
	assert_int_equal(kind_count, kind_row_count - 1 + 2);      /* without CHECK, with two more BATCHes */
	assert_int_equal(block_reader_rest(reader), 0);
	free(bytes);
	free(reader);
}

/* ---- BATCH, event by event ---- */

static void a_batch_takes_events_while_they_fit(void **state)
{
	uint8_t bytes[BATCH_HEADER_BYTES + 2 * 13 + 12];
	struct encoder encoder;
	struct batch_encoder batch;

	(void)state;
	encoder_init(&encoder, bytes, sizeof bytes);
	assert_true(batch_begin(&batch, &encoder, 2, 0, 100, false));
	assert_true(batch_add(&batch, 1, 100, 0));
	assert_true(batch_add(&batch, 65535, 100ull + UINT32_MAX, UINT32_MAX));
	assert_false(batch_add(&batch, 1, 100, 0));                     /* no room */
	assert_int_equal(batch_end(&batch), 2);
	assert_int_equal(encoder.used, BATCH_HEADER_BYTES + 2 * 13);
}

static void a_batch_refuses_what_its_width_cannot_say(void **state)
{
	uint8_t bytes[256];
	struct encoder encoder;
	struct batch_encoder batch;

	(void)state;
	encoder_init(&encoder, bytes, sizeof bytes);
	assert_true(batch_begin(&batch, &encoder, 2, 0, 100, false));
	assert_false(batch_add(&batch, 1, 99, 0));                      /* before the base */
	assert_false(batch_add(&batch, 1, 101ull + UINT32_MAX, 0));        /* too long after it */
	assert_false(batch_add(&batch, 1, 100, 1ull << 32));
	assert_int_equal(encoder.used, BATCH_HEADER_BYTES);
	assert_int_equal(batch_end(&batch), 0);                         /* vanishes */
	assert_int_equal(encoder.used, 0);
	assert_true(batch_begin(&batch, &encoder, 2, 0, 100, true));
	assert_true(batch_add(&batch, 1, 100, UINT64_MAX));
	assert_int_equal(batch_end(&batch), 1);
	assert_int_equal(encoder.used, BATCH_HEADER_BYTES + 17);
}

static void a_batch_without_room_for_an_event_does_not_begin(void **state)
{
	(void)state;
	for (int wide = 0; wide <= 1; wide++) {
		for (uint32_t room = 0; room <= BATCH_HEADER_BYTES + batch_record_bytes(wide); room++) {
			uint8_t *bytes = malloc(room + 1);
			struct encoder encoder;
			struct batch_encoder batch;

			assert_non_null(bytes);
			encoder_init(&encoder, bytes, room);
			assert_int_equal(batch_begin(&batch, &encoder, 2, 0, 0, wide),
					 room == BATCH_HEADER_BYTES + batch_record_bytes(wide));
			free(bytes);
		}
	}
}

/* ---- the rows ---- */

static void kinds_are_found_by_id_and_others_are_not(void **state)
{
	(void)state;
	for (size_t k = 0; k < kind_row_count; k++)
		assert_ptr_equal(kind_row(kind_rows[k].id), &kind_rows[k]);
	assert_null(kind_row(63));
	assert_null(kind_row(UINT64_MAX));
	assert_null(kind_row(1ull << 32));
}

/* A decoder has one place for each sort of list. */
static void no_kind_has_two_lists_of_a_sort(void **state)
{
	(void)state;
	for (size_t k = 0; k < kind_row_count; k++) {
		uint32_t count[FIELD_EVENTS + 1] = { 0 };

		for (uint32_t i = 0; i < kind_rows[k].field_count; i++)
			count[kind_rows[k].fields[i].type]++;
		assert_true(count[FIELD_LIST] <= 1 && count[FIELD_TEXTS] <= 1 && count[FIELD_EVENTS] <= 1);
	}
}

static void names_of_numbers_and_of_unknown_ones(void **state)
{
	(void)state;
	assert_string_equal(site_kind_name(SITE_SPAN), "span");
	assert_string_equal(site_kind_name(SITE_LOG), "log");
	assert_string_equal(site_kind_name(0), "?");
	assert_string_equal(site_kind_name(SITE_KIND_COUNT), "?");
	assert_string_equal(level_name(LEVEL_OFF), "off");
	assert_string_equal(level_name(LEVEL_ALL), "all");
	assert_string_equal(level_name(LEVEL_OWN), "own");
	assert_string_equal(level_name(3), "?");
	assert_string_equal(severity_name(0), "debug");
	assert_string_equal(severity_name(4), "fatal");
	assert_string_equal(severity_name(5), "?");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_kind_comes_back_as_it_went),
		TEST(every_text_may_be_as_long_as_the_limit),
		TEST(a_longer_text_is_cut_at_a_character),
		TEST(a_text_that_is_no_utf8_is_cut_without_losing_it),
		TEST(texts_in_a_list_are_cut_like_others),
		TEST(a_message_that_does_not_fit_leaves_the_buffer_as_it_was),
		TEST(after_one_that_does_not_fit_a_smaller_one_does),
		TEST(numbers_take_their_shortest_form),
		TEST(hello_starts_in_fixed_widths),
		TEST(a_marker_is_a_fixed_and_a_random_half),
		TEST(the_wire_is_what_it_was),
		TEST(the_file_of_every_kind_can_be_read),
		TEST(a_batch_takes_events_while_they_fit),
		TEST(a_batch_refuses_what_its_width_cannot_say),
		TEST(a_batch_without_room_for_an_event_does_not_begin),
		TEST(kinds_are_found_by_id_and_others_are_not),
		TEST(no_kind_has_two_lists_of_a_sort),
		TEST(names_of_numbers_and_of_unknown_ones),
	};

	return cmocka_run_group_tests_name("message", tests, group_setup, NULL);
}
