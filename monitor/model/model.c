#include "monitor/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "monitor/model/define.h"
#include "monitor/model/holders.h"
#include "monitor/model/store.h"
#include "monitor/model/tick.h"
#include "protocol/name.h"

/* A list of the wire may hold any numbers. In a row of figures a float means nothing, and a negative number means
 * something only in the columns whose bits are set in signed_columns. */
static bool row_is_good(const struct number *row, uint32_t columns, uint32_t signed_columns)
{
	for (uint32_t i = 0; i < columns; i++)
		if (row[i].type == NUMBER_DOUBLE || (row[i].type == NUMBER_INT && !(signed_columns >> i & 1)))
			return false;
	return true;
}

/* ---- events ---- */

static void count_class(struct model *model, uint32_t class_id, uint64_t events, uint64_t bytes)
{
	model->classes[class_id].received += events;
	model->classes[class_id].bytes += bytes;
}

static void count_event(struct model *model, struct model_site *site, uint64_t bytes)
{
	if (!site)
		return;
	site->received++;
	count_class(model, site->class_id, 1, bytes);
}

static void apply_batch(struct model *model, const struct message_batch *batch, uint32_t bytes)
{
	uint32_t count = batch->events.count, class_id = 0, in_class = 0;
	uint64_t each = count ? bytes / count : 0;
	const struct event *events = batch->events.events;

	model->link.events += count;
	/* Events of one class come in runs: each run is added to its class at once. */
	for (uint32_t i = 0; i < count; i++) {
		struct model_site *site = model_find_site(model, events[i].site);

		if (!site)
			continue;
		if (site->class_id != class_id) {
			count_class(model, class_id, in_class, each * in_class);
			class_id = site->class_id;
			in_class = 0;
		}
		site->received++;
		in_class++;
	}
	count_class(model, class_id, in_class, each * in_class);
}

static void number_print(char *out, size_t out_bytes, const struct number *number)
{
	double value;

	memcpy(&value, &number->bits, sizeof value);
	if (number->type == NUMBER_DOUBLE)
		snprintf(out, out_bytes, "%.6g", value);
	else if (number->type == NUMBER_INT)
		snprintf(out, out_bytes, "%lld", (long long)number->bits);
	else
		snprintf(out, out_bytes, "%llu", (unsigned long long)number->bits);
}

/* A sampled allocation in words, from the fields that libtelem gives the event "mem.sampled": type, bytes, address, age,
 * task, freed. Returns false when it is another event. */
static bool sampled_text(const struct model *model, const struct model_site *site, const struct message_record *record,
			 char *out, size_t out_bytes)
{
	const struct number *values = record->values.numbers;
	const struct model_site *type;
	int used;

	if (strcmp(site->name, "sampled") || strcmp(model->classes[site->class_id].name, "mem") ||
	    record->values.count != 6 || !row_is_good(values, 6, 1 << 4))
		return false;
	type = model_find_site(model, values[0].bits);
	used = snprintf(out, out_bytes, "%s a sampled %s of %llu bytes at %#llx", values[5].bits ? "freed" : "allocated",
			type ? type->name : "object", (unsigned long long)values[1].bits,
			(unsigned long long)values[2].bits);
	if (values[5].bits && used > 0 && (size_t)used < out_bytes)
		snprintf(out + used, out_bytes - (size_t)used, " after %llu us", (unsigned long long)values[3].bits / 1000);
	return true;
}

static void apply_record(struct model *model, const struct message_record *record, uint32_t bytes)
{
	struct model_site *site = model_find_site(model, record->site);
	struct model_line line = { .kind = LINE_EVENT, .time_ns = record->time_ns, .task = (uint32_t)record->task,
				   .site = (uint32_t)record->site, .severity = 1 };
	size_t used = 0;

	if (record->task > UINT32_MAX || record->site >= LIMIT_SITES) {
		model_refuse(model);
		return;
	}
	model->link.events++;
	count_event(model, site, bytes);
	if (!site)
		return;
	line.class_id = site->class_id;
	if (sampled_text(model, site, record, line.text, sizeof line.text)) {
		model_line_add(model, &line);
		return;
	}
	used = (size_t)snprintf(line.text, sizeof line.text, "%s", site->name);
	for (uint32_t i = 0; i < record->values.count && i < LIMIT_FIELDS && used < sizeof line.text; i++) {
		char number[32];

		number_print(number, sizeof number, &record->values.numbers[i]);
		used += (size_t)snprintf(line.text + used, sizeof line.text - used, " %s=%s",
					 i < site->field_count ? site->fields[i] : "?", number);
	}
	model_line_add(model, &line);
}

