#include "monitor/format/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The room for bytes before the format is known. The first room() of every format is at least as large. */
#define LEAD_BYTES (64 << 10)

static const struct format *const formats[] = {
#define FORMAT(name) &format_##name,
#include "monitor/format/formats.def"
#undef FORMAT
};

const struct format *format_sniff(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i]->sniff(bytes, count))
			return formats[i];
	return NULL;
}

int parser_init(struct parser *parser)
{
	*parser = (struct parser){ .lead = malloc(LEAD_BYTES) };
	return parser->lead ? 0 : -ENOMEM;
}

void parser_fini(struct parser *parser)
{
	if (parser->format)
		parser->format->close(parser->state);
	free(parser->lead);
	*parser = (struct parser){ 0 };
}

uint8_t *parser_room(struct parser *parser, size_t *room)
{
	if (parser->format) {
		parser->given = parser->format->room(parser->state, room);
	} else {
		*room = LEAD_BYTES - parser->lead_count;
		parser->given = parser->lead + parser->lead_count;
	}
	return parser->given;
}

/* Finds the format of the lead, and gives the lead to it. */
static int begin(struct parser *parser)
{
	const struct format *format = format_sniff(parser->lead, parser->lead_count);
	size_t room;

	if (!format)
		format = &format_telem;
	parser->state = format->open();
	if (!parser->state)
		return -ENOMEM;
	parser->format = format;
	format->gap(parser->state, parser->offset - parser->lead_count);
	memcpy(format->room(parser->state, &room), parser->lead, parser->lead_count);
	format->filled(parser->state, parser->lead_count);
	parser->lead_count = 0;
	return 0;
}

int parser_filled(struct parser *parser, size_t count)
{
	size_t wanted = sizeof parser->first - parser->first_count, taken = count < wanted ? count : wanted;
	int err = 0;

	parser->offset += count;
	memcpy(parser->first + parser->first_count, parser->given, taken);
	parser->first_count += (uint32_t)taken;
	if (parser->format) {
		parser->format->filled(parser->state, count);
		return 0;
	}
	parser->lead_count += count;
	if (parser->lead_count >= FORMAT_SNIFF_BYTES)
		err = begin(parser);
	if (err < 0)
		parser->lead_count = 0;
	return err;
}

bool parser_next(struct parser *parser, struct block *block)
{
	return parser->format && parser->format->next(parser->state, block);
}

void parser_gap(struct parser *parser, uint64_t offset)
{
	if (parser->format) {
		/* The bytes of a block that is not whole are skipped, and counted. */
		parser->format->gap(parser->state, offset);
		parser->before = parser_figures(parser);
		parser->format->close(parser->state);
		parser->format = NULL;
	}
	parser->offset = offset;
	parser->first_count = 0;
	parser->lead_count = 0;
}

int parser_restart(struct parser *parser, uint64_t offset)
{
	void *state = parser->format ? parser->format->open() : NULL;

	if (parser->format && !state)
		return -ENOMEM;
	if (parser->format) {
		parser->format->close(parser->state);
		parser->format->gap(state, offset);
	}
	parser->state = state;
	parser->before = (struct format_figures){ 0 };
	parser->offset = offset;
	parser->first_count = 0;
	parser->lead_count = 0;
	return 0;
}

struct format_figures parser_figures(const struct parser *parser)
{
	struct format_figures figures = { 0 };

	if (parser->format)
		parser->format->figures(parser->state, &figures);
	figures.skipped_bytes += parser->before.skipped_bytes;
	figures.damaged_count += parser->before.damaged_count;
	return figures;
}

const uint8_t *parser_marker(const struct parser *parser)
{
	static const uint8_t none[MARKER_BYTES];

	return parser->format ? parser->format->marker(parser->state) : none;
}
