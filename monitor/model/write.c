#include "monitor/model/write.h"

#include <math.h>

#include "monitor/model/store.h"

struct writer { model_emit *emit; void *arg; };

static void put(const struct writer *writer, const struct message *message)
{
	writer->emit(writer->arg, message);
}

static void write_hello(const struct writer *writer, const struct model *model)
{
	const struct model_target *target = &model->target;
	struct message message = { .kind = KIND_HELLO };

	message.hello = (struct message_hello){
		.major = target->major, .minor = target->minor, .stream = target->stream, .pid = target->pid,
		.start_ns = target->start_ns, .mono_ns = target->mono_ns, .real_ns = target->real_ns,
		.name = text_of(target->name), .host = text_of(target->host), .version = text_of(target->version),
		.resolution_ns = target->resolution_ns, .uid = target->uid, .tick_ns = target->tick_ns,
		.flush_ns = target->flush_ns, .ring_bytes = target->ring_bytes, .policy = target->policy,
		.problem = text_of(target->problem),
	};
	put(writer, &message);
}

static void write_classes(const struct writer *writer, const struct model *model)
{
	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct model_class *class = &model->classes[i];
		struct message message = { .kind = KIND_CLASS };

		if (!class->is_defined)
			continue;
		message.class = (struct message_class){ i, text_of(class->name), text_of(class->help), class->level,
							class->own_level, class->was_off, class->leases,
							class->sample, class->per_second, class->burst };
		put(writer, &message);
		if (!class->set_by[0])
			continue;
		/* CLASS cannot say who set the level. */
		message = (struct message){ .kind = KIND_LEVEL };
		message.level = (struct message_level){ model->time_ns, i, 0, class->level, class->own_level, class->leases,
							text_of(class->set_by) };
		put(writer, &message);
	}
}

static void write_sites(const struct writer *writer, const struct model *model)
{
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		struct text fields[LIMIT_FIELDS];
		struct message message = { .kind = KIND_SITE };

		for (uint32_t j = 0; j < site->field_count; j++)
			fields[j] = text_of(site->fields[j]);
		message.site = (struct message_site){ site->id, site->class_id, site->kind, site->unit, site->detail,
						      text_of(site->name), text_of(site->file), site->line, site->level,
						      site->own_level, { fields, site->field_count }, site->every,
						      site->was_off };
		put(writer, &message);
	}
}

static void write_tasks(const struct writer *writer, const struct model *model)
{
	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);
		struct message message = { .kind = KIND_TASK };

		message.task = (struct message_task){ task->id, text_of(task->name), task->thread_id, 0 };
		if (!task->has_ended)
			put(writer, &message);
	}
}

static void write_row(const struct writer *writer, uint64_t tick, uint32_t task, uint32_t site, const uint64_t figures[4])
{
	struct number numbers[5] = { number_of(site) };
	struct message message = { .kind = KIND_VALUES };

	for (int i = 0; i < 4; i++)
		numbers[i + 1] = (int64_t)figures[i] < 0 ? (struct number){ figures[i], NUMBER_INT } : number_of(figures[i]);
	message.values = (struct message_values){ tick, task, { numbers, 5 } };
	put(writer, &message);
}

static void write_buckets(const struct writer *writer, uint64_t tick, uint32_t task, uint32_t site, const uint64_t *buckets)
{
	enum { PAIRS = 200 };        /* one message has room for so many */
	struct number pairs[PAIRS * 2];
	uint32_t count = 0;

	for (uint32_t i = 0; buckets && i <= HISTOGRAM_BUCKETS; i++) {
		if (i == HISTOGRAM_BUCKETS ? count > 0 : count == PAIRS * 2) {
			struct message message = { .kind = KIND_BUCKETS, .buckets = { tick, task, site, { pairs, count } } };

			put(writer, &message);
			count = 0;
		}
		if (i < HISTOGRAM_BUCKETS && buckets[i]) {
			pairs[count++] = number_of(i);
			pairs[count++] = number_of(buckets[i]);
		}
	}
}

static void write_figures(const struct writer *writer, const struct model *model)
{
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		write_row(writer, model->snapshot.tick, TASK_ALL, site->id,
			  (uint64_t[]){ site->count, site->sum, site->min, site->max });
		write_buckets(writer, model->snapshot.tick, TASK_ALL, site->id, site->buckets);
	}
	for (uint32_t i = 0; i < model_task_site_count(model); i++) {
		const struct task_site *pair = model_task_site(model, i);

		write_row(writer, model->snapshot.tick, pair->task, pair->site,
			  (uint64_t[]){ pair->count, pair->sum, pair->min, pair->max });
		write_buckets(writer, model->snapshot.tick, pair->task, pair->site, pair->buckets);
	}
}

