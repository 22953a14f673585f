#include "monitor/model/define.h"

#include <stdio.h>
#include <string.h>

#include "protocol/name.h"

void apply_hello(struct model *model, const struct message_hello *hello)
{
	if (model->target.is_known && model->target.stream != hello->stream) {
		int window_s = model->window_s;
		uint64_t wanted_interval_ns = model->wanted_interval_ns;
		uint32_t reconnects = model->link.reconnects;

		model_empty(model);
		model_begin(model, window_s);
		model->wanted_interval_ns = wanted_interval_ns;
		model->link.reconnects = reconnects;
	}
	model->target = (struct model_target){
		.pid = hello->pid, .uid = hello->uid, .stream = hello->stream, .start_ns = hello->start_ns,
		.mono_ns = hello->mono_ns, .real_ns = hello->real_ns, .resolution_ns = hello->resolution_ns,
		.tick_ns = hello->tick_ns, .ring_bytes = hello->ring_bytes, .policy = hello->policy,
		.flush_ns = hello->flush_ns,
		.major = u32(hello->major), .minor = u32(hello->minor), .may_control = hello->control != 0,
		.is_known = true,
	};
	text_copy(model->target.name, sizeof model->target.name, &hello->name);
	text_copy(model->target.host, sizeof model->target.host, &hello->host);
	text_copy(model->target.problem, sizeof model->target.problem, &hello->problem);
	text_copy(model->target.version, sizeof model->target.version, &hello->version);
	model->link.sync_ns = hello->mono_ns;
	model->greeting++;
	model->is_greeted = model->is_in_tick = true;
}

void apply_class(struct model *model, const struct message_class *message)
{
	struct model_class *class;

	if (message->id >= LIMIT_CLASSES || message->level > LEVEL_OWN || message->own_level > LEVEL_OWN) {
		model_refuse(model);
		return;
	}
	class = &model->classes[message->id];
	class->is_defined = true;
	text_copy(class->name, sizeof class->name, &message->name);
	text_copy(class->help, sizeof class->help, &message->help);
	class->level = (uint8_t)message->level;
	class->own_level = (uint8_t)message->own_level;
	class->was_off = message->was_off != 0;
	class->leases = u32(message->leases);
	class->sample = message->sample;
	class->per_second = message->per_second;
	class->burst = message->burst;
	if (message->id >= model->class_count)
		model->class_count = (uint32_t)message->id + 1;
}

/* A site whose history finds no memory is without windows, heat map or trend; its figures stay exact. */
static void site_room(struct model *model, struct model_site *site)
{
	if (site_kind_is_timed(site->kind)) {
		site->buckets = model_take(model, BUCKET_BYTES, ROOM_FIGURES);
		site->previous_buckets = model_take(model, BUCKET_BYTES, ROOM_FIGURES);
		site->deltas = model_take(model, DELTAS_BYTES, ROOM_WINDOWS);
		site->heat = model_take(model, sizeof *site->heat, ROOM_TRENDS);
		if (site->heat)
			site->heat->last_second = -1;
	}
	site->trend = model_take(model, sizeof *site->trend, ROOM_TRENDS);
	if (site->trend)
		series_init(site->trend);
}

static struct model_site *site_make(struct model *model, const struct message_site *message)
{
	struct model_site *site = model_take(model, sizeof *site, ROOM_FIGURES);

	if (site)
		site->id = (uint32_t)message->id;
	if (!site || !model_site_add(model, site)) {
		model_give(model, site, sizeof *site);
		return NULL;
	}
	site->kind = u32(message->kind);
	site_room(model, site);
	return site;
}

void apply_site(struct model *model, const struct message_site *message)
{
	bool is_good = message->id > 0 && message->id < LIMIT_SITES && message->class_id < LIMIT_CLASSES &&
		       message->level <= LEVEL_OWN && message->own_level <= LEVEL_OWN;
	struct model_site *site = is_good ? model_find_site(model, message->id) : NULL;

	if (is_good && !site)
		site = site_make(model, message);
	if (!site) {
		model_refuse(model);
		return;
	}
	site->class_id = (uint32_t)message->class_id;
	site->unit = u32(message->unit);
	site->detail = u32(message->detail);
	site->line = u32(message->line);
	site->level = (uint8_t)message->level;
	site->own_level = (uint8_t)message->own_level;
	site->every = u32(message->every);
	site->was_off |= message->was_off != 0;
	text_copy(site->name, sizeof site->name, &message->name);
	text_copy(site->file, sizeof site->file, &message->file);
	site->field_count = message->fields.count < LIMIT_FIELDS ? message->fields.count : LIMIT_FIELDS;
	for (uint32_t i = 0; i < site->field_count; i++)
		text_copy(site->fields[i], sizeof site->fields[i], &message->fields.texts[i]);
}

static void pair_remove(struct model *model, uint32_t index)
{
	struct task_site *pair = model->task_sites.items[index];
	struct task_site *last = model->task_sites.items[--model->task_sites.count];

	map_remove(&model->task_site_map, model_pair_key(pair->task, pair->site));
	if (last != pair) {
		model->task_sites.items[index] = last;
		map_put(&model->task_site_map, model_pair_key(last->task, last->site), index);
	}
	model_pair_free(model, pair);
}

