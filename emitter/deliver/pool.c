#include "emitter/deliver/pool.h"

#include <assert.h>
#include <stddef.h>

#include "emitter/core/memory.h"
#include "emitter/deliver/stream.h"

#define BLOCKS_A_STEP 64u

/* Blocks are mapped in steps. A step is unmapped when all its blocks are free, and other steps have free ones, too. */
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

struct block_buffer *pool_take(void)
{
	struct block_buffer *block;

	if (!free_blocks) {
		struct step *step = memory_map(sizeof *step);

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

void pool_release(struct block_buffer *block)
{
	assert(block->references > 0);
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

void pool_trim(void)
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
		memory_unmap(step, sizeof *step);
	}
}

void pool_forget(void)
{
	for (struct step *step = steps; step; step = step->next) {
		step->used_count = 0;
		for (uint32_t i = 0; i < BLOCKS_A_STEP; i++)
			step->blocks[i].next = i + 1 < BLOCKS_A_STEP ? &step->blocks[i + 1] : NULL;
	}
	free_blocks = NULL;
	for (struct step *step = steps; step; step = step->next) {
		step->blocks[BLOCKS_A_STEP - 1].next = free_blocks;
		free_blocks = &step->blocks[0];
	}
}
