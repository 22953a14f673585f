#include "monitor/observe/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "monitor/model/write.h"

enum { ROOM_TO_GO_ON = 64 << 10 };

/* Cuts back to what is whole: that stays good. */
static void stop_short(struct recorder *recorder, int err)
{
	recorder->recording = recorder->whole;
	if (ftruncate(recorder->fd, (off_t)recorder->recording.offset) < 0 ||
	    lseek(recorder->fd, 0, SEEK_END) < 0) {
		/* Then the reader finds the broken end, and says so. */
	}
	recorder->is_synced = false;
	recorder->is_full = err == ENOSPC || err == EDQUOT;
	recorder->has_gap = true;
	problem_set(&recorder->problem, EXIT_INTERNAL,
		    "recording stopped: %s: %s; %.1f MiB saved, whole up to its last block",
		    recorder->path, recorder->is_full ? "the disk is full" : strerror(err),
		    (double)recorder->recording.offset / (1 << 20));
	if (recorder->is_full)
		return;
	close(recorder->fd);
	recorder->fd = -1;
	session_ignore(recorder->session, &recorder->observer);
}

/* Asks once a second. */
static bool has_room_again(struct recorder *recorder, uint64_t now_ns)
{
	struct statvfs disk;

	if (now_ns - recorder->looked_ns < 1000000000u)
		return false;
	recorder->looked_ns = now_ns;
	return fstatvfs(recorder->fd, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM_TO_GO_ON;
}

static bool put(struct recorder *recorder, const uint8_t *bytes, size_t count)
{
	size_t done = 0;

	if (recorder->fd < 0 || recorder->is_full)
		return false;
	while (done < count) {
		ssize_t written = write(recorder->fd, bytes + done, count - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			stop_short(recorder, errno);
			return false;
		}
		done += (size_t)written;
	}
	recorder->recording.offset += count;
	return true;
}

/* ---- what the session knows, as blocks ---- */

struct sync {
	struct recorder *recorder;
	uint8_t bytes[LIMIT_BLOCK_BYTES];
	struct encoder encoder;
};

static void sync_seal(struct sync *sync)
{
	const struct session *session = sync->recorder->session;
	uint32_t count;

	if (sync->encoder.used == 0)
		return;
	count = block_seal(sync->bytes, sync->encoder.used, block_reader_marker(session->reader), session->last_number);
	put(sync->recorder, sync->bytes, count);
	encoder_init(&sync->encoder, sync->bytes, BLOCK_ROOM);
}

static void sync_put(struct sync *sync, const struct message *message)
{
	if (encode_message(&sync->encoder, message))
		return;
	sync_seal(sync);
	encode_message(&sync->encoder, message);
}

/* The file's first block begins with HELLO and INDEX, and so does every index point. */
static void sync_emit(void *arg, const struct message *message)
{
	struct sync *sync = arg;
	struct recorder *recorder = sync->recorder;
	const uint8_t *marker = block_reader_marker(recorder->session->reader);
	struct message out = *message;

	if (message->kind == KIND_HELLO) {
		out.hello.marker = (struct text){ (const char *)marker, MARKER_BYTES };
		sync_put(sync, &out);
		recording_index(&recorder->recording, model_time_ns(recorder->session->model), &out);
	}
	sync_put(sync, &out);
}

/* An index point; the first block begins with HELLO and INDEX. */
static void write_sync(struct recorder *recorder)
{
	const struct model *model = recorder->session->model;
	struct sync sync = { .recorder = recorder };
	uint64_t events = model_link(model)->events;

	recorder->recording.last_ns = recorder->recording.index_count ? model_time_ns(model) : 0;
	/* Another program's stream counts from nothing. */
	recorder->recording.events = recorder->recording.index_count == 0
		? 0 : events - (events < recorder->told_events ? 0 : recorder->told_events);
	recorder->told_events = events;
	recorder->is_synced = true;
	encoder_init(&sync.encoder, sync.bytes, BLOCK_ROOM);
	model_write(model, sync_emit, &sync);
	sync_seal(&sync);
	recorder->whole = recorder->recording;
}

/* ---- the stream itself ---- */

/* At the end, and where the stream was cut: behind it a reader begins anew. */
static bool write_end(struct recorder *recorder)
{
	uint8_t end[RECORDING_END_BYTES];

	if (recorder->recording.index_count == 0)
		return false;
	recording_end(&recorder->recording, end, block_reader_marker(recorder->session->reader),
		      recorder->session->last_number);
	return put(recorder, end, sizeof end);
}

static void on_block(void *arg, const struct block *block)
{
	struct recorder *recorder = arg;
	const struct model *model = recorder->session->model;

	if (!block) {
		write_end(recorder);
		return;
	}
	/* Only between ticks does the model know what a tick's figures are. */
	if (model_is_settled(model)) {
		uint64_t now_ns = model_time_ns(model);

		if (recorder->is_full)
			recorder->is_full = !has_room_again(recorder, now_ns);
		if (!recorder->is_full && (!recorder->is_synced || recording_is_due(&recorder->recording, now_ns)))
			write_sync(recorder);
	}
	if (!recorder->is_synced)
		return;
	/* Its CHECK lies right behind it. */
	put(recorder, block->bytes, block->byte_count + CHECK_BYTES);
	recorder->whole = recorder->recording;
}

void recorder_init(struct recorder *recorder)
{
	*recorder = (struct recorder){ .fd = -1 };
}

static void default_path(char *out, size_t out_bytes, const struct model *model)
{
	time_t now = (time_t)(model_real_ns(model, model_time_ns(model)) / 1000000000);
	char stamp[32] = "", name[64];
	struct tm when;
	size_t used = 0;

	if (localtime_r(&now, &when))
		strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &when);
	/* Of the target's name only what any file system and shell takes. */
	for (const char *at = model_target(model)->name; *at && used < sizeof name - 1; at++)
		if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
		    ((*at == '-' || *at == '_' || *at == '.') && used > 0))
			name[used++] = *at;
	name[used] = '\0';
	snprintf(out, out_bytes, "%s-%s.telem", used ? name : "session", stamp);
}

