#include "monitor/screen/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/screen/keys.h"
#include "widgets/text.h"
#include "widgets/units.h"

/* Below these the frame gives way to the panel, and then to plain rows. */
enum { FULL_WIDTH = 60, FULL_HEIGHT = 12, PANEL_WIDTH = 40, PANEL_HEIGHT = 6 };

#define LAGGING_NS 2e9

void screen_init(struct screen *screen, struct target *target)
{
	*screen = (struct screen){ .target = target, .cursor_x = -1, .cursor_y = -1, .keep = target->options->keep };
	for (int i = 0; i < PANELS_MAX; i++)
		panel_view_init(&screen->views[i]);
}

void screen_fini(struct screen *screen)
{
	model_free(screen->frozen);
	screen->frozen = NULL;
}

struct model *screen_model(const struct screen *screen)
{
	return screen->frozen ? screen->frozen : screen->target->session.model;
}

const struct panel *screen_panel(const struct screen *screen)
{
	return panels[screen->panel];
}

struct panel_view *screen_view(struct screen *screen)
{
	return &screen->views[screen->panel];
}

void screen_say(struct screen *screen, const char *format, ...)
{
	char line[512], clock[UNITS_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	text_clean(screen->message, sizeof screen->message, line, strlen(line), GLYPHS_BLOCKS);
	units_clock(clock, screen->real_ns, 0);
	snprintf(screen->message_clock, sizeof screen->message_clock, "%.15s", line[0] ? clock : "");
}

void screen_name_classes(struct screen *screen)
{
	const struct model *model = screen->target->session.model;

	for (uint32_t i = 0; i < model_class_count(model); i++) {
		const struct model_class *class = model_class(model, i);
		const char *spare = "bcdefghijklmopqtuvwxyz";

		if (!class->is_defined || screen->class_keys[i])
			continue;
		for (const char *at = class->name; *at && !screen->class_keys[i]; at++)
			if (*at >= 'a' && *at <= 'z' && !strchr("anrs", *at) &&
			    !memchr(screen->class_keys, *at, sizeof screen->class_keys))
				screen->class_keys[i] = *at;
		for (; *spare && !screen->class_keys[i]; spare++)
			if (!memchr(screen->class_keys, *spare, sizeof screen->class_keys))
				screen->class_keys[i] = *spare;
	}
}

/* ---- words for the state ---- */

static void minutes(char *out, size_t out_bytes, uint64_t ns)
{
	unsigned long long seconds = ns / 1000000000u;

	if (seconds < 3600)
		snprintf(out, out_bytes, "%02llu:%02llu", seconds / 60, seconds % 60);
	else
		snprintf(out, out_bytes, "%llu:%02llu:%02llu", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

static double interval_s(const struct screen *screen)
{
	uint64_t ns = model_interval_ns(screen->target->session.model);

	return (double)(ns ? ns : screen->target->options->interval_ns) / 1e9;
}

void screen_badge(const struct screen *screen, char *out, size_t out_bytes)
{
	const struct target *target = screen->target;
	const struct model *live = target->session.model;
	uint64_t silent_ns = screen->now_ns - target->last_bytes_ns;
	char time[16];

	if (screen->frozen) {
		/* Another program at this address counts from nothing. */
		bool is_same = model_target(live)->stream == model_target(screen->frozen)->stream;
		uint64_t fresh = model_ticks(live) - (is_same ? screen->frozen_ticks : 0);
		double age_s = is_same ? (double)(model_time_ns(live) - model_time_ns(screen->frozen)) / 1e9 : 0;

		snprintf(out, out_bytes, "FROZEN -%.0f s  %llu new", age_s, (unsigned long long)fresh);
	} else if (target->is_file) {
		if (target->replay.is_playing && !target->replay.is_at_end)
			snprintf(out, out_bytes, "REPLAY x%g", target->replay.speed);
		else
			snprintf(out, out_bytes, "REPLAY %s", target->replay.is_at_end ? "at its end" : "paused");
	} else if (target->source.state == SOURCE_ENDED) {
		snprintf(out, out_bytes, "ENDED%s", model_link(live)->has_bye ? "" : " without goodbye");
	} else if (target->source.state == SOURCE_LOST) {
		minutes(time, sizeof time, screen->now_ns - target->lost_ns);
		snprintf(out, out_bytes, "LOST %s", time);
	} else if (target->source.state == SOURCE_CONNECTING || !model_target(live)->is_known) {
		snprintf(out, out_bytes, "CONNECTING");
	} else if ((double)silent_ns / 1e9 > 3 * interval_s(screen) + 1) {
		snprintf(out, out_bytes, "STALE %llu s", (unsigned long long)(silent_ns / 1000000000u));
	} else if (model_link(live)->lag_ns > LAGGING_NS) {
		snprintf(out, out_bytes, "LAGGING %.1f s", model_link(live)->lag_ns / 1e9);
	} else {
		snprintf(out, out_bytes, "LIVE %g s", round(interval_s(screen) * 10) / 10);
	}
}

/* Why a panel has nothing to show; NULL when there is something. */
static const char *nothing_yet(const struct screen *screen, char *out, size_t out_bytes)
{
	const struct target *target = screen->target;
	const struct model *model = screen_model(screen);
	double waited_s = (double)(screen->now_ns - target->opened_ns) / 1e9;
	const char *where = target->address.path[0] ? target->address.path : target->address.text;

	if (model_ticks(model) > 0)
		return NULL;
	if (target->is_file)
		snprintf(out, out_bytes, "The recording starts here. Space plays it.");
	else if (target->address.kind == ADDRESS_LISTEN && !target->is_open)
		snprintf(out, out_bytes, "Listening on %s:%s for a program with TELEM=\"sink=connect:%s:%s\" (%.0f s)",
			 target->address.host, target->address.port, target->address.host, target->address.port, waited_s);
	else if (!target->is_open)
		snprintf(out, out_bytes, "Connecting to %s … (%.0f s)", where, waited_s);
	else if (!model_target(model)->is_known && target->address.kind == ADDRESS_FIFO)
		snprintf(out, out_bytes, "%s is open. Waiting for a program to write to it (%.0f s).", where, waited_s);
	else
		snprintf(out, out_bytes, "Connected. Waiting for the target's first snapshot (%.0f s).", waited_s);
	return out;
}

/* ---- rows ---- */

/* Text from the stream made fit to be shown. */
static void clean(char *out, size_t out_bytes, const char *in)
{
	text_clean(out, out_bytes, in, strlen(in), GLYPHS_BLOCKS);
}

static int put_gap(const struct canvas *canvas, int x, int y, struct style style, const char *text)
{
	return canvas_text(canvas, x, y, style, text) + 3;
}

static struct style badge_style(const struct screen *screen)
{
	const struct target *target = screen->target;

	if (!target->is_file && (target->source.state == SOURCE_LOST || target->source.state == SOURCE_ENDED))
		return STYLE(ROLE_BAD, ATTR_BOLD);
	return screen->frozen ? STYLE(ROLE_ACCENT, ATTR_BOLD) : STYLE(ROLE_OK, ATTR_BOLD);
}

/* ---- the first row: parts that go one by one when it is narrow ---- */

/* The last of these goes first. */
enum identity_rank { STAYS, REC_BYTES, CLOCK, PID, HOST, MARK, VERSION, BRAND, INTERVAL, UP };

struct identity {
	struct identity_part {
		char text[300];              /* "": it went */
		struct style style;
		int gap_cells;               /* before it */
		enum identity_rank rank;
	} parts[UP + 3];                     /* one of each rank but for what stays: name, badge, REC */
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

	screen_badge(screen, badge, sizeof badge);
	/* Behind LIVE the interval, behind FROZEN's age what has come since. */
	more = !strncmp(badge, "LIVE ", 5) ? badge + 4 : strstr(badge, "  ");
	if (!more)
		more = badge + strlen(badge);
	identity_add(identity, STAYS, 3, badge_style(screen), "%.*s", (int)(more - badge), badge);
	identity_add(identity, INTERVAL, (int)strspn(more, " "), badge_style(screen), "%s", more + strspn(more, " "));
}

static void identity_recording(struct identity *identity, const struct screen *screen)
{
	const struct recorder *recorder = &screen->target->recorder;
	const struct style style = STYLE(ROLE_BAD, ATTR_BOLD);
	char time[16], bytes[UNITS_BYTES];

	if (!recorder_is_on(recorder))
		return;
	if (recorder->is_full) {
		identity_add(identity, STAYS, 3, style, "REC disk full");
		return;
	}
	minutes(time, sizeof time, model_time_ns(screen->target->session.model) - recorder->started_ns);
	units_bytes(bytes, (double)recorder->recording.offset);
	identity_add(identity, STAYS, 3, style, "REC %s", time);
	identity_add(identity, REC_BYTES, 1, style, "%s", bytes);
}

/* From the left; the name is the second, the clock the last. */
static void identity_collect(struct identity *identity, const struct screen *screen, int width_cells)
{
	const struct model *model = screen_model(screen);
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

/* Until it fits: the least important part goes, and when only what stays is left, the name is cut. */
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

static void draw_identity(const struct screen *screen, const struct canvas *canvas)
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

/* "▲" when it rose by more than a hundredth in the last ten seconds. */
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
	/* There are more: Classes has them all. */
	if (x > canvas->width_cells)
		canvas_text(canvas, canvas->width_cells - 1, y, STYLE(ROLE_DIM), "…");
}

static void draw_pulse(const struct screen *screen, const struct canvas *canvas)
{
	const struct model *model = screen_model(screen);
	const struct model_link *link = model_link(model);
	const struct model_totals *totals = model_totals(model);
	bool has_types = model_has_typed_memory(model);
	char figure[UNITS_BYTES], part[120];
	uint32_t on = 0, defined = 0;
	int x = 0;

	if (model_ticks(model) == 0)
		return;
	units_bytes(figure, has_types ? (double)totals->live_bytes : (double)totals->rss_bytes);
	/* While its class was off, what came and went was not counted. */
	snprintf(part, sizeof part, "mem %s%s%s", has_types && totals->is_rough ? "~" : "", figure,
		 trend_of(model_series(model, has_types ? MODEL_MEMORY : MODEL_RSS), model_second(model),
			  canvas_glyphs(canvas)));
	x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), part);
	units_rate(figure, totals->events_per_s);
	snprintf(part, sizeof part, "ev %s", figure);
	x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), part);
	units_byte_rate(figure, link->bytes_per_s);
	x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), figure);
	if (!screen->target->is_file) {
		units_time(figure, link->lag_ns);
		snprintf(part, sizeof part, "lag %s", figure);
		x = put_gap(canvas, x, 1, STYLE(ROLE_TEXT), part);
	}
	units_count(figure, link->drops_per_s * interval_s(screen));
	snprintf(part, sizeof part, "drop %s", figure);
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

