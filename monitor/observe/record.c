#include "monitor/observe/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

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
	recorder->session->tee = NULL;
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

static void sync_hello(struct sync *sync, const struct model *model)
{
	const struct model_target *target = model_target(model);
	struct message message = { .kind = KIND_HELLO };

	message.hello = (struct message_hello){
		.major = target->major, .minor = target->minor, .stream = target->stream, .pid = target->pid,
		.start_ns = target->start_ns, .mono_ns = target->mono_ns, .real_ns = target->real_ns,
		.marker = { (const char *)block_reader_marker(sync->recorder->session->reader), MARKER_BYTES },
		.name = text_of(target->name), .host = text_of(target->host), .version = text_of(target->version),
		.resolution_ns = target->resolution_ns, .uid = target->uid, .tick_ns = target->tick_ns,
		.flush_ns = target->flush_ns, .ring_bytes = target->ring_bytes, .policy = target->policy,
	};
	sync_put(sync, &message);
}

static void sync_definitions(struct sync *sync, const struct model *model)
{
	for (uint32_t i = 0; i < model_class_count(model); i++) {
		const struct model_class *class = model_class(model, i);
		struct message message = { .kind = KIND_CLASS };

		message.class = (struct message_class){ i, text_of(class->name), text_of(class->help), class->level,
							class->own_level, class->was_off, class->leases, class->keep,
							class->per_second };
		if (class->is_defined)
			sync_put(sync, &message);
	}
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		struct text fields[LIMIT_FIELDS];
		struct message message = { .kind = KIND_SITE };

		for (uint32_t j = 0; j < site->field_count; j++)
			fields[j] = text_of(site->fields[j]);
		message.site = (struct message_site){ site->id, site->class_id, site->kind, site->unit, site->detail,
						      text_of(site->name), text_of(site->file), site->line, site->level,
						      site->own_level, { fields, site->field_count }, site->every };
		sync_put(sync, &message);
	}
	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);
		struct message message = { .kind = KIND_TASK };

		message.task = (struct message_task){ task->id, text_of(task->name), task->thread_id, 0 };
		if (!task->has_ended)
			sync_put(sync, &message);
	}
}

static void sync_row(struct sync *sync, uint64_t tick, uint32_t task, uint32_t site, const uint64_t figures[4])
{
	struct number numbers[5] = { number_of(site) };
	struct message message = { .kind = KIND_VALUES };

	for (int i = 0; i < 4; i++)
		numbers[i + 1] = (int64_t)figures[i] < 0 ? (struct number){ figures[i], NUMBER_INT } : number_of(figures[i]);
	message.values = (struct message_values){ tick, task, { numbers, 5 } };
	sync_put(sync, &message);
}

static void sync_buckets(struct sync *sync, uint64_t tick, uint32_t task, uint32_t site, const uint64_t *buckets)
{
	enum { PAIRS = 200 };
	struct number pairs[PAIRS * 2];
	uint32_t count = 0;

	for (uint32_t i = 0; buckets && i <= HISTOGRAM_BUCKETS; i++) {
		if (i == HISTOGRAM_BUCKETS ? count > 0 : count == PAIRS * 2) {
			struct message message = { .kind = KIND_BUCKETS, .buckets = { tick, task, site, { pairs, count } } };

			sync_put(sync, &message);
			count = 0;
		}
		if (i < HISTOGRAM_BUCKETS && buckets[i]) {
			pairs[count++] = number_of(i);
			pairs[count++] = number_of(buckets[i]);
		}
	}
}

static void sync_figures(struct sync *sync, const struct model *model)
{
	uint64_t tick = model_ticks(model);
	struct message message = { .kind = KIND_BOOKS };
	struct number rows[LIMIT_CLASSES * 4];
	uint32_t count = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		sync_row(sync, tick, TASK_ALL, site->id, (uint64_t[]){ site->count, site->sum, site->min, site->max });
		sync_buckets(sync, tick, TASK_ALL, site->id, site->buckets);
	}
	for (uint32_t i = 0; i < model_task_site_count(model); i++) {
		const struct task_site *pair = model_task_site(model, i);

		sync_row(sync, tick, pair->task, pair->site, (uint64_t[]){ pair->count, pair->sum, pair->min, pair->max });
		sync_buckets(sync, tick, pair->task, pair->site, pair->buckets);
	}
	for (uint32_t i = 0; i < model_class_count(model); i++) {
		const struct model_class *class = model_class(model, i);
		/* As they stand here and now in the stream, not at the last tick. */
		uint64_t taken = class->base_taken + class->received + class->lost;
		uint64_t emitted = class->emitted > taken + class->dropped ? class->emitted : taken + class->dropped;

		if (!class->is_defined || (emitted == 0 && !class->has_base))
			continue;
		rows[count++] = number_of(i);
		rows[count++] = number_of(emitted);
		rows[count++] = number_of(class->dropped);
		rows[count++] = number_of(taken);
	}
	message.books = (struct message_books){ tick, TASK_ALL, { rows, count } };
	sync_put(sync, &message);
	model_write_snapshot(model, &message);
	sync_put(sync, &message);
}

/* An index point; the first block begins with HELLO and INDEX. */
static void write_sync(struct recorder *recorder)
{
	const struct model *model = recorder->session->model;
	struct sync sync = { .recorder = recorder };
	struct message index;
	uint64_t events = model_link(model)->events;

	recorder->recording.last_ns = recorder->recording.index_count ? model_time_ns(model) : 0;
	/* Another program's stream counts from nothing. */
	recorder->recording.events = recorder->recording.index_count == 0
		? 0 : events - (events < recorder->told_events ? 0 : recorder->told_events);
	recorder->told_events = events;
	recorder->is_synced = true;
	encoder_init(&sync.encoder, sync.bytes, BLOCK_ROOM);
	sync_hello(&sync, model);
	recording_index(&recorder->recording, model_time_ns(model), &index);
	sync_put(&sync, &index);
	sync_definitions(&sync, model);
	sync_figures(&sync, model);
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
	session->tee = on_block;
	session->tee_arg = recorder;
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
	recorder->session->tee = NULL;
}
