#include "emitter/deliver/writer.h"

#include <stddef.h>

#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/stream.h"

struct writer writer_shared;

void writer_begin(void)
{
	writer_shared = (struct writer){ .sink = NULL };
}

static bool writer_open(struct writer *writer, uint64_t now_ns)
{
	if (writer->block)
		return true;
	writer->block = pool_take();
	if (!writer->block)
		return false;
	writer->block->is_private = writer->sink != NULL;
	encoder_init(&writer->encoder, writer->block->bytes, BLOCK_ROOM);
	writer->opened_ns = now_ns;
	return true;
}

static void batch_close(struct writer *writer)
{
	if (writer->has_batch)
		writer->block->event_count += batch_end(&writer->batch);
	writer->has_batch = false;
}

void writer_seal(struct writer *writer)
{
	struct block_buffer *block = writer->block;

	if (!block)
		return;
	batch_close(writer);
	if (writer->encoder.used == 0) {
		pool_release(block);
		writer->block = NULL;
		return;
	}
	if (!writer->sink) {
		stream.number++;
		__atomic_fetch_add(&stream.taken, block->event_count, __ATOMIC_RELAXED);
	}
	block->number = stream.number;
	block->length = block_seal(block->bytes, writer->encoder.used, stream.marker, block->number);
	if (writer->sink) {
		sink_push(writer->sink, block, true);
	} else {
		for (uint32_t i = 0; i < LIMIT_SINKS; i++)
			if (sink_is_greeted(&sinks[i]))
				sink_push(&sinks[i], block, false);
	}
	writer->block = NULL;
	pool_release(block);
}

bool writer_message(struct writer *writer, const struct message *message, uint64_t now_ns)
{
	for (int tries = 0; tries < 2; tries++) {
		if (!writer_open(writer, now_ns))
			return false;
		batch_close(writer);
		if (encode_message(&writer->encoder, message))
			return true;
		writer_seal(writer);
	}
	return false;
}

bool writer_event(struct writer *writer, int task, uint64_t seq, uint32_t site, uint64_t time_ns, uint64_t stamp,
		  uint64_t value, uint64_t now_ns)
{
	bool wide = value >> 32;

	/* batch_add() also refuses a time before the batch's base, which a coarse stamp or another thread of this task
	 * may have. */
	if (__builtin_expect(writer->has_batch && writer->batch_task == task, 1) &&
	    batch_add(&writer->batch, site, time_ns, value))
		return true;
	for (int tries = 0; tries < 2; tries++) {
		if (!writer_open(writer, now_ns))
			return false;
		batch_close(writer);
		if (batch_begin(&writer->batch, &writer->encoder, (uint32_t)task, seq, time_ns, wide)) {
			writer->has_batch = true;
			writer->batch_task = task;
			writer->batch_stamp = stamp;
			return batch_add(&writer->batch, site, time_ns, value);
		}
		writer_seal(writer);
	}
	return false;
}

void writer_count_event(struct writer *writer)
{
	writer->block->event_count++;
}
