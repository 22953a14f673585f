/* panel_latency.h -- the parts of the Latency panel: its list, the heat map, one span opened.
 *
 * The Overview shows a list of its own, and its cursor moves in that. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_LATENCY_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_LATENCY_H

#include "monitor/screen/panels/panel.h"
#include "monitor/screen/panels/panel_list.h"

/* Spans and latencies, worst first; those of the garbage collector last. */
extern const struct panel_list overview_latency_list;
/* The site that the view's cursor is on, else the worst one; NULL when the list is empty. */
const struct model_site *latency_chosen(const struct model *model, struct panel_view *view);

/* ---- panel_latency_heat.c ---- */
/* Draws the last 5 minutes of a site, one column a second; site may be NULL. */
void latency_draw_heat(const struct model *model, const struct model_site *site, const struct canvas *canvas);
/* Draws the same below a title with the site's name. */
void latency_draw_named_heat(const struct model *model, const struct model_site *site, const struct canvas *canvas);

/* ---- panel_latency_open.c ---- */
/* Draws all that is known of one site: figures, histogram, heat map, figures by task. */
void latency_draw_open(const struct model *model, struct panel_view *view, const struct model_site *site,
		       const struct canvas *canvas);
#endif
