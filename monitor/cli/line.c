#include "monitor/cli/line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "widgets/text.h"
#include "widgets/units.h"

const char *line_state(const struct target *target)
{
	if (target_is_recording(target))
		return "replay";
	if (model_link(target_model(target))->has_bye)
		return "ended";
	switch (target->source.state) {
	case SOURCE_CONNECTING: return "connecting";
	case SOURCE_OPEN: return "live";
	case SOURCE_LOST: return "lost";
	default: return "ended";
	}
}

void line_write(const struct target *target, FILE *out)
{
	const struct model *model = target_model(target);
	const struct model_totals *totals = model_totals(model);
	const struct model_link *link = model_link(model);
	const struct model_site *site = model_worst_p99(model);
	char clock[UNITS_BYTES], bytes[UNITS_BYTES], memory[UNITS_BYTES + 4];
	char alloc[UNITS_BYTES], events[UNITS_BYTES], wire[UNITS_BYTES],
		lost[UNITS_BYTES], gc[UNITS_BYTES], p99[UNITS_BYTES], name[200] = "", tasks[32];
	struct model_memory held = model_memory(model);
	uint32_t running = 0;

	for (uint32_t i = 0; i < model_task_count(model); i++)
		running += model_task(model, i)->events_per_s > 0;
	snprintf(tasks, sizeof tasks, "%u/%u", running, model_task_count(model));
	units_clock(clock, model_real_ns(model, model_time_ns(model)), 0);
	units_bytes(bytes, held.bytes);
	snprintf(memory, sizeof memory, "%s%s", held.prefix, bytes);
	units_bytes(alloc, totals->alloc_per_s);
	units_count(gc, totals->gc_per_s);
	units_count(events, totals->events_per_s);
	units_bytes(wire, link->bytes_per_s);
	units_count(lost, round(link->drops_per_s * (double)model_interval_ns(model) / 1e9));
	units_time(p99, site ? (double)site->window.p99 : NAN);
	if (site) {
		char full[2 * LIMIT_NAME_BYTES + 2];

		snprintf(full, sizeof full, "%s.%s", model_class(model, site->class_id)->name, site->name);
		text_clean(name, sizeof name, full, strlen(full), GLYPHS_BLOCKS);
	}
	fprintf(out, "%-8s  %12s  %8s %5s %5.2f %6s %5s %8s %4s %-6s %7s %s\n", clock, memory, alloc, gc,
		totals->gc_share * 100, tasks, events, wire, lost, line_state(target), p99, name);
}

void line_header_write(FILE *out)
{
	fprintf(out, "%-8s  %12s  %8s %5s %5s %6s %5s %8s %4s %-6s %7s\n", "time", "mem", "alloc/s", "gc/s", "gc%", "tasks",
		"ev/s", "wire/s", "drop", "state", "worst p99");
}
