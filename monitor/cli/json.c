#include "monitor/cli/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "widgets/text.h"

#define JSON_SCHEMA 1

/* Any name with its class before it fits in, also when each of its bytes becomes a replacement character. */
enum { VALID_BYTES = 8 * LIMIT_NAME_BYTES + 8 };

/* Returns the text as it came, in out. Only invalid UTF-8 is replaced, because JSON cannot hold it. */
static const char *valid(char out[VALID_BYTES], const char *from)
{
	size_t length = strlen(from), used = 0;

	for (size_t at = 0; at < length && used + UTF8_BYTES < VALID_BYTES;) {
		uint32_t ch;
		size_t taken = utf8_decode(from + at, length - at, &ch);

		used += utf8_encode(out + used, ch);
		at += taken ? taken : 1;
	}
	out[used] = '\0';
	return out;
}

json_t *json_text(const char *from)
{
	char out[VALID_BYTES];

	return json_string(valid(out, from));
}

static json_t *number(uint64_t value)
{
	/* Jansson has no integers beyond that. */
	return value > INT64_MAX ? json_real((double)value) : json_integer((json_int_t)value);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *quantiles(const struct quantiles *window)
{
	json_t *out = json_object();

	json_object_set_new(out, "count", number(window->count));
	json_object_set_new(out, "rate_per_s", real(window->rate_per_s));
	json_object_set_new(out, "min", number(window->min));
	json_object_set_new(out, "p50", number(window->p50));
	json_object_set_new(out, "p90", number(window->p90));
	json_object_set_new(out, "p99", number(window->p99));
	json_object_set_new(out, "p999", number(window->p999));
	json_object_set_new(out, "max", number(window->max));
	return out;
}

static json_t *site_head(const struct model *model, const struct model_site *site)
{
	json_t *out = json_object();

	json_object_set_new(out, "class", json_text(model_class(model, site->class_id)->name));
	json_object_set_new(out, "name", json_text(site->name));
	json_object_set_new(out, "kind", json_string(site_kind_name(site->kind)));
	json_object_set_new(out, "level", json_string(level_name(site->level)));
	json_object_set_new(out, "file", json_text(site->file));
	json_object_set_new(out, "line", number(site->line));
	return out;
}

static json_t *spans(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		json_t *out;

		if (!model_is_timed(site))
			continue;
		out = site_head(model, site);
		json_object_set_new(out, "unit",
				    json_string(site->unit == UNIT_TIME ? "ns" : site->unit == UNIT_SIZE ? "bytes" : ""));
		json_object_set_new(out, "count", number(site->count));
		json_object_set_new(out, "sum", number(site->sum));
		json_object_set_new(out, "min", number(site->min));
		json_object_set_new(out, "max", number(site->max));
		json_object_set_new(out, "timed_one_in", number(site->every > 1 ? site->every : 1));
		json_object_set_new(out, "window", quantiles(&site->window));
		json_array_append_new(list, out);
	}
	return list;
}

static json_t *counters(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		json_t *out;

		if (model_is_timed(site) || model_is_memory(site))
			continue;
		out = site_head(model, site);
		json_object_set_new(out, "count", number(site->count));
		if (site->kind == SITE_GAUGE)
			json_object_set_new(out, "value", site->count ? json_integer((json_int_t)site->sum) : json_null());
		else
			json_object_set_new(out, "value", number(site->sum));
		json_object_set_new(out, "rate_per_s", real(site->rate_per_s));
		if (model_is_reported(model, site))
			json_object_set_new(out, "age_ns", site->count ? number(model_age_ns(model, site)) : json_null());
		json_array_append_new(list, out);
	}
	return list;
}