/* Where in the recording: bars are events a second, as far as they were played. */
static void draw_timeline(const struct screen *screen, const struct canvas *canvas, int y)
{
	const struct replay *replay = &screen->target->replay;
	const struct model *model = screen->target->session.model;
	double length = (double)(replay->last_ns - replay->first_ns);
	double share = length > 0 ? (double)(replay->position_ns - replay->first_ns) / length : 1;
	char first[UNITS_BYTES], last[UNITS_BYTES], part[64];
	int width = canvas->width_cells - 30, at;

	if (width < 10)
		return;
	units_clock(first, model_real_ns(model, replay->first_ns), 0);
	units_clock(last, model_real_ns(model, replay->last_ns), 0);
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), first);
	canvas_fill(canvas, 11, y, STYLE(ROLE_DIM), glyph(canvas_glyphs(canvas), GLYPH_RULE), width);
	at = (int)(share * (width - 1) + 0.5);
	canvas_put(canvas, 11 + at, y, STYLE(ROLE_ACCENT, ATTR_BOLD), glyph(canvas_glyphs(canvas), GLYPH_NOW));
	if (model_mark_ns(model) >= replay->first_ns && length > 0)
		canvas_put(canvas, 11 + (int)((double)(model_mark_ns(model) - replay->first_ns) / length * (width - 1)), y,
			   STYLE(ROLE_TEXT), glyph(canvas_glyphs(canvas), GLYPH_MARK));
	canvas_text(canvas, 12 + width, y, STYLE(ROLE_DIM), last);
	snprintf(part, sizeof part, "%.0f %%", share * 100);
	canvas_text_right(canvas, canvas->width_cells, y, STYLE(ROLE_TEXT), part);
}

