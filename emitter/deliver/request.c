#include "emitter/deliver/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/deliver/dump.h"
#include "emitter/deliver/fence.h"
#include "emitter/deliver/lease.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/level.h"
#include "emitter/record/sample.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"

static const char denied[] = "this way is for looking only; use the Unix socket, or start the program with ,control";

/* ---- the handlers: called with the lock held; *text is sent with the answer ---- */

/* Leases a level, persists it, or gives it back. class_id is that of the site when site is not 0. */
static enum ack_code change_level(struct sink *sink, uint8_t class_id, uint32_t site, uint64_t level, bool persist,
				  const char **text)
{
	uint8_t *own_level = site ? &site_table.rows[site].own_level : &class_table.rows[class_id].own_level;

	if (level == LEVEL_OWN) {
		lease_return(sink, class_id, site);
		if (site && persist)
			*own_level = LEVEL_NONE;
	} else if (level > LEVEL_ALL) {
		*text = "levels are 0, 1, 2 and 255";
		return ACK_BAD;
	} else if (persist) {
		lease_return(sink, class_id, site);
		*own_level = (uint8_t)level;
	} else if (!lease_take(sink, class_id, site, (uint8_t)level)) {
		*text = "too many leases";
		return ACK_LIMIT;
	}
	if (site)
		site_table.rows[site].is_level_sent = false;
	else
		class_table.rows[class_id].is_level_sent = false;
	levels_apply(sink->who);
	return ACK_DONE;
}

static enum ack_code answer_set_level(struct sink *sink, const struct message *message, const char **text,
				      uint64_t now_ns)
{
	const struct message_set_level *request = &message->set_level;
	uint8_t class_id = (uint8_t)request->class_id;

	(void)now_ns;
	if (request->site >= site_table.count && request->site) {
		*text = "no such site";
		return ACK_NO_SUCH;
	}
	if (request->site) {
		class_id = site_table.rows[request->site].class_id;
	} else if (request->class_id >= class_table.count) {
		*text = "no such class";
		return ACK_NO_SUCH;
	}
	return change_level(sink, class_id, (uint32_t)request->site, request->level, request->persist, text);
}

static enum ack_code answer_enable_all(struct sink *sink, const struct message *message, const char **text,
				       uint64_t now_ns)
{
	const struct message_enable_all *request = &message->enable_all;
	enum ack_code code = ACK_DONE;

	(void)now_ns;
	for (uint32_t i = 0; i < class_table.count && code == ACK_DONE; i++)
		code = change_level(sink, (uint8_t)i, 0, request->level, request->persist, text);
	return code;
}

static enum ack_code answer_flush(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	(void)sink, (void)message, (void)text, (void)now_ns;
	fence_ask();
	return ACK_DONE;
}

static enum ack_code answer_sync(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	(void)message, (void)text, (void)now_ns;
	sink->wants_sync = true;        /* it is greeted at the next turn */
	return ACK_DONE;
}

static bool is_within(uint64_t value, uint64_t least, uint64_t most, const char *range, const char **text)
{
	bool is_good = value >= least && value <= most;

	*text = is_good ? "" : range;
	return is_good;
}

static enum ack_code answer_tick(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	(void)now_ns;
	if (!is_within(message->tick.tick_ns, LIMIT_TICK_NS_MIN, LIMIT_TICK_NS_MAX, "a tick takes 0.1 to 60 s", text))
		return ACK_LIMIT;
	sink->tick_ns = message->tick.tick_ns;
	return ACK_DONE;
}

static enum ack_code answer_ring(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	(void)sink, (void)now_ns;
	if (!is_within(message->ring.ring_bytes, LIMIT_RING_BYTES_MIN, LIMIT_RING_BYTES_MAX,
		       "a ring has 64 KiB to 64 MiB", text))
		return ACK_LIMIT;
	telem_set_ring_bytes(message->ring.ring_bytes);
	return ACK_DONE;
}

static enum ack_code answer_policy(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	(void)sink, (void)now_ns;
	/* Only the program's owner may choose a policy that makes its threads wait. */
	if (message->policy.policy == TELEM_BLOCK) {
		*text = "only the program itself may choose to wait";
		return ACK_DENIED;
	}
	if (!is_within(message->policy.policy, 0, TELEM_OVERWRITE, "policies are 0 (drop) and 1 (overwrite)", text))
		return ACK_LIMIT;
	telem_set_policy((enum telem_policy)message->policy.policy, 0);
	return ACK_DONE;
}