void json_live_set(json_t *out, const struct live *live)
{
	bool is_known = live->is_known;

	json_object_set_new(out, "live_bytes", is_known ? number(model_round(live->bytes)) : json_null());
	json_object_set_new(out, "live_count", is_known ? number(model_round(live->count)) : json_null());
	json_object_set_new(out, "live_deviation_bytes", is_known ? number(model_round(sqrt(live->variance)))
								   : json_null());
	json_object_set_new(out, "live_is_estimate", json_boolean(live->is_rough));
	json_object_set_new(out, "average_bytes", live->count > 0 ? real(live->bytes / live->count) : json_null());
}

/* What a type or tag ever allocated and freed. */
static void allocations_set(json_t *out, const struct model_site *site)
{
	json_object_set_new(out, "allocated_bytes", number(site->sum));
	json_object_set_new(out, "allocations", number(site->count));
	json_object_set_new(out, "freed_bytes", number(site->max));
	json_object_set_new(out, "frees", number(site->min));
	json_object_set_new(out, "allocations_per_s", real(site->rate_per_s));
	json_object_set_new(out, "alloc_bytes_per_s", real(site->sum_per_s));
	json_object_set_new(out, "free_bytes_per_s", real(site->free_per_s));
}

static json_t *tags(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		json_t *out;

		if (site->kind != SITE_TAG)
			continue;
		out = json_object();
		json_object_set_new(out, "name", json_text(site->name));
		json_live_set(out, &site->live);
		allocations_set(out, site);
		json_array_append_new(list, out);
	}
	return list;
}

/* Who holds what: the task, and the tag if there was one, under which it was allocated. */
static json_t *holders(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model_holder_count(model); i++) {
		const struct model_holder *holder = model_holder(model, i);
		const struct model_site *type = model_site_by_id(model, holder->type);
		const struct model_site *tag = model_site_by_id(model, holder->tag);
		json_t *out = json_object();

		json_object_set_new(out, "type", json_text(type ? type->name : ""));
		json_object_set_new(out, "task", number(holder->task));
		json_object_set_new(out, "tag", tag ? json_text(tag->name) : json_null());
		json_live_set(out, &holder->live);
		json_array_append_new(list, out);
	}
	return list;
}

static json_t *memory(const struct model *model)
{
	const struct model_totals *totals = model_totals(model);
	json_t *out = json_object(), *types = json_array();

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);
		json_t *type;

		if (site->kind != SITE_ALLOC)
			continue;
		type = json_object();
		json_object_set_new(type, "name", json_text(site->name));
		json_live_set(type, &site->live);
		allocations_set(type, site);
		json_array_append_new(types, type);
	}
	json_live_set(out, &totals->live);
	json_object_set_new(out, "unsampled_bytes", model_has_holders(model) ? number(model_round(totals->unsampled_bytes))
									     : json_null());
	json_object_set_new(out, "sampled_one_byte_in", model_has_holders(model) ? number(model_mean_bytes(model))
										  : json_null());
	json_object_set_new(out, "rss_bytes", number(totals->rss_bytes));
	json_object_set_new(out, "alloc_bytes_per_s", real(totals->alloc_per_s));
	json_object_set_new(out, "free_bytes_per_s", real(totals->free_per_s));
	json_object_set_new(out, "types", types);
	json_object_set_new(out, "tags", tags(model));
	json_object_set_new(out, "holders", holders(model));
	return out;
}

static json_t *tasks(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model_task_count(model); i++) {
		const struct model_task *task = model_task(model, i);
		json_t *out = json_object();

		json_object_set_new(out, "id", number(task->id));
		json_object_set_new(out, "name", json_text(task->name));
		json_object_set_new(out, "thread_id", number(task->thread_id));
		json_live_set(out, &task->live);
		json_object_set_new(out, "allocated_bytes", number(task->alloc_bytes));
		json_object_set_new(out, "allocations", number(task->alloc_count));
		json_object_set_new(out, "freed_bytes", number(task->free_bytes));
		json_object_set_new(out, "frees", number(task->free_count));
		json_object_set_new(out, "alloc_bytes_per_s", real(task->alloc_per_s));
		json_object_set_new(out, "events_per_s", real(task->events_per_s));
		json_array_append_new(list, out);
	}
	return list;
}

