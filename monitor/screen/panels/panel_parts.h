/* panel_parts.h -- small forms of panels, for the Overview and for each other.
 *
 * Each draws its own title into the first row of the canvas it is given, and what fits
 * below. Tasks, GC, counters and events have no panel of their own yet: panel_parts.c. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_PARTS_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_PARTS_H

#include "monitor/screen/panels/panel.h"
#include "monitor/screen/panels/panel_list.h"

/* The last minute, and the biggest tasks and types in a row each. */
void memory_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);
/* Five minutes over chart_rows, then a table; by type: a table only. */
void memory_draw_tasks(const struct model *model, const struct panel_view *view, int chart_rows,
		       const struct canvas *canvas);
void memory_draw_types(const struct model *model, const struct panel_view *view, const struct canvas *canvas);

/* Spans, latencies and values, worst first. */
extern const struct panel_list latency_list;
/* The table of the Overview, whose list it is. */
void latency_draw_small(const struct model *model, struct panel_view *view, const struct canvas *canvas);
/* The one the cursor is on, else the worst; NULL when there is none. */
const struct model_site *latency_chosen(const struct model *model, struct panel_view *view);
/* One column a second. */
void latency_draw_heat(const struct model *model, const struct model_site *site, const struct canvas *canvas);

void classes_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);
void link_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);

/* The table, what of it fits. */
void frames_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);

void tasks_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);
void gc_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);
void counters_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);
void events_draw_small(const struct model *model, const struct panel_view *view, const struct canvas *canvas);
#endif
