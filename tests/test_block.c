/* Blocks found in whole, cut, damaged and hostile streams. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/block.h"
#include "protocol/crc32c.h"
#include "tests/support/proc.h"
#include "tests/support/wire.h"

#define DAMAGE_SEEDS 10000
#define BLOCKS_MAX 512

static struct block_reader *reader;
static struct wire wire, other;
static uint64_t random_state;

static int setup(void **state)
{
	(void)state;
	reader = malloc(sizeof *reader);
	if (!reader)
		return -1;
	block_reader_init(reader);
	wire_init(&wire, 1);
	wire_init(&other, 2);
	random_state = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(reader);
	wire_fini(&wire);
	wire_fini(&other);
	return 0;
}

/* ---- what comes out ---- */

struct seen { uint64_t number, offset, skipped_bytes; uint32_t byte_count, crc; };
struct answer { struct seen blocks[BLOCKS_MAX]; size_t count; uint64_t lost_bytes; };

static void take_blocks(struct answer *answer)
{
	struct block block;

	while (block_reader_next(reader, &block) == BLOCK_WHOLE) {
		assert_true(answer->count < BLOCKS_MAX);
		answer->blocks[answer->count++] = (struct seen){
			.number = block.number, .offset = block.offset, .skipped_bytes = block.skipped_bytes,
			.byte_count = block.byte_count, .crc = crc32c(block.bytes, block.byte_count),
		};
	}
}

/* Feeds pieces of step bytes, or less when the reader has less room. */
static void feed(struct answer *answer, const uint8_t *bytes, size_t count, size_t step)
{
	while (count > 0) {
		size_t room, taken;
		uint8_t *at = block_reader_room(reader, &room);

		assert_true(room >= BLOCK_READER_BYTES / 2);
		taken = count < step ? count : step;
		taken = taken < room ? taken : room;
		memcpy(at, bytes, taken);
		block_reader_filled(reader, taken);
		take_blocks(answer);
		bytes += taken;
		count -= taken;
	}
	answer->lost_bytes = reader->skipped_bytes + block_reader_rest(reader);
}

static void read_whole(struct answer *answer, const uint8_t *bytes, size_t count)
{
	block_reader_init(reader);
	memset(answer, 0, sizeof *answer);
	feed(answer, bytes, count, SIZE_MAX);
}

static bool is_same(const struct answer *a, const struct answer *b)
{
	return a->count == b->count && a->lost_bytes == b->lost_bytes &&
	       memcmp(a->blocks, b->blocks, a->count * sizeof *a->blocks) == 0;
}

/* Feeds the stream whole, byte by byte, and cut into two pieces at every multiple of step. */
static void same_at_cuts(const uint8_t *bytes, size_t count, size_t step)
{
	static struct answer whole, pieces;

	read_whole(&whole, bytes, count);
	memset(&pieces, 0, sizeof pieces);
	block_reader_init(reader);
	feed(&pieces, bytes, count, 1);
	assert_true(is_same(&pieces, &whole));
	for (size_t cut = 1; cut < count; cut += step) {
		memset(&pieces, 0, sizeof pieces);
		block_reader_init(reader);
		feed(&pieces, bytes, cut, SIZE_MAX);
		feed(&pieces, bytes + cut, count - cut, SIZE_MAX);
		if (!is_same(&pieces, &whole))
			fail_msg("cut at %zu of %zu: other blocks", cut, count);
	}
}

/* ---- streams ---- */

/* HELLO in a block of its own, then block_count blocks of up to bytes_max. */
static void fill_stream(struct wire *into, uint32_t block_count, uint32_t bytes_max)
{
	wire_hello(into);
	wire_close(into);
	for (uint32_t i = 0; i < block_count; i++) {
		uint32_t left = 1 + random_below(&random_state, bytes_max);

		while (left > 0) {
			char text[1024];
			uint32_t length = left < 900 ? left : 900;

			for (uint32_t j = 0; j < length; j++)
				text[j] = (char)random_next(&random_state);
			wire_log(into, text, length);
			left -= length;
		}
		wire_close(into);
	}
}