static json_t *classes(const struct model *model)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < model_class_count(model); i++) {
		const struct model_class *class = model_class(model, i);
		json_t *out;

		if (!class->is_defined)
			continue;
		out = json_object();
		json_object_set_new(out, "name", json_text(class->name));
		json_object_set_new(out, "help", json_text(class->help));
		json_object_set_new(out, "level", json_string(level_name(class->level)));
		json_object_set_new(out, "own_level", json_string(level_name(class->own_level)));
		json_object_set_new(out, "leases", number(class->leases));
		json_object_set_new(out, "set_by", json_text(class->set_by));
		json_object_set_new(out, "keep_one_in", number(class->sample > 1 ? class->sample : 1));
		json_object_set_new(out, "burst_per_s", number(class->burst ? class->burst : LIMIT_LOG_BURST));
		json_object_set_new(out, "most_per_s", class->per_second ? number(class->per_second) : json_null());
		json_object_set_new(out, "emitted", number(class->emitted));
		json_object_set_new(out, "taken", number(class->taken));
		json_object_set_new(out, "dropped", number(class->dropped));
		json_object_set_new(out, "received", number(class->received));
		json_object_set_new(out, "lost", number(class->lost));
		json_object_set_new(out, "events_per_s", real(class->events_per_s));
		json_object_set_new(out, "summed_events_per_s", real(class->sum_per_s));
		json_object_set_new(out, "bytes_per_s", real(class->bytes_per_s));
		json_object_set_new(out, "cost_share", real(class->cost_share));
		json_array_append_new(list, out);
	}
	return list;
}

static json_t *link_figures(const struct model *model)
{
	const struct model_link *link = model_link(model);
	json_t *out = json_object();

	json_object_set_new(out, "bytes", number(link->bytes));
	json_object_set_new(out, "blocks", number(link->blocks));
	json_object_set_new(out, "events", number(link->events));
	json_object_set_new(out, "bytes_per_s", real(link->bytes_per_s));
	json_object_set_new(out, "events_per_s", real(link->events_per_s));
	json_object_set_new(out, "lag_ns", number((uint64_t)(link->lag_ns > 0 ? link->lag_ns : 0)));
	json_object_set_new(out, "lost_events", number(link->lost_events));
	json_object_set_new(out, "dropped_events", number(link->dropped_events));
	json_object_set_new(out, "lost_blocks", number(link->lost_blocks));
	json_object_set_new(out, "damaged_blocks", number(link->damaged_blocks));
	json_object_set_new(out, "skipped_bytes", number(link->skipped_bytes));
	json_object_set_new(out, "bad_messages", number(link->bad_messages));
	json_object_set_new(out, "emitted", number(link->emitted));
	json_object_set_new(out, "dropped", number(link->dropped));
	json_object_set_new(out, "taken", number(link->taken));
	json_object_set_new(out, "balanced", json_boolean(link->is_balanced));
	json_object_set_new(out, "reconnects", number(link->reconnects));
	json_object_set_new(out, "viewers", number(link->viewers));
	json_object_set_new(out, "event_cost_ps", number(link->event_cost_ps));
	json_object_set_new(out, "ring_permille", number(link->ring_permille));
	json_object_set_new(out, "telem_cpu_ns", number(model_totals(model)->telem_cpu_ns));
	json_object_set_new(out, "telem_bytes", number(model_totals(model)->telem_bytes));
	return out;
}

static json_t *gc(const struct model *model)
{
	const struct model_totals *totals = model_totals(model);
	json_t *out = json_object();

	json_object_set_new(out, "rate_per_s", real(totals->gc_per_s));
	json_object_set_new(out, "time_share", real(totals->gc_share));
	return out;
}