static void write_holders(const struct writer *writer, const struct model *model)
{
	struct number numbers[HOLDER_ROWS * HOLDER_NUMBERS];
	uint32_t part = 0, count = 0;

	for (uint32_t i = 0; model->samples && (i == 0 || i < model->sample_count); i++) {
		const struct model_holder *holder = &model->samples[i];
		struct message message = { .kind = KIND_HOLDERS };

		if (i < model->sample_count) {
			numbers[count++] = number_of(holder->type);
			numbers[count++] = number_of(holder->task);
			numbers[count++] = number_of(holder->tag);
			numbers[count++] = number_of(model_round(holder->drawn.bytes));
			numbers[count++] = number_of(model_round(holder->drawn.count));
			numbers[count++] = number_of(model_round(sqrt(holder->drawn.variance)));
		}
		if (i + 1 < model->sample_count && count < HOLDER_ROWS * HOLDER_NUMBERS)
			continue;
		message.holders = (struct message_holders){ model->snapshot.tick, part++, model->mean_bytes,
							    { numbers, count } };
		put(writer, &message);
		count = 0;
	}
}

static void write_books(const struct writer *writer, const struct model *model)
{
	struct number rows[LIMIT_CLASSES * 4];
	struct message message = { .kind = KIND_BOOKS };
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct model_class *class = &model->classes[i];
		/* The books at this place of the stream, which may be later than those of the last tick. */
		uint64_t taken = class->base_taken + class->received + class->lost;
		uint64_t emitted = class->emitted > taken + class->dropped ? class->emitted : taken + class->dropped;

		if (!class->is_defined || (emitted == 0 && !class->has_base))
			continue;
		rows[count++] = number_of(i);
		rows[count++] = number_of(emitted);
		rows[count++] = number_of(class->dropped);
		rows[count++] = number_of(taken);
	}
	message.books = (struct message_books){ model->snapshot.tick, TASK_ALL, { rows, count } };
	put(writer, &message);
}

static void write_sink(const struct writer *writer, const struct model *model)
{
	const struct model_link *link = &model->link;
	struct message message = { .kind = KIND_SINK };

	message.sink = (struct message_sink){ model->snapshot.tick, link->sink_taken, link->sink_delivered,
					      link->sink_dropped, link->sink_queued, link->queue_bytes,
					      link->queue_bytes_max, link->viewers };
	put(writer, &message);
}

/* Writes the latest frame of each name; the frames before it are events, not state. */
static void write_frames(const struct writer *writer, const struct model *model)
{
	for (uint32_t i = 0; i < model->frame_count; i++) {
		const struct model_frame *frame = &model->frames[i];
		struct number figures[SEVERITY_COUNT + 2 * LIMIT_COUNTERS_A_FRAME];
		struct message message = { .kind = KIND_FRAME };
		uint32_t count = 0;

		if (frame->seen == 0)
			continue;
		for (uint32_t j = 0; j < SEVERITY_COUNT; j++)
			figures[count++] = number_of(frame->logs[j]);
		for (uint32_t j = 0; j < frame->counter_count; j++) {
			figures[count++] = number_of(frame->counters[j].site);
			figures[count++] = number_of(frame->counters[j].sum);
		}
		message.frame = (struct message_frame){
			.task = TASK_ENDED, .site = frame->site, .number = frame->number, .time_ns = frame->time_ns,
			.duration_ns = frame->duration_ns, .heap_bytes = frame->heap_bytes, .heap_peak = frame->heap_peak,
			.allocations = frame->allocations, .broken = frame->latest_broken, .budget_ns = frame->budget_ns,
			.figures = { figures, count },
		};
		put(writer, &message);
	}
}

/* The SNAPSHOT has interval 0, which marks the end of a greeting and is not a tick. */
static void write_snapshot(const struct writer *writer, const struct model *model)
{
	struct message message = { .kind = KIND_SNAPSHOT, .snapshot = model->snapshot };

	message.snapshot.interval_ns = 0;
	put(writer, &message);
}

void model_write(const struct model *model, model_emit *emit, void *arg)
{
	const struct writer writer = { emit, arg };

	if (!model->target.is_known)
		return;
	write_hello(&writer, model);
	write_classes(&writer, model);
	write_sites(&writer, model);
	write_tasks(&writer, model);
	write_figures(&writer, model);
	write_holders(&writer, model);
	write_books(&writer, model);
	write_sink(&writer, model);
	write_frames(&writer, model);
	write_snapshot(&writer, model);
	if (model->link.has_bye)
		put(&writer, &(struct message){ .kind = KIND_BYE, .bye = model->link.bye });
}
