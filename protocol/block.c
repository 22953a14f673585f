#include "protocol/block.h"

#include <assert.h>
#include <string.h>

#include "protocol/crc32c.h"

/* msgpack never uses the byte 0xc1 as a type, so it can only occur inside texts and numbers. */
#define HELLO_MAGIC 0xc1, 'T', 'E', 'L', 'E', 'M', 0xc1, '\n'
const uint8_t hello_magic[8] = { HELLO_MAGIC };
const uint8_t end_magic[8] = { 0xc1, 'T', 'E', 'L', 'E', 'N', 'D', 0xc1 };
static const uint8_t marker_head[8] = { 0xc1, 'T', 'E', 'L', 'C', 'H', 'K', 0xc1 };
/* How a CHECK starts: an array of five items, kind 0, a bin of 16 bytes. */
static const uint8_t check_head[4] = { 0x95, KIND_CHECK, 0xc4, MARKER_BYTES };

void marker_make(uint8_t marker[MARKER_BYTES], const uint8_t random[8])
{
	memcpy(marker, marker_head, 8);
	memcpy(marker + 8, random, 8);
}

/* On the wire: dc.. 01, c4 08 magic, cd major, cd minor, ce must, ce may, cf stream, ce pid, cf
 * start, cf mono, cf real, c4 10 marker, ce crc; then the other fields in their shortest form. */
bool hello_encode(struct encoder *encoder, const struct message_hello *hello)
{
	const struct kind_row *row = kind_row(KIND_HELLO);
	uint8_t *start = encoder->bytes + encoder->used, *at = start;
	struct message rest = { .kind = KIND_HELLO, .hello = *hello };

	if (encoder->room - encoder->used < HELLO_FIXED_BYTES)
		return false;
	assert(hello->marker.length == MARKER_BYTES);
	*at++ = 0xdc;
	*at++ = 0;
	*at++ = (uint8_t)(row->field_count + 1);
	*at++ = KIND_HELLO;
	at = put_bin(at, hello_magic, sizeof hello_magic);
	at = put_u16(at, (uint16_t)hello->major);
	at = put_u16(at, (uint16_t)hello->minor);
	at = put_u32(at, (uint32_t)hello->must);
	at = put_u32(at, (uint32_t)hello->may);
	at = put_u64(at, hello->stream);
	at = put_u32(at, (uint32_t)hello->pid);
	at = put_u64(at, hello->start_ns);
	at = put_u64(at, hello->mono_ns);
	at = put_u64(at, hello->real_ns);
	at = put_bin(at, hello->marker.bytes, MARKER_BYTES);
	at = put_u32(at, crc32c(start, (size_t)(at - start)));
	assert(at - start == HELLO_FIXED_BYTES);
	encoder->used += HELLO_FIXED_BYTES;
	if (encode_fields(encoder, &rest, 12))
		return true;
	encoder->used -= HELLO_FIXED_BYTES;
	return false;
}

uint32_t block_seal(uint8_t *bytes, uint32_t count, const uint8_t marker[MARKER_BYTES], uint64_t number)
{
	uint8_t *at = bytes + count;

	assert(count <= BLOCK_ROOM);
	memcpy(at, check_head, sizeof check_head);
	memcpy(at + sizeof check_head, marker, MARKER_BYTES);
	at = put_u64(at + sizeof check_head + MARKER_BYTES, number);
	at = put_u32(at, count);
	put_u32(at, crc32c(bytes, (size_t)(at - bytes)));
	return count + CHECK_BYTES;
}
static_assert(CHECK_BYTES == sizeof check_head + MARKER_BYTES + 9 + 5 + 5, "head, marker, number, count, CRC");

/* ---- the reader ---- */

/* When two blocks' length shows no CHECK, the reader is not where it believed to be. */
#define WINDOW_BYTES (2 * LIMIT_BLOCK_BYTES)

/* Whether the bytes at some place are what is looked for; WAIT means that too few bytes were
 * received to decide. Every search goes on in the order of the bytes and waits at the first place
 * that cannot be decided, so the result does not depend on how the bytes were cut. */
enum verdict { NO, WAIT, YES };

/* Bytes that have the form of a CHECK, and what they say. */
struct check {
	const uint8_t *at;
	uint64_t number;
	uint32_t count;
};

void block_reader_init(struct block_reader *reader)
{
	/* Everything but the buffer, which comes first and need not be cleared. */
	memset((uint8_t *)reader + sizeof reader->bytes, 0, sizeof *reader - sizeof reader->bytes);
	memcpy(reader->needle, check_head, sizeof check_head);
}

