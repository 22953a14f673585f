#include "tests/support/reader.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct reader_task *task_at(struct reader *reader, uint64_t id)
{
	uint32_t slot = id & (LIMIT_TASKS - 1);

	if (!reader->tasks[slot]) {
		reader->tasks[slot] = calloc(1, sizeof **reader->tasks);
		assert_non_null(reader->tasks[slot]);
	}
	if (slot >= reader->task_count)
		reader->task_count = slot + 1;
	return reader->tasks[slot];
}

struct reader *reader_new(int fd)
{
	struct reader *reader = calloc(1, sizeof *reader);

	assert_non_null(reader);
	assert_true(fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	reader->fd = fd;
	block_reader_init(&reader->blocks);
	reader->decoder = decoder_new();
	reader->tasks = calloc(LIMIT_TASKS, sizeof *reader->tasks);
	assert_non_null(reader->decoder);
	assert_non_null(reader->tasks);
	task_at(reader, TASK_ALL);
	return reader;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	decoder_free(reader->decoder);
	free(reader->sites);
	for (uint32_t i = 0; i < reader->task_count; i++)
		if (reader->tasks[i]) {
			free(reader->tasks[i]->sums);
			free(reader->tasks[i]);
		}
	free(reader->tasks);
	free(reader->events);
	free(reader);
}

static struct reader *reader_connect(int family, const void *address, socklen_t length)
{
	struct proc_wait wait = proc_wait_begin(5000);
	int fd;

	for (;;) {
		fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_true(fd >= 0);
		if (connect(fd, address, length) == 0)
			return reader_new(fd);
		close(fd);
		if (!proc_wait_more(&wait))
			proc_wait_failed(&wait, "connecting", __FILE__, __LINE__);
	}
}

struct reader *reader_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	assert_true(strlen(path) < sizeof address.sun_path);
	strcpy(address.sun_path, path);
	return reader_connect(AF_UNIX, &address, sizeof address);
}

struct reader *reader_tcp(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return reader_connect(AF_INET, &address, sizeof address);
}

/* ---- what messages mean ---- */

static void copy(char *out, size_t room, const struct text *text)
{
	snprintf(out, room, "%.*s", (int)text->length, text->bytes ? text->bytes : "");
}

static struct reader_site *site_at(struct reader *reader, uint64_t id)
{
	assert_in_range(id, 1, LIMIT_SITES - 1);
	if (id >= reader->site_room) {
		uint32_t room = (uint32_t)id + 16;

		reader->sites = realloc(reader->sites, room * sizeof *reader->sites);
		assert_non_null(reader->sites);
		memset(reader->sites + reader->site_room, 0, (room - reader->site_room) * sizeof *reader->sites);
		reader->site_room = room;
	}
	return &reader->sites[id];
}

static struct reader_site *told_site(struct reader *reader, uint64_t id)
{
	struct reader_site *site = site_at(reader, id);

	assert_int_equal(site->id, id);      /* a definition comes before any use */
	return site;
}

