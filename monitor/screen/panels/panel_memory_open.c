#include "monitor/screen/panels/panel_memory.h"

#include <math.h>
#include <stdlib.h>

#include "monitor/model/held.h"
#include "widgets/cells.h"

enum { COLUMN_TYPE, COLUMN_TASK, COLUMN_TAG, COLUMN_BYTES, COLUMN_SPREAD, COLUMN_OBJECTS, COLUMN_OLDEST, COLUMN_MEDIAN };

struct opened {
	const struct model *model;
	struct held_group *groups;
	int count;
	enum glyphs glyphs;
};

static void site_name_clean(const struct opened *opened, uint32_t id, char *out, size_t out_bytes)
{
	const struct model_site *site = model_site_by_id(opened->model, id);

	if (id != 0)
		name_clean(out, out_bytes, site ? site->name : "", opened->glyphs);
}

static void cell(void *arg, int index, int column, char *out, size_t out_bytes, struct style *style)
{
	const struct opened *opened = arg;
	const struct held_group *group = &opened->groups[index];
	bool has_ages = group->sample_count > 0;
	char text[UNITS_BYTES] = "";

	(void)style;
	switch (column) {
	case COLUMN_TYPE:
		site_name_clean(opened, group->type, out, out_bytes);
		return;
	case COLUMN_TASK:
		task_name_clean(out, out_bytes, opened->model, group->task, opened->glyphs);
		return;
	case COLUMN_TAG:
		site_name_clean(opened, group->tag, out, out_bytes);
		return;
	case COLUMN_BYTES:
		live_text(text, &group->live);
		break;
	case COLUMN_SPREAD:
		units_bytes(text, sqrt(group->live.variance));
		break;
	case COLUMN_OBJECTS:
		units_count(text, group->live.count);
		break;
	case COLUMN_OLDEST:
		units_time(text, has_ages ? (double)group->oldest_ns : NAN);
		break;
	case COLUMN_MEDIAN:
		units_time(text, has_ages ? (double)group->median_ns : NAN);
		break;
	default:
		return;
	}
	snprintf(out, out_bytes, "%s", text);
}

/* Whether a group is of the task, type or tag that is open. */
static bool is_of(const struct held_group *group, int tab, uint32_t id)
{
	return (tab == TAB_TASK ? group->task : tab == TAB_TAG ? group->tag : group->type) == id;
}

static void draw_title(const struct opened *opened, int tab, uint32_t id, const struct canvas *canvas)
{
	static const char *const kinds[TAB_COUNT] = { "task", "type", "type", "tag" };
	char title[64], name[NAME_BYTES] = "", left[NAME_BYTES + 128], mean[UNITS_BYTES], right[96];

	panel_title(title, &panel_memory);
	if (tab == TAB_TASK)
		task_name_clean(name, sizeof name, opened->model, id, opened->glyphs);
	else
		site_name_clean(opened, id, name, sizeof name);
	snprintf(left, sizeof left, "%s ─ %s %s", title, kinds[tab], name);
	units_bytes(mean, (double)model_mean_bytes(opened->model));
	snprintf(right, sizeof right, "one byte in %s sampled", mean);
	title_draw(canvas, left, model_has_holders(opened->model) ? right : NULL, NULL);
}

void memory_draw_open(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	static const struct table_column columns[] = {
		{ "type", 10, false, TABLE_NAME, 0 },
		{ "task", 14, false, TABLE_FIXED, 3 },
		{ "tag", 14, false, TABLE_FIXED, 4 },
		{ "live", 9, true, TABLE_FIXED, 0 },
		{ "±", 8, true, TABLE_FIXED, 1 },
		{ "objects", 7, true, TABLE_FIXED, 5 },
		{ "oldest", 7, true, TABLE_FIXED, 2 },
		{ "median", 7, true, TABLE_FIXED, 2 },
	};
	struct opened opened = { .model = model, .glyphs = canvas_glyphs(canvas) };
	int tab = memory_tab_of(view), count = held_groups(model, view->held_samples, view->held_count, &opened.groups);
	struct canvas part = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1);
	struct table table = { .columns = columns, .column_count = sizeof columns / sizeof *columns,
			       .cursor = -1, .sort_column = COLUMN_BYTES, .cell = cell, .arg = &opened };

	draw_title(&opened, tab, view->open_id, canvas);
	for (int i = 0; i < count; i++)
		if (is_of(&opened.groups[i], tab, view->open_id))
			opened.groups[opened.count++] = opened.groups[i];
	if (opened.count == 0) {
		text_wrap(&part, 1, 0, STYLE(ROLE_TEXT),
			  model_has_holders(model) ? "No sampled allocation of it lives."
						   : "The target does not say who holds its memory.");
	} else {
		table.row_count = opened.count;
		table_draw(&table, &part);
	}
	free(opened.groups);
}
