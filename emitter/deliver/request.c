#include "emitter/deliver/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emitter/core/emitter.h"
#include "emitter/deliver/flusher.h"
#include "emitter/deliver/sink.h"

/* ---- leases: in the order they were taken ---- */

static struct lease { const struct sink *sink; uint32_t site; uint8_t class_id, level; } leases[LIMIT_LEASES];
static uint32_t lease_total;

int lease_level(uint8_t class_id, uint32_t site)
{
	for (uint32_t i = lease_total; i-- > 0;)
		if (leases[i].site == site && (site || leases[i].class_id == class_id))
			return leases[i].level;
	return -1;
}

bool lease_is_of_site(uint32_t site)
{
	return lease_level(0, site) >= 0;
}

uint32_t lease_count(uint8_t class_id)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lease_total; i++)
		count += leases[i].class_id == class_id && leases[i].site == 0;
	return count;
}

/* Every lease that matches goes; site UINT32_MAX: any, of any class. */
static bool lease_remove(const struct sink *sink, uint8_t class_id, uint32_t site)
{
	uint32_t kept = 0, before = lease_total;

	for (uint32_t i = 0; i < lease_total; i++)
		if (leases[i].sink != sink ||
		    (site != UINT32_MAX && (leases[i].site != site || leases[i].class_id != class_id)))
			leases[kept++] = leases[i];
	lease_total = kept;
	return kept != before;
}

static bool lease_take(const struct sink *sink, uint8_t class_id, uint32_t site, uint8_t level)
{
	lease_remove(sink, class_id, site);
	if (lease_total == LIMIT_LEASES)
		return false;
	leases[lease_total++] = (struct lease){ sink, site, class_id, level };
	return true;
}

void leases_drop(const struct sink *sink)
{
	if (lease_remove(sink, 0, UINT32_MAX))
		levels_apply("a viewer that left");
}

void leases_forget(void)
{
	lease_total = 0;
}

/* ---- requests ---- */

static void acknowledge(struct sink *sink, uint64_t request, enum ack_code code, const char *text, uint64_t now_ns)
{
	struct writer writer = { .sink = sink };
	struct message message = { .kind = KIND_ACK, .ack = { request, code, text_of(text) } };

	if (!sink_is_streaming(sink) || sink->is_new)
		return;
	writer_message(&writer, &message, now_ns);
	writer_seal(&writer);
}

static enum ack_code set_level(struct sink *sink, const struct message_set_level *request, const char **text)
{
	uint8_t class_id = (uint8_t)request->class_id;
	uint32_t site = (uint32_t)request->site;

	if (request->site) {
		if (request->site >= emitter.site_count) {
			*text = "no such site";
			return ACK_NO_SUCH;
		}
		class_id = emitter.sites[site].class_id;
	} else if (request->class_id >= emitter.class_count) {
		*text = "no such class";
		return ACK_NO_SUCH;
	}
	if (request->level == LEVEL_OWN) {
		lease_remove(sink, class_id, site);
		if (site && request->persist)
			emitter.sites[site].own_level = LEVEL_FOLLOW;
	} else if (request->level > LEVEL_ALL) {
		*text = "levels are 0, 1, 2 and 255";
		return ACK_BAD;
	} else if (request->persist) {
		lease_remove(sink, class_id, site);
		if (site)
			emitter.sites[site].own_level = (uint8_t)request->level;
		else
			emitter.classes[class_id].own_level = (uint8_t)request->level;
	} else if (!lease_take(sink, class_id, site, (uint8_t)request->level)) {
		*text = "too many leases";
		return ACK_LIMIT;
	}
	if (site)
		emitter.sites[site].is_level_told = false;
	else
		emitter.classes[class_id].is_level_told = false;
	levels_apply(sink->who);
	return ACK_DONE;
}

static enum ack_code set_limit(const struct message_limit *request, const char **text)
{
	const struct class_limit *limit;

	if (request->class_id >= emitter.class_count) {
		*text = "no such class";
		return ACK_NO_SUCH;
	}
	limit = &emitter.classes[request->class_id].limit;
	if (request->sample > UINT32_MAX && request->sample != LIMIT_AS_IT_IS) {
		*text = "one in at most 4294967295";
		return ACK_LIMIT;
	}
	class_limit((uint32_t)request->class_id, request->sample == LIMIT_AS_IT_IS ? limit->keep : (uint32_t)request->sample,
		    request->per_second == LIMIT_AS_IT_IS ? limit->per_second : request->per_second);
	levels_apply("a viewer");
	return ACK_DONE;
}

