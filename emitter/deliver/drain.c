#include "emitter/deliver/drain.h"

#include <assert.h>
#include <string.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/ring.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"
#include "protocol/name.h"

/* The buffer is small, because the program's threads may share the processor's cache with it. */
static _Alignas(8) uint8_t taken[DRAIN_BYTES / 4];

static uint64_t time_of(uint64_t word, uint64_t now_ticks)
{
	uint64_t mask = (1ull << RING_TIME_BITS) - 1, back = (now_ticks - (word >> 16)) & mask;

	/* 48 bits of ticks last about a day. A stamp of another processor may be slightly later than now_ticks. */
	return clock_ns_of(back >> (RING_TIME_BITS - 1) ? now_ticks + (mask + 1 - back) : now_ticks - back);
}

uint64_t event_time_ns(const uint8_t *record, uint64_t now_ticks)
{
	uint64_t word;

	memcpy(&word, record, sizeof word);
	return time_of(word, now_ticks);
}

static bool write_log(struct writer *writer, const struct task *task, uint32_t site, uint64_t time_ns, const char *text,
		      uint64_t bytes, uint64_t now_ns)
{
	struct message message = { .kind = KIND_LOG };
	uint32_t folded;
	bool cut;

	memcpy(&folded, text, sizeof folded);
	text += sizeof folded;
	bytes -= sizeof folded;
	cut = bytes > LIMIT_TEXT_BYTES;
	message.log = (struct message_log){ (uint64_t)task->id, site, time_ns, site_table.rows[site].detail,
					    { text, cut ? whole_characters(text, LIMIT_TEXT_BYTES) : (uint32_t)bytes },
					    cut, folded };
	return writer_message(writer, &message, now_ns);
}

static bool write_record(struct writer *writer, const struct task *task, uint32_t site, uint64_t time_ns,
			 const uint8_t *payload, uint64_t bytes, uint64_t now_ns)
{
	struct number values[LIMIT_FIELDS];
	struct message message = { .kind = KIND_RECORD };
	uint32_t count = (uint32_t)(bytes / 8) - 1;
	uint64_t types, bits;

	memcpy(&types, payload, 8);
	for (uint32_t i = 0; i < count && i < LIMIT_FIELDS; i++) {
		uint32_t type = types >> (2 * i) & 3;

		memcpy(&bits, payload + 8 + (size_t)i * 8, 8);
		values[i] = (struct number){ bits, type == TELEM_FIELD_DOUBLE_ ? NUMBER_DOUBLE
					     : type == TELEM_FIELD_INT_ && (int64_t)bits < 0 ? NUMBER_INT
											     : NUMBER_UINT };
	}
	message.record = (struct message_record){ (uint64_t)task->id, site, time_ns, { values, count } };
	return writer_message(writer, &message, now_ns);
}

bool write_event(struct writer *writer, const struct task *task, uint64_t seq, const uint8_t *record,
		 uint64_t now_ticks, uint64_t now_ns)
{
	uint64_t words[2], time_ns;
	uint32_t site;

	memcpy(words, record, sizeof words);
	site = words[0] & (RING_PAYLOAD - 1);
	record += RING_SLOT_BYTES;
	time_ns = time_of(words[0], now_ticks);
	if (!(words[0] & RING_PAYLOAD))
		return writer_event(writer, task->id, seq, site, time_ns, words[0] >> 16, words[1], now_ns);
	if (site_table.rows[site].kind == SITE_LOG)
		return write_log(writer, task, site, time_ns, (const char *)record, words[1], now_ns);
	return write_record(writer, task, site, time_ns, record, words[1], now_ns);
}

/* Puts one record of a ring into the stream, or with discard only counts it as dropped. */
static void take_event(struct task *task, const uint8_t *record, uint64_t now_ticks, uint64_t now_ns, bool discard)
{
	uint64_t word;
	uint8_t class_id;

	memcpy(&word, record, sizeof word);
	class_id = site_table.rows[word & (RING_PAYLOAD - 1)].class_id;
	if (discard || !write_event(&writer_shared, task, task->taken_count, record, now_ticks, now_ns)) {
		task->dropped[class_id]++;
		return;
	}
	if (word & RING_PAYLOAD)
		writer_count_event(&writer_shared);
	task->taken[class_id]++;
	task->taken_count++;
}

/* Returns whether the record is an event without a payload. */
static bool is_plain(uint64_t word)
{
	return ((uint32_t)word & 0xffff) - 1 < LIMIT_EMITTER_SITES - 1;
}

/* Plain events that have been encoded after the open batch, but are not yet part of it. */
struct run { uint64_t classes; uint32_t count, of_class[LIMIT_CLASSES]; };     /* of_class: of those in classes */
static_assert(LIMIT_CLASSES <= 64, "a bit each");

static void run_count(struct run *run, uint32_t class_id, uint32_t events)
{
	uint64_t bit = 1ull << class_id;

	run->of_class[class_id] = events + (run->classes & bit ? run->of_class[class_id] : 0);
	run->classes |= bit;
}

