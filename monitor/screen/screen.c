#include "monitor/screen/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "monitor/screen/class_strip.h"
#include "monitor/screen/header.h"
#include "monitor/screen/held_view.h"
#include "monitor/screen/keys.h"
#include "monitor/screen/prompt.h"
#include "widgets/text.h"
#include "widgets/units.h"

/* Below FULL sizes the rows round the panel are left out, and below PANEL sizes the panel gives way to plain rows. */
enum { FULL_WIDTH = 60, FULL_HEIGHT = 12, PANEL_WIDTH = 40, PANEL_HEIGHT = 6 };

void screen_init(struct screen *screen, struct target *target)
{
	*screen = (struct screen){ .target = target, .cursor_x = -1, .cursor_y = -1 };
	recorder_init(&screen->recorder);
	for (int i = 0; i < PANELS_MAX; i++)
		panel_view_init(&screen->views[i]);
}

void screen_fini(struct screen *screen)
{
	recorder_stop(&screen->recorder);
	held_fini(&screen->held);
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

void screen_say_refused(struct screen *screen, int err, const char *what)
{
	screen_say(screen, "%s: %s: %s", screen->target->address.text, controls_refusal(err), what);
}

/* Says why a panel has nothing to show; NULL when it has something. */
static const char *nothing_yet(const struct screen *screen, char *out, size_t out_bytes)
{
	const struct target *target = screen->target;
	const struct model *model = target_model(screen->target);
	double waited_s = (double)(screen->now_ns - target->opened_ns) / 1e9;
	const struct source_kind *kind = target->address.kind;

	if (model_ticks(model) > 0)
		return NULL;
	if (target->problem.code && !target->is_open) {
		snprintf(out, out_bytes, "%.400s. %.400s", target->problem.what, target->problem.todo);
		return out;
	}
	if (!model_target(model)->is_known && kind->waiting &&
	    kind->waiting(&target->address, target->is_open, waited_s, out, out_bytes))
		return out;
	if (target_is_recording(target))
		snprintf(out, out_bytes, "The recording starts here. Space plays it.");
	else if (!target->is_open)
		snprintf(out, out_bytes, "Connecting to %s … (%.0f s)",
			 target->address.path[0] ? target->address.path : target->address.text, waited_s);
	else
		snprintf(out, out_bytes, "Connected. Waiting for the target's first snapshot (%.0f s).", waited_s);
	return out;
}

/* ---- rows ---- */

/* Makes text of the stream safe to show. */
static void clean(char *out, size_t out_bytes, const char *in)
{
	text_clean(out, out_bytes, in, strlen(in), GLYPHS_BLOCKS);
}

/* A line for the whole recording, with signs for the moment that is shown and for the mark. */
static void draw_timeline(const struct screen *screen, const struct canvas *canvas, int y)
{
	const struct cursor *cursor = &screen->target->cursor;
	const struct timeline *timeline = cursor->timeline;
	const struct model *model = target_model(screen->target);
	uint64_t mark_ns = timeline_moment(timeline, model_target(model)->stream, model_mark_ns(model));
	double length = (double)(timeline->last_ns - timeline->first_ns);
	double share = length > 0 ? (double)(cursor->position_ns - timeline->first_ns) / length : 1;
	char first[UNITS_BYTES], last[UNITS_BYTES], part[64];
	int width = canvas->width_cells - 30, at;

	if (width < 10)
		return;
	units_clock(first, timeline_real_ns(timeline, timeline->first_ns), 0);
	units_clock(last, timeline_real_ns(timeline, timeline->last_ns), 0);
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), first);
	canvas_fill(canvas, 11, y, STYLE(ROLE_DIM), glyph(canvas_glyphs(canvas), GLYPH_RULE), width);
	at = (int)(share * (width - 1) + 0.5);
	canvas_put(canvas, 11 + at, y, STYLE(ROLE_ACCENT, ATTR_BOLD), glyph(canvas_glyphs(canvas), GLYPH_NOW));
	if (mark_ns >= timeline->first_ns && mark_ns <= timeline->last_ns && length > 0)
		canvas_put(canvas, 11 + (int)((double)(mark_ns - timeline->first_ns) / length * (width - 1)), y,
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
		prompt_draw(screen, canvas, y);
		return;
	}
	if (target->source.state == SOURCE_LOST) {
		snprintf(line, sizeof line, "Connection lost. Retry %u … ^R tries now. The last picture is kept.",
			 target->source.tries);
		style = STYLE(ROLE_BAD);
	} else if (target->controls.back_pid) {
		clean(name, sizeof name, target->address.program);
		snprintf(line, sizeof line, "%s is back as PID %d. Enter: follow it, Esc: stay here", name,
			 target->controls.back_pid);
		style = STYLE(ROLE_ACCENT, ATTR_BOLD);
	} else {
		snprintf(line, sizeof line, "%s%s%s", screen->message_clock, screen->message_clock[0] ? "  " : "",
			 screen->message);
	}
	canvas_text(canvas, 0, y, style, line);
}