static void draw_message(struct screen *screen, const struct canvas *canvas, int y)
{
	const struct target *target = screen->target;
	struct style style = STYLE(ROLE_TEXT);
	char line[700], name[100];

	if (screen->overlay == OVERLAY_PROMPT) {
		static const char *const labels[] = { [PROMPT_FILTER] = "filter: ", [PROMPT_INTERVAL] = "interval in s: ",
						      [PROMPT_GO] = "go to HH:MM:SS: " };

		screen->cursor_x = lineedit_draw(&screen->edit, canvas, 0, y, labels[screen->prompt]);
		screen->cursor_y = y;
		return;
	}
	if (!target->is_file && target->source.state == SOURCE_LOST) {
		snprintf(line, sizeof line, "Connection lost. Retry %u … ^R tries now. The last picture is kept.",
			 target->source.tries);
		style = STYLE(ROLE_BAD);
	} else if (screen->is_wanted_back) {
		clean(name, sizeof name, target->address.program);
		snprintf(line, sizeof line, "%s is back as PID %d. Enter: follow it, Esc: stay here", name,
			 screen->back_pid);
		style = STYLE(ROLE_ACCENT, ATTR_BOLD);
	} else {
		snprintf(line, sizeof line, "%s%s%s", screen->message_clock, screen->message_clock[0] ? "  " : "",
			 screen->message);
	}
	canvas_text(canvas, 0, y, style, line);
}