enum { HELD_ROWS = 64 };

/* A task's sampled allocations that live. */
static void write_held(struct sink *sink, const struct message_interrogate *request, uint64_t now_ns)
{
	struct writer writer = { .sink = sink };
	struct number numbers[HELD_ROWS * 4];
	struct message message = { .kind = KIND_HELD };
	struct sample_info info;
	uint32_t at = 0, count;
	bool more;

	do {
		count = 0;
		while (count < HELD_ROWS * 4 && (more = samples_next(&at, (int)request->task, &info))) {
			numbers[count++] = number_of(info.site);
			numbers[count++] = number_of(info.bytes);
			numbers[count++] = number_of(clock_ns_of(info.born_ticks));
			numbers[count++] = number_of(info.address);
		}
		message.held = (struct message_held){ request->request, request->task, { numbers, count } };
		if (count > 0)
			writer_message(&writer, &message, now_ns);
	} while (more);
	writer_seal(&writer);
}

static enum ack_code enable_all(struct sink *sink, const struct message_enable_all *request, const char **text)
{
	enum ack_code code = ACK_DONE;

	for (uint32_t i = 0; i < emitter.class_count && code == ACK_DONE; i++)
		code = set_level(sink, &(struct message_set_level){ .class_id = i, .level = request->level,
								    .persist = request->persist }, text);
	return code;
}

static enum ack_code set_number(uint64_t value, uint64_t least, uint64_t most, const char *range, const char **text)
{
	*text = value < least || value > most ? range : "";
	return value < least || value > most ? ACK_LIMIT : ACK_DONE;
}

/* Viewers may SYNC, PING, choose their TICK and inspect; the rest changes the program and is for
 * those that may control it. */
static enum ack_code answer(struct sink *sink, const struct message *message, const char **text, uint64_t now_ns)
{
	enum ack_code code = ACK_DONE;

	if (!sink->may_control && message->kind != KIND_PING && message->kind != KIND_SYNC &&
	    message->kind != KIND_ATTACH && message->kind != KIND_TICK &&
	    !(message->kind == KIND_WATCH && message->watch.what == WATCH_INSPECTION)) {
		*text = "this way is for looking only; use the Unix socket, or start the program with ,control";
		return ACK_DENIED;
	}
	/* A FIFO's control way is open while nobody reads: a lease would have no end. */
	if (!sink_is_streaming(sink)) {
		*text = "nobody reads the stream";
		return ACK_DENIED;
	}
	switch (message->kind) {
	case KIND_SET_LEVEL:
		return set_level(sink, &message->set_level, text);
	case KIND_ENABLE_ALL:
		return enable_all(sink, &message->enable_all, text);
	case KIND_FLUSH:
		flusher_flush_soon();
		return ACK_DONE;
	case KIND_SYNC:
		sink->wants_sync = true;        /* greeted at the next turn */
		return ACK_DONE;
	case KIND_TICK:
		code = set_number(message->tick.tick_ns, LIMIT_TICK_NS_MIN, LIMIT_TICK_NS_MAX, "a tick takes 0.1 to 60 s",
				  text);
		if (code == ACK_DONE)
			sink->tick_ns = message->tick.tick_ns;
		return code;
	case KIND_RING:
		code = set_number(message->ring.ring_bytes, LIMIT_RING_BYTES_MIN, LIMIT_RING_BYTES_MAX,
				  "a ring has 64 KiB to 64 MiB", text);
		if (code == ACK_DONE)
			telem_set_ring_bytes(message->ring.ring_bytes);
		return code;
	case KIND_POLICY:
		/* Making a program wait is its owner's to choose. */
		if (message->policy.policy == TELEM_BLOCK) {
			*text = "only the program itself may choose to wait";
			return ACK_DENIED;
		}
		code = set_number(message->policy.policy, 0, TELEM_OVERWRITE, "policies are 0 (drop) and 1 (overwrite)",
				  text);
		if (code == ACK_DONE)
			telem_set_policy((enum telem_policy)message->policy.policy, 0);
		return code;
	case KIND_INTERVAL:
		code = set_number(message->interval.flush_ns, LIMIT_FLUSH_NS_MIN, LIMIT_FLUSH_NS_MAX,
				  "the flush interval is 1 ms to 10 s", text);
		if (code == ACK_DONE)
			telem_set_flush_interval(message->interval.flush_ns);
		return code;
	case KIND_LIMIT:
		return set_limit(&message->limit, text);
	case KIND_INTERROGATE:
		if (message->interrogate.task > INT32_MAX) {
			*text = "no such task";
			return ACK_NO_SUCH;
		}
		write_held(sink, &message->interrogate, now_ns);
		return ACK_DONE;
	case KIND_WATCH:
		code = set_number(message->watch.what, 0, WATCH_COUNT - 1,
				  "there are 0 (recording), 1 (inspection) and 2 (budgets)", text);
		if (code == ACK_DONE)
			sink_watch(sink, (unsigned)message->watch.what, message->watch.on);
		return code;
	case KIND_ATTACH:
		snprintf(sink->who, sizeof sink->who, "%.*s", (int)message->attach.name.length,
			 message->attach.name.bytes ? message->attach.name.bytes : "");
		return ACK_DONE;
	case KIND_PING:
		return ACK_DONE;
	default:                        /* a kind of the stream: not answered, see control_bytes() */
		return ACK_UNKNOWN;
	}
}