static json_t *frame_counters(const struct model *model, const struct model_frame *frame)
{
	json_t *out = json_object();

	for (uint32_t i = 0; i < frame->counter_count; i++) {
		const struct model_site *site = model_site_by_id(model, frame->counters[i].site);
		char name[2 * LIMIT_NAME_BYTES + 1], key[VALID_BYTES];

		if (site)
			snprintf(name, sizeof name, "%s.%s", model_class(model, site->class_id)->name, site->name);
		else
			snprintf(name, sizeof name, "site %u", (unsigned)frame->counters[i].site);
		json_object_set_new(out, valid(key, name), number(frame->counters[i].sum));
	}
	return out;
}

/* Returns the latest frame of each name, with counts of all frames received since telemtop connected. */
static json_t *frames(const struct model *model)
{
	static const char *const parts[] = { "time", "heap", "logs", "counter" };
	json_t *list = json_array();

	for (uint32_t i = 0; i < model_frame_count(model); i++) {
		const struct model_frame *frame = model_frame(model, i);
		const struct model_site *site = model_site_by_id(model, frame->site);
		json_t *out = json_object(), *logs = json_object(), *over_parts = json_object();

		for (unsigned severity = 0; severity < SEVERITY_COUNT; severity++)
			json_object_set_new(logs, severity_name(severity), number(frame->logs[severity]));
		for (int part = 0; part < 4; part++)
			json_object_set_new(over_parts, parts[part], number(frame->broke[part]));
		json_object_set_new(out, "name", json_text(site ? site->name : ""));
		json_object_set_new(out, "number", number(frame->number));
		json_object_set_new(out, "seen", number(frame->seen));
		json_object_set_new(out, "missed", number(frame->missed));
		json_object_set_new(out, "duration_ns", number(frame->duration_ns));
		json_object_set_new(out, "budget_ns", number(frame->budget_ns));
		json_object_set_new(out, "heap_bytes", json_integer(frame->heap_bytes));
		json_object_set_new(out, "heap_peak_bytes", json_integer(frame->heap_peak));
		json_object_set_new(out, "allocations", number(frame->allocations));
		json_object_set_new(out, "logs", logs);
		json_object_set_new(out, "counters", frame_counters(model, frame));
		json_object_set_new(out, "over", number(frame->broken));
		json_object_set_new(out, "over_parts", over_parts);
		json_array_append_new(list, out);
	}
	return list;
}

static json_t *target_head(const struct model *model)
{
	const struct model_target *target = model_target(model);
	json_t *out = json_object();

	json_object_set_new(out, "name", json_text(target->name));
	json_object_set_new(out, "pid", number(target->pid));
	json_object_set_new(out, "host", json_text(target->host));
	json_object_set_new(out, "uid", number(target->uid));
	json_object_set_new(out, "libtelem", json_text(target->version));
	json_object_set_new(out, "protocol", number(target->major));
	json_object_set_new(out, "problem", target->problem[0] ? json_text(target->problem) : json_null());
	return out;
}

int json_write(const struct model *model, const char *state, FILE *out)
{
	json_t *root = json_object();
	int err;

	json_object_set_new(root, "schema", json_integer(JSON_SCHEMA));
	json_object_set_new(root, "target", target_head(model));
	json_object_set_new(root, "time_ns", json_integer(model_real_ns(model, model_time_ns(model))));
	json_object_set_new(root, "interval_ns", number(model_interval_ns(model)));
	json_object_set_new(root, "state", json_string(state));
	json_object_set_new(root, "lost", number(model_link(model)->lost_events + model_link(model)->dropped_events));
	json_object_set_new(root, "memory", memory(model));
	json_object_set_new(root, "spans", spans(model));
	json_object_set_new(root, "pairs", json_array());
	json_object_set_new(root, "tasks", tasks(model));
	json_object_set_new(root, "gc", gc(model));
	json_object_set_new(root, "frames", frames(model));
	json_object_set_new(root, "counters", counters(model));
	json_object_set_new(root, "classes", classes(model));
	json_object_set_new(root, "link", link_figures(model));
	err = json_dumpf(root, out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
	json_decref(root);
	return err || fputc('\n', out) == EOF || fflush(out) ? -EIO : 0;
}
