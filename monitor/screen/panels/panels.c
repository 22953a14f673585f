#include "monitor/screen/panels/panel.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Every panel: one line each, in the order of Tab. PANEL(locks) is `const struct panel panel_locks` of panel_locks.c. */
#define PANELS(PANEL) \
	PANEL(overview) \
	PANEL(memory) \
	PANEL(latency) \
	PANEL(classes) \
	PANEL(link) \
	PANEL(frames) \
	/* end */

/* Boxes of the Overview that are no panel of their own: more forms of a panel, and things whose panel is still to be
 * written. Such a thing has its file already; with a draw() and a digit its line moves up. */
#define BOXES(BOX) \
	BOX(memory_tasks) \
	BOX(memory_types) \
	BOX(latency_heat) \
	BOX(tasks) \
	BOX(gc) \
	BOX(counters) \
	BOX(events) \
	/* end */

#define DECLARE(name) extern const struct panel panel_##name;
#define POINT(name) &panel_##name,
PANELS(DECLARE)
BOXES(DECLARE)

const struct panel *const panels[] = { PANELS(POINT) NULL };
const struct panel *const panel_boxes[] = { BOXES(POINT) NULL };

static_assert(sizeof panels / sizeof *panels - 1 <= PANELS_MAX, "PANELS_MAX views are too few for the panels of this table");

const struct panel *panel_find(int key)
{
	for (int i = 0; panels[i]; i++)
		if (panels[i]->digit && panels[i]->digit == key)
			return panels[i];
	return NULL;
}

void panels_list(char *out, size_t out_bytes)
{
	int last = -1;
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; panels[i]; i++)
		last = panels[i]->digit ? i : last;
	for (int i = 0; panels[i] && used < out_bytes; i++) {
		size_t name_at = used;

		if (!panels[i]->digit)
			continue;
		used += (size_t)snprintf(out + used, out_bytes - used, "%s%c (%s)",
					 used == 0 ? "" : i == last ? " or " : ", ", panels[i]->digit, panels[i]->name);
		for (; name_at < used && name_at < out_bytes; name_at++)
			out[name_at] = (char)tolower((unsigned char)out[name_at]);
	}
}

bool panel_key_applies(const struct panel_key *row, const struct panel_view *view)
{
	return row->applies == PANEL_ALWAYS || (row->applies == PANEL_WHILE_OPEN) == view->is_open;
}

bool panel_press(const struct panel *panel, const struct model *model, struct panel_view *view, int key)
{
	for (const struct panel_key *row = panel->keys; row && row->key; row++)
		if (row->run && key && (row->key == key || row->other == key) && panel_key_applies(row, view) &&
		    row->run(model, view))
			return true;
	return panel->key && panel->key(model, view, key);
}

void panel_view_init(struct panel_view *view)
{
	*view = (struct panel_view){ .cursor = -1, .cursor_x = -1, .cursor_y = -1 };
}
