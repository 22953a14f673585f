#include "emitter/record/task.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "protocol/message.h"
#include "protocol/name.h"

/* The low bits of an id are a slot, the high bits count how often the slot was used, so that the id of a task that
 * ended differs from that of the task which has its slot now. Slots are used in turn, so an id is used again only after
 * millions of others, when no ring holds it any more. */
#define SLOT_BITS 16
#define GENERATIONS (1 << 14)
#define SLOTS_IN_TURN 512u

static struct task *slots;           /* [slots_room], mapped once; pages take memory when they are used */
static uint32_t slots_room = LIMIT_TASKS;
static struct task *free_slots, **free_slots_end;    /* those that have been free for the longest time come first */
static uint32_t slots_used;          /* the first ones are TASK_ALL and TASK_ENDED */

struct task_table task_table;
struct task task_ended, task_shared;

void tasks_begin(void)
{
	task_ended = (struct task){ .id = TASK_ENDED, .name = "(ended)" };
	task_shared = (struct task){ .id = TASK_FIRST, .name = "(shared)" };
	task_ended.next = &task_shared;
	task_shared.previous = &task_ended;
	task_table.first = &task_ended;
	task_table.count = 0;
	free_slots = NULL;
	free_slots_end = &free_slots;
	slots_used = TASK_FIRST + 1;
}

struct task *task_make(const char *name, pid_t thread_id)
{
	struct task *task;
	int id;

	if (!task_table.first)
		tasks_begin();
	task = free_slots;
	if (!slots)
		slots = memory_reserve_most(sizeof *slots, &slots_room, LIMIT_TASKS_MIN);
	if (!slots)
		return NULL;
	if (task && slots_used >= SLOTS_IN_TURN) {
		free_slots = task->next;
		if (!free_slots)
			free_slots_end = &free_slots;
		id = (task->id + (1 << SLOT_BITS)) % (GENERATIONS << SLOT_BITS);
	} else if (slots_used < slots_room) {
		id = (int)slots_used;
		task = &slots[slots_used++];
		memory_use(sizeof *task);
	} else {
		return NULL;
	}
	memset(task, 0, sizeof *task);
	task->id = id;
	task->thread_id = thread_id;
	name_copy(task->name, sizeof task->name, name);
	/* The new task comes after the two that are always in the list. */
	task->previous = &task_shared;
	task->next = task_shared.next;
	if (task->next)
		task->next->previous = task;
	task_shared.next = task;
	task_table.count++;
	return task;
}

struct task *task_of(int id)
{
	uint32_t slot = (uint32_t)id & ((1u << SLOT_BITS) - 1);

	if (id == TASK_FIRST)
		return &task_shared;
	if (id < TASK_FIRST || !slots || slot >= slots_used || slots[slot].id != id || slots[slot].is_free)
		return &task_ended;
	return &slots[slot];
}

struct task *task_find(int id)
{
	struct task *task = task_of(id);

	return task->id <= TASK_FIRST || task->has_ended ? NULL : task;
}

void task_recycle(struct task *task)
{
	assert(task->has_ended);
	assert(!task->shards);
	for (uint32_t i = 0; i < LIMIT_CLASSES; i++) {
		task_ended.taken[i] += task->taken[i];
		task_ended.emitted[i] += task->emitted[i];
		task_ended.dropped[i] += task->dropped[i];
		task_ended.cost_ps[i] += task->cost_ps[i];
	}
	task_ended.taken_count += task->taken_count;
	task->previous->next = task->next;
	if (task->next)
		task->next->previous = task->previous;
	task->is_free = true;
	task->next = NULL;
	*free_slots_end = task;
	free_slots_end = &task->next;
	task_table.count--;
}

void task_left(struct task *task)
{
	if (task->has_ended && !task->shards && !settings_is_heard())
		task_recycle(task);
}

bool task_is_worth_sending(const struct task *task)
{
	return (task != &task_ended && task != &task_shared) ||
	       __atomic_load_n(&task->is_used, __ATOMIC_RELAXED);
}