static enum ack_code answer_interval(struct sink *sink, const struct message *message, const char **text,
				     uint64_t now_ns)
{
	(void)sink, (void)now_ns;
	if (!is_within(message->interval.flush_ns, LIMIT_FLUSH_NS_MIN, LIMIT_FLUSH_NS_MAX,
		       "the flush interval is 1 ms to 10 s", text))
		return ACK_LIMIT;
	telem_set_flush_interval(message->interval.flush_ns);
	return ACK_DONE;
}

static enum ack_code answer_ping(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	(void)sink, (void)message, (void)text, (void)now_ns;
	return ACK_DONE;
}

static enum ack_code answer_attach(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	const struct text *name = &message->attach.name;

	(void)text, (void)now_ns;
	snprintf(sink->who, sizeof sink->who, "%.*s", (int)name->length, name->bytes ? name->bytes : "");
	return ACK_DONE;
}

static enum ack_code answer_limit(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	const struct message_limit *request = &message->limit;
	const struct class_limit *limit;

	(void)sink, (void)now_ns;
	if (request->class_id >= class_table.count) {
		*text = "no such class";
		return ACK_NO_SUCH;
	}
	limit = &class_table.rows[request->class_id].limit;
	if (request->sample > UINT32_MAX && request->sample != LIMIT_AS_IT_IS) {
		*text = "one in at most 4294967295";
		return ACK_LIMIT;
	}
	if (request->burst > UINT32_MAX) {
		*text = "at most 4294967295 lines a second";
		return ACK_LIMIT;
	}
	class_limit((uint32_t)request->class_id,
		    request->sample == LIMIT_AS_IT_IS ? limit->one_in : (uint32_t)request->sample,
		    request->per_second == LIMIT_AS_IT_IS ? limit->per_second : request->per_second);
	/* 0 is what a viewer of an earlier version sends. */
	if (request->burst != 0)
		class_burst((uint32_t)request->class_id, (uint32_t)request->burst);
	levels_apply("a viewer");
	return ACK_DONE;
}

static enum ack_code answer_watch(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	const struct message_watch *request = &message->watch;

	(void)now_ns;
	if (!sink->may_control && request->what != WATCH_INSPECTION) {
		*text = denied;
		return ACK_DENIED;
	}
	if (!is_within(request->what, 0, WATCH_COUNT - 1, "there are 0 (recording), 1 (inspection) and 2 (budgets)",
		       text))
		return ACK_LIMIT;
	sink_watch(sink, (unsigned)request->what, request->on);
	return ACK_DONE;
}

#define DUMP_PAUSE_NS 5000000000u

static enum ack_code answer_dump(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	static uint64_t latest_ns;
	static char path[LIMIT_PATH_BYTES];  /* static, because *text may point to it */
	const struct text *asked = &message->dump.reason;
	char reason[LIMIT_NAME_BYTES];
	int result;

	(void)sink;
	/* A dump delays the stream and takes room on the disk, so there is a pause between two. */
	if (latest_ns && now_ns - latest_ns < DUMP_PAUSE_NS) {
		*text = "there was one within these 5 s";
		return ACK_LIMIT;
	}
	latest_ns = now_ns;
	settings_want_dumps();
	snprintf(reason, sizeof reason, "%.*s", (int)asked->length, asked->bytes ? asked->bytes : "");
	/* Writing a dump takes long, and takes the lock itself. */
	lock_release();
	result = dump_write(reason, path, now_ns);
	lock_take();
	*text = result < 0 ? strerror(-result) : path;
	return result < 0 ? ACK_LIMIT : ACK_DONE;
}

/* Writes the next rows of a task's samples, at most `most`. Returns how many; 0 when there are no more. */
static uint32_t write_held(struct writer *writer, struct message_held *held, uint32_t *at, uint32_t most, uint64_t now_ns)
{
	struct number numbers[HELD_ROWS * HELD_NUMBERS];
	struct message answer = { .kind = KIND_HELD };
	uint32_t count = 0;
	struct sample sample;

	while (count < most && count < HELD_ROWS && samples_next(at, &sample)) {
		struct number *row = &numbers[count * HELD_NUMBERS];

		if (held->task != TASK_ALL && (int)held->task != sample.task)
			continue;
		row[0] = number_of(sample.type);
		row[1] = number_of(sample.bytes);
		row[2] = number_of(clock_ns_of(sample.born_ticks));
		row[3] = number_of(sample.address);
		row[4] = number_of((uint64_t)task_of(sample.task)->id);
		row[5] = number_of(sample.tag);
		row[6] = number_of(1ull << sample.shift);
		count++;
	}
	held->rows = (struct list){ numbers, count * HELD_NUMBERS };
	held->next = *at;
	answer.held = *held;
	if (count > 0)
		writer_message(writer, &answer, now_ns);
	return count;
}