static struct model_frame *frame_of(struct model *model, uint64_t site)
{
	uint32_t i = 0;

	while (i < model->frame_count && model->frames[i].site != site)
		i++;
	if (i == LIMIT_FRAMES)
		return NULL;
	if (i == model->frame_count) {
		model->frame_count++;
		model->frames[i] = (struct model_frame){ .site = (uint32_t)site };
	}
	return &model->frames[i];
}

static void apply_frame(struct model *model, const struct message_frame *message)
{
	const struct model_site *site = model_find_site(model, message->site);
	const struct list *figures = &message->figures;
	uint32_t pairs = figures->count >= SEVERITY_COUNT ? (figures->count - SEVERITY_COUNT) / 2 : 0;
	struct model_frame *frame = NULL;

	if (site && site->kind == SITE_SPAN && figures->count == SEVERITY_COUNT + 2 * pairs &&
	    pairs <= LIMIT_COUNTERS_A_FRAME && row_is_good(figures->numbers, figures->count, 0))
		frame = frame_of(model, message->site);
	if (!frame) {
		model_refuse(model);
		return;
	}
	/* A frame that is sent again, as at an index point, was counted when it was sent first. */
	if (frame->seen && message->number == frame->number && message->time_ns == frame->time_ns)
		return;
	/* Frames that threads end at the same moment may arrive out of order: a late one fills its gap. */
	if (frame->seen && message->number > frame->number + 1)
		frame->missed = sum_of(frame->missed, message->number - frame->number - 1);
	else if (frame->seen && message->number <= frame->number && frame->missed)
		frame->missed--;
	if (message->number > frame->number)
		frame->number = message->number;
	frame->time_ns = message->time_ns;
	frame->duration_ns = message->duration_ns;
	frame->budget_ns = message->budget_ns;
	frame->allocations = message->allocations;
	frame->heap_bytes = message->heap_bytes;
	frame->heap_peak = message->heap_peak;
	for (uint32_t i = 0; i < SEVERITY_COUNT; i++)
		frame->logs[i] = figures->numbers[i].bits;
	frame->counter_count = pairs;
	for (uint32_t i = 0; i < pairs; i++) {
		frame->counters[i].site = u32(figures->numbers[SEVERITY_COUNT + 2 * i].bits);
		frame->counters[i].sum = figures->numbers[SEVERITY_COUNT + 2 * i + 1].bits;
	}
	frame->latest_broken = message->broken;
	frame->durations_ns[frame->seen++ % MODEL_FRAMES] = message->duration_ns;
	if (message->broken) {
		frame->broken++;
		frame->broken_ns = message->time_ns;
	}
	for (uint32_t i = 0; i < 4; i++)
		frame->broke[i] += message->broken >> i & 1;
}

static void apply_log(struct model *model, const struct message_log *log, uint32_t bytes)
{
	struct model_site *site = model_find_site(model, log->site);
	struct model_line line = { .kind = LINE_LOG, .time_ns = log->time_ns, .task = (uint32_t)log->task,
				   .site = (uint32_t)log->site, .severity = u32(log->severity), .folded = log->folded };

	if (log->task > UINT32_MAX || log->site >= LIMIT_SITES) {
		model_refuse(model);
		return;
	}
	model->link.events++;
	count_event(model, site, bytes);
	if (site)
		line.class_id = site->class_id;
	text_copy(line.text, sizeof line.text, &log->text);
	model_line_add(model, &line);
}

/* Lines that were counted only are no events of the stream, so they are in no book. */
static void apply_folded(struct model *model, const struct message_folded *folded)
{
	const struct model_site *site = model_find_site(model, folded->site);
	struct model_line line = { .kind = LINE_LOG, .time_ns = folded->time_ns, .task = (uint32_t)folded->task,
				   .site = (uint32_t)folded->site };
	char text[sizeof line.text];

	if (folded->task > UINT32_MAX || folded->site >= LIMIT_SITES) {
		model_refuse(model);
		return;
	}
	if (!site)
		return;
	line.class_id = site->class_id;
	line.severity = site->detail;
	text_copy(text, sizeof text, &folded->text);
	snprintf(line.text, sizeof line.text, "%llu more like it: %.200s", (unsigned long long)folded->folded, text);
	model_line_add(model, &line);
}

