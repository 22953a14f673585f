/* timeline_scan.c -- one pass over a recording: its points, its length in time, and what is damaged. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/session/timeline.h"
#include "protocol/decode.h"
#include "widgets/units.h"

struct scan {
	struct timeline *timeline;
	struct parser parser;
	struct decoder *decoder;
	uint64_t stream;                     /* of the latest HELLO */
	uint64_t damaged_from_ns, damaged_to_ns;     /* the ticks around all damage; damaged_to_ns 0: none behind it yet */
	struct problem *problem;
};

static void scan_message(struct scan *scan, const struct block *block, const struct message *message)
{
	struct timeline *timeline = scan->timeline;

	if (message->kind == KIND_HELLO) {
		scan->stream = message->hello.stream;
		timeline_greeting(timeline, message->hello.stream, message->hello.mono_ns, message->hello.real_ns);
		if (timeline->point_count == 0)
			session_check_version(&message->hello, scan->problem);
		/* HELLO opens a point, if a reader can enter there; else the only point is the beginning. */
		if (scan->parser.format->is_enterable)
			timeline_add_point(timeline, block->offset, timeline->last_ns);
		else if (timeline->point_count == 0)
			timeline_add_point(timeline, 0, 0);
	} else if (message->kind == KIND_SNAPSHOT) {
		timeline_tick(timeline, scan->stream, message->snapshot.time_ns);
		if (scan->damaged_to_ns == 0)
			scan->damaged_to_ns = timeline->last_ns;
	} else if (message->kind == KIND_END) {
		timeline->is_clean = true;
	}
}

static void scan_block(struct scan *scan, const struct block *block)
{
	struct timeline *timeline = scan->timeline;
	const uint8_t *bytes = block->bytes;
	size_t count = block->byte_count;
	struct message message = { .kind = KIND_CHECK };

	if (block->skipped_bytes) {
		if (timeline->damaged_bytes == 0) {
			timeline->damaged_at = timeline->whole_bytes;
			scan->damaged_from_ns = timeline->last_ns;
		}
		scan->damaged_to_ns = 0;
		timeline->damaged_bytes += block->skipped_bytes;
	}
	decoder_reset(scan->decoder);
	timeline->is_clean = false;
	while (count > 0 && decode_next(scan->decoder, &bytes, &count, &message) != DECODE_MORE) {
		scan_message(scan, block, &message);
		message.kind = KIND_CHECK;      /* after an error the message is the one before */
	}
	timeline->whole_bytes = scan->parser.format->is_enterable ? block->offset + block->byte_count + CHECK_BYTES
								   : scan->parser.offset;
}

/* 0 or a negative errno. */
static int scan_file(struct scan *scan)
{
	for (uint64_t offset = 0;;) {
		struct block block;
		size_t room;
		uint8_t *bytes = parser_room(&scan->parser, &room);
		int64_t count = source_read_at(scan->timeline->file, offset, bytes, room);
		int err;

		if (count <= 0)
			return (int)count;
		offset += (uint64_t)count;
		err = parser_filled(&scan->parser, (size_t)count);
		if (err < 0)
			return err;
		while (parser_next(&scan->parser, &block))
			scan_block(scan, &block);
	}
}

static void thousands(char *out, size_t out_bytes, uint64_t number)
{
	char digits[32];
	int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
	size_t used = 0;

	for (int i = 0; i < length && used + 2 < out_bytes; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
}

static void clock_text(char out[UNITS_BYTES], const struct timeline *timeline, uint64_t moment_ns)
{
	units_clock(out, timeline_real_ns(timeline, moment_ns), 0);
}

static void warn(const struct timeline *timeline, const struct scan *scan, struct problem *warning)
{
	const char *path = timeline->file->address.path;
	char at[32], bytes[32], when[UNITS_BYTES], from[UNITS_BYTES], to[UNITS_BYTES];

	clock_text(when, timeline, timeline->last_ns);
	if (timeline->damaged_bytes) {
		clock_text(from, timeline, scan->damaged_from_ns ? scan->damaged_from_ns : timeline->first_ns);
		clock_text(to, timeline, scan->damaged_to_ns ? scan->damaged_to_ns : timeline->last_ns);
		thousands(at, sizeof at, timeline->damaged_at);
		thousands(bytes, sizeof bytes, timeline->damaged_bytes);
		problem_set(warning, EXIT_RECORDING,
			    "%s: damaged at byte %s; skipped %s bytes to the next marker (%s to %s)", path,
			    at, bytes, from, to);
		problem_todo(warning, "Everything outside of that is shown.");
	} else if (!timeline->is_clean && timeline->whole_bytes < timeline->end) {
		thousands(at, sizeof at, timeline->whole_bytes);
		problem_set(warning, EXIT_RECORDING, "%s: truncated at byte %s (%s); the %.1f %% before that are whole",
			    path, at, when, 100.0 * (double)timeline->whole_bytes / (double)timeline->end);
		problem_todo(warning, "Showing those. The writer was killed or the disk filled up.");
	} else if (!timeline->is_clean) {
		problem_set(warning, EXIT_RECORDING, "%s: not closed cleanly; whole up to its end (%s)", path, when);
		problem_todo(warning, "Showing all of it. The writer was killed, or is still writing.");
	}
}

int timeline_open(struct timeline *timeline, struct source *file, struct problem *problem, struct problem *warning)
{
	struct scan scan = { .timeline = timeline, .decoder = decoder_new(), .problem = problem };
	const char *path = file->address.path;
	int err;

	*timeline = (struct timeline){ .file = file, .end = file->byte_count };
	*problem = *warning = (struct problem){ 0 };
	err = parser_init(&scan.parser);
	if (err == 0 && !scan.decoder)
		err = -ENOMEM;
	if (err == 0)
		err = scan_file(&scan);
	/* END counts only at the end of the file. */
	timeline->is_clean = timeline->is_clean && timeline->whole_bytes == timeline->end;
	if (problem->code == EXIT_DONE && (err < 0 || timeline->point_count == 0 || timeline->last_ns == 0)) {
		problem_set(problem, EXIT_RECORDING, "%s: %s", path,
			    err < 0 ? strerror(-err) : "holds no whole tick of a recording");
		problem_todo(problem, "It was cut right at its beginning, or is not a recording.");
	}
	if (problem->code == EXIT_DONE)
		warn(timeline, &scan, warning);
	else
		timeline_close(timeline);
	parser_fini(&scan.parser);
	decoder_free(scan.decoder);
	return problem->code;
}
