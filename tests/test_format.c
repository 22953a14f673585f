#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/format/format.h"
#include "tests/support/story.h"

static struct story story;
static struct parser parser;

static int setup(void **state)
{
	(void)state;
	story_init(&story, 7);
	story_greet(&story);
	story_ticks(&story, 3);
	return parser_init(&parser);
}

static int teardown(void **state)
{
	(void)state;
	parser_fini(&parser);
	story_fini(&story);
	return 0;
}

/* Feeds bytes in pieces, and returns how many blocks came out. */
static int fed(const void *bytes, size_t count, size_t piece)
{
	const uint8_t *at = bytes;
	struct block block;
	int blocks = 0;

	while (count > 0) {
		size_t room, taken;
		uint8_t *to = parser_room(&parser, &room);

		assert_true(room > 0);
		taken = count < piece ? count : piece;
		taken = taken < room ? taken : room;
		memcpy(to, at, taken);
		assert_int_equal(parser_filled(&parser, taken), 0);
		at += taken;
		count -= taken;
		while (parser_next(&parser, &block))
			blocks++;
	}
	return blocks;
}

static void first_bytes_tell_the_format(void **state)
{
	(void)state;
	assert_ptr_equal(format_sniff(story.wire.bytes, FORMAT_SNIFF_BYTES), &format_telem);
	assert_ptr_equal(format_sniff(story.wire.bytes, story.wire.count), &format_telem);
	assert_null(format_sniff((const uint8_t *)"# Notes about my program", 24));
	assert_null(format_sniff(story.wire.bytes, 4));
	assert_null(format_sniff(NULL, 0));
}

static void pieces_of_any_size_give_the_same_blocks(void **state)
{
	int whole = fed(story.wire.bytes, story.wire.count, story.wire.count);

	(void)state;
	assert_true(whole >= 4);
	assert_ptr_equal(parser.format, &format_telem);
	assert_int_equal(parser.offset, story.wire.count);
	for (size_t piece = 1; piece < 40; piece++) {
		parser_fini(&parser);
		assert_int_equal(parser_init(&parser), 0);
		assert_int_equal(fed(story.wire.bytes, story.wire.count, piece), whole);
		assert_int_equal(parser_figures(&parser).skipped_bytes, 0);
	}
}

static void what_no_format_knows_is_taken_for_the_rest_of_a_stream(void **state)
{
	char noise[1000];

	(void)state;
	memset(noise, '#', sizeof noise);
	assert_int_equal(fed(noise, 15, 15), 0);
	assert_null(parser.format);
	assert_int_equal(fed(noise, sizeof noise - 15, 100), 0);
	assert_ptr_equal(parser.format, &format_telem);
	assert_int_equal(parser.first_count, 8);
	assert_memory_equal(parser.first, "########", 8);
	assert_true(fed(story.wire.bytes, story.wire.count, 4096) >= 4);
	assert_int_equal(parser_figures(&parser).skipped_bytes, sizeof noise);
}

static void a_gap_and_a_restart_begin_at_their_offset(void **state)
{
	struct block block;
	size_t room;
	int blocks;

	(void)state;
	blocks = fed(story.wire.bytes, story.wire.count, 4096);
	fed("###", 3, 3);
	parser_gap(&parser, 5000);
	assert_int_equal(parser.first_count, 0);
	memcpy(parser_room(&parser, &room), story.wire.bytes, story.wire.count);
	assert_int_equal(parser_filled(&parser, story.wire.count), 0);
	assert_true(parser_next(&parser, &block));
	assert_int_equal(block.offset, 5000);
	assert_int_equal(parser_figures(&parser).skipped_bytes, 3);
	assert_int_equal(parser_restart(&parser, 70), 0);
	assert_int_equal(parser_figures(&parser).skipped_bytes, 0);
	assert_int_equal(parser.offset, 70);
	assert_int_equal(fed(story.wire.bytes, story.wire.count, 4096), blocks);
}

static void a_restart_before_the_format_is_known_forgets_the_lead(void **state)
{
	(void)state;
	fed("#####", 5, 5);
	assert_int_equal(parser_restart(&parser, 0), 0);
	assert_true(fed(story.wire.bytes, story.wire.count, 7) >= 4);
	assert_int_equal(parser_figures(&parser).skipped_bytes, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(first_bytes_tell_the_format), TEST(pieces_of_any_size_give_the_same_blocks),
		TEST(what_no_format_knows_is_taken_for_the_rest_of_a_stream),
		TEST(a_gap_and_a_restart_begin_at_their_offset),
		TEST(a_restart_before_the_format_is_known_forgets_the_lead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