uint8_t *block_reader_room(struct block_reader *reader, size_t *room)
{
	if (reader->start > 0 && (reader->start == reader->end || reader->end > sizeof reader->bytes / 2)) {
		size_t held = reader->end - reader->start;

		memmove(reader->bytes, reader->bytes + reader->start, held);
		reader->offset += reader->start;
		reader->scan -= reader->start;
		reader->start = 0;
		reader->end = held;
	}
	*room = sizeof reader->bytes - reader->end;
	return reader->bytes + reader->end;
}

void block_reader_filled(struct block_reader *reader, size_t count)
{
	reader->end += count;
}

static void skip_to(struct block_reader *reader, size_t position)
{
	reader->skipped_now += position - reader->start;
	reader->skipped_bytes += position - reader->start;
	reader->start = position;
	if (reader->scan < position)
		reader->scan = position;
}

static uint64_t load_be(const uint8_t *at, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value = value << 8 | at[i];
	return value;
}

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Finds the first bytes from `from` to `to` that start with needle and have the form of a CHECK.
 * HELLO contains the marker too, and its clock may by chance end in the bytes that stand before the
 * marker in a CHECK; the bytes that follow the marker tell the two apart. */
static enum verdict check_find(const uint8_t *needle, const uint8_t *from, const uint8_t *to, struct check *out)
{
	enum { MARKER = 4, NUMBER = MARKER + MARKER_BYTES, COUNT = NUMBER + 9, CRC = COUNT + 5 };

	/* Look for the marker's 0xc1 first: only texts and numbers can contain other ones. */
	for (; to - from >= NUMBER; from++) {
		from = memchr(from + MARKER, needle[MARKER], (size_t)(to - from) - (NUMBER - 1));
		if (!from)
			return NO;
		from -= MARKER;
		if (memcmp(from, needle, NUMBER) != 0)
			continue;
		out->at = from;
		if (to - from < CHECK_BYTES)
			return WAIT;
		if (from[NUMBER] == 0xcf && from[COUNT] == 0xce && from[CRC] == 0xce) {
			out->number = load_be(from + NUMBER + 1, 8);
			out->count = (uint32_t)load_be(from + COUNT + 1, 4);
			return YES;
		}
	}
	return NO;
}

/* Returns whether this CHECK closes a block that begins at or after start. A block never reaches
 * back past the previous CHECK: otherwise many CHECKs in a row would make the work quadratic. */
static bool check_is_true(struct block_reader *reader, const struct check *check, const uint8_t *start)
{
	if (check->count > BLOCK_ROOM || check->count > (size_t)(check->at - start))
		return false;
	reader->examined_bytes += check->count + CHECK_BYTES;
	return crc32c(check->at - check->count, check->count + CHECK_BYTES - 5) == load_be(check->at + CHECK_BYTES - 4, 4);
}

static void give(struct block_reader *reader, const struct check *check, struct block *out)
{
	size_t check_at = (size_t)(check->at - reader->bytes);

	skip_to(reader, check_at - check->count);
	*out = (struct block){ .bytes = check->at - check->count, .byte_count = check->count, .number = check->number,
			       .offset = reader->offset + reader->start, .skipped_bytes = reader->skipped_now };
	reader->skipped_now = 0;
	reader->start = reader->scan = check_at + CHECK_BYTES;
	reader->is_synced = reader->has_marker = true;
}

/* A HELLO is believed only together with the block that it opens. On YES the reader takes over its
 * marker, and *check closes that block. */
static enum verdict hello_judge(struct block_reader *reader, const uint8_t *hello, struct check *check)
{
	static const uint8_t head[] = { KIND_HELLO, 0xc4, sizeof hello_magic, HELLO_MAGIC };
	size_t left = (size_t)(reader->bytes + reader->end - hello), in_block = lesser(left, LIMIT_BLOCK_BYTES);
	uint8_t needle[sizeof reader->needle];

	if (left > 0 && hello[0] != 0xdc)
		return NO;
	if (left > 3 && memcmp(hello + 3, head, lesser(left - 3, sizeof head)) != 0)
		return NO;
	if (left < HELLO_FIXED_BYTES)
		return WAIT;
	reader->examined_bytes += HELLO_FIXED_BYTES;
	if (crc32c(hello, HELLO_FIXED_BYTES - 5) != load_be(hello + HELLO_FIXED_BYTES - 4, 4))
		return NO;
	memcpy(needle, check_head, sizeof check_head);
	memcpy(needle + sizeof check_head, hello + HELLO_FIXED_BYTES - 5 - MARKER_BYTES, MARKER_BYTES);
	if (check_find(needle, hello + HELLO_FIXED_BYTES, hello + in_block, check) != YES)
		return in_block < LIMIT_BLOCK_BYTES ? WAIT : NO;
	if (check->at - check->count != hello || !check_is_true(reader, check, hello))
		return NO;
	memcpy(reader->needle, needle, sizeof needle);
	return YES;
}