/* ---- figures ---- */

static void apply_values(struct model *model, const struct message_values *values)
{
	const struct number *row = values->rows.numbers;

	model->is_in_tick = true;
	if (values->task > UINT32_MAX || values->rows.count % 5 != 0) {
		model_refuse(model);
		return;
	}
	for (uint32_t i = 0; i < values->rows.count; i += 5, row += 5) {
		struct model_site *site = row[0].type == NUMBER_UINT ? model_find_site(model, row[0].bits) : NULL;
		struct task_site *pair;

		/* Sum, min and max may be negative, except for memory, where they count bytes and blocks. */
		if (!row_is_good(row, 5, site && !model_is_memory(site) ? 0x1c : 0) || row[0].bits >= LIMIT_SITES) {
			model_refuse(model);
			continue;
		}
		if (!site)
			continue;
		if (values->task == TASK_ALL) {
			site->count = row[1].bits;
			site->sum = row[2].bits;
			site->min = row[3].bits;
			site->max = row[4].bits;
			continue;
		}
		pair = model_make_pair(model, values->task, row[0].bits);
		if (!pair)
			continue;
		pair->count = row[1].bits;
		pair->sum = row[2].bits;
		pair->min = row[3].bits;
		pair->max = row[4].bits;
	}
}

static uint64_t *buckets_of(struct model *model, struct model_site *site, uint64_t task)
{
	struct task_site *pair;

	if (task == TASK_ALL)
		return site->buckets;
	pair = model_make_pair(model, task, site->id);
	if (pair && !pair->buckets)
		pair->buckets = model_take(model, BUCKET_BYTES, ROOM_WINDOWS);
	return pair ? pair->buckets : NULL;
}

static void apply_buckets(struct model *model, const struct message_buckets *message)
{
	struct model_site *site = model_find_site(model, message->site);
	const struct number *pair = message->pairs.numbers;
	uint64_t *buckets;

	model->is_in_tick = true;
	if (message->task > UINT32_MAX || message->site >= LIMIT_SITES || message->pairs.count % 2 != 0) {
		model_refuse(model);
		return;
	}
	if (!site || !site_kind_is_timed(site->kind))
		return;
	buckets = buckets_of(model, site, message->task);
	for (uint32_t i = 0; i < message->pairs.count; i += 2, pair += 2)
		if (!row_is_good(pair, 2, 0) || pair[0].bits >= HISTOGRAM_BUCKETS)
			model_refuse(model);
		else if (buckets)
			buckets[pair[0].bits] = pair[1].bits;
}

static void class_books(const struct model *model, struct model_class *class, const struct number *row)
{
	uint64_t arrived;

	class->emitted = row[1].bits;
	class->dropped = row[2].bits;
	class->taken = row[3].bits;
	/* The first books tell what was taken before we joined. Mostly they come in a greeting, which is before any event.
	 * When events came first, we have received this class from its start, or, if we came late, since nobody knows
	 * when: then nothing is said to be lost. */
	if (!class->has_base) {
		class->base_taken = class->received == 0 ? class->taken
				    : model->is_late && class->taken > class->received ? class->taken - class->received : 0;
		class->base_dropped = class->received == 0 || model->is_late ? class->dropped : 0;
		class->has_base = true;
	}
	arrived = class->taken > class->base_taken ? class->taken - class->base_taken : 0;
	class->lost = arrived > class->received ? arrived - class->received : 0;
}

/* True when no more events were taken or dropped than were emitted, and we received no more than were taken. */
static bool class_is_balanced(const struct model_class *class)
{
	return class->emitted >= class->dropped && class->emitted - class->dropped >= class->taken &&
	       class->taken >= class->base_taken && class->taken - class->base_taken >= class->received;
}

/* Divides the events that never arrived: the target says how many of them its queue for us dropped; the rest was lost
 * on the way. */
static void losses_sort(struct model *model)
{
	struct model_link *link = &model->link;
	uint64_t sink_dropped = sum_of(link->sink_dropped, model->sink_dropped_before);

	link->lost_events = model->lost_raw > sink_dropped ? model->lost_raw - sink_dropped : 0;
	link->dropped_events = sum_of(model->ring_dropped, model->lost_raw < sink_dropped ? model->lost_raw : sink_dropped);
}

