#include "emitter/deliver/holders.h"

#include <string.h>

#include "emitter/core/memory.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/sample.h"
#include "emitter/record/task.h"
#include "protocol/limits.h"
#include "protocol/message.h"

/* Slots of the hash table below: LIMIT_HOLDERS, and the types of what is not told in detail. */
#define SLOTS (4 * LIMIT_HOLDERS)

struct holder {
	uint32_t type, tag;          /* type 0: the slot is free */
	int task;
	double bytes, count, variance;
};

/* Only the flusher uses these. */
static struct holder *slots;
static uint16_t used[SLOTS];         /* the numbers of the slots in use */
static uint32_t used_count;

/* Returns NULL when all slots are taken, and then these bytes are not told. */
static struct holder *slot_of(uint32_t type, int task, uint32_t tag)
{
	uint64_t key = (uint64_t)type << 48 ^ (uint64_t)tag << 32 ^ (uint32_t)task;

	for (uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) % SLOTS;; at = (at + 1) % SLOTS) {
		struct holder *slot = &slots[at];

		if (slot->type == type && slot->task == task && slot->tag == tag)
			return slot;
		if (slot->type != 0)
			continue;
		if (used_count >= LIMIT_HOLDERS && (task != TASK_ALL || tag != 0))
			return slot_of(type, TASK_ALL, 0);       /* it is not told who holds it */
		if (used_count == SLOTS - 1)
			return NULL;
		*slot = (struct holder){ .type = type, .task = task, .tag = tag };
		used[used_count++] = (uint16_t)at;
		return slot;
	}
}

/* Adds up the sample by the method of Horvitz and Thompson, with its estimate of the variance. */
static void add(const struct sample *sample)
{
	struct holder *holder = slot_of(sample->type, task_of(sample->task)->id, sample->tag);
	double p = sample_probability(sample->bytes, sample->shift), bytes = (double)sample->bytes / p;

	if (!holder)
		return;
	holder->bytes += bytes;
	holder->count += 1 / p;
	holder->variance += bytes * bytes * (1 - p);
}

static void empty(void)
{
	for (uint32_t i = 0; i < used_count; i++)
		slots[used[i]].type = 0;
	used_count = 0;
}

/* Returns the root of x, to a millionth, for a library that does not link libm. */
static double root(double x)
{
	double root = 1;

	if (x <= 0)
		return 0;
	while (root * root < x)
		root *= 2;
	for (int i = 0; i < 6; i++)
		root = (root + x / root) / 2;
	return root;
}

static struct number rounded(double x)
{
	return number_of(x < 0x1p63 ? (uint64_t)(x + 0.5) : UINT64_MAX);
}

void holders_write(struct writer *writer, uint64_t tick, uint64_t now_ns)
{
	struct number numbers[HOLDER_ROWS * HOLDER_NUMBERS];
	struct message message = { .kind = KIND_HOLDERS };
	uint32_t at = 0, count = 0, part = 0;
	struct sample sample;

	if (!slots)
		slots = memory_map(SLOTS * sizeof *slots);
	while (slots && samples_next(&at, &sample))
		add(&sample);
	/* The first message of a tick is sent also when nothing lives. */
	for (uint32_t i = 0; i == 0 || i < used_count; i++) {
		const struct holder *holder = &slots[used[i]];

		if (i < used_count) {
			numbers[count++] = number_of(holder->type);
			numbers[count++] = number_of((uint64_t)holder->task);
			numbers[count++] = number_of(holder->tag);
			numbers[count++] = rounded(holder->bytes);
			numbers[count++] = rounded(holder->count);
			numbers[count++] = rounded(root(holder->variance));
		}
		if (i + 1 < used_count && count < HOLDER_ROWS * HOLDER_NUMBERS)
			continue;
		message.holders = (struct message_holders){ tick, part++, 1ull << samples_shift(), { numbers, count } };
		writer_message(writer, &message, now_ns);
		count = 0;
	}
	empty();
}
