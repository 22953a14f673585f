/* docs/PROTOCOL.md says what the code does: tables, examples, and the emitter in it. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/block.h"
#include "protocol/decode.h"
#include "protocol/recording.h"
#include "tests/support/fixture.h"
#include "tests/support/proc.h"
#include "tests/support/wire.h"

#define DOCUMENT "docs/PROTOCOL.md"
#define BESIDE_MS 10000

static char *document;

static int group_setup(void **state)
{
	document = fixture_read(DOCUMENT, NULL);
	return fixture_setup(state);
}

static int group_teardown(void **state)
{
	free(document);
	return fixture_teardown(state);
}

/* ---- tables ---- */

static const char *const type_names[] = {
	[FIELD_UINT] = "uint", [FIELD_INT] = "int", [FIELD_TEXT] = "text", [FIELD_BIN] = "bin", [FIELD_LIST] = "list",
	[FIELD_TEXTS] = "texts", [FIELD_EVENTS] = "events",
};

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

/* Compares the rows after a kind's heading, up to the next heading. They begin "| `name` | type |". */
static void has_fields(const char *line, const struct kind_row *row)
{
	uint32_t field_count = 0;

	for (; line && line[0] != '#'; line = next_line(line)) {
		char name[64], type[16];

		if (sscanf(line, "| `%63[^`]` | %15[a-z] |", name, type) != 2)
			continue;
		if (field_count == row->field_count)
			fail_msg("%s has no field %s", row->name, name);
		assert_string_equal(name, row->fields[field_count].name);
		assert_string_equal(type, type_names[row->fields[field_count].type]);
		field_count++;
	}
	if (field_count < row->field_count)
		fail_msg("%s: %s is not in its table", row->name, row->fields[field_count].name);
}

static void lower(char *text)
{
	for (; *text; text++)
		*text = (char)(*text >= 'A' && *text <= 'Z' ? *text + 32 : *text);
}

/* Kinds are the headings "### id NAME", in the order of their ids. */
static void every_kind_has_its_table_and_no_other_has(void **state)
{
	size_t kind = 0;

	(void)state;
	for (const char *line = document; line; line = next_line(line)) {
		unsigned id;
		char name[64];

		if (sscanf(line, "### %u %63[A-Z_]", &id, name) != 2)
			continue;
		lower(name);
		assert_true(kind < kind_row_count);
		assert_int_equal(id, kind_rows[kind].id);
		assert_string_equal(name, kind_rows[kind].name);
		has_fields(next_line(line), &kind_rows[kind]);
		kind++;
	}
	assert_int_equal(kind, kind_row_count);
}