static void apply_books(struct model *model, const struct message_books *books)
{
	const struct number *row = books->rows.numbers;
	struct model_link *link = &model->link;

	model->is_in_tick = true;
	if (books->task > UINT32_MAX || books->rows.count % 4 != 0) {
		model_refuse(model);
		return;
	}
	if (books->task != TASK_ALL)
		return;
	link->has_books = link->is_balanced = true;
	link->emitted = link->dropped = link->taken = 0;
	model->lost_raw = model->lost_before;
	model->ring_dropped = model->ring_dropped_before;
	for (uint32_t i = 0; i < books->rows.count; i += 4, row += 4)
		if (row_is_good(row, 4, 0) && row[0].bits < LIMIT_CLASSES)
			class_books(model, &model->classes[row[0].bits], row);
		else
			model_refuse(model);
	for (uint32_t i = 0; i < LIMIT_CLASSES; i++) {
		const struct model_class *class = &model->classes[i];

		link->emitted = sum_of(link->emitted, class->emitted);
		link->dropped = sum_of(link->dropped, class->dropped);
		link->taken = sum_of(link->taken, class->taken);
		model->lost_raw = sum_of(model->lost_raw, class->lost);
		model->ring_dropped = sum_of(model->ring_dropped, model_dropped(class));
		link->is_balanced &= !class->has_base || class_is_balanced(class);
	}
	losses_sort(model);
}

static void apply_sink(struct model *model, const struct message_sink *sink)
{
	struct model_link *link = &model->link;

	link->sink_taken = sink->taken;
	link->sink_delivered = sink->delivered;
	link->sink_dropped = sink->dropped;
	link->sink_queued = sink->queued;
	link->queue_bytes = sink->queue_bytes;
	link->queue_bytes_max = sink->queue_bytes_max;
	link->viewers = sink->viewers;
	losses_sort(model);
}

static void apply_bye(struct model *model, const struct message_bye *bye)
{
	uint64_t wanted_interval_ns = model->wanted_interval_ns;
	struct message_snapshot last = model->snapshot;

	model->link.bye = *bye;
	model->link.has_bye = true;
	/* The last tick counts, even when it came sooner than wanted_interval_ns. */
	if (last.time_ns > model->time_ns) {
		model->wanted_interval_ns = 0;
		apply_snapshot(model, &last);
		model->wanted_interval_ns = wanted_interval_ns;
	}
}

void model_apply(struct model *model, const struct message *message, uint32_t bytes)
{
	switch (message->kind) {
	case KIND_HELLO:
		apply_hello(model, &message->hello);
		break;
	case KIND_CLASS:
		apply_class(model, &message->class);
		break;
	case KIND_SITE:
		apply_site(model, &message->site);
		break;
	case KIND_TASK:
		apply_task(model, &message->task);
		break;
	case KIND_BATCH:
		apply_batch(model, &message->batch, bytes);
		break;
	case KIND_SNAPSHOT:
		apply_snapshot(model, &message->snapshot);
		break;
	case KIND_VALUES:
		apply_values(model, &message->values);
		break;
	case KIND_HOLDERS:
		apply_holders(model, &message->holders);
		break;
	case KIND_BUCKETS:
		apply_buckets(model, &message->buckets);
		break;
	case KIND_BOOKS:
		apply_books(model, &message->books);
		break;
	case KIND_SINK:
		apply_sink(model, &message->sink);
		break;
	case KIND_RECORD:
		apply_record(model, &message->record, bytes);
		break;
	case KIND_LOG:
		apply_log(model, &message->log, bytes);
		break;
	case KIND_FOLDED:
		apply_folded(model, &message->folded);
		break;
	case KIND_LEVEL:
		apply_level(model, &message->level);
		break;
	case KIND_FRAME:
		apply_frame(model, &message->frame);
		break;
	case KIND_BYE:
		apply_bye(model, &message->bye);
		break;
	/* These concern the session or the reader of blocks, not the model. */
	case KIND_CHECK:
	case KIND_ACK:
	case KIND_HELD:
	case KIND_INDEX:
	case KIND_END:
	/* Only a target receives requests. */
#define REQUEST(KIND, name, role, handler) case KIND_##KIND:
#include "protocol/requests.def"
#undef REQUEST
		break;
	}
}