/* ---- promises ---- */

static void a_stream_gives_its_blocks_in_order(void **state)
{
	static struct answer answer;
	uint64_t at = 0;

	(void)state;
	fill_stream(&wire, 40, 3000);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 41);
	for (size_t i = 0; i < answer.count; i++) {
		assert_int_equal(answer.blocks[i].number, i + 1);
		assert_int_equal(answer.blocks[i].offset, at);
		assert_int_equal(answer.blocks[i].skipped_bytes, 0);
		at += answer.blocks[i].byte_count + CHECK_BYTES;
	}
	assert_int_equal(at, wire.count);
	assert_int_equal(answer.lost_bytes, 0);
	assert_int_equal(reader->damaged_count, 0);
	assert_memory_equal(block_reader_marker(reader), wire.marker, MARKER_BYTES);
}

static void a_stream_gives_the_same_blocks_at_every_cut(void **state)
{
	(void)state;
	fill_stream(&wire, 10, 1500);
	wire_hello(&wire);
	wire_close(&wire);
	fill_stream(&wire, 3, 200);
	same_at_cuts(wire.bytes, wire.count, 1);
}

static void a_block_may_be_empty_or_full(void **state)
{
	static struct answer answer;
	uint8_t block[LIMIT_BLOCK_BYTES];

	(void)state;
	wire_hello(&wire);
	wire_close(&wire);
	wire_raw(&wire, block, block_seal(block, 0, wire.marker, 2));
	memset(block, 0xc0, sizeof block);
	wire_raw(&wire, block, block_seal(block, BLOCK_ROOM, wire.marker, 3));
	assert_int_equal(block_seal(block, BLOCK_ROOM, wire.marker, 3), LIMIT_BLOCK_BYTES);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 3);
	assert_int_equal(answer.blocks[1].byte_count, 0);
	assert_int_equal(answer.blocks[2].byte_count, BLOCK_ROOM);
	same_at_cuts(wire.bytes, wire.count, 1);
}

/* The block is larger than a block may be, and right in everything else. */
static void a_block_over_the_limit_is_refused(void **state)
{
	static struct answer answer;
	static uint8_t block[LIMIT_BLOCK_BYTES + 1];
	uint8_t *check = block + BLOCK_ROOM + 1, *count = check + 4 + MARKER_BYTES + 9;

	(void)state;
	fill_stream(&wire, 1, 100);
	memset(block, 0xc0, sizeof block);
	block_seal(check, 0, wire.marker, 3);
	put_u32(count, BLOCK_ROOM + 1);
	put_u32(count + 5, crc32c(block, sizeof block - 5));
	wire_raw(&wire, block, sizeof block);
	wire.number++;
	wire_log(&wire, "x", 1);
	wire_close(&wire);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 3);
	assert_int_equal(answer.blocks[2].number, 4);
	assert_int_equal(answer.blocks[2].skipped_bytes, sizeof block);
}

static void a_stream_cut_anywhere_gives_all_blocks_before(void **state)
{
	static struct answer whole, part;

	(void)state;
	fill_stream(&wire, 8, 600);
	read_whole(&whole, wire.bytes, wire.count);
	for (size_t cut = 0; cut < wire.count; cut++) {
		size_t expected = 0;

		read_whole(&part, wire.bytes, cut);
		while (expected < whole.count && whole.blocks[expected].offset + whole.blocks[expected].byte_count +
		       CHECK_BYTES <= cut)
			expected++;
		assert_int_equal(part.count, expected);
		assert_memory_equal(part.blocks, whole.blocks, expected * sizeof *whole.blocks);
	}
}

static void a_hello_whose_clock_looks_like_a_check_is_believed(void **state)
{
	static struct answer answer;
	struct message message = { .kind = KIND_HELLO };

	(void)state;
	message.hello = wire_hello_fields(&wire);
	message.hello.real_ns = message.hello.real_ns >> 16 << 16 | 0x9500;
	for (int i = 0; i < 2; i++) {
		wire_message(&wire, &message);
		wire_close(&wire);
	}
	assert_non_null(memmem(wire.bytes, HELLO_FIXED_BYTES, "\x95\x00\xc4\x10\xc1TELCHK", 11));
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 2);
	assert_int_equal(answer.lost_bytes, 0);
	assert_int_equal(reader->damaged_count, 0);
	same_at_cuts(wire.bytes, wire.count, 1);
}