int recorder_start(struct recorder *recorder, struct session *session, const char *path, bool force,
		   struct problem *problem)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (force ? 0 : O_EXCL);

	recorder_init(recorder);
	if (path)
		snprintf(recorder->path, sizeof recorder->path, "%s", path);
	else
		default_path(recorder->path, sizeof recorder->path, session->model);
	recorder->fd = open(recorder->path, flags, 0600);
	if (recorder->fd < 0) {
		problem_set(problem, errno == EACCES ? EXIT_PERMISSION : EXIT_INTERNAL, "%s: %s", recorder->path,
			    errno == EEXIST ? "the file is there already" : strerror(errno));
		problem_todo(problem, errno == EEXIST ? "Choose another name, or give --force."
						      : "Choose another place with -o FILE.");
		return problem->code;
	}
	if (flock(recorder->fd, LOCK_EX | LOCK_NB) < 0) {
		close(recorder->fd);
		recorder->fd = -1;
		return problem_set(problem, EXIT_INTERNAL, "%s: somebody else is recording into it", recorder->path);
	}
	/* Not before it is ours. What is no file, like a pipe, has nothing to cut. */
	if (force && ftruncate(recorder->fd, 0) < 0 && errno != EINVAL) {
		problem_set(problem, EXIT_INTERNAL, "%s: %s", recorder->path, strerror(errno));
		close(recorder->fd);
		recorder->fd = -1;
		return problem->code;
	}
	recorder->session = session;
	recorder->started_ns = model_time_ns(session->model);
	recorder->observer = (struct observer){ .on_block = on_block, .arg = recorder };
	session_observe(session, &recorder->observer);
	return EXIT_DONE;
}

void recorder_stop(struct recorder *recorder)
{
	if (recorder->fd < 0)
		return;
	/* Ended before a block came: what is known now is the recording. */
	if (recorder->recording.index_count == 0)
		write_sync(recorder);
	if (write_end(recorder))
		fdatasync(recorder->fd);
	if (recorder->fd >= 0)
		close(recorder->fd);
	recorder->fd = -1;
	session_ignore(recorder->session, &recorder->observer);
}