static void class_part(const struct screen *screen, uint32_t id, char *out, size_t out_bytes)
{
	const struct model_class *class = model_class(screen->target->session.model, id);
	char name[300];

	clean(name, sizeof name, class->name);
	snprintf(out, out_bytes, " %s[%c]:%s", name, screen->class_keys[id] ? screen->class_keys[id] : '?',
		 level_name(class->level));
}

/* In the last row, and in as many above as it takes. */
static void draw_class_strip(const struct screen *screen, const struct canvas *canvas, int y)
{
	static const char head[] = "class:", hint[] = " [a]ll [s]um [n]one [r]estore";
	const struct model *model = screen->target->session.model;
	int rows_above = 0;
	char part[400];

	/* First to count the rows, then to draw. */
	for (int pass = 0; pass < 2; pass++) {
		int x = text_width(head), row = 0;

		if (pass == 1) {
			y = rows_above < y ? y - rows_above : 0;
			for (int i = 0; i <= rows_above; i++)
				canvas_fill(canvas, 0, y + i, STYLE(ROLE_TEXT), ' ', canvas->width_cells);
			canvas_text(canvas, 0, y, STYLE(ROLE_TITLE, ATTR_BOLD), head);
		}
		for (uint32_t i = 0; i <= model_class_count(model); i++) {
			bool is_hint = i == model_class_count(model);

			if (!is_hint && !model_class(model, i)->is_defined)
				continue;
			if (is_hint)
				snprintf(part, sizeof part, "%s", hint);
			else
				class_part(screen, i, part, sizeof part);
			if (x > 0 && x + text_width(part) > canvas->width_cells) {
				row++;
				x = 0;
			}
			if (pass == 1)
				canvas_text(canvas, x, y + row, is_hint ? STYLE(ROLE_DIM) : STYLE(ROLE_TEXT), part);
			x += text_width(part);
		}
		rows_above = row;
	}
}

static void draw_keys(const struct screen *screen, const struct canvas *canvas, int y)
{
	char line[400];

	if (screen->overlay == OVERLAY_CLASSES) {
		draw_class_strip(screen, canvas, y);
		return;
	}
	commands_footer(screen, canvas->width_cells, line, sizeof line);
	canvas_text(canvas, 0, y, STYLE(ROLE_DIM), line);
}

