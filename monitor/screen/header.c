/* header.c -- the rows above the panel: who is watched, in what state, and its pulse. */
#include "monitor/screen/header.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "widgets/text.h"
#include "widgets/units.h"

#define LAGGING_NS 2e9

/* ---- words for the state ---- */

static void minutes(char *out, size_t out_bytes, uint64_t ns)
{
	unsigned long long seconds = ns / 1000000000u;

	if (seconds < 3600)
		snprintf(out, out_bytes, "%02llu:%02llu", seconds / 60, seconds % 60);
	else
		snprintf(out, out_bytes, "%llu:%02llu:%02llu", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

double header_interval_s(const struct screen *screen)
{
	uint64_t ns = model_interval_ns(screen->target->session.model);

	return (double)(ns ? ns : screen->target->controls.interval_ns) / 1e9;
}

static void badge_of_past(const struct target *target, char *out, size_t out_bytes)
{
	const struct cursor *cursor = &target->cursor;
	const struct model *live = target->session.model, *shown = target_model(target);
	/* Another program at this address counts from 0. */
	bool is_same = model_target(live)->stream == model_target(shown)->stream;
	uint64_t fresh = model_ticks(live) - (is_same ? target->frozen_ticks : 0);
	double age_s = is_same ? (double)(model_time_ns(live) - model_time_ns(shown)) / 1e9 : 0;

	if (target_is_frozen(target))
		snprintf(out, out_bytes, "FROZEN -%.0f s  %llu new", age_s, (unsigned long long)fresh);
	else if (cursor->is_at_end)
		snprintf(out, out_bytes, "REPLAY at its end");
	else if (cursor->is_playing)
		snprintf(out, out_bytes, "REPLAY x%g", cursor->speed);
	else
		snprintf(out, out_bytes, "REPLAY paused");
}

void header_badge(const struct screen *screen, char *out, size_t out_bytes)
{
	const struct target *target = screen->target;
	const struct model *live = target->session.model;
	uint64_t silent_ns = screen->now_ns - target->last_bytes_ns;
	char time[16];

	if (target->cursor.timeline) {
		badge_of_past(target, out, out_bytes);
	} else if (target->source.state == SOURCE_ENDED) {
		snprintf(out, out_bytes, "ENDED%s", model_link(live)->has_bye ? "" : " without goodbye");
	} else if (target->source.state == SOURCE_LOST) {
		minutes(time, sizeof time, screen->now_ns - target->lost_ns);
		snprintf(out, out_bytes, "LOST %s", time);
	} else if (target->source.state == SOURCE_CONNECTING || !model_target(live)->is_known) {
		snprintf(out, out_bytes, "CONNECTING");
	} else if ((double)silent_ns / 1e9 > 3 * header_interval_s(screen) + 1) {
		snprintf(out, out_bytes, "STALE %llu s", (unsigned long long)(silent_ns / 1000000000u));
	} else if (model_link(live)->lag_ns > LAGGING_NS) {
		snprintf(out, out_bytes, "LAGGING %.1f s", model_link(live)->lag_ns / 1e9);
	} else {
		snprintf(out, out_bytes, "LIVE %g s", round(header_interval_s(screen) * 10) / 10);
	}
}

struct style header_badge_style(const struct screen *screen)
{
	const struct target *target = screen->target;

	if (target->source.state == SOURCE_LOST || target->source.state == SOURCE_ENDED)
		return STYLE(ROLE_BAD, ATTR_BOLD);
	return target_is_frozen(target) ? STYLE(ROLE_ACCENT, ATTR_BOLD) : STYLE(ROLE_OK, ATTR_BOLD);
}

/* Makes text of the stream safe to show. */
static void clean(char *out, size_t out_bytes, const char *in)
{
	text_clean(out, out_bytes, in, strlen(in), GLYPHS_BLOCKS);
}

/* ---- the first row: parts that are left out one by one when it is narrow ---- */

/* The last of these is left out first. */
enum identity_rank { STAYS, REC_BYTES, CLOCK, PID, HOST, MARK, VERSION, BRAND, INTERVAL, UP };

struct identity {
	struct identity_part {
		char text[300];              /* "": it is left out */
		struct style style;
		int gap_cells;               /* between it and the part before */
		enum identity_rank rank;
	} parts[UP + 3];                     /* one of each rank, and three that stay: name, badge, REC */
	int count;
};

__attribute__((format(printf, 5, 6)))
static void identity_add(struct identity *identity, enum identity_rank rank, int gap_cells, struct style style,
			 const char *format, ...)
{
	struct identity_part *part = &identity->parts[identity->count++];
	char text[sizeof part->text];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	clean(part->text, sizeof part->text, text);
	part->style = style;
	part->gap_cells = gap_cells;
	part->rank = rank;
}

static void identity_badge(struct identity *identity, const struct screen *screen)
{
	char badge[64];
	const char *more;

	header_badge(screen, badge, sizeof badge);
	/* What follows is left out earlier: the interval of LIVE, and how many ticks are new while FROZEN. */
	more = !strncmp(badge, "LIVE ", 5) ? badge + 4 : strstr(badge, "  ");
	if (!more)
		more = badge + strlen(badge);
	identity_add(identity, STAYS, 3, header_badge_style(screen), "%.*s", (int)(more - badge), badge);
	identity_add(identity, INTERVAL, (int)strspn(more, " "), header_badge_style(screen), "%s", more + strspn(more, " "));
}

static void identity_recording(struct identity *identity, const struct screen *screen)
{
	const struct recorder *recorder = &screen->recorder;
	const struct style style = STYLE(ROLE_BAD, ATTR_BOLD);
	char time[16], bytes[UNITS_BYTES];

	if (!recorder_is_on(recorder))
		return;
	if (recorder->is_full) {
		identity_add(identity, STAYS, 3, style, "REC disk full");
		return;
	}
	minutes(time, sizeof time, model_time_ns(screen->target->session.model) - recorder->started_ns);
	units_bytes(bytes, (double)recorder_bytes(recorder));
	identity_add(identity, STAYS, 3, style, "REC %s", time);
	identity_add(identity, REC_BYTES, 1, style, "%s", bytes);
}

/* The parts from left to right; the name is the second, and the clock the last. */
static void identity_collect(struct identity *identity, const struct screen *screen, int width_cells)
{
	const struct model *model = target_model(screen->target);
	const struct model_target *who = model_target(model);
	char text[UNITS_BYTES];

	identity_add(identity, BRAND, 0, STYLE(ROLE_DIM), "telemtop  ");
	identity_add(identity, STAYS, 0, STYLE(ROLE_TITLE, ATTR_BOLD), "%s",
		     who->is_known ? who->name : screen->target->address.text);
	if (who->is_known) {
		identity_add(identity, PID, 1, STYLE(ROLE_TEXT), "%llu", (unsigned long long)who->pid);
		identity_add(identity, HOST, 1, STYLE(ROLE_TEXT), "@%s", who->host);
	}
	identity_badge(identity, screen);
	if (who->is_known && who->start_ns && model_time_ns(model) > who->start_ns) {
		units_uptime(text, (double)(model_time_ns(model) - who->start_ns));
		identity_add(identity, UP, 3, STYLE(ROLE_TEXT), "up %s", text);
	}
	if (who->is_known && width_cells >= 160)
		identity_add(identity, VERSION, 3, STYLE(ROLE_DIM), "libtelem %s, protocol %u", who->version,
			     who->major);
	identity_recording(identity, screen);
	if (width_cells >= 100 && model_mark_ns(model)) {
		units_clock(text, model_real_ns(model, model_mark_ns(model)), 0);
		identity_add(identity, MARK, 3, STYLE(ROLE_TEXT), "mark %s", text);
	}
	units_clock(text, model_ticks(model) ? model_real_ns(model, model_time_ns(model)) : screen->real_ns, 0);
	identity_add(identity, CLOCK, 2, STYLE(ROLE_TEXT), "%s", text);
}

/* Leaves out the least important part until the row fits; when only parts that stay are left, the name is cut. */
static void identity_fit(struct identity *identity, const struct canvas *canvas)
{
	for (;;) {
		struct identity_part *name = &identity->parts[1], *least = name;
		char whole[sizeof name->text];
		int over = -canvas->width_cells;

		for (int i = 0; i < identity->count; i++) {
			struct identity_part *part = &identity->parts[i];

			if (!part->text[0])
				continue;
			over += part->gap_cells + canvas_text_width(canvas, part->text);
			if (part->rank > least->rank)
				least = part;
		}
		if (over <= 0)
			return;
		if (least != name) {
			least->text[0] = '\0';
			continue;
		}
		strcpy(whole, name->text);
		text_fit(name->text, sizeof name->text, whole, canvas_text_width(canvas, whole) - over,
			 canvas_glyphs(canvas));
		return;
	}
}

void header_draw_identity(const struct screen *screen, const struct canvas *canvas)
{
	struct identity identity = { .count = 0 };
	const struct identity_part *clock;
	int x = 0;

	identity_collect(&identity, screen, canvas->width_cells);
	identity_fit(&identity, canvas);
	clock = &identity.parts[identity.count - 1];
	for (const struct identity_part *part = identity.parts; part < clock; part++)
		if (part->text[0])
			x = canvas_text(canvas, x + part->gap_cells, 0, part->style, part->text);
	canvas_text_right(canvas, canvas->width_cells, 0, clock->style, clock->text);
}

/* ---- the second row: the pulse ---- */

static int put_gap(const struct canvas *canvas, int x, int y, struct style style, const char *text)
{
	return canvas_text(canvas, x, y, style, text) + 3;
}

/* " ▲" when the figure rose by more than a hundredth in the last ten seconds, " ▼" when it fell. */
static const char *trend_of(const struct series *series, int64_t second, enum glyphs glyphs)
{
	double before = series_at(series, second - 10), now = series_at(series, second);

	if (isnan(before) || isnan(now) || fabs(now - before) <= fabs(before) / 100)
		return "";
	if (glyphs == GLYPHS_ASCII)
		return now > before ? " ^" : " v";
	return now > before ? " ▲" : " ▼";
}

static void draw_classes_on(const struct model *model, const struct canvas *canvas, int x, int y)
{
	for (int on = 1; on >= 0; on--) {
		bool first = true;

		for (uint32_t i = 0; i < model_class_count(model); i++) {
			const struct model_class *class = model_class(model, i);
			char name[300];

			if (!class->is_defined || (class->level != LEVEL_OFF) != on)
				continue;
			if (first)
				x = canvas_text(canvas, x, y, STYLE(ROLE_DIM), on ? "on:" : "  off:");
			first = false;
			clean(name, sizeof name, class->name);
			x = canvas_text(canvas, x + 1, y, on ? STYLE(ROLE_TEXT) : STYLE(ROLE_DIM), name);
			if (class->level == LEVEL_ALL)
				x = canvas_text(canvas, x, y, STYLE(ROLE_ACCENT, ATTR_BOLD), "*");
		}
	}
	/* The panel Classes shows those that did not fit. */
	if (x > canvas->width_cells)
		canvas_text(canvas, canvas->width_cells - 1, y, STYLE(ROLE_DIM), "…");
}

/* "drop 0", or "drop 324k, 14 s ago": what was lost since we came, and when the last of it was. */
static void drop_text(char *out, size_t out_bytes, const struct model *model)
{
	const struct model_link *link = model_link(model);
	uint64_t lost = link->lost_events + link->dropped_events;
	char figure[UNITS_BYTES], ago[UNITS_BYTES];

	units_count(figure, (double)lost);
	if (lost == 0 || link->last_loss_ns == 0 || model_time_ns(model) < link->last_loss_ns + 1000000000u) {
		snprintf(out, out_bytes, "drop %s", figure);
		return;
	}
	units_uptime(ago, (double)(model_time_ns(model) - link->last_loss_ns));
	snprintf(out, out_bytes, "drop %s, %s ago", figure, ago);
}

/* " +12.0 MiB/min", how much memory has grown in the last minute; "" when that is not known yet, or is nothing. */
static void growth_text(char out[UNITS_BYTES + 8], const struct model *model, const struct series *series)
{
	int64_t now = model_second(model), seconds = 60;
	char figure[UNITS_BYTES];
	double growth;

	while (seconds > 10 && isnan(series_at(series, now - seconds)))
		seconds--;
	growth = (series_at(series, now) - series_at(series, now - seconds)) * 60 / (double)seconds;
	out[0] = '\0';
	if (isnan(growth) || fabs(growth) < series_at(series, now) / 1000)
		return;
	units_bytes_change(figure, growth);
	snprintf(out, UNITS_BYTES + 8, " %s/min", figure);
}

void header_draw_pulse(const struct screen *screen, const struct canvas *canvas)
{
	const struct model *model = target_model(screen->target);
	const struct model_link *link = model_link(model);
	const struct model_totals *totals = model_totals(model);
	struct model_memory memory = model_memory(model);
	char figure[UNITS_BYTES], growth[UNITS_BYTES + 8], part[120];
	uint32_t on = 0, defined = 0;
	int x = 0;

	if (model_ticks(model) == 0)
		return;
	units_bytes(figure, memory.bytes);
	growth_text(growth, model, memory.trend);
	snprintf(part, sizeof part, "%s%s%s%s%s", memory.is_typed ? "mem " : "", memory.prefix, figure,
		 trend_of(memory.trend, model_second(model), canvas_glyphs(canvas)),
		 canvas->width_cells >= 100 ? growth : "");
	x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), part);
	units_rate(figure, totals->events_per_s);
	snprintf(part, sizeof part, "ev %s", figure);
	x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), part);
	units_byte_rate(figure, link->bytes_per_s);
	x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), figure);
	if (!target_is_recording(screen->target)) {
		units_time(figure, link->lag_ns);
		snprintf(part, sizeof part, "lag %s", figure);
		x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), part);
	}
	drop_text(part, sizeof part, model);
	x = put_gap(canvas, x, 1, link->drops_per_s > 0 ? STYLE(ROLE_BAD, ATTR_BOLD) : STYLE(ROLE_TEXT), part);
	for (uint32_t i = 0; i < model_class_count(model); i++) {
		defined += model_class(model, i)->is_defined;
		on += model_class(model, i)->is_defined && model_class(model, i)->level != LEVEL_OFF;
	}
	if (canvas->width_cells >= 100) {
		draw_classes_on(model, canvas, x, 1);
	} else {
		snprintf(part, sizeof part, "cls %u/%u", on, defined);
		canvas_text(canvas, x, 1, STYLE(ROLE_TEXT), part);
	}
}