void model_set_transport(struct model *model, const struct model_transport *transport)
{
	struct model_link *link = &model->link;

	link->bytes = transport->bytes;
	link->blocks = transport->blocks;
	link->damaged_blocks = transport->damaged_blocks;
	link->skipped_bytes = transport->skipped_bytes;
	link->lost_blocks = transport->lost_blocks;
	link->bad_messages = sum_of(transport->bad_messages, model->refused_count);
	link->unknown_messages = transport->unknown_messages;
	link->lag_ns = transport->lag_ns;
}

void model_joined_late(struct model *model)
{
	model->is_late = true;
}

void model_gap(struct model *model)
{
	for (uint32_t i = 0; i < LIMIT_CLASSES; i++) {
		struct model_class *class = &model->classes[i];

		model->lost_before = sum_of(model->lost_before, class->lost);
		class->lost = class->received = class->previous_received = 0;
		class->has_base = false;
	}
	model->ring_dropped_before = model->ring_dropped;
	model->sink_dropped_before = sum_of(model->sink_dropped_before, model->link.sink_dropped);
	model->link.sink_dropped = 0;
	model->has_previous = false;
	model->link.has_bye = model->link.has_books = false;
	model->link.reconnects++;
}

/* ---- asking ---- */

const struct model_target *model_target(const struct model *model) { return &model->target; }
const struct model_totals *model_totals(const struct model *model) { return &model->totals; }
const struct model_link *model_link(const struct model *model) { return &model->link; }
uint64_t model_ticks(const struct model *model) { return model->ticks; }
uint64_t model_time_ns(const struct model *model) { return model->time_ns; }
uint64_t model_interval_ns(const struct model *model) { return model->interval_ns; }
bool model_is_settled(const struct model *model) { return model->has_previous && !model->is_in_tick; }
int64_t model_second(const struct model *model) { return (int64_t)(model->time_ns / 1000000000u); }
uint32_t model_site_count(const struct model *model) { return model->sites.count; }
uint32_t model_task_count(const struct model *model) { return model->tasks.count; }
uint32_t model_class_count(const struct model *model) { return model->class_count; }
uint32_t model_task_site_count(const struct model *model) { return model->task_sites.count; }
int model_window(const struct model *model) { return model->window_s; }
uint64_t model_mark_ns(const struct model *model) { return model->mark_ns; }

bool model_has_typed_memory(const struct model *model)
{
	for (uint32_t i = 0; i < model_site_count(model); i++)
		if (model_site(model, i)->kind == SITE_ALLOC && model_site(model, i)->count > 0)
			return true;
	return false;
}

struct model_memory model_memory(const struct model *model)
{
	const struct live *live = &model->totals.live;

	if (!model_has_typed_memory(model))
		return (struct model_memory){ (double)model->totals.rss_bytes, false, "rss ", &model->series[MODEL_RSS] };
	return (struct model_memory){ live->bytes, true, live->is_rough ? "~" : "", &model->series[MODEL_MEMORY] };
}

int64_t model_real_ns(const struct model *model, uint64_t time_ns)
{
	return (int64_t)(model->target.real_ns + (time_ns - model->target.mono_ns));
}

const struct model_site *model_site(const struct model *model, uint32_t index)
{
	return model->sites.items[index];
}

const struct model_site *model_site_by_id(const struct model *model, uint32_t id)
{
	return model_find_site(model, id);
}

uint32_t model_frame_count(const struct model *model) { return model->frame_count; }

const struct model_frame *model_frame(const struct model *model, uint32_t index)
{
	return &model->frames[index];
}

const struct model_task *model_task(const struct model *model, uint32_t index)
{
	return model->tasks.items[index];
}

const struct model_task *model_task_by_id(const struct model *model, uint32_t id)
{
	return model_find_task(model, id);
}

const struct model_class *model_class(const struct model *model, uint32_t id)
{
	return &model->classes[id];
}

int model_class_find(const struct model *model, const char *name)
{
	for (uint32_t i = 0; i < model->class_count; i++)
		if (model->classes[i].is_defined && !strcmp(model->classes[i].name, name))
			return (int)i;
	return -1;
}

bool model_is_reported(const struct model *model, const struct model_site *site)
{
	return site->kind == SITE_GAUGE && site->class_id < model->class_count &&
	       !strcmp(model->classes[site->class_id].name, "report");
}