/* Fails unless the text contains this, which is made of numbers of the code. */
static void says(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void says(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (!strstr(document, text))
		fail_msg("%s does not say \"%s\"", DOCUMENT, text);
}

static void limits_are_those_of_the_code(void **state)
{
	(void)state;
	says("| block, and so message | %d bytes", LIMIT_BLOCK_BYTES);
	says("| nesting | %d containers", LIMIT_NESTING);
	says("| items of a container | %d ", LIMIT_ITEMS);
	says("| text or bin in one field | %d bytes", LIMIT_TEXT_BYTES);
	says("| classes | %d ", LIMIT_CLASSES);
	says("| sites | %d ", LIMIT_SITES);
	says("| tasks alive at once | %d ", LIMIT_TASKS);
	says("| names of one stream together | %d MiB ", LIMIT_STRINGS_BYTES >> 20);
	says("| all that one stream makes a reader hold | %d MiB ", LIMIT_STREAM_BYTES >> 20);
	says("| a request | %d bytes", LIMIT_REQUEST_BYTES);
	says("before this CHECK in its block, 0 to %d |", BLOCK_ROOM);
	says("CHECK's %d included", CHECK_BYTES);
	says("Its first %d bytes have fixed widths", HELLO_FIXED_BYTES);
	says("a block of exactly %d bytes", (int)RECORDING_END_BYTES);
	says("More than %d requests a second", LIMIT_REQUESTS_PER_S);
	says("1 MiB or %llu s", LIMIT_INDEX_NS / 1000000000);
	says("%d KiB to %d MiB, rounded up", LIMIT_RING_BYTES_MIN >> 10, LIMIT_RING_BYTES_MAX >> 20);
	says("every %llu s", LIMIT_SYNC_NS / 1000000000);
}

/* ---- examples ---- */

/* Returns the text between "```language" and "```", which the caller frees. NULL after the last one. */
static char *fenced(const char **at, const char *language)
{
	char fence[32];
	const char *start, *end;

	snprintf(fence, sizeof fence, "\n```%s\n", language);
	start = strstr(*at, fence);
	if (!start)
		return NULL;
	start += strlen(fence);
	end = strstr(start, "\n```");
	assert_non_null(end);
	*at = end;
	return strndup(start, (size_t)(end + 1 - start));
}

/* Returns one line for each message. */
static char *decoded(const uint8_t *bytes, size_t count)
{
	struct decoder *decoder = decoder_new();
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(decoder);
	while (count > 0) {
		struct message message;

		assert_int_equal(decode_next(decoder, &bytes, &count, &message), DECODE_MESSAGE);
		message_show(out, &message);
		fputc('\n', out);
	}
	fclose(out);
	decoder_free(decoder);
	return text;
}

static void every_example_decodes_to_what_stands_below_it(void **state)
{
	const char *at = document;
	char *hex;
	size_t example_count = 0;

	(void)state;
	while ((hex = fenced(&at, "hex"))) {
		uint8_t bytes[4096];
		size_t count = hex_read(hex, bytes, sizeof bytes);
		char *expected, *text = decoded(bytes, count);

		assert_int_equal(strncmp(at, "\n```\n\n```text\n", 14), 0);
		expected = fenced(&at, "text");
		assert_string_equal(text, expected);
		free(expected);
		free(text);
		free(hex);
		example_count++;
	}
	assert_true(example_count >= 6);
}

/* The first example is a stream of two blocks with correct CHECKs. */
static void the_first_example_is_a_whole_stream(void **state)
{
	struct block_reader *reader = malloc(sizeof *reader);
	const char *at = document;
	char *hex = fenced(&at, "hex");
	struct block block;
	size_t room, count;

	(void)state;
	assert_non_null(reader);
	block_reader_init(reader);
	count = hex_read(hex, block_reader_room(reader, &room), room);
	block_reader_filled(reader, count);
	assert_int_equal(block_reader_next(reader, &block), BLOCK_WHOLE);
	assert_int_equal(block.number, 0);
	assert_int_equal(block_reader_next(reader, &block), BLOCK_WHOLE);
	assert_int_equal(block.number, 1);
	assert_int_equal(block_reader_rest(reader), 0);
	free(reader);
	free(hex);
}

static void the_last_example_is_the_end_of_a_recording(void **state)
{
	const char *at = document;
	char *hex = NULL, *next;
	uint8_t bytes[RECORDING_END_BYTES + 1];
	uint64_t index_offset, index_count;

	(void)state;
	while ((next = fenced(&at, "hex"))) {
		free(hex);
		hex = next;
	}
	assert_int_equal(hex_read(hex, bytes, sizeof bytes), RECORDING_END_BYTES);
	assert_true(recording_end_read(bytes, &index_offset, &index_count));
	assert_int_equal(index_count, 2);
	free(hex);
}

/* ---- the emitter ---- */

/* Returns all messages of a stream without CHECKs, one in each line. Each block must be valid and have the next
 * number. */
static char *read_stream(const char *path)
{
	struct block_reader *reader = malloc(sizeof *reader);
	size_t count, room, length;
	char *bytes = fixture_read(path, &count), *text;
	FILE *out = open_memstream(&text, &length);
	struct block block;

	assert_non_null(reader);
	block_reader_init(reader);
	assert_non_null(memcpy(block_reader_room(reader, &room), bytes, count));
	assert_true(count <= room);
	block_reader_filled(reader, count);
	while (block_reader_next(reader, &block) == BLOCK_WHOLE) {
		char *lines = decoded(block.bytes, block.byte_count);

		assert_int_equal(block.skipped_bytes, 0);
		fprintf(out, "block %" PRIu64 "\n%s", block.number, lines);
		free(lines);
	}
	assert_int_equal(block_reader_rest(reader), 0);
	fclose(out);
	free(bytes);
	free(reader);
	return text;
}

/* Finds the next line that begins with start and contains part. */
static void has_line(const char **at, const char *start, const char *part)
{
	const char *line = *at, *end = strchr(line, '\n');
	const char *found = strstr(line, part);

	assert_non_null(end);
	if (strncmp(line, start, strlen(start)) != 0 || !found || found > end)
		fail_msg("not \"%s … %s\" but: %.*s", start, part, (int)(end - line), line);
	*at = end + 1;
}

static void the_emitter_in_python_writes_a_stream_that_is_right(void **state)
{
	struct fixture *fixture = *state;
	const char *script = fixture_path(fixture, "emitter.py"), *path = fixture_path(fixture, "out.telem");
	const char *at = document;
	char *source = fenced(&at, "python"), *text;
	struct proc *python;
	size_t line_count = 0;
	int err;

	assert_non_null(source);
	for (const char *line = source; (line = next_line(line));)
		line_count++;
	assert_true(line_count < 60);
	fixture_write(script, source, strlen(source));
	free(source);
	err = proc_try_start(&python, &(struct proc_spec){ .argv = PROC_LIST("python3", script, path), .err = PROC_PIPE });
	if (err == -ENOENT) {
		print_message("no python3 here\n");
		skip();
	}
	assert_int_equal(err, 0);
	assert_int_equal(proc_wait_exit(python, BESIDE_MS), 0);
	text = read_stream(path);
	at = text;
	has_line(&at, "block 0", "");
	has_line(&at, "hello magic=c154454c454dc10a major=1 minor=0", "name=\"emitter.py\"");
	has_line(&at, "block 1", "");
	has_line(&at, "class id=0 name=\"net\" help=\"socket I/O\" level=2", "");
	has_line(&at, "site id=1 class_id=0 kind=1 unit=1 detail=0 name=\"request\"", "own_level=255 fields=[]");
	has_line(&at, "task id=2 name=\"main\"", "ended=0");
	for (unsigned turn = 0; turn < 3; turn++) {
		char start[64];

		snprintf(start, sizeof start, "block %u", turn + 2);
		has_line(&at, start, "");
		snprintf(start, sizeof start, "batch task=2 seq=%u ", turn * 10);
		has_line(&at, start, "events=[1,0,500 1,1000,501 1,2000,502 1,3000,503 1,4000,504 1,5000,505 ");
	}
	has_line(&at, "block 5", "");
	has_line(&at, "values tick=1 task=0 rows=[1 30 15135 500 509]", "");
	has_line(&at, "values tick=1 task=2 rows=[1 30 15135 500 509]", "");
	has_line(&at, "books tick=1 task=0 rows=[0 30 0 30]", "");
	has_line(&at, "books tick=1 task=2 rows=[0 30 0 30]", "");
	has_line(&at, "snapshot tick=1 ", "interval_ns=1000000000");
	has_line(&at, "block 5", "");
	has_line(&at, "bye ", "emitted=30 before=0 delivered=30 dropped=0");
	assert_string_equal(at, "");
	free(text);
	proc_end(python);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_its_table_and_no_other_has),
		cmocka_unit_test(limits_are_those_of_the_code),
		cmocka_unit_test(every_example_decodes_to_what_stands_below_it),
		cmocka_unit_test(the_first_example_is_a_whole_stream),
		cmocka_unit_test(the_last_example_is_the_end_of_a_recording),
		cmocka_unit_test(the_emitter_in_python_writes_a_stream_that_is_right),
	};

	return cmocka_run_group_tests_name("protocol_doc", tests, group_setup, group_teardown);
}