/* ---- damage ---- */

/* A copy of wire with damage, and which of its blocks were hit. */
struct damaged { uint8_t *bytes; size_t count; bool hit[BLOCKS_MAX]; };

static void hit(struct damaged *damaged, const struct answer *whole, size_t from, size_t to)
{
	for (size_t i = 0; i < whole->count; i++) {
		size_t start = whole->blocks[i].offset, end = start + whole->blocks[i].byte_count + CHECK_BYTES;

		/* An insertion at a seam (from == to) hits nothing. */
		if (from < end && (from == to ? from > start : to > start))
			damaged->hit[i] = true;
	}
}

static void damage(struct damaged *damaged, const struct answer *whole, size_t spare, uint64_t *random)
{
	size_t at = 0, edit_count = 1 + random_below(random, 4);

	damaged->bytes = malloc(wire.count + edit_count * 20000);
	assert_non_null(damaged->bytes);
	damaged->count = 0;
	memset(damaged->hit, 0, sizeof damaged->hit);
	for (size_t edit = 0; edit <= edit_count; edit++) {
		size_t next = wire.count, length;

		if (edit < edit_count) {
			next = spare + random_below(random, (uint32_t)(wire.count - spare));
			next = next > at ? next : at;
		}
		memcpy(damaged->bytes + damaged->count, wire.bytes + at, next - at);
		damaged->count += next - at;
		at = next;
		if (edit == edit_count || at == wire.count)
			break;
		/* Most runs are short. Some are longer than what a reader keeps. */
		length = 1 + random_below(random, 1u << random_below(random, 15));
		switch (random_below(random, 3)) {
		case 0:
			damaged->bytes[damaged->count++] = (uint8_t)(wire.bytes[at] ^ 1u << random_below(random, 8));
			hit(damaged, whole, at, at + 1);
			at++;
			break;
		case 1:
			length = length < wire.count - at ? length : wire.count - at;
			hit(damaged, whole, at, at + length);
			at += length;
			break;
		default:
			hit(damaged, whole, at, at);
			for (size_t i = 0; i < length; i++)
				damaged->bytes[damaged->count++] = (uint8_t)random_next(random);
		}
	}
}

/* Checks that each block that came out is one of the stream, in order and once, and that all others were damaged. */
static void only_the_hit_are_lost(const struct answer *got, const struct answer *whole, const bool *was_hit, uint64_t seed)
{
	size_t next = 0;

	for (size_t i = 0; i < whole->count; i++) {
		const struct seen *block = &got->blocks[next];

		if (next < got->count && block->number == whole->blocks[i].number) {
			if (block->byte_count != whole->blocks[i].byte_count || block->crc != whole->blocks[i].crc)
				fail_msg("SEED=%" PRIu64 ": block %" PRIu64 " is wrong", seed, block->number);
			next++;
		} else if (!was_hit[i]) {
			fail_msg("SEED=%" PRIu64 ": block %" PRIu64 " is lost", seed, whole->blocks[i].number);
		}
	}
	if (next < got->count)
		fail_msg("SEED=%" PRIu64 ": block %" PRIu64 " again, or from nowhere", seed, got->blocks[next].number);
}

