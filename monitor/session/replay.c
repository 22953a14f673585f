#include "monitor/session/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/recording.h"
#include "widgets/units.h"

/* What one pass over the file finds out. */
struct scan {
	struct replay *replay;
	struct block_reader *reader;
	struct decoder *decoder;
	uint64_t mono_ns, real_ns;   /* of HELLO: tells wall time */
	uint64_t damaged_from_ns, damaged_to_ns;     /* ticks around all damage; to 0: none yet */
};

static bool index_add(struct replay *replay, uint64_t offset)
{
	if (replay->index_count % 256 == 0) {
		struct replay_index *index = realloc(replay->index, (replay->index_count + 256) * sizeof *index);

		if (!index)
			return false;
		replay->index = index;
	}
	replay->index[replay->index_count++] = (struct replay_index){ offset, replay->last_ns };
	return true;
}

static void scan_block(struct scan *scan, const struct block *block)
{
	struct replay *replay = scan->replay;
	const uint8_t *bytes = block->bytes;
	size_t count = block->byte_count;
	struct message message = { .kind = KIND_CHECK };

	if (block->skipped_bytes) {
		if (replay->damaged_bytes == 0) {
			replay->damaged_at = block->offset - block->skipped_bytes;
			scan->damaged_from_ns = replay->last_ns;
		}
		scan->damaged_to_ns = 0;
		replay->damaged_bytes += block->skipped_bytes;
	}
	decoder_reset(scan->decoder);
	replay->is_clean = false;
	while (count > 0 && decode_next(scan->decoder, &bytes, &count, &message) != DECODE_MORE) {
		if (message.kind == KIND_HELLO) {
			scan->mono_ns = message.hello.mono_ns;
			scan->real_ns = message.hello.real_ns;
			if (replay->index_count == 0)
				session_check_version(replay->session, &message.hello);
			/* HELLO opens an index point, in the first block and wherever one can enter. */
			index_add(replay, block->offset);
		} else if (message.kind == KIND_SNAPSHOT) {
			if (replay->first_ns == 0)
				replay->first_ns = message.snapshot.time_ns;
			if (message.snapshot.time_ns > replay->last_ns)
				replay->last_ns = message.snapshot.time_ns;
			if (scan->damaged_to_ns == 0)
				scan->damaged_to_ns = replay->last_ns;
		} else if (message.kind == KIND_END) {
			replay->is_clean = true;
		}
		message.kind = KIND_CHECK;      /* an error leaves it as it was */
	}
	replay->whole_bytes = block->offset + block->byte_count + CHECK_BYTES;
}

