/* format_telem.c -- the stream of libtelem, and recordings of it: the blocks are there already, and are checked. */
#include <stdlib.h>
#include <string.h>

#include "monitor/format/format.h"

/* A HELLO may stand behind the rest of an earlier stream. */
static bool sniff(const uint8_t *bytes, size_t count)
{
	return memmem(bytes, count, hello_magic, sizeof hello_magic) != NULL;
}

static void *open_stream(void)
{
	struct block_reader *reader = malloc(sizeof *reader);

	if (reader)
		block_reader_init(reader);
	return reader;
}

static uint8_t *room_of(void *state, size_t *room)
{
	return block_reader_room(state, room);
}

static void filled(void *state, size_t count)
{
	block_reader_filled(state, count);
}

static bool next(void *state, struct block *block)
{
	return block_reader_next(state, block) == BLOCK_WHOLE;
}

static void gap(void *state, uint64_t offset)
{
	block_reader_gap(state, offset);
}

static void figures(const void *state, struct format_figures *out)
{
	const struct block_reader *reader = state;

	*out = (struct format_figures){ reader->skipped_bytes, reader->damaged_count };
}

static const uint8_t *marker(const void *state)
{
	return block_reader_marker(state);
}

const struct format format_telem = {
	.name = "telem", .is_enterable = true, .sniff = sniff, .open = open_stream, .close = free, .room = room_of,
	.filled = filled, .next = next, .gap = gap, .figures = figures, .marker = marker,
};