static void damage_costs_the_blocks_it_hits_and_no_other(void **state)
{
	static struct answer whole, got, pieces;
	uint64_t seed = random_seed(1), last = seed + DAMAGE_SEEDS / (uint64_t)proc_slowness();

	(void)state;
	fill_stream(&wire, 12, 2000);
	fill_stream(&wire, 12, 4000);
	read_whole(&whole, wire.bytes, wire.count);
	for (; seed < last; seed++) {
		uint64_t random = seed;
		struct damaged damaged;

		/* The first HELLO is not damaged, because a reader finds no block without it. */
		damage(&damaged, &whole, whole.blocks[1].offset, &random);
		read_whole(&got, damaged.bytes, damaged.count);
		only_the_hit_are_lost(&got, &whole, damaged.hit, seed);
		memset(&pieces, 0, sizeof pieces);
		block_reader_init(reader);
		feed(&pieces, damaged.bytes, damaged.count, 1 + random_below(&random, 5000));
		if (!is_same(&pieces, &got))
			fail_msg("SEED=%" PRIu64 ": other blocks in pieces", seed);
		free(damaged.bytes);
		if (getenv("SEED"))
			break;
	}
}

static void damage_gives_the_same_blocks_at_every_cut(void **state)
{
	static struct answer whole;
	uint64_t random = random_seed(99);

	(void)state;
	fill_stream(&wire, 6, 1000);
	fill_stream(&wire, 6, 1000);
	read_whole(&whole, wire.bytes, wire.count);
	for (int round = 0; round < 20; round++) {
		struct damaged damaged;

		damage(&damaged, &whole, round % 4 ? whole.blocks[1].offset : 0, &random);
		same_at_cuts(damaged.bytes, damaged.count, 13 * (size_t)proc_slowness());
		free(damaged.bytes);
	}
}

static void every_flipped_bit_costs_one_block(void **state)
{
	static struct answer whole, got;

	(void)state;
	fill_stream(&wire, 2, 100);
	fill_stream(&wire, 1, 100);
	read_whole(&whole, wire.bytes, wire.count);
	for (size_t bit = whole.blocks[1].offset * 8; bit < wire.count * 8; bit++) {
		bool was_hit[BLOCKS_MAX] = { false };

		wire.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		read_whole(&got, wire.bytes, wire.count);
		assert_int_equal(got.count, whole.count - 1);
		for (size_t i = 0; i < whole.count; i++)
			was_hit[i] = whole.blocks[i].offset <= bit / 8;
		only_the_hit_are_lost(&got, &whole, was_hit, bit);
		wire.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void without_its_first_hello_a_stream_begins_at_the_next(void **state)
{
	static struct answer whole, got;
	size_t second;

	(void)state;
	fill_stream(&wire, 4, 500);
	second = wire.count;
	fill_stream(&wire, 4, 500);
	read_whole(&whole, wire.bytes, wire.count);
	for (size_t at = 0; at < whole.blocks[1].offset; at++) {
		wire.bytes[at] ^= 0x10;
		read_whole(&got, wire.bytes, wire.count);
		assert_int_equal(got.count, 5);
		assert_int_equal(got.blocks[0].offset, second);
		assert_int_equal(got.blocks[0].skipped_bytes, second);
		wire.bytes[at] ^= 0x10;
	}
}

static void far_more_noise_than_a_block_costs_nothing_either(void **state)
{
	static struct answer answer;
	uint8_t *noise = malloc(300000);

	(void)state;
	assert_non_null(noise);
	for (size_t i = 0; i < 300000; i++)
		noise[i] = (uint8_t)random_next(&random_state);
	fill_stream(&wire, 2, 100);
	wire_raw(&wire, noise, 300000);
	wire_log(&wire, "x", 1);
	wire_close(&wire);
	free(noise);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 4);
	assert_int_equal(answer.blocks[3].number, 4);
	assert_int_equal(answer.blocks[3].skipped_bytes, 300000);
	same_at_cuts(wire.bytes, wire.count, 9973);
}

/* ---- forgery ---- */

/* Writes blocks of a forged stream, with a given marker, into the text of a log line. */
static void log_forged(const uint8_t *marker, bool with_hello)
{
	struct wire forged;

	wire_init(&forged, 3);
	memcpy(forged.marker, marker, MARKER_BYTES);
	forged.number = wire.number;
	if (with_hello)
		wire_hello(&forged);
	wire_log(&forged, "forged", 6);
	wire_close(&forged);
	wire_log(&wire, forged.bytes, (uint32_t)forged.count);
	wire_fini(&forged);
}

static void only_the_wires_own_blocks_come(uint64_t expected)
{
	static struct answer answer;

	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, expected);
	for (size_t i = 0; i < answer.count; i++)
		assert_int_equal(answer.blocks[i].number, i + 1);
	assert_int_equal(answer.lost_bytes, 0);
	same_at_cuts(wire.bytes, wire.count, 1);
}

