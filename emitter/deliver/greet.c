#include "emitter/deliver/greet.h"

#include <unistd.h>

#include "emitter/core/clock.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/deliver/lease.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/snapshot.h"
#include "emitter/deliver/stream.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/level.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"

static bool sync_wanted;             /* read and written with the lock held */
static uint64_t next_sync_ns;

static void write_hello(struct writer *writer, const struct sink *sink, uint64_t now_ns)
{
	struct message message = { .kind = KIND_HELLO };
	char host[65] = "";

	gethostname(host, sizeof host - 1);
	message.hello = (struct message_hello){
		.major = PROTOCOL_MAJOR, .minor = PROTOCOL_MINOR, .stream = stream.id, .pid = (uint64_t)getpid(),
		.start_ns = stream.start_ns, .mono_ns = now_ns, .real_ns = clock_real_ns(),
		.marker = { (const char *)stream.marker, MARKER_BYTES }, .name = text_of(settings.name),
		.host = text_of(host), .version = text_of(TELEM_VERSION), .resolution_ns = clock_resolution_ns(),
		.uid = geteuid(), .tick_ns = LIMIT_TICK_NS_DEFAULT,
		.flush_ns = __atomic_load_n(&settings.flush_ns, __ATOMIC_RELAXED),
		.ring_bytes = __atomic_load_n(&settings.ring_bytes, __ATOMIC_RELAXED),
		.policy = __atomic_load_n(&settings.policy, __ATOMIC_RELAXED), .control = sink->may_control,
		.problem = text_of(settings.problem),
	};
	writer_message(writer, &message, now_ns);
}

static void write_class(struct writer *writer, uint32_t id, uint64_t now_ns)
{
	const struct class_entry *entry = &class_table.rows[id];
	struct message message = { .kind = KIND_CLASS,
				   .class = { id, text_of(entry->name), text_of(entry->help), entry->level,
					      entry->own_level, entry->was_off, lease_count((uint8_t)id),
					      entry->limit.one_in, entry->limit.per_second, entry->limit.burst } };

	writer_message(writer, &message, now_ns);
}

static void write_site(struct writer *writer, uint32_t id, uint64_t now_ns)
{
	const struct site_entry *entry = &site_table.rows[id];
	struct text fields[LIMIT_FIELDS];
	struct message message = { .kind = KIND_SITE };

	for (uint32_t i = 0; i < entry->field_count; i++)
		fields[i] = text_of(entry->fields[i]);
	message.site = (struct message_site){
		id, entry->class_id, entry->kind, entry->unit, entry->detail, text_of(entry->name),
		text_of(entry->file),
		entry->line, entry->level, entry->own_level, { fields, entry->field_count },
		entry->skip_mask + 1ull, entry->was_off,
	};
	writer_message(writer, &message, now_ns);
}

void greet_later(struct writer *writer, uint32_t *class_count, uint32_t *site_count, uint64_t now_ns)
{
	while (*class_count < class_table.count)
		write_class(writer, (*class_count)++, now_ns);
	while (*site_count < site_table.count)
		write_site(writer, (*site_count)++, now_ns);
}

void greet_task(struct writer *writer, const struct task *task, bool ended, uint64_t now_ns)
{
	struct message message = { .kind = KIND_TASK, .task = { (uint64_t)task->id, text_of(task->name),
								(uint64_t)task->thread_id, ended } };

	writer_message(writer, &message, now_ns);
}

static void write_level(uint32_t class_id, uint32_t site, uint8_t level, uint8_t own_level, uint64_t now_ns)
{
	uint64_t leases = site ? site_table.rows[site].leased_level != LEVEL_NONE : lease_count((uint8_t)class_id);
	const char *by = site ? levels_changed_by : class_table.rows[class_id].level_by;
	struct message message = { .kind = KIND_LEVEL,
				   .level = { now_ns, class_id, site, level, own_level, leases, text_of(by) } };

	writer_message(&writer_shared, &message, now_ns);
}