/* Answers with the sampled allocations of a task that are live. */
static enum ack_code answer_held(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	const struct message_ask_held *request = &message->ask_held;
	struct message_held held = { .request = request->request, .task = request->task };
	struct writer writer = { .sink = sink };
	uint32_t at = request->from < UINT32_MAX ? (uint32_t)request->from : UINT32_MAX, count;
	uint32_t left = request->most && request->most < UINT32_MAX ? (uint32_t)request->most : UINT32_MAX;

	if (request->task > INT32_MAX) {
		*text = "no such task";
		return ACK_NO_SUCH;
	}
	while (left > 0 && (count = write_held(&writer, &held, &at, left, now_ns)) > 0)
		left -= count;
	writer_seal(&writer);
	return ACK_DONE;
}

/* ---- the rows ---- */

enum role { VIEWER, CONTROLLER };
typedef enum ack_code handler(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns);

static const struct row { enum kind kind; enum role role; handler *handler; } rows[] = {
#define REQUEST(KIND, name, role, handler) { KIND_##KIND, role, answer_##handler },
#include "protocol/requests.def"
#undef REQUEST
};

static const struct row *row_of(enum kind kind)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].kind == kind)
			return &rows[i];
	return NULL;
}

static enum ack_code answer(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	const struct row *row = row_of(message->kind);

	if (!sink->may_control && !(row && row->role == VIEWER)) {
		*text = denied;
		return ACK_DENIED;
	}
	/* Requests can come by PATH.ctl of a FIFO that has no reader. A lease would then never end. */
	if (!sink_has_reader(sink)) {
		*text = "nobody reads the stream";
		return ACK_DENIED;
	}
	return row ? row->handler(sink, message, text, now_ns) : ACK_UNKNOWN;
}

/* ---- reading ---- */

static void acknowledge(struct sink *sink, uint64_t request, enum ack_code code, const char *text, uint64_t now_ns)
{
	struct writer writer = { .sink = sink };
	struct message message = { .kind = KIND_ACK, .ack = { request, code, text_of(text) } };

	if (!sink_has_reader(sink) || sink_state(sink) == SINK_NEW)
		return;
	writer_message(&writer, &message, now_ns);
	writer_seal(&writer);
}

bool request_is_heard(struct sink *sink, uint64_t now_ns)
{
	if (now_ns - sink->requests_from_ns >= 1000000000u) {
		sink->requests_from_ns = now_ns;
		sink->request_count = 0;
	}
	return sink->request_count < LIMIT_REQUESTS_PER_S;
}

/* Returns false when the bytes are not a request. */
static bool take_requests(struct sink *sink, const uint8_t *bytes, size_t count, uint64_t now_ns)
{
	if (!sink->decoder) {
		sink->decoder = memory_map(decoder_bytes());
		if (!sink->decoder)
			return false;
		decoder_reset(sink->decoder);
	}
	while (count > 0 || decoder_is_inside(sink->decoder)) {
		struct message message;
		size_t before = count;
		int result = decode_next(sink->decoder, &bytes, &count, &message);
		const char *text = "";
		enum ack_code code;

		if (result == DECODE_MORE)
			return true;
		if (result < 0 || before - count > LIMIT_REQUEST_BYTES ||
		    (result == DECODE_MESSAGE && message.kind < KIND_SET_LEVEL))
			return false;
		sink->request_count++;
		if (result == DECODE_SKIPPED) {
			acknowledge(sink, message.ping.request, ACK_UNKNOWN, "unknown request", now_ns);
			continue;
		}
		lock_take();
		code = answer(sink, &message, &text, now_ns);
		lock_release();
		/* Every request's first field is its number. */
		acknowledge(sink, message.ping.request, code, text, now_ns);
	}
	return true;
}

enum request_result request_read(struct sink *sink, int fd, uint64_t now_ns)
{
	enum { REQUEST_BYTES_MIN = 3 };
	uint8_t bytes[LIMIT_REQUESTS_PER_S * REQUEST_BYTES_MIN];
	uint32_t left = sink->request_count < LIMIT_REQUESTS_PER_S ? LIMIT_REQUESTS_PER_S - sink->request_count : 1;
	ssize_t count;

	if (!sink_has(sink, fd))
		return REQUEST_CLOSED;
	count = read(fd, bytes, left * REQUEST_BYTES_MIN);
	if (count > 0)
		return take_requests(sink, bytes, (size_t)count, now_ns) ? REQUEST_FINE : REQUEST_NONSENSE;
	return count < 0 && (errno == EAGAIN || errno == EINTR) ? REQUEST_FINE : REQUEST_CLOSED;
}
