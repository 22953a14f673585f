#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"
#include "widgets/text.h"

extern const struct panel panel_events;

enum { WIDE_CELLS = 100 };           /* at this width and above each line names its task */

static const char *line_word(const struct model_line *line, struct style *style)
{
	static const enum role roles[] = { ROLE_DIM, ROLE_TEXT, ROLE_WARN, ROLE_BAD, ROLE_BAD };

	switch (line->kind) {
	case LINE_LOG:
		*style = STYLE((uint8_t)(line->severity < 5 ? roles[line->severity] : ROLE_TEXT));
		return severity_name(line->severity);
	case LINE_EVENT:
		return "event";
	case LINE_MARK:
		return "mark";
	case LINE_LOST:
		*style = STYLE(ROLE_WARN, ATTR_BOLD);
		return "lost";
	case LINE_LEVEL:
		*style = STYLE(ROLE_ACCENT);
		return "level";
	}
	return "?";
}

/* Writes "  (+1,234 more like it)" for a line that stands for others as well, or a shorter text when that would leave the
 * line less than half of the room; returns the width of the text. */
static int more_text(char out[64], const struct model_line *line, const struct canvas *canvas, int room_cells)
{
	char count[32];

	out[0] = '\0';
	if (line->folded == 0)
		return 0;
	digits_text(count, line->folded);
	snprintf(out, 64, "  (+%s more like it)", count);
	if (2 * canvas_text_width(canvas, out) > room_cells)
		snprintf(out, 64, " (+%s)", count);
	return canvas_text_width(canvas, out);
}

static void draw_event(const struct model *model, const struct model_line *line, int y, const struct canvas *canvas)
{
	enum glyphs glyphs = canvas_glyphs(canvas);
	bool is_wide = canvas->width_cells >= WIDE_CELLS;
	int x = is_wide ? 41 : 31;
	struct style style = STYLE(ROLE_TEXT);
	char clock[UNITS_BYTES], name[NAME_BYTES], fit[NAME_BYTES], text[NAME_BYTES];
	const char *word = line_word(line, &style);
	char more[64];
	int end = canvas->width_cells - more_text(more, line, canvas, canvas->width_cells - x);

	clock_text(clock, model, line->time_ns, 3);
	canvas_text(canvas, 1, y, STYLE(ROLE_DIM), clock);
	canvas_text(canvas, 15, y, style, word);
	class_name_clean(name, sizeof name, model, line->class_id, glyphs);
	text_fit(fit, sizeof fit, name, 8, glyphs);
	canvas_text(canvas, 22, y, STYLE(ROLE_TEXT), fit);
	if (is_wide) {
		task_name_clean(name, sizeof name, model, line->task, glyphs);
		text_fit(fit, sizeof fit, line->task == TASK_ALL ? "" : name, 9, glyphs);
		canvas_text(canvas, 31, y, STYLE(ROLE_TEXT), fit);
	}
	text_clean(text, sizeof text, line->text, strnlen(line->text, sizeof line->text), glyphs);
	text_fit(fit, sizeof fit, text, cells_max(end - x, 0), glyphs);
	canvas_text(canvas, canvas_text(canvas, x, y, style, fit), y, STYLE(ROLE_DIM), more);
}

/* Says why there is no line, and which key brings some. */
static void draw_no_events(const struct model *model, const struct panel_view *view, const struct canvas *canvas)
{
	int log = model_class_find(model, "log");
	char letter = log >= 0 && view->class_keys ? view->class_keys[log] : '\0', text[256];

	if (log >= 0 && model_class(model, (uint32_t)log)->level != LEVEL_ALL) {
		snprintf(text, sizeof text, "Class log is at level %s: lines are not sent.",
			 level_name(model_class(model, (uint32_t)log)->level));
		if (view->may_control && letter > ' ' && letter < 0x7F) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof text - used, " Press c then %c until it reads all.", letter);
		}
	} else {
		snprintf(text, sizeof text, "No log line and no event came so far.");
	}
	text_wrap(canvas, 1, 1, STYLE(ROLE_DIM), text);
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	int rows = canvas->height_cells - 1, count = cells_min(rows, (int)model_line_count(model));
	char title[64];

	panel_title(title, &panel_events);
	title_draw(canvas, title, NULL, NULL);
	if (model_line_count(model) == 0)
		draw_no_events(model, view, canvas);
	/* The newest line is at the bottom, as in a log. */
	for (int age = 0; age < count; age++)
		draw_event(model, model_line(model, (uint32_t)age), count - age, canvas);
}

static int count(const struct model *model)
{
	return (int)model_line_count(model);
}

const struct panel panel_events = {
	.name = "Events",
	.small = small,
	.count = count,
	.places = { [OVERVIEW_WIDE] = { 4, 1 }, [OVERVIEW_MEDIUM] = { 4, 1 }, [OVERVIEW_NARROW] = { 4, 1 } },
};