/* Encodes plain events of one task, as many as fit into the open batch. Together with run_commit() this does what
 * take_event() does for each event, in a fifth of the time. The producer may be overwriting the records meanwhile, so
 * the events count only after ring_pass(). Returns how many bytes of records they are. */
static uint32_t run_encode(struct run *run, const struct task *task, const uint8_t *records, uint32_t bytes)
{
	const struct batch_encoder *batch = &writer_shared.batch;
	const struct site_entry *sites = site_table.rows;
	/* ticks_most keeps the product below in 64 bits, and the time in 32. */
	uint64_t base = writer_shared.batch_stamp << 16, rate = clock_rate(), ticks_most = UINT64_MAX / rate;
	uint32_t most = bytes / RING_SLOT_BYTES, room, count, class_id = 0, in_class = 0;
	bool wide = batch->wide;
	uint8_t *out;

	if (!writer_shared.has_batch || writer_shared.batch_task != task->id || !is_plain(ring_word(records)))
		return 0;
	run->classes = 0;
	out = batch->encoder->bytes + batch->encoder->used;
	room = batch_room(batch);
	if (most > room)
		most = room;
	for (count = 0; count < most; count++, records += RING_SLOT_BYTES) {
		uint64_t word = ring_word(records), value = ring_word(records + 8), ticks = (word - base) >> 16;
		uint32_t site = (uint32_t)word & 0xffff;

		/* The batch also ends at an event whose time or value does not fit into it. */
		if (!is_plain(word) || ticks > ticks_most || (!wide && value >> 32))
			break;
		out = batch_put(out, wide, site, ticks * rate >> 32, value);
		/* Events are not counted one by one, because each addition would wait for the store of the one
		 * before. */
		if (sites[site].class_id != class_id) {
			run_count(run, class_id, in_class);
			class_id = sites[site].class_id;
			in_class = 0;
		}
		in_class++;
	}
	run_count(run, class_id, in_class);
	run->count = count;
	return count * RING_SLOT_BYTES;
}

static void run_commit(const struct run *run, struct task *task)
{
	for (uint64_t left = run->classes; left; left &= left - 1)
		task->taken[__builtin_ctzll(left)] += run->of_class[__builtin_ctzll(left)];
	task->taken_count += run->count;
	batch_advance(&writer_shared.batch, run->count);
}

/* Takes records of any kind that have been copied out of the ring. */
static void drain_copied(struct ring *ring, uint32_t bytes, uint64_t now_ticks, uint64_t now_ns, bool discard)
{
	struct task *task = task_of(ring->consumer_task);
	struct run run;

	for (uint32_t at = 0; at < bytes;) {
		uint64_t words[2];
		uint32_t plain = discard ? 0 : run_encode(&run, task, taken + at, bytes - at);

		if (plain) {
			run_commit(&run, task);
			at += plain;
			continue;
		}
		memcpy(words, taken + at, sizeof words);
		if (words[0] & (RING_PAYLOAD - 1)) {
			take_event(task, taken + at, now_ticks, now_ns, discard);
		} else if ((words[1] & 0xff) == RING_TASK) {
			ring->consumer_task = (int)(words[1] >> 8);
			task = task_of(ring->consumer_task);
		}
		at += ring_record_slots(words[0], words[1]) * RING_SLOT_BYTES;
	}
}

uint64_t drain(struct thread *thread, uint64_t most, uint64_t now_ns, bool discard)
{
	uint64_t done = 0, now_ticks = clock_ticks();
	struct ring *ring = thread->ring;

	while (ring && done < most) {
		struct task *task = task_of(ring->consumer_task);
		const uint8_t *records;
		uint64_t tail;
		struct run run;
		uint32_t bytes = ring_look(ring, &tail, &records), plain;

		if (bytes == 0)
			break;
		/* Most records are plain events, and are encoded directly from the ring. */
		plain = discard ? 0 : run_encode(&run, task, records, bytes);
		if (plain) {
			if (!ring_pass(ring, tail, plain))
				continue;
			run_commit(&run, task);
			done += plain;
			continue;
		}
		/* A plain event here only has to open a batch, so one is enough. After a task change or payload many
		 * are taken, because more of these usually follow. */
		bytes = ring_take(ring, taken,
				  is_plain(ring_word(records)) && !discard ? RING_SLOT_BYTES : sizeof taken);
		drain_copied(ring, bytes, now_ticks, now_ns, discard);
		done += bytes;
	}
	return done;
}

void drain_discard(void)
{
	for (struct thread *thread = thread_table.first; thread; thread = thread->next)
		drain(thread, UINT64_MAX, 0, true);
}

void drain_ended(void)
{
	lock_take();
	if (settings_is_heard()) {
		if (thread_table.ended_count >= DRAIN_AT_ONCE)
			wake_signal();
		lock_release();
		return;
	}
	for (struct thread *thread = thread_table.first; thread; thread = thread->next)
		if (thread->has_ended) {
			drain(thread, UINT64_MAX, 0, true);
			thread_retire(thread);
		}
	lock_release();
}
