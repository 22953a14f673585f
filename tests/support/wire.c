#include "tests/support/wire.h"

#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/crc32c.h"
#include "tests/support/fixture.h"

void wire_init(struct wire *wire, uint64_t stream)
{
	uint64_t state = stream;
	uint64_t random = random_next(&state);

	*wire = (struct wire){ .stream = stream };
	marker_make(wire->marker, (const uint8_t *)&random);
	encoder_init(&wire->encoder, wire->block, BLOCK_ROOM);
}

void wire_fini(struct wire *wire)
{
	free(wire->bytes);
}

void wire_raw(struct wire *wire, const void *bytes, size_t count)
{
	wire->bytes = realloc(wire->bytes, wire->count + count + 1);
	assert_non_null(wire->bytes);
	memcpy(wire->bytes + wire->count, bytes, count);
	wire->count += count;
}

void wire_close(struct wire *wire)
{
	if (wire->encoder.used == 0)
		return;
	wire_raw(wire, wire->block, block_seal(wire->block, wire->encoder.used, wire->marker, ++wire->number));
	encoder_init(&wire->encoder, wire->block, BLOCK_ROOM);
}

void wire_message(struct wire *wire, const struct message *message)
{
	if (encode_message(&wire->encoder, message))
		return;
	wire_close(wire);
	assert_true(encode_message(&wire->encoder, message));
}

struct message_hello wire_hello_fields(const struct wire *wire)
{
	return (struct message_hello){
		.magic = { (const char *)hello_magic, sizeof hello_magic }, .major = PROTOCOL_MAJOR,
		.minor = PROTOCOL_MINOR, .stream = wire->stream, .pid = 4711, .start_ns = 5000000000, .mono_ns = 6000000000,
		.real_ns = 1700000000000000000, .marker = { (const char *)wire->marker, MARKER_BYTES },
		.name = text_of("test"), .host = text_of("here"), .version = text_of("0"), .resolution_ns = 1,
		.uid = 1000, .tick_ns = LIMIT_TICK_NS_DEFAULT, .flush_ns = LIMIT_FLUSH_NS_DEFAULT,
		.ring_bytes = LIMIT_RING_BYTES_DEFAULT,
	};
}

void wire_hello(struct wire *wire)
{
	struct message message = { .kind = KIND_HELLO, .hello = wire_hello_fields(wire) };

	wire_close(wire);
	wire_message(wire, &message);
}

void wire_log(struct wire *wire, const void *text, uint32_t length)
{
	wire_add(wire, LOG, log, .task = 2, .site = 1, .time_ns = 1, .severity = 1, .text = { text, length });
}

size_t hex_read(const char *hex, uint8_t *out, size_t room)
{
	size_t digits = 0;

	for (; *hex; hex++) {
		int value;

		if (*hex == '#')
			hex += strcspn(hex, "\n");
		if (*hex == '\0')
			break;
		if (isspace((unsigned char)*hex) || *hex == '-')
			continue;
		value = isdigit((unsigned char)*hex) ? *hex - '0' : tolower((unsigned char)*hex) - 'a' + 10;
		if (!isxdigit((unsigned char)*hex) || digits / 2 >= room)
			fail_msg("no hex, or too much of it, at: %.20s", hex);
		out[digits / 2] = (uint8_t)(digits % 2 ? out[digits / 2] << 4 | value : value);
		digits++;
	}
	assert_int_equal(digits % 2, 0);
	return digits / 2;
}

uint8_t *hex_file(const char *path, size_t *count)
{
	char *text = fixture_read(path, NULL);
	size_t room = strlen(text) / 2 + 1;
	uint8_t *bytes = malloc(room);

	assert_non_null(bytes);
	*count = hex_read(text, bytes, room);
	free(text);
	return bytes;
}

static void show_text(FILE *out, const struct text *text)
{
	fputc('"', out);
	for (uint32_t i = 0; i < text->length; i++) {
		uint8_t byte = (uint8_t)text->bytes[i];

		fprintf(out, byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\' ? "\\x%02x" : "%c", byte);
	}
	fputc('"', out);
}

static void show_number(FILE *out, const struct number *number)
{
	double value;

	if (number->type == NUMBER_DOUBLE) {
		memcpy(&value, &number->bits, sizeof value);
		fprintf(out, "%.17g", value);
	} else {
		fprintf(out, number->type == NUMBER_INT ? "%" PRId64 : "%" PRIu64, number->bits);
	}
}

static void show_field(FILE *out, enum field_type type, const uint8_t *field)
{
	const void *any = field;
	const struct text *text = any;
	const struct list *list = any;
	const struct texts *texts = any;
	const struct events *events = any;

	switch (type) {
	case FIELD_UINT:
		fprintf(out, "%" PRIu64, *(const uint64_t *)any);
		return;
	case FIELD_INT:
		fprintf(out, "%" PRId64, *(const int64_t *)any);
		return;
	case FIELD_TEXT:
		show_text(out, text);
		return;
	case FIELD_BIN:
		for (uint32_t i = 0; i < text->length; i++)
			fprintf(out, "%02x", (uint8_t)text->bytes[i]);
		return;
	case FIELD_LIST:
		fputc('[', out);
		for (uint32_t i = 0; i < list->count; i++) {
			fputs(i ? " " : "", out);
			show_number(out, &list->numbers[i]);
		}
		break;
	case FIELD_TEXTS:
		fputc('[', out);
		for (uint32_t i = 0; i < texts->count; i++) {
			fputs(i ? " " : "", out);
			show_text(out, &texts->texts[i]);
		}
		break;
	case FIELD_EVENTS:
		fputc('[', out);
		for (uint32_t i = 0; i < events->count; i++)
			fprintf(out, "%s%u,%u,%" PRIu64, i ? " " : "", events->events[i].site, events->events[i].dt_ns,
				events->events[i].value);
		break;
	}
	fputc(']', out);
}

void message_show(FILE *out, const struct message *message)
{
	const struct kind_row *row = kind_row(message->kind);
	const uint8_t *field = (const uint8_t *)&message->check;

	fputs(row->name, out);
	for (uint32_t i = 0; i < row->field_count; i++) {
		fprintf(out, " %s=", row->fields[i].name);
		show_field(out, row->fields[i].type, field);
		field += field_bytes(row->fields[i].type);
	}
}

static char *message_text(const struct message *message)
{
	char *text;
	size_t count;
	FILE *out = open_memstream(&text, &count);

	assert_non_null(out);
	message_show(out, message);
	fclose(out);
	return text;
}

int message_equal(const struct message *a, const struct message *b)
{
	char *a_text = message_text(a), *b_text = message_text(b);
	int equal = strcmp(a_text, b_text) == 0;

	if (!equal)
		print_error("%.900s\nis not\n%.900s\n", a_text, b_text);
	free(a_text);
	free(b_text);
	return equal;
}

void digest_number(struct digest *digest, uint64_t number)
{
	digest->hash = (digest->hash ^ number) * 0x9e3779b97f4a7c15u;
	digest->hash ^= digest->hash >> 29;
	digest->count++;
}

void digest_add(struct digest *digest, const void *bytes, size_t count)
{
	digest_number(digest, (uint64_t)count << 32 | crc32c(bytes, count));
}

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)((random_next(state) >> 32) * limit >> 32);
}

uint64_t random_seed(uint64_t fallback)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : fallback;

	print_message("SEED=%" PRIu64 "\n", seed);
	return seed;
}
