#include "emitter/deliver/greet.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emitter/deliver/request.h"
#include "emitter/core/emitter.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/snapshot.h"

static void tell_hello(struct writer *writer, const struct sink *sink, uint64_t now_ns)
{
	struct message message = { .kind = KIND_HELLO };
	char host[65] = "";

	gethostname(host, sizeof host - 1);
	message.hello = (struct message_hello){
		.major = PROTOCOL_MAJOR, .minor = PROTOCOL_MINOR, .stream = stream.id, .pid = (uint64_t)getpid(),
		.start_ns = stream.start_ns, .mono_ns = now_ns, .real_ns = clock_real_ns(),
		.marker = { (const char *)stream.marker, MARKER_BYTES }, .name = text_of(emitter.name),
		.host = text_of(host), .version = text_of(TELEM_VERSION), .resolution_ns = clock_resolution_ns(),
		.uid = geteuid(), .tick_ns = LIMIT_TICK_NS_DEFAULT,
		.flush_ns = __atomic_load_n(&emitter.flush_ns, __ATOMIC_RELAXED),
		.ring_bytes = __atomic_load_n(&emitter.ring_bytes, __ATOMIC_RELAXED),
		.policy = __atomic_load_n(&emitter.policy, __ATOMIC_RELAXED), .control = sink->may_control,
	};
	writer_message(writer, &message, now_ns);
}

static void tell_class(struct writer *writer, uint32_t id, uint64_t now_ns)
{
	const struct class_entry *entry = &emitter.classes[id];
	struct message message = { .kind = KIND_CLASS,
				   .class = { id, text_of(entry->name), text_of(entry->help), entry->level,
					      entry->own_level, entry->was_off, lease_count((uint8_t)id),
					      entry->limit.keep, entry->limit.per_second } };

	writer_message(writer, &message, now_ns);
}

static void tell_site(struct writer *writer, uint32_t id, uint64_t now_ns)
{
	const struct site_entry *entry = &emitter.sites[id];
	struct text fields[LIMIT_FIELDS];
	struct message message = { .kind = KIND_SITE };

	for (uint32_t i = 0; i < entry->field_count; i++)
		fields[i] = text_of(entry->fields[i]);
	message.site = (struct message_site){
		id, entry->class_id, entry->kind, entry->unit, entry->detail, text_of(entry->name), text_of(entry->file),
		entry->line, entry->level, entry->own_level, { fields, entry->field_count },
		entry->skip_mask + 1ull,
	};
	writer_message(writer, &message, now_ns);
}

bool is_worth_telling(const struct task *task)
{
	return (task != &emitter.ended_task && task != &emitter.shared_task) ||
	       __atomic_load_n(&task->is_used, __ATOMIC_RELAXED);
}

void tell_later(struct writer *writer, uint32_t *class_count, uint32_t *site_count, uint64_t now_ns)
{
	while (*class_count < emitter.class_count)
		tell_class(writer, (*class_count)++, now_ns);
	while (*site_count < emitter.site_count)
		tell_site(writer, (*site_count)++, now_ns);
}

void tell_task(struct writer *writer, const struct task *task, bool ended, uint64_t now_ns)
{
	struct message message = { .kind = KIND_TASK, .task = { (uint64_t)task->id, text_of(task->name),
								(uint64_t)task->thread_id, ended } };

	writer_message(writer, &message, now_ns);
}

static void tell_level(uint32_t class_id, uint32_t site, uint8_t level, uint8_t own_level, uint64_t now_ns)
{
	struct message message = { .kind = KIND_LEVEL,
				   .level = { now_ns, class_id, site, level, own_level,
					      site ? lease_is_of_site(site) : lease_count((uint8_t)class_id),
					      text_of(site ? emitter.level_by : emitter.classes[class_id].level_by) } };

	writer_message(&stream.shared, &message, now_ns);
}

void greet(struct sink *sink, uint64_t tick, uint64_t now_ns)
{
	struct writer writer = { .sink = sink };

	/* What was taken before stays before, in the books as in the stream. */
	writer_seal(&stream.shared);
	if (sink->is_new) {
		sink->before = stream.taken;
		sink->taken = sink->delivered = sink->dropped = 0;
		sink->is_new = false;
	}
	sink->is_lost = sink->wants_sync = false;
	tell_hello(&writer, sink, now_ns);
	if (sink->is_regular) {
		struct message message;
		uint64_t offset = sink->recording.offset;

		/* What is queued lies before it in the file. */
		for (uint32_t i = 0; i < sink->queue_count; i++)
			sink->recording.offset += sink->queue[(sink->queue_head + i) % SINK_QUEUE_ROOM]->length;
		recording_index(&sink->recording, now_ns, &message);
		sink->recording.offset = offset;
		writer_message(&writer, &message, now_ns);
	}
	for (uint32_t i = 0; i < emitter.class_count; i++)
		tell_class(&writer, i, now_ns);
	for (uint32_t i = 1; i < emitter.site_count; i++)
		tell_site(&writer, i, now_ns);
	for (const struct task *task = emitter.tasks; task; task = task->next)
		if (is_worth_telling(task))
			tell_task(&writer, task, false, now_ns);
	snapshot_write(&writer, tick, 0, true, now_ns);
	snapshot_sink(&writer, sink, tick, now_ns);
	writer_seal(&writer);
}

void tell_news(uint64_t now_ns)
{
	for (uint32_t i = 0; i < emitter.class_count; i++) {
		struct class_entry *entry = &emitter.classes[i];

		if (!entry->is_told)
			tell_class(&stream.shared, i, now_ns);
		else if (!entry->is_level_told)
			tell_level(i, 0, entry->level, entry->own_level, now_ns);
		entry->is_told = entry->is_level_told = true;
	}
	for (uint32_t i = 1; i < emitter.site_count; i++) {
		struct site_entry *entry = &emitter.sites[i];

		if (!entry->is_told)
			tell_site(&stream.shared, i, now_ns);
		else if (!entry->is_level_told)
			tell_level(entry->class_id, i, entry->level, entry->own_level, now_ns);
		entry->is_told = entry->is_level_told = true;
	}
	for (struct task *task = emitter.tasks; task; task = task->next) {
		if (task->is_told || !is_worth_telling(task))
			continue;
		tell_task(&stream.shared, task, false, now_ns);
		task->is_told = true;
	}
}

void goodbye(struct sink *sink, uint64_t tick, uint64_t now_ns)
{
	struct writer writer = { .sink = sink };
	struct message message = { .kind = KIND_BYE };
	uint64_t emitted, dropped;

	/* Who lost the last figures hears them now. */
	if (sink->is_lost)
		greet(sink, tick, now_ns);
	snapshot_sink(&writer, sink, tick, now_ns);
	snapshot_totals(&emitted, &dropped);
	/* While others go on, what still is in their rings is not this sink's; at the stop it is
	 * lost. */
	if (emitter.is_running)
		emitted = stream.taken + dropped;
	message.bye = (struct message_bye){ now_ns, emitted, sink->before, sink->delivered,
					    sink->dropped + emitted - stream.taken };
	writer_message(&writer, &message, now_ns);
	writer_seal(&writer);
}