static int scan_file(struct replay *replay, struct scan *scan)
{
	for (;;) {
		struct block block;
		size_t room;
		uint8_t *bytes = block_reader_room(scan->reader, &room);
		ssize_t count = read(replay->fd, bytes, room);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return count < 0 ? -errno : 0;
		block_reader_filled(scan->reader, (size_t)count);
		while (block_reader_next(scan->reader, &block) == BLOCK_WHOLE)
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

static void clock_of(char out[UNITS_BYTES], const struct scan *scan, uint64_t time_ns)
{
	units_clock(out, (int64_t)(scan->real_ns + (time_ns - scan->mono_ns)), 0);
}

static void warn(const struct replay *replay, const struct scan *scan, struct problem *warning)
{
	char at[32], bytes[32], when[UNITS_BYTES], from[UNITS_BYTES], to[UNITS_BYTES];

	clock_of(when, scan, replay->last_ns);
	if (replay->damaged_bytes) {
		clock_of(from, scan, scan->damaged_from_ns ? scan->damaged_from_ns : replay->first_ns);
		clock_of(to, scan, scan->damaged_to_ns ? scan->damaged_to_ns : replay->last_ns);
		thousands(at, sizeof at, replay->damaged_at);
		thousands(bytes, sizeof bytes, replay->damaged_bytes);
		problem_set(warning, EXIT_RECORDING,
			    "%s: damaged at byte %s; skipped %s bytes to the next marker (%s to %s)", replay->path,
			    at, bytes, from, to);
		problem_todo(warning, "Everything outside of that is shown.");
	} else if (!replay->is_clean && replay->whole_bytes < replay->bytes) {
		thousands(at, sizeof at, replay->whole_bytes);
		problem_set(warning, EXIT_RECORDING, "%s: truncated at byte %s (%s); the %.1f %% before that are whole",
			    replay->path, at, when, 100.0 * (double)replay->whole_bytes / (double)replay->bytes);
		problem_todo(warning, "Showing those. The writer was killed or the disk filled up.");
	} else if (!replay->is_clean) {
		problem_set(warning, EXIT_RECORDING, "%s: not closed cleanly; whole up to its end (%s)", replay->path, when);
		problem_todo(warning, "Showing all of it. The writer was killed, or is still writing.");
	}
}

int replay_open(struct replay *replay, const char *path, struct session *session, struct problem *problem,
		struct problem *warning)
{
	struct scan scan = { .replay = replay };
	struct stat st;
	int err;

	*replay = (struct replay){ .session = session, .speed = 1, .is_playing = true };
	*warning = (struct problem){ 0 };
	snprintf(replay->path, sizeof replay->path, "%s", path);
	replay->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (replay->fd < 0 || fstat(replay->fd, &st) < 0) {
		problem_set(problem, errno == EACCES ? EXIT_PERMISSION : EXIT_RECORDING, "%s: %s", path, strerror(errno));
		problem_todo(problem, "Give the path of a recording.");
		replay_close(replay);
		return problem->code;
	}
	replay->bytes = (uint64_t)st.st_size;
	scan.reader = malloc(sizeof *scan.reader);
	scan.decoder = decoder_new();
	if (!scan.reader || !scan.decoder) {
		err = -ENOMEM;
	} else {
		block_reader_init(scan.reader);
		err = scan_file(replay, &scan);
	}
	/* An END in the middle is none. */
	replay->is_clean = replay->is_clean && replay->whole_bytes == replay->bytes;
	if (session->is_foreign) {
		*problem = session->problem;
	} else if (err == 0 && replay->index_count > 0 && replay->last_ns > 0) {
		warn(replay, &scan, warning);
		replay->position_ns = replay->first_ns;
		lseek(replay->fd, 0, SEEK_SET);
	} else {
		problem_set(problem, EXIT_RECORDING, "%s: %s", path,
			    err ? strerror(-err) : "holds no whole tick of a recording");
		problem_todo(problem, "It was cut right at its beginning, or is none.");
	}
	free(scan.reader);
	decoder_free(scan.decoder);
	if (problem->code != EXIT_DONE)
		replay_close(replay);
	return problem->code;
}

void replay_close(struct replay *replay)
{
	if (replay->fd >= 0)
		close(replay->fd);
	replay->fd = -1;
	free(replay->index);
	replay->index = NULL;
}

/* One more block into the session; false at the end. */
static bool feed(struct replay *replay)
{
	for (;;) {
		size_t room;
		uint8_t *bytes;
		ssize_t count;

		/* Wall time of the recording itself: nothing lags. */
		if (session_step(replay->session, 0))
			return true;
		if (replay->session->is_foreign)
			break;
		bytes = session_room(replay->session, &room);
		count = read(replay->fd, bytes, room);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		session_hold(replay->session, (size_t)count);
	}
	replay->is_at_end = true;
	return false;
}

bool replay_run(struct replay *replay, uint64_t until_ns)
{
	uint64_t ticks = model_ticks(replay->session->model);

	while (!replay->is_at_end) {
		uint64_t now_ns = model_time_ns(replay->session->model);

		/* Stands at the first tick at the moment or behind it. */
		if (now_ns && now_ns >= until_ns)
			break;
		feed(replay);
	}
	replay->position_ns = until_ns < replay->last_ns ? until_ns : replay->last_ns;
	return model_ticks(replay->session->model) != ticks;
}

bool replay_tick(struct replay *replay)
{
	uint64_t ticks = model_ticks(replay->session->model);

	while (model_ticks(replay->session->model) == ticks)
		if (!feed(replay))
			return false;
	replay->position_ns = model_time_ns(replay->session->model);
	return true;
}

void replay_seek(struct replay *replay, uint64_t time_ns)
{
	uint64_t history_ns = (uint64_t)LIMIT_HISTORY_S * 1000000000u;
	uint64_t from_ns = time_ns > history_ns ? time_ns - history_ns : 0, offset = 0;

	if (time_ns < replay->first_ns)
		time_ns = replay->first_ns;
	if (time_ns > replay->last_ns)
		time_ns = replay->last_ns;
	if (time_ns < replay->position_ns) {
		for (uint32_t i = 0; i < replay->index_count && replay->index[i].time_ns <= from_ns; i++)
			offset = replay->index[i].offset;
		lseek(replay->fd, (off_t)offset, SEEK_SET);
		if (session_restart(replay->session, offset) < 0)
			return;
		replay->is_at_end = false;
	}
	replay_run(replay, time_ns);
}