void greet(struct sink *sink, uint64_t tick, uint64_t now_ns)
{
	struct writer writer = { .sink = sink };

	/* Events that were taken before the greeting are sent before it, because its books count them as taken. */
	writer_seal(&writer_shared);
	if (sink_state(sink) == SINK_NEW || sink_state(sink) == SINK_DUMP) {
		sink->before = stream.taken;
		sink->taken = sink->delivered = sink->dropped = 0;
	}
	sink_greeted(sink);
	sink->wants_sync = false;
	write_hello(&writer, sink, now_ns);
	if (sink->is_regular) {
		struct message message;
		uint64_t offset = sink->recording.offset;

		/* Blocks that are still queued will be before it in the file. */
		for (uint32_t i = 0; i < sink->queue_count; i++)
			sink->recording.offset += sink->queue[(sink->queue_head + i) % SINK_QUEUE_ROOM]->length;
		recording_index(&sink->recording, now_ns, &message);
		sink->recording.offset = offset;
		writer_message(&writer, &message, now_ns);
	}
	for (uint32_t i = 0; i < class_table.count; i++)
		write_class(&writer, i, now_ns);
	for (uint32_t i = 1; i < site_table.count; i++)
		write_site(&writer, i, now_ns);
	for (const struct task *task = task_table.first; task; task = task->next)
		if (task_is_worth_sending(task))
			greet_task(&writer, task, false, now_ns);
	snapshot_write(&writer, tick, 0, true, now_ns);
	snapshot_sink(&writer, sink, tick, now_ns);
	writer_seal(&writer);
}

void greet_news(uint64_t now_ns)
{
	for (uint32_t i = 0; i < class_table.count; i++) {
		struct class_entry *entry = &class_table.rows[i];

		if (!entry->is_sent)
			write_class(&writer_shared, i, now_ns);
		else if (!entry->is_level_sent)
			write_level(i, 0, entry->level, entry->own_level, now_ns);
		entry->is_sent = entry->is_level_sent = true;
	}
	for (uint32_t i = 1; i < site_table.count; i++) {
		struct site_entry *entry = &site_table.rows[i];

		if (!entry->is_sent)
			write_site(&writer_shared, i, now_ns);
		else if (!entry->is_level_sent)
			write_level(entry->class_id, i, entry->level, entry->own_level, now_ns);
		entry->is_sent = entry->is_level_sent = true;
	}
	for (struct task *task = task_table.first; task; task = task->next) {
		if (task->is_sent || !task_is_worth_sending(task))
			continue;
		greet_task(&writer_shared, task, false, now_ns);
		task->is_sent = true;
	}
}

void goodbye(struct sink *sink, uint64_t tick, uint64_t now_ns)
{
	struct writer writer = { .sink = sink };
	struct message message = { .kind = KIND_BYE };

	/* The queue was too full for the greeting that was made when it began to leave. */
	if (sink_state(sink) == SINK_LEAVING_BEHIND)
		greet(sink, tick, now_ns);
	snapshot_sink(&writer, sink, tick, now_ns);
	/* The sum does not use stream.taken, because the stream has taken events for other sinks since this one began
	 * to leave. */
	message.bye = (struct message_bye){ now_ns, sink->before + sink->taken + sink->lost, sink->before,
					    sink->delivered, sink->dropped + sink->lost };
	writer_message(&writer, &message, now_ns);
	writer_seal(&writer);
}

void greet_begin(uint64_t now_ns)
{
	sync_wanted = false;
	next_sync_ns = now_ns + LIMIT_SYNC_NS;
}

void greet_all_soon(void)
{
	sync_wanted = true;
	wake_signal();
}

void greet_new(uint64_t tick, uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_state(&sinks[i]) == SINK_NEW)
			greet(&sinks[i], tick, now_ns);
}

static bool is_due(const struct sink *sink, bool all, uint64_t now_ns)
{
	bool is_time = sink->wants_sync || sync_wanted ||
		       (sink->is_regular ? recording_is_due(&sink->recording, LIMIT_INDEX_BYTES, now_ns) : all);

	switch (sink_state(sink)) {
	case SINK_NEW: return true;
	case SINK_STREAMING: return is_time;
	case SINK_BEHIND: return sink->queue_count <= LIMIT_QUEUE_BLOCKS / 2;
	default: return false;
	}
}

void greet_due(uint64_t tick, uint64_t now_ns)
{
	bool all = sync_wanted || now_ns >= next_sync_ns;

	if (all)
		next_sync_ns = now_ns + LIMIT_SYNC_NS;
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (is_due(&sinks[i], all, now_ns) && !(sinks[i].is_regular && sinks[i].retry_ns > now_ns))
			greet(&sinks[i], tick, now_ns);
	sync_wanted = false;
}