static void a_block_forged_in_a_text_is_never_taken(void **state)
{
	uint8_t marker[MARKER_BYTES];

	(void)state;
	wire_hello(&wire);
	wire_close(&wire);
	log_forged((const uint8_t *)"no marker at all", false);
	marker_make(marker, (const uint8_t *)"guessed!");
	log_forged(marker, false);
	memcpy(marker + 8, wire.marker + 8, 7);         /* all but one byte of the real one */
	marker[15] = (uint8_t)(wire.marker[15] + 1);
	log_forged(marker, false);
	wire_close(&wire);
	log_forged(marker, false);
	only_the_wires_own_blocks_come(2);
	wire_close(&wire);
	only_the_wires_own_blocks_come(3);
}

static void a_hello_in_a_text_is_not_believed_while_in_sync(void **state)
{
	uint8_t marker[MARKER_BYTES];

	(void)state;
	wire_hello(&wire);
	wire_close(&wire);
	marker_make(marker, (const uint8_t *)"guessed!");
	for (int i = 0; i < 12; i++) {
		log_forged(marker, true);
		if (i % 3 == 0)
			wire_close(&wire);
	}
	wire_close(&wire);
	only_the_wires_own_blocks_come(wire.number);
}

static void a_hello_in_a_text_is_not_believed_behind_a_damaged_block(void **state)
{
	static struct answer answer;
	uint8_t marker[MARKER_BYTES];
	size_t second, third = 0;

	(void)state;
	wire_hello(&wire);
	wire_close(&wire);
	second = wire.count;
	marker_make(marker, (const uint8_t *)"guessed!");
	for (int i = 0; i < 4; i++) {
		log_forged(marker, true);
		wire_close(&wire);
		third = i == 0 ? wire.count : third;
	}
	for (size_t at = second; at < third; at++) {
		wire.bytes[at] ^= 0x10;
		read_whole(&answer, wire.bytes, wire.count);
		assert_int_equal(answer.count, 4);
		assert_int_equal(answer.blocks[1].number, 3);
		same_at_cuts(wire.bytes, wire.count, 101);
		wire.bytes[at] ^= 0x10;
	}
}

static void a_hello_alone_is_not_believed(void **state)
{
	static struct answer answer;

	(void)state;
	fill_stream(&other, 3, 1000);
	wire_raw(&wire, other.bytes, HELLO_FIXED_BYTES + 20);      /* the HELLO of another stream, but no whole block */
	for (int i = 0; i < 6000; i++)
		wire_raw(&wire, "x", 1);
	wire_raw(&wire, other.bytes, other.count);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 4);
	assert_int_equal(answer.blocks[0].skipped_bytes, HELLO_FIXED_BYTES + 20 + 6000);
	same_at_cuts(wire.bytes, wire.count, 7);
}

/* ---- work ---- */

/* The CHECKs have the right form and marker, and claim as many bytes as they may, but no checksum is right. */
static void packed_checks_cost_no_more_than_their_bytes(void **state)
{
	static struct answer answer;
	uint8_t check[CHECK_BYTES];

	(void)state;
	wire_hello(&wire);
	wire_close(&wire);
	for (uint32_t i = 0; i < 20000; i++) {
		block_seal(check, 0, wire.marker, i);
		put_u32(check + CHECK_BYTES - 10, i % 2 ? BLOCK_ROOM : i % 200);
		wire_raw(&wire, check, sizeof check);
	}
	wire_log(&wire, "x", 1);
	wire_close(&wire);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.blocks[answer.count - 1].number, 2);
	assert_true(reader->examined_bytes < 2 * wire.count);
}

/* The reader has lost the stream. The bytes are valid HELLOs that no CHECK follows, magic numbers, and parts of
 * CHECKs. */
