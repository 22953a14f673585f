/* lines.c -- one summary line a tick, like vmstat; and once, without --json. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "monitor/cli/headless.h"
#include "widgets/text.h"
#include "widgets/units.h"

const char *target_state_word(const struct target *target)
{
	if (target->is_file)
		return "replay";
	if (model_link(target->session.model)->has_bye)
		return "ended";
	switch (target->source.state) {
	case SOURCE_CONNECTING: return "connecting";
	case SOURCE_OPEN: return "live";
	case SOURCE_LOST: return "lost";
	default: return "ended";
	}
}

/* The span or latency with the worst p99 of the window. */
static const struct model_site *worst(const struct model *model)
{
	const struct model_site *found = NULL;

	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		if ((site->kind == SITE_SPAN || site->kind == SITE_LATENCY) && site->window.count > 0 &&
		    (!found || site->window.p99 > found->window.p99))
			found = site;
	}
	return found;
}

static bool has_types(const struct model *model)
{
	for (uint32_t i = 0; i < model_site_count(model); i++)
		if (model_site(model, i)->kind == SITE_ALLOC && model_site(model, i)->count > 0)
			return true;
	return false;
}

static void print_line(const struct target *target)
{
	const struct model *model = target->session.model;
	const struct model_totals *totals = model_totals(model);
	const struct model_link *link = model_link(model);
	const struct model_site *site = worst(model);
	char clock[UNITS_BYTES], memory[UNITS_BYTES], alloc[UNITS_BYTES], events[UNITS_BYTES], wire[UNITS_BYTES],
		lost[UNITS_BYTES], gc[UNITS_BYTES], p99[UNITS_BYTES], name[200] = "", tasks[32];
	uint32_t running = 0;

	for (uint32_t i = 0; i < model_task_count(model); i++)
		running += model_task(model, i)->events_per_s > 0;
	snprintf(tasks, sizeof tasks, "%u/%u", running, model_task_count(model));
	units_clock(clock, model_real_ns(model, model_time_ns(model)), 0);
	units_bytes(memory, has_types(model) ? (double)totals->live_bytes : (double)totals->rss_bytes);
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
	printf("%-8s  %8s  %8s %5s %5.2f %6s %5s %8s %4s %-6s %7s %s\n", clock, memory, alloc, gc, totals->gc_share * 100,
	       tasks, events, wire, lost, target_state_word(target), p99, name);
	fflush(stdout);
}

static void print_header(void)
{
	printf("%-8s  %8s  %8s %5s %5s %6s %5s %8s %4s %-6s %7s\n", "time", "mem", "alloc/s", "gc/s", "gc%", "tasks", "ev/s",
	       "wire/s", "drop", "state", "worst p99");
}

static void lines_change(struct headless *headless, bool tick)
{
	/* The first snapshot is where rates start from. */
	if (!tick || model_ticks(headless->target.session.model) < 2)
		return;
	if (headless->printed % 20 == 0)
		print_header();
	print_line(&headless->target);
	headless->printed++;
	/* Whoever read us has had enough: telemtop lines PID | head */
	if (ferror(stdout))
		headless_over(headless, errno == EPIPE ? EXIT_DONE : EXIT_INTERNAL);
	else if (headless->options->count && headless->printed >= headless->options->count)
		headless_over(headless, EXIT_DONE);
}

const struct headless_command lines_command = { .change = lines_change, .follows_file = true };

static void once_change(struct headless *headless, bool tick)
{
	struct target *target = &headless->target;

	if (!tick || (model_ticks(target->session.model) < 2 && !target->is_file))
		return;
	if (headless->options->json) {
		headless_over(headless, json_write(target, target_state_word(target), stdout) < 0 ? EXIT_INTERNAL
												  : EXIT_DONE);
		return;
	}
	print_header();
	print_line(target);
	headless_over(headless, EXIT_DONE);
}

const struct headless_command once_command = { .change = once_change };

/* ---- record ---- */

static void record_change(struct headless *headless, bool tick)
{
	struct target *target = &headless->target;
	const struct options *options = headless->options;

	if (target->recorder.problem.code) {
		headless_over(headless, problem_print(&target->recorder.problem));
		return;
	}
	if (!recorder_is_on(&target->recorder) && model_ticks(target->session.model) > 0) {
		struct problem problem = { 0 };

		if (recorder_start(&target->recorder, &target->session, options->output, options->force,
				   &problem) != EXIT_DONE) {
			headless_over(headless, problem_print(&problem));
			return;
		}
		fprintf(stderr, "telemtop: recording into %s; ^C ends it\n", target->recorder.path);
	}
	(void)tick;
	if (options->size_bytes && target->recorder.recording.offset >= options->size_bytes)
		headless_over(headless, EXIT_DONE);
}

static void record_timeout(struct headless *headless)
{
	struct problem problem = { 0 };

	if (recorder_is_on(&headless->target.recorder)) {
		headless_over(headless, EXIT_DONE);
		return;
	}
	problem_set(&problem, EXIT_CONNECTION, "%s: nothing to record: the target has not said anything",
		    headless->target.address.text);
	problem_todo(&problem, "Is the program stopped?");
	headless_over(headless, problem_print(&problem));
}

const struct headless_command record_command = {
	.change = record_change, .timeout = record_timeout, .follows_file = true,
};
