#include "emitter/deliver/stream.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "emitter/core/emitter.h"
#include "emitter/deliver/sink.h"

struct stream stream;

/* ---- blocks ---- */

#define BLOCKS_A_STEP 64u

/* Mapped in steps; a step goes back when all its blocks are free and others are too. */
struct step {
	struct step *next;
	uint32_t used_count;
	struct block_buffer blocks[BLOCKS_A_STEP];
};

static struct step *steps;
static struct block_buffer *free_blocks;
static uint32_t step_count;

static struct step *step_of(const struct block_buffer *block)
{
	for (struct step *step = steps; step; step = step->next)
		if (block >= step->blocks && block < step->blocks + BLOCKS_A_STEP)
			return step;
	return NULL;
}

struct block_buffer *block_take(void)
{
	struct block_buffer *block;

	if (!free_blocks) {
		struct step *step = emitter_map(sizeof *step);

		if (!step)
			return NULL;
		step->next = steps;
		steps = step;
		step_count++;
		for (uint32_t i = 0; i < BLOCKS_A_STEP; i++) {
			step->blocks[i].next = free_blocks;
			free_blocks = &step->blocks[i];
		}
	}
	block = free_blocks;
	free_blocks = block->next;
	step_of(block)->used_count++;
	block->references = 1;
	block->length = block->event_count = 0;
	block->is_delivered = block->is_private = false;
	return block;
}

void block_release(struct block_buffer *block)
{
	if (--block->references > 0)
		return;
	if (!block->is_private) {
		if (block->is_delivered)
			__atomic_fetch_add(&stream.delivered, block->event_count, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&stream.dropped, block->event_count, __ATOMIC_RELAXED);
	}
	step_of(block)->used_count--;
	block->next = free_blocks;
	free_blocks = block;
}

void blocks_trim(void)
{
	struct step **link = &steps, *step;

	while ((step = *link)) {
		struct block_buffer **free_link = &free_blocks;

		if (step->used_count > 0 || step_count == 1) {
			link = &step->next;
			continue;
		}
		while (*free_link)
			if (step_of(*free_link) == step)
				*free_link = (*free_link)->next;
			else
				free_link = &(*free_link)->next;
		*link = step->next;
		step_count--;
		emitter_unmap(step, sizeof *step);
	}
}

void blocks_forget(void)
{
	for (struct step *step = steps; step; step = step->next) {
		step->used_count = 0;
		for (uint32_t i = 0; i < BLOCKS_A_STEP; i++) {
			step->blocks[i].next = i + 1 < BLOCKS_A_STEP ? &step->blocks[i + 1] : NULL;
		}
	}
	free_blocks = NULL;
	for (struct step *step = steps; step; step = step->next) {
		step->blocks[BLOCKS_A_STEP - 1].next = free_blocks;
		free_blocks = &step->blocks[0];
	}
}

/* ---- writers ---- */

void stream_begin(void)
{
	uint8_t random[16];
	uint64_t fallback[2] = { clock_real_ns(), (uint64_t)getpid() };

	if (getrandom(random, sizeof random, GRND_NONBLOCK) != sizeof random)
		memcpy(random, fallback, sizeof random);
	stream = (struct stream){ .start_ns = proc_stat().start_ns, .taken = stream.taken,
				  .delivered = stream.delivered, .dropped = stream.dropped };
	marker_make(stream.marker, random);
	memcpy(&stream.id, random + 8, sizeof stream.id);
}

static bool writer_open(struct writer *writer, uint64_t now_ns)
{
	if (writer->block)
		return true;
	writer->block = block_take();
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
		block_release(block);
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
			if (sink_is_streaming(&sinks[i]) && !sinks[i].is_new && !sinks[i].is_leaving)
				sink_push(&sinks[i], block, false);
	}
	writer->block = NULL;
	block_release(block);
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

	/* A time before the batch's base (of a coarse stamp, or another thread in this task) is
	 * one that batch_add() refuses, too. */
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