static void packed_hellos_cost_no_more_than_their_bytes(void **state)
{
	static struct answer answer;

	(void)state;
	fill_stream(&other, 1, 100);
	for (int i = 0; i < 5000; i++) {
		wire_raw(&wire, other.bytes, HELLO_FIXED_BYTES);
		wire_raw(&wire, hello_magic, sizeof hello_magic);
		wire_raw(&wire, "\x95\x00\xc4\x10", 4);
	}
	wire_raw(&wire, other.bytes, other.count);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 2);
	assert_int_equal(answer.blocks[0].offset, wire.count - other.count);
	assert_true(reader->examined_bytes < 2 * wire.count);
}

/* The worst case: each CHECK claims a block that begins with the HELLO one whole block before it. */
static void hellos_with_false_checks_cost_a_block_each_at_most(void **state)
{
	static struct answer answer;
	uint8_t check[CHECK_BYTES];

	(void)state;
	fill_stream(&other, 1, 100);
	for (int i = 0; i < 3000; i++) {
		wire_raw(&wire, other.bytes, HELLO_FIXED_BYTES);
		block_seal(check, 0, other.marker, 1);
		put_u32(check + CHECK_BYTES - 10, HELLO_FIXED_BYTES);
		wire_raw(&wire, check, sizeof check);
	}
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 0);
	assert_true(reader->examined_bytes < 3 * wire.count);
}

static void what_is_no_stream_is_let_go_and_its_start_remembered(void **state)
{
	static struct answer answer;

	(void)state;
	for (int i = 0; i < 100; i++)
		wire_raw(&wire, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 0);
	assert_false(reader->has_marker);
	assert_int_equal(answer.lost_bytes, wire.count);
	assert_true(block_reader_rest(reader) < 32);
	same_at_cuts(wire.bytes, wire.count, 1);
}

/* ---- joining, leaving ---- */

static void leftovers_of_another_stream_are_skipped_up_to_hello(void **state)
{
	static struct answer answer;
	size_t leftover_count;

	(void)state;
	fill_stream(&other, 10, 1000);
	leftover_count = other.count - 200;
	wire_raw(&wire, other.bytes + 200, leftover_count);     /* begins in the middle of its HELLO's block */
	fill_stream(&wire, 3, 500);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 4);
	assert_int_equal(answer.blocks[0].offset, leftover_count);
	assert_int_equal(answer.blocks[0].skipped_bytes, leftover_count);
	assert_int_equal(answer.lost_bytes, leftover_count);
	same_at_cuts(wire.bytes, wire.count, 7);
}

static void a_short_stream_right_behind_another_comes_at_once(void **state)
{
	static struct answer answer;
	size_t seam;

	(void)state;
	fill_stream(&wire, 4, 500);
	seam = wire.count;
	wire_hello(&other);
	wire_close(&other);
	wire_raw(&wire, other.bytes, other.count);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 6);
	assert_int_equal(answer.blocks[5].number, 1);
	assert_int_equal(answer.blocks[5].offset, seam);
	assert_int_equal(answer.lost_bytes, 0);
	assert_memory_equal(block_reader_marker(reader), other.marker, MARKER_BYTES);
	same_at_cuts(wire.bytes, wire.count, 1);
}

static void a_stream_behind_a_torn_one_loses_nothing_of_its_own(void **state)
{
	static struct answer answer;

	(void)state;
	fill_stream(&wire, 4, 500);
	wire.count -= 20;
	fill_stream(&other, 8, 3000);
	wire_raw(&wire, other.bytes, other.count);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 4 + 9);
	assert_int_equal(answer.blocks[4].number, 1);
	assert_int_equal(answer.blocks[4].offset, wire.count - other.count);
	same_at_cuts(wire.bytes, wire.count, 17);
}