/* As many plain facts as there are rows. */
static void draw_plain(const struct screen *screen, const struct canvas *canvas)
{
	const struct model *model = screen_model(screen);
	const struct model_totals *totals = model_totals(model);
	const struct model_site *worst = NULL;
	char badge[64], figure[UNITS_BYTES], line[400], name[300];
	int y = 0;

	screen_badge(screen, badge, sizeof badge);
	if (canvas->width_cells < 10 || canvas->height_cells < 2) {
		canvas_put(canvas, 0, 0, badge_style(screen), (uint8_t)badge[0]);
		return;
	}
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		if ((site->kind == SITE_SPAN || site->kind == SITE_LATENCY) && site->window.count &&
		    (!worst || site->window.p99 > worst->window.p99))
			worst = site;
	}
	if (model_ticks(model)) {
		units_bytes(figure, model_has_typed_memory(model) ? (double)totals->live_bytes : (double)totals->rss_bytes);
		canvas_text(canvas, 0, y++, STYLE(ROLE_TEXT), figure);
	}
	if (worst) {
		units_time(figure, (double)worst->window.p99);
		clean(name, sizeof name, worst->name);
		snprintf(line, sizeof line, "%s %s", name, figure);
		canvas_text(canvas, 0, y++, STYLE(ROLE_TEXT), line);
	}
	units_count(figure, model_link(model)->drops_per_s * interval_s(screen));
	snprintf(line, sizeof line, "drop %s", figure);
	canvas_text(canvas, 0, y++, STYLE(ROLE_TEXT), line);
	canvas_text(canvas, 0, y, badge_style(screen), badge);
}

static void draw_panel(struct screen *screen, const struct canvas *canvas, int y, int height)
{
	struct panel_view *view = screen_view(screen);
	struct canvas part = canvas_part(canvas, 0, y, canvas->width_cells, height);
	char nothing[1000], shown[1200];

	view->requests = screen->requests;
	view->class_keys = screen->class_keys;
	view->now_ns = screen->now_ns;
	view->may_control = model_target(screen_model(screen))->may_control && !screen->target->options->read_only;
	view->keep = screen->keep;
	view->own_name = screen->target->own_name;
	view->nothing = nothing_yet(screen, nothing, sizeof nothing);
	if (view->nothing) {
		clean(shown, sizeof shown, view->nothing);
		view->nothing = shown;
	}
	view->cursor_x = view->cursor_y = -1;
	if (screen->overlay == OVERLAY_HELP || screen->overlay == OVERLAY_HELP_ALL)
		help_draw(screen_panel(screen), commands_help(screen), screen->overlay == OVERLAY_HELP_ALL, &part);
	else
		screen_panel(screen)->draw(screen_model(screen), view, &part);
	view->nothing = NULL;
	if (view->cursor_y >= 0 && screen->overlay == OVERLAY_NONE) {
		screen->cursor_x = view->cursor_x;
		screen->cursor_y = view->cursor_y + y;
	}
}

void screen_draw(struct screen *screen, const struct canvas *canvas)
{
	int width = canvas->width_cells, height = canvas->height_cells, top = 2, bottom = 0;

	screen->cursor_x = screen->cursor_y = -1;
	canvas_clear(canvas);
	if (width < PANEL_WIDTH || height < PANEL_HEIGHT) {
		draw_plain(screen, canvas);
		return;
	}
	draw_identity(screen, canvas);
	draw_pulse(screen, canvas);
	if (screen->target->is_file && height >= FULL_HEIGHT)
		draw_timeline(screen, canvas, top++);
	if (width >= FULL_WIDTH && height >= FULL_HEIGHT) {
		bottom = 2;
	} else if (screen->overlay == OVERLAY_PROMPT || screen->overlay == OVERLAY_CLASSES) {
		bottom = 2;             /* what is being typed is seen at any size */
	}
	draw_panel(screen, canvas, top, height - top - bottom);
	if (bottom) {
		draw_message(screen, canvas, height - 2);
		draw_keys(screen, canvas, height - 1);
	}
}