static void on_event(struct reader *reader, uint64_t task_id, uint64_t site_id, uint64_t time_ns, uint64_t value)
{
	struct reader_site *site = told_site(reader, site_id);
	struct reader_task *task = task_at(reader, task_id);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	/* A millisecond is allowed, because the rate of the clock is only measured. */
	assert_true(time_ns <= (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 1000000);
	assert_true(task->is_known);
	site->event_count++;
	site->event_sum += value;
	task->event_count++;
	task->next_seq++;
	if (reader->keeps_events) {
		if (reader->event_count >= reader->event_room) {
			reader->event_room = (reader->event_count + 512) * 2;
			reader->events = realloc(reader->events, reader->event_room * sizeof *reader->events);
			assert_non_null(reader->events);
		}
		reader->events[reader->event_count] =
			(struct reader_event){ (uint32_t)task_id, (uint32_t)site_id, time_ns, value };
	}
	reader->event_count++;
}

static void on_batch(struct reader *reader, const struct message_batch *batch)
{
	struct reader_task *task = task_at(reader, batch->task);

	if (task->has_seq && task->next_seq != batch->seq) {
		reader->gap_count++;
		assert_true(reader->is_lossy);
	}
	task->next_seq = batch->seq;
	task->has_seq = true;
	for (uint32_t i = 0; i < batch->events.count; i++) {
		const struct event *event = &batch->events.events[i];

		on_event(reader, batch->task, event->site, batch->base_ns + event->dt_ns, event->value);
	}
}

static void on_values(struct reader *reader, const struct message_values *values)
{
	assert_int_equal(values->rows.count % 5, 0);
	for (uint32_t i = 0; i < values->rows.count; i += 5) {
		const struct number *row = values->rows.numbers + i;
		struct reader_site *site = told_site(reader, row[0].bits);

		if (values->task != TASK_ALL) {
			struct reader_task *task = task_at(reader, values->task);

			if (!task->sums)
				task->sums = calloc(READER_TASK_SITES, sizeof *task->sums);
			assert_true(task->sums && site->id < READER_TASK_SITES);
			task->sums[site->id] = row[2].bits;
			continue;
		}
		assert_true(row[1].bits >= site->count);     /* never backwards */
		site->count = row[1].bits;
		site->sum = row[2].bits;
		site->min = row[3].bits;
		site->max = row[4].bits;
		site->bucket_total = 0;
		memset(site->buckets, 0, sizeof site->buckets);
	}
}

static void on_buckets(struct reader *reader, const struct message_buckets *buckets)
{
	struct reader_site *site = told_site(reader, buckets->site);

	if (buckets->task != TASK_ALL)
		return;
	for (uint32_t i = 0; i + 1 < buckets->pairs.count; i += 2) {
		const struct number *pair = buckets->pairs.numbers + i;

		assert_true(pair[0].bits < HISTOGRAM_BUCKETS);
		site->buckets[pair[0].bits] = pair[1].bits;
		site->bucket_total += pair[1].bits;
	}
}

static void on_books(struct reader *reader, const struct message_books *books)
{
	struct reader_task *task = task_at(reader, books->task);

	for (uint32_t i = 0; i + 3 < books->rows.count; i += 4) {
		const struct number *row = books->rows.numbers + i;

		assert_true(row[0].bits < LIMIT_CLASSES);
		task->books[row[0].bits].emitted = row[1].bits;
		task->books[row[0].bits].dropped = row[2].bits;
		task->books[row[0].bits].taken = row[3].bits;
	}
}

static void on_hello(struct reader *reader, const struct message_hello *hello)
{
	assert_int_equal(hello->major, PROTOCOL_MAJOR);
	assert_true(reader->stream == 0 || reader->stream == hello->stream || reader->is_lossy);
	reader->is_being_greeted = true;
	reader->stream = hello->stream;
	reader->pid = hello->pid;
	reader->control = hello->control;
	reader->policy = hello->policy;
	if (!reader->first_ns)
		reader->first_ns = hello->mono_ns;
	copy(reader->program, sizeof reader->program, &hello->name);
}

static void on_class(struct reader *reader, const struct message_class *message)
{
	struct reader_class *class = &reader->classes[message->id];

	assert_true(message->id < LIMIT_CLASSES);
	copy(class->name, sizeof class->name, &message->name);
	class->level = (uint32_t)message->level;
	class->own_level = (uint32_t)message->own_level;
	class->leases = (uint32_t)message->leases;
}

static void on_site(struct reader *reader, const struct message_site *message)
{
	struct reader_site *site = site_at(reader, message->id);

	site->id = (uint32_t)message->id;
	site->class_id = (uint32_t)message->class_id;
	site->kind = (uint32_t)message->kind;
	site->unit = (uint32_t)message->unit;
	site->detail = (uint32_t)message->detail;
	site->line = (uint32_t)message->line;
	site->level = (uint32_t)message->level;
	site->own_level = (uint32_t)message->own_level;
	site->every = (uint32_t)message->every;
	site->field_count = message->fields.count;
	copy(site->name, sizeof site->name, &message->name);
	for (uint32_t i = 0; i < site->field_count && i < LIMIT_FIELDS; i++)
		copy(site->fields[i], sizeof site->fields[i], &message->fields.texts[i]);
	assert_true(reader->classes[site->class_id].name[0]);
}

static void on_level(struct reader *reader, const struct message_level *message)
{
	struct reader_class *class = &reader->classes[message->class_id];

	if (message->site) {
		told_site(reader, message->site)->level = (uint32_t)message->level;
		return;
	}
	class->level = (uint32_t)message->level;
	class->own_level = (uint32_t)message->own_level;
	class->leases = (uint32_t)message->leases;
	class->level_count++;
	copy(class->by, sizeof class->by, &message->by);
}

static void on_task(struct reader *reader, const struct message_task *message)
{
	struct reader_task *task = task_at(reader, message->id);
	char name[LIMIT_NAME_BYTES];

	copy(name, sizeof name, &message->name);
	if (strcmp(name, task->name) || task->has_ended) {
		if (task->has_ended) {
			free(task->sums);
			*task = (struct reader_task){ .is_known = true };
		}
		strcpy(task->name, name);
	}
	task->is_known = true;
	task->has_ended = message->ended;
	task->thread_id = message->thread_id;
}

static void on_holders(struct reader *reader, const struct message_holders *message)
{
	const struct number *row = message->rows.numbers;

	if (message->part == 0)
		reader->holder_count = 0;
	reader->mean_bytes = message->mean_bytes;
	assert_int_equal(message->rows.count % HOLDER_NUMBERS, 0);
	for (uint32_t i = 0; i < message->rows.count; i += HOLDER_NUMBERS, row += HOLDER_NUMBERS) {
		assert_true(reader->holder_count < sizeof reader->holders / sizeof *reader->holders);
		reader->holders[reader->holder_count++] = (struct reader_holder){
			row[0].bits, row[1].bits, row[2].bits, row[3].bits, row[4].bits, row[5].bits,
		};
	}
}

static void on_message(struct reader *reader, const struct message *message)
{
	reader->kind_count[message->kind & 0xff]++;
	switch (message->kind) {
	case KIND_HELLO: on_hello(reader, &message->hello); break;
	case KIND_CLASS: on_class(reader, &message->class); break;
	case KIND_SITE: on_site(reader, &message->site); break;
	case KIND_TASK: on_task(reader, &message->task); break;
	case KIND_BATCH: on_batch(reader, &message->batch); break;
	case KIND_VALUES: on_values(reader, &message->values); break;
	case KIND_BUCKETS: on_buckets(reader, &message->buckets); break;
	case KIND_BOOKS: on_books(reader, &message->books); break;
	case KIND_LEVEL: on_level(reader, &message->level); break;
	case KIND_SNAPSHOT: reader->snapshot = message->snapshot; break;
	case KIND_SINK:
		reader->sink = message->sink;
		assert_int_equal(message->sink.taken, message->sink.delivered + message->sink.dropped +
				 message->sink.queued);
		reader->greeting_count += reader->is_being_greeted;
		reader->is_being_greeted = false;
		break;
	case KIND_RECORD:
		on_event(reader, message->record.task, message->record.site, message->record.time_ns, 0);
		reader->record_count = message->record.values.count;
		memcpy(reader->record, message->record.values.numbers, reader->record_count * sizeof *reader->record);
		break;
	case KIND_LOG:
		on_event(reader, message->log.task, message->log.site, message->log.time_ns, 0);
		copy(reader->log_text, sizeof reader->log_text, &message->log.text);
		reader->log_cut = message->log.cut;
		reader->log_folded += message->log.folded;
		reader->log_severity = message->log.severity;
		break;
	case KIND_ACK:
		reader->ack_request = message->ack.request;
		reader->ack_code = message->ack.code;
		reader->ack_count++;
		copy(reader->ack_text, sizeof reader->ack_text, &message->ack.text);
		break;
	case KIND_BYE:
		assert_false(reader->has_bye);
		reader->bye = message->bye;
		reader->has_bye = true;
		break;
	case KIND_FRAME:
		reader->frame = message->frame;
		assert_true(message->frame.figures.count <= sizeof reader->frame_figures / 8);
		for (uint32_t i = 0; i < message->frame.figures.count; i++)
			reader->frame_figures[i] = message->frame.figures.numbers[i].bits;
		reader->frame_broken_count += message->frame.broken != 0;
		break;
	case KIND_HELD:
		reader->held_task = message->held.task;
		reader->held_count += message->held.rows.count / HELD_NUMBERS;
		reader->held_next = message->held.next;
		break;
	case KIND_FOLDED:
		if (reader->folded_prefix && message->folded.text.length >= strlen(reader->folded_prefix) &&
		    !strncmp(message->folded.text.bytes, reader->folded_prefix, strlen(reader->folded_prefix)))
			reader->folded_count += message->folded.folded;
		break;
	case KIND_HOLDERS: on_holders(reader, &message->holders); break;
	default:
		/* The other kinds are for tests about them. A program never sends a request. */
		if (message->kind >= KIND_SET_LEVEL) {
			proc_printf("kind %d\n", (int)message->kind);
			fail_msg("a program has sent a request");
		}
	}
}

static void take_blocks(struct reader *reader)
{
	struct block block;

	while (block_reader_next(&reader->blocks, &block) == BLOCK_WHOLE) {
		const uint8_t *bytes = block.bytes;
		size_t count = block.byte_count;

		reader->block_count++;
		if (block.skipped_bytes)
			assert_true(reader->is_lossy);
		while (count > 0) {
			struct message message;

			assert_int_equal(decode_next(reader->decoder, &bytes, &count, &message), DECODE_MESSAGE);
			on_message(reader, &message);
		}
	}
}

bool reader_pump(struct reader *reader)
{
	size_t room;
	uint8_t *at = block_reader_room(&reader->blocks, &room);
	ssize_t count = reader->at_end ? 0 : read(reader->fd, at, room);

	if (count < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNRESET)
		proc_failed(strerror(errno), __FILE__, __LINE__);
	if (count == 0 || (count < 0 && errno == ECONNRESET))
		reader->at_end = true;
	if (count <= 0)
		return false;
	reader->byte_count += (uint64_t)count;
	block_reader_filled(&reader->blocks, (size_t)count);
	take_blocks(reader);
	return true;
}

void reader_feed(struct reader *reader, const uint8_t *bytes, size_t count)
{
	while (count > 0) {
		size_t room;
		uint8_t *at = block_reader_room(&reader->blocks, &room);

		if (room > count)
			room = count;
		memcpy(at, bytes, room);
		block_reader_filled(&reader->blocks, room);
		take_blocks(reader);
		bytes += room;
		count -= room;
	}
}

void reader_wait(struct reader *reader)
{
	struct pollfd fd = { .fd = reader->at_end ? -1 : reader->fd, .events = POLLIN };

	poll(&fd, 1, 5);
}

void reader_to_end(struct reader *reader)
{
	READ_UNTIL(reader, reader->at_end);
}

/* ---- asking ---- */

const struct reader_class *reader_class(const struct reader *reader, const char *name)
{
	for (int i = 0; i < LIMIT_CLASSES; i++)
		if (!strcmp(reader->classes[i].name, name))
			return &reader->classes[i];
	return NULL;
}

const struct reader_site *reader_site(const struct reader *reader, const char *name)
{
	for (uint32_t id = 1; id < reader->site_room; id++) {
		const struct reader_site *site = &reader->sites[id];
		const char *class_name = reader->classes[site->class_id].name;
		size_t length = strlen(class_name);

		if (site->id && !strncmp(name, class_name, length) && name[length] == '.' &&
		    !strcmp(name + length + 1, site->name))
			return site;
	}
	return NULL;
}

const struct reader_task *reader_task(const struct reader *reader, const char *name)
{
	for (uint32_t i = 0; i < reader->task_count; i++)
		if (reader->tasks[i] && reader->tasks[i]->is_known && !strcmp(reader->tasks[i]->name, name))
			return reader->tasks[i];
	return NULL;
}

void reader_send(struct reader *reader, const void *bytes, size_t count)
{
	assert_int_equal(send(reader->fd, bytes, count, MSG_NOSIGNAL), count);
}

uint64_t reader_request(struct reader *reader, struct message request)
{
	uint8_t bytes[LIMIT_BLOCK_BYTES];
	struct encoder encoder;
	uint64_t before = reader->ack_count;

	encoder_init(&encoder, bytes, sizeof bytes);
	request.ping.request = ++reader->next_request;
	assert_true(encode_message(&encoder, &request));
	reader_send(reader, bytes, encoder.used);
	READ_UNTIL(reader, reader->ack_count > before);
	assert_int_equal(reader->ack_request, reader->next_request);
	return reader->ack_code;
}

void reader_check_books(const struct reader *reader)
{
	const struct message_bye *bye = &reader->bye;

	assert_true(reader->has_bye);
	assert_int_equal(bye->emitted, bye->before + bye->delivered + bye->dropped);
	assert_int_equal(reader->event_count, bye->delivered);
}