bool model_is_costly(const struct model *model, const struct model_site *site)
{
	static const char *const names[] = {
		"malloc/allocated", "malloc/free", "malloc/mapped", "malloc/held", "heap/unclassified", "process/pss",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(site->name, names[i]))
			return model_is_reported(model, site);
	return false;
}

uint64_t model_age_ns(const struct model *model, const struct model_site *site)
{
	return model_is_reported(model, site) ? model->time_ns - site->told_ns : 0;
}

const struct task_site *model_task_site(const struct model *model, uint32_t index)
{
	return model->task_sites.items[index];
}

const struct task_site *model_task_site_of(const struct model *model, uint32_t task, uint32_t site)
{
	return model_find_pair(model, task, site);
}

bool model_has_holders(const struct model *model) { return model->holders != NULL; }
uint64_t model_mean_bytes(const struct model *model) { return model->mean_bytes; }
uint32_t model_holder_count(const struct model *model) { return model->holder_count; }

const struct model_holder *model_holder(const struct model *model, uint32_t index)
{
	return &model->holders[index];
}

uint32_t model_line_count(const struct model *model)
{
	return model->line_count < MODEL_LINES ? (uint32_t)model->line_count : MODEL_LINES;
}

const struct model_line *model_line(const struct model *model, uint32_t age)
{
	return &model->lines[(model->line_count - 1 - age) % MODEL_LINES];
}

const struct model_site *model_worst_p99(const struct model *model)
{
	const struct model_site *worst = NULL;

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		if ((site->kind == SITE_SPAN || site->kind == SITE_LATENCY) && !model_is_lifetime(site) &&
		    site->window.count > 0 &&
		    (!worst || site->window.p99 > worst->window.p99))
			worst = site;
	}
	return worst;
}

const struct series *model_series(const struct model *model, enum model_series which)
{
	return &model->series[which];
}

bool model_window_buckets(const struct model *model, const struct model_site *site, uint64_t out[HISTOGRAM_BUCKETS])
{
	if (!site->buckets)
		return false;
	if (model->window_s == 0) {
		memcpy(out, site->buckets, BUCKET_BYTES);
		return true;
	}
	memset(out, 0, BUCKET_BYTES);
	window_add(site, model_second(model), model->window_s, out);
	return true;
}

void model_set_window(struct model *model, int seconds)
{
	model->window_s = seconds < 0 ? 0 : seconds > MODEL_WINDOW_S_MAX ? MODEL_WINDOW_S_MAX : seconds;
	for (uint32_t i = 0; i < model->sites.count; i++) {
		struct model_site *site = model->sites.items[i];

		if (!model_is_timed(site))
			continue;
		site_window(model, site);
		if (model->mark_ns > 0)
			site_mark_window(model, site);
	}
}

void model_set_interval(struct model *model, uint64_t interval_ns)
{
	model->wanted_interval_ns = interval_ns;
}

static int64_t mark_of(const struct live *live)
{
	uint64_t bytes = model_round(live->bytes);

	return bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

void model_set_mark(struct model *model)
{
	model->mark_ns = model->time_ns;
	model->wanted_mark_ns = 0;
	for (uint32_t i = 0; i < model->sites.count; i++) {
		struct model_site *site = model->sites.items[i];

		site->mark = site->window;
		site->mark_value = model_is_memory(site) ? mark_of(&site->live)
				   : site->kind == SITE_GAUGE ? (int64_t)site->sum : (int64_t)site->count;
	}
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		struct model_task *task = model->tasks.items[i];

		task->mark_value = mark_of(&task->live);
	}
}

void model_await_mark(struct model *model, const struct model *from)
{
	model->wanted_mark_ns = from->mark_ns ? from->mark_ns : from->wanted_mark_ns;
}

void model_take_mark(struct model *model, const struct model *from)
{
	model->mark_ns = from->mark_ns;
	for (uint32_t i = 0; i < model->sites.count; i++) {
		struct model_site *site = model->sites.items[i];
		const struct model_site *other = model_find_site(from, site->id);

		site->mark = other ? other->mark : (struct quantiles){ 0 };
		site->mark_value = other ? other->mark_value : 0;
	}
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		struct model_task *task = model->tasks.items[i];
		const struct model_task *other = model_find_task(from, task->id);

		task->mark_value = other ? other->mark_value : 0;
	}
}

void model_clear_mark(struct model *model)
{
	model->mark_ns = model->wanted_mark_ns = 0;
}