/* The third stream has the marker of the first. A reader must not skip the second one in search of that marker. */
static void a_stream_between_two_parts_of_another_is_not_jumped_over(void **state)
{
	static struct answer answer;

	(void)state;
	fill_stream(&other, 8, 3000);
	fill_stream(&wire, 4, 500);
	wire.count -= 20;
	wire_raw(&wire, other.bytes, other.count);
	wire.number = 100;
	fill_stream(&wire, 4, 500);
	read_whole(&answer, wire.bytes, wire.count);
	assert_int_equal(answer.count, 4 + 9 + 5);
	assert_int_equal(answer.blocks[4 + 9].number, 101);
	same_at_cuts(wire.bytes, wire.count, 17);
}

static void behind_a_gap_only_hello_counts(void **state)
{
	static struct answer answer;

	(void)state;
	fill_stream(&wire, 4, 500);
	feed(&answer, wire.bytes, wire.count - 1, SIZE_MAX);
	assert_int_equal(answer.count, 4);
	block_reader_gap(reader, 1000000);
	memset(&answer, 0, sizeof answer);
	/* These blocks have the marker that the reader knew, but after the gap another stream may be sending. */
	feed(&answer, wire.bytes + wire.count / 2, wire.count - wire.count / 2, SIZE_MAX);
	assert_int_equal(answer.count, 0);
	wire.count = 0;
	fill_stream(&wire, 1, 500);
	feed(&answer, wire.bytes, wire.count, SIZE_MAX);
	assert_int_equal(answer.count, 2);
	assert_true(answer.blocks[0].offset > 1000000);
	assert_true(answer.blocks[0].skipped_bytes > 0);
	assert_int_equal(answer.blocks[1].skipped_bytes, 0);
}

static void blocks_of_a_gone_reader_stay_where_they_were_told(void **state)
{
	static struct answer answer;
	size_t room;
	struct block block;
	uint8_t *at = block_reader_room(reader, &room);

	(void)state;
	fill_stream(&wire, 2, 500);
	memcpy(at, wire.bytes, wire.count);
	block_reader_filled(reader, wire.count);
	assert_int_equal(block_reader_next(reader, &block), BLOCK_WHOLE);
	assert_ptr_equal(block.bytes, at);
	take_blocks(&answer);
	assert_memory_equal(block.bytes, wire.bytes, block.byte_count);   /* the last block stays valid */
	assert_int_equal(block_reader_next(reader, &block), BLOCK_MORE);
	assert_int_equal(block_reader_rest(reader), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stream_gives_its_blocks_in_order),
		TEST(a_stream_gives_the_same_blocks_at_every_cut),
		TEST(a_block_may_be_empty_or_full),
		TEST(a_block_over_the_limit_is_refused),
		TEST(a_stream_cut_anywhere_gives_all_blocks_before),
		TEST(a_hello_whose_clock_looks_like_a_check_is_believed),
		TEST(damage_costs_the_blocks_it_hits_and_no_other),
		TEST(damage_gives_the_same_blocks_at_every_cut),
		TEST(every_flipped_bit_costs_one_block),
		TEST(without_its_first_hello_a_stream_begins_at_the_next),
		TEST(far_more_noise_than_a_block_costs_nothing_either),
		TEST(a_block_forged_in_a_text_is_never_taken),
		TEST(a_hello_in_a_text_is_not_believed_while_in_sync),
		TEST(a_hello_in_a_text_is_not_believed_behind_a_damaged_block),
		TEST(a_hello_alone_is_not_believed),
		TEST(packed_checks_cost_no_more_than_their_bytes),
		TEST(packed_hellos_cost_no_more_than_their_bytes),
		TEST(hellos_with_false_checks_cost_a_block_each_at_most),
		TEST(what_is_no_stream_is_let_go_and_its_start_remembered),
		TEST(leftovers_of_another_stream_are_skipped_up_to_hello),
		TEST(a_short_stream_right_behind_another_comes_at_once),
		TEST(a_stream_behind_a_torn_one_loses_nothing_of_its_own),
		TEST(a_stream_between_two_parts_of_another_is_not_jumped_over),
		TEST(behind_a_gap_only_hello_counts),
		TEST(blocks_of_a_gone_reader_stay_where_they_were_told),
	};

	return cmocka_run_group_tests_name("block", tests, NULL, NULL);
}
