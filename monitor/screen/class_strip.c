#include "monitor/screen/class_strip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "monitor/screen/keys.h"
#include "widgets/key.h"
#include "widgets/text.h"

/* ---- asking ---- */

enum { FULL_NAME_BYTES = 2 * LIMIT_NAME_BYTES };

/* "net", or "net.request" for a site. */
static const char *name_of(const struct model *model, uint32_t class_id, uint32_t site_id, char out[FULL_NAME_BYTES])
{
	const struct model_site *site = site_id ? model_site_by_id(model, site_id) : NULL;

	snprintf(out, FULL_NAME_BYTES, "%s%s%s", model_class(model, class_id)->name, site ? "." : "",
		 site ? site->name : "");
	return out;
}

static void level_answered(void *arg, const struct request *request)
{
	struct screen *screen = arg;
	char name[FULL_NAME_BYTES];

	name_of(screen->target->session.model, request->class_id, request->site, name);

	if (request->code == CONTROLS_NO_ANSWER)
		screen_say(screen, "%s: %s", name, request->text);
	else if (request->code != ACK_DONE)
		screen_say(screen, "%s: refused: %s", name, request->text);
	else
		screen_say(screen, "%s: level %s, acknowledged", name, level_name(request->level));
}

/* Returns false when the level could not be asked for; then the message row says why. */
static bool ask_level(struct screen *screen, uint32_t class_id, uint32_t site, uint8_t level)
{
	struct target *target = screen->target;
	int err = controls_set_level(&target->controls, class_id, site, level, level_answered, screen);
	char name[FULL_NAME_BYTES];

	if (err == -EPERM)
		screen_say(screen, "telemtop was started with --read-only: nothing is sent to the target.");
	else if (err == -ENOSPC)
		screen_say(screen, "telemtop holds %d levels already: give some back first.", CONTROLS_WISHES);
	else if (err < 0)
		screen_say_refused(screen, err, "levels cannot be set");
	else
		screen_say(screen, "%s: asked for level %s", name_of(target->session.model, class_id, site, name),
			   level_name(level));
	return err == 0;
}

static void ask_level_of_all(struct screen *screen, uint8_t level)
{
	const struct model *model = screen->target->session.model;

	for (uint32_t i = 0; i < model_class_count(model); i++)
		if (model_class(model, i)->is_defined && !ask_level(screen, i, 0, level))
			return;
	/* Sites that we gave a level of their own get back theirs as well. */
	for (uint32_t i = 0; level == LEVEL_OWN && i < model_site_count(model); i++)
		if (controls_wants_site(&screen->target->controls, model_site(model, i)->id) &&
		    !ask_level(screen, model_site(model, i)->class_id, model_site(model, i)->id, level))
			return;
	screen_say(screen, "every class: asked for level %s", level_name(level));
}

void class_strip_take_wish(struct screen *screen, struct panel_view *view)
{
	if (!view->wish.is_set)
		return;
	view->wish.is_set = false;
	if (view->wish.all_classes)
		ask_level_of_all(screen, view->wish.level);
	else if (view->wish.class_id < LIMIT_CLASSES)
		ask_level(screen, view->wish.class_id, view->wish.site, view->wish.level);
}

/* ---- the strip ---- */

void class_strip_open(struct screen *screen)
{
	controls_name_classes(&screen->target->controls);
	screen->overlay = OVERLAY_CLASSES;
}

static bool class_letter(struct screen *screen, int key)
{
	const struct model *model = screen->target->session.model;

	switch (key) {
	case 'a': ask_level_of_all(screen, LEVEL_ALL); return true;
	case 's': ask_level_of_all(screen, LEVEL_SUM); return true;
	case 'n': ask_level_of_all(screen, LEVEL_OFF); return true;
	case 'r': ask_level_of_all(screen, LEVEL_OWN); return true;
	default: break;
	}
	for (uint32_t i = 0; i < model_class_count(model); i++)
		if (key > 0 && screen->target->controls.letters[i] == key) {
			ask_level(screen, i, 0, (uint8_t)((model_class(model, i)->level + 1) % (LEVEL_ALL + 1)));
			return true;
		}
	return false;
}

void class_strip_key(struct screen *screen, int key)
{
	char name[16];

	screen->overlay = OVERLAY_NONE;
	if (key == KEYCODE_ESCAPE || class_letter(screen, key) || key == 'q')
		return;
	keys_name(key, name, sizeof name);
	screen_say(screen, "No class has the letter \"%s\".", name);
}

static void class_part(const struct screen *screen, uint32_t id, char *out, size_t out_bytes)
{
	const struct model_class *class = model_class(screen->target->session.model, id);
	char name[300], letter = screen->target->controls.letters[id];

	text_clean(name, sizeof name, class->name, strlen(class->name), GLYPHS_BLOCKS);
	snprintf(out, out_bytes, " %s[%c]:%s", name, letter ? letter : '?',
		 level_name(class->level));
}

void class_strip_draw(const struct screen *screen, const struct canvas *canvas, int y)
{
	static const char head[] = "class:", hint[] = " [a]ll [s]um [n]one [r]estore";
	const struct model *model = screen->target->session.model;
	int rows_above = 0;
	char part[400];

	/* The first pass counts the rows, the second draws them. */
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