static void draw_keys(const struct screen *screen, const struct canvas *canvas, int y)
{
	char line[400];

	if (screen->overlay == OVERLAY_CLASSES) {
		class_strip_draw(screen, canvas, y);
		return;
	}
	keys_footer(screen, canvas->width_cells, line, sizeof line);
	canvas_text(canvas, 0, y, STYLE(ROLE_DIM), line);
}

/* As many plain facts as there are rows. */
static void draw_plain(const struct screen *screen, const struct canvas *canvas)
{
	const struct model *model = target_model(screen->target);
	struct model_memory memory = model_memory(model);
	const struct model_site *worst = model_worst_p99(model);
	char badge[64], figure[UNITS_BYTES], line[400], name[300];
	int y = 0;

	header_badge(screen, badge, sizeof badge);
	if (canvas->width_cells < 10 || canvas->height_cells < 2) {
		canvas_put(canvas, 0, 0, header_badge_style(screen), (uint8_t)badge[0]);
		return;
	}
	if (model_ticks(model)) {
		units_bytes(figure, memory.bytes);
		snprintf(line, sizeof line, "%s%s", memory.prefix, figure);
		canvas_text(canvas, 0, y++, STYLE(ROLE_TEXT), line);
	}
	if (worst) {
		units_time(figure, (double)worst->window.p99);
		clean(name, sizeof name, worst->name);
		snprintf(line, sizeof line, "%s %s", name, figure);
		canvas_text(canvas, 0, y++, STYLE(ROLE_TEXT), line);
	}
	units_count(figure, model_link(model)->drops_per_s * header_interval_s(screen));
	snprintf(line, sizeof line, "drop %s", figure);
	canvas_text(canvas, 0, y++, STYLE(ROLE_TEXT), line);
	canvas_text(canvas, 0, y, header_badge_style(screen), badge);
}

void screen_fill_view(struct screen *screen)
{
	const struct controls *controls = &screen->target->controls;
	struct panel_view *view = screen_view(screen);

	memset(screen->requests, 0, sizeof screen->requests);
	for (int i = 0; i < controls->wish_count; i++) {
		const struct wish *wish = &controls->wishes[i];
		struct panel_request *request = &screen->requests[wish->class_id % LIMIT_CLASSES];

		if (wish->class_id >= LIMIT_CLASSES || wish->site != 0)
			continue;
		*request = (struct panel_request){ .is_waiting = wish->state == WISH_WAITING, .level = wish->level,
						   .sent_ns = wish->sent_ns };
		memcpy(request->answer, wish->text, sizeof wish->text);
	}
	view->requests = screen->requests;
	view->class_keys = controls->letters;
	view->now_ns = screen->now_ns;
	view->may_control = model_target(target_model(screen->target))->may_control && !controls->is_read_only;
	view->keep = controls->persist;
	view->own_name = controls->own_name;
	held_view_fill(screen);
}

static void draw_panel(struct screen *screen, const struct canvas *canvas, int y, int height)
{
	struct panel_view *view = screen_view(screen);
	struct canvas part = canvas_part(canvas, 0, y, canvas->width_cells, height);
	char nothing[1000], shown[1200];

	screen_fill_view(screen);
	view->nothing = nothing_yet(screen, nothing, sizeof nothing);
	if (view->nothing) {
		clean(shown, sizeof shown, view->nothing);
		view->nothing = shown;
	}
	view->cursor_x = view->cursor_y = -1;
	if (screen->overlay == OVERLAY_HELP || screen->overlay == OVERLAY_HELP_ALL)
		help_draw(screen_panel(screen), keys_help(screen), screen->overlay == OVERLAY_HELP_ALL, &part);
	else
		screen_panel(screen)->draw(target_model(screen->target), view, &part);
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
	header_draw_identity(screen, canvas);
	header_draw_pulse(screen, canvas);
	if (target_is_recording(screen->target) && height >= FULL_HEIGHT)
		draw_timeline(screen, canvas, top++);
	if (width >= FULL_WIDTH && height >= FULL_HEIGHT) {
		bottom = 2;
	} else if (screen->overlay == OVERLAY_PROMPT || screen->overlay == OVERLAY_CLASSES) {
		bottom = 2;             /* what is typed is seen at any size */
	}
	draw_panel(screen, canvas, top, height - top - bottom);
	if (bottom) {
		draw_message(screen, canvas, height - 2);
		draw_keys(screen, canvas, height - 1);
	}
}