/* In sync, only the next CHECK counts. A HELLO inside a block is ignored, because it may be text
 * that the program logged. Right after a block there is no such text, and another stream may begin
 * there. */
static bool next_synced(struct block_reader *reader, struct block *out)
{
	struct check check;

	if (reader->scan == reader->start) {
		enum verdict verdict = hello_judge(reader, reader->bytes + reader->start, &check);

		if (verdict == YES)
			give(reader, &check, out);
		if (verdict != NO)
			return verdict == YES;
	}
	for (;;) {
		size_t held = lesser(reader->end - reader->start, WINDOW_BYTES);
		const uint8_t *start = reader->bytes + reader->start, *to = start + held;
		enum verdict verdict = check_find(reader->needle, reader->bytes + reader->scan, to, &check);

		if (verdict != YES) {
			size_t tail = lesser(held, sizeof reader->needle - 1);

			if (held == WINDOW_BYTES) {
				reader->is_synced = false;
				reader->scan = reader->start;
			} else if (verdict == WAIT) {
				reader->scan = (size_t)(check.at - reader->bytes);
			} else if (reader->scan < reader->start + held - tail) {
				reader->scan = reader->start + held - tail;
			}
			return false;
		}
		if (check_is_true(reader, &check, start)) {
			give(reader, &check, out);
			return true;
		}
		reader->damaged_count++;
		skip_to(reader, (size_t)(check.at - reader->bytes) + sizeof reader->needle);
	}
}

static const uint8_t *magic_find(const uint8_t *from, const uint8_t *end)
{
	const uint8_t *magic = memmem(from, (size_t)(end - from), hello_magic, sizeof hello_magic);

	return magic ? magic : end;
}

/* A lost reader accepts any HELLO, or a CHECK of the stream it was reading before the damage. */
static bool next_lost(struct block_reader *reader, struct block *out)
{
	enum { LEAD = 6 };       /* bytes of HELLO before its magic */
	const uint8_t *end = reader->bytes + reader->end, *magic = magic_find(reader->bytes + reader->scan, end);
	size_t keep = reader->has_marker ? LIMIT_BLOCK_BYTES : LEAD;

	for (;;) {
		const uint8_t *start = reader->bytes + reader->start, *scan = reader->bytes + reader->scan, *place;
		enum verdict verdict = NO;
		struct check check = { .at = end };

		if (magic < scan)
			magic = magic_find(scan, end);
		if (reader->has_marker)
			verdict = check_find(reader->needle, scan, end - magic > CHECK_BYTES ? magic + CHECK_BYTES : end,
					     &check);
		place = verdict == NO ? end : check.at;
		if (magic < place) {
			place = magic;
			verdict = magic - start < LEAD ? NO : hello_judge(reader, magic - LEAD, &check);
			if (verdict == NO) {
				reader->scan = (size_t)(magic - reader->bytes) + 1;
				continue;
			}
		} else if (verdict == YES && !check_is_true(reader, &check, start)) {
			reader->damaged_count++;
			skip_to(reader, (size_t)(check.at - reader->bytes) + sizeof reader->needle);
			continue;
		}
		if (verdict == YES) {
			give(reader, &check, out);
			return true;
		}
		if (verdict == NO)
			place = end - lesser((size_t)(end - scan), sizeof reader->needle - 1);
		/* Keep the bytes that can still become the start of a block. */
		reader->scan = (size_t)(place - reader->bytes);
		if (reader->scan - reader->start > keep)
			skip_to(reader, reader->scan - keep);
		return false;
	}
}

int block_reader_next(struct block_reader *reader, struct block *out)
{
	if (reader->is_synced && next_synced(reader, out))
		return BLOCK_WHOLE;
	if (!reader->is_synced && next_lost(reader, out))
		return BLOCK_WHOLE;
	return BLOCK_MORE;
}

void block_reader_gap(struct block_reader *reader, uint64_t offset)
{
	skip_to(reader, reader->end);
	reader->offset = offset;
	reader->start = reader->scan = reader->end = 0;
	reader->is_synced = reader->has_marker = false;
}

size_t block_reader_rest(const struct block_reader *reader)
{
	return reader->end - reader->start;
}

const uint8_t *block_reader_marker(const struct block_reader *reader)
{
	return reader->needle + sizeof check_head;
}