/* The target has added the task's sums to those of TASK_ENDED. The task stays in the list until tasks_sweep(). */
static void task_end(struct model *model, struct model_task *task)
{
	for (uint32_t site = task->first_site; site;) {
		uint32_t index = map_get(&model->task_site_map, model_pair_key(task->id, site));

		site = ((struct task_site *)model->task_sites.items[index])->next_site;
		pair_remove(model, index);
	}
	task->first_site = 0;
	task->has_ended = true;
	map_remove(&model->task_map, task->id);
	model->ended_count++;
}

/* The list is swept when at least one task in this many has ended. */
#define SWEEP_SHARE 64

static void tasks_sweep(struct model *model)
{
	struct list_of *tasks = &model->tasks;
	uint32_t kept = 0;

	if (model->ended_count == 0)
		return;
	for (uint32_t i = 0; i < tasks->count; i++) {
		struct model_task *task = tasks->items[i];

		if (task->has_ended) {
			model_task_free(model, task);
			continue;
		}
		map_put(&model->task_map, task->id, kept);
		tasks->items[kept++] = task;
	}
	tasks->count = kept;
	model->ended_count = 0;
}

void tasks_greeted(struct model *model)
{
	for (uint32_t i = 0; model->is_greeted && i < model->tasks.count; i++) {
		struct model_task *task = model->tasks.items[i];

		if (task->id >= TASK_FIRST && !task->has_ended && task->greeting != model->greeting)
			task_end(model, task);
	}
	model->is_greeted = false;
	tasks_sweep(model);
}

static struct model_task *task_make(struct model *model, uint64_t id)
{
	struct model_task *task = model->tasks.count < LIMIT_TASKS ? model_take(model, sizeof *task, ROOM_FIGURES) : NULL;

	if (!task || !model_index_add(model, &model->tasks, &model->task_map, id, task)) {
		model_give(model, task, sizeof *task);
		return NULL;
	}
	task->id = (uint32_t)id;
	task->trend = model_take(model, sizeof *task->trend, ROOM_TRENDS);
	if (task->trend)
		series_init(task->trend);
	return task;
}

void apply_task(struct model *model, const struct message_task *message)
{
	struct model_task *task = model_find_task(model, message->id);

	if (task && message->ended && message->id >= TASK_FIRST) {
		task_end(model, task);
		/* A sweep walks the whole list, so in a long list many ended tasks share one sweep. */
		if (model->ended_count * SWEEP_SHARE >= model->tasks.count)
			tasks_sweep(model);
		return;
	}
	if (message->ended)
		return;
	if (!task && message->id > TASK_ALL && message->id <= UINT32_MAX)
		task = task_make(model, message->id);
	if (!task) {
		model_refuse(model);
		return;
	}
	task->greeting = model->greeting;
	task->thread_id = message->thread_id;
	text_copy(task->name, sizeof task->name, &message->name);
}

void model_line_add(struct model *model, const struct model_line *line)
{
	model->lines[model->line_count++ % MODEL_LINES] = *line;
}

/* True for a LEVEL that repeats what is known, as at an index point: it gets no line, because nothing has changed. */
static bool level_is_known(const struct model_class *class, const struct message_level *message)
{
	return class->is_defined && class->level == message->level && class->own_level == message->own_level &&
	       class->leases == message->leases;
}

void apply_level(struct model *model, const struct message_level *message)
{
	struct model_line line = { .kind = LINE_LEVEL, .time_ns = message->time_ns };
	struct model_site *site = message->site ? model_find_site(model, message->site) : NULL;
	char by[64];

	if (message->class_id >= LIMIT_CLASSES || message->site >= LIMIT_SITES || message->level > LEVEL_OWN ||
	    message->own_level > LEVEL_OWN) {
		model_refuse(model);
		return;
	}
	text_copy(by, sizeof by, &message->by);
	if (!message->site && level_is_known(&model->classes[message->class_id], message)) {
		snprintf(model->classes[message->class_id].set_by, sizeof by, "%s", by);
		return;
	}
	line.class_id = (uint32_t)message->class_id;
	line.site = (uint32_t)message->site;
	if (message->site && site) {
		site->level = (uint8_t)message->level;
		site->own_level = (uint8_t)message->own_level;
		site->was_off |= message->level == LEVEL_OFF;
	} else if (!message->site) {
		struct model_class *class = &model->classes[message->class_id];

		class->level = (uint8_t)message->level;
		class->own_level = (uint8_t)message->own_level;
		class->leases = u32(message->leases);
		class->was_off |= message->level == LEVEL_OFF;
		snprintf(class->set_by, sizeof class->set_by, "%s", by);
		for (uint32_t i = 0; i < model->sites.count; i++) {
			struct model_site *other = model->sites.items[i];

			if (other->class_id != message->class_id || other->own_level != LEVEL_OWN)
				continue;
			other->level = class->level;
			other->was_off |= class->level == LEVEL_OFF;
		}
	}
	snprintf(line.text, sizeof line.text, "level %s, set by %s", level_name((unsigned)message->level), by);
	model_line_add(model, &line);
}