#define DUMP_PAUSE_NS 5000000000u

/* Not locked: it takes its time. */
static enum ack_code write_dump(const struct message_dump *request, char path[LIMIT_PATH_BYTES], const char **text,
				uint64_t now_ns)
{
	static uint64_t latest_ns;
	char reason[LIMIT_NAME_BYTES];
	int result;

	/* Each holds up the stream for a while, and takes room on somebody's disk. */
	if (latest_ns && now_ns - latest_ns < DUMP_PAUSE_NS) {
		*text = "there was one within these 5 s";
		return ACK_LIMIT;
	}
	latest_ns = now_ns;
	snprintf(reason, sizeof reason, "%.*s", (int)request->reason.length,
		 request->reason.bytes ? request->reason.bytes : "");
	result = dump_write(reason, path, now_ns);
	*text = result < 0 ? strerror(-result) : path;
	return result < 0 ? ACK_LIMIT : ACK_DONE;
}

/* False: it talks nonsense. */
static bool take_requests(struct sink *sink, const uint8_t *bytes, size_t count, uint64_t now_ns)
{
	if (!sink->decoder) {
		sink->decoder = emitter_map(decoder_bytes());
		if (!sink->decoder)
			return false;
		decoder_reset(sink->decoder);
	}
	while (count > 0 || decoder_is_inside(sink->decoder)) {
		struct message message;
		size_t before = count;
		int result = decode_next(sink->decoder, &bytes, &count, &message);
		char path[LIMIT_PATH_BYTES];
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
		if (message.kind == KIND_DUMP && sink->may_control && sink_is_streaming(sink)) {
			code = write_dump(&message.dump, path, &text, now_ns);
		} else {
			emitter_lock();
			code = answer(sink, &message, &text, now_ns);
			emitter_unlock();
		}
		/* Every request's first field is its number. */
		acknowledge(sink, message.ping.request, code, text, now_ns);
	}
	return true;
}

enum control_result control_read(struct sink *sink, int fd, uint64_t now_ns)
{
	enum { REQUEST_BYTES_MIN = 3 };
	uint8_t bytes[LIMIT_REQUESTS_PER_S * REQUEST_BYTES_MIN];
	uint32_t left = sink->request_count < LIMIT_REQUESTS_PER_S ? LIMIT_REQUESTS_PER_S - sink->request_count : 1;
	ssize_t count = read(fd, bytes, left * REQUEST_BYTES_MIN);

	if (count > 0)
		return take_requests(sink, bytes, (size_t)count, now_ns) ? CONTROL_FINE : CONTROL_NONSENSE;
	return count < 0 && (errno == EAGAIN || errno == EINTR) ? CONTROL_FINE : CONTROL_CLOSED;
}
