#include "monitor/screen/panels/panel_common.h"

extern const struct panel panel_gc;

/* gc is the id of class gc, or -1 when the program has none. */
static bool is_gc(const struct model_site *site, int gc)
{
	return site->kind == SITE_SPAN && (int64_t)site->class_id == gc;
}

/* Draws a figure that ends at column end, if it is wanted; returns the column where the figure to its left ends. */
static int gc_figure(const struct canvas *canvas, int end, int y, const char *label, const char *text, bool is_wanted)
{
	if (!is_wanted)
		return end;
	canvas_text_right(canvas, end, y, STYLE(ROLE_TEXT), text);
	if (!label[0])
		return end - 8;
	canvas_text(canvas, end - 11, y, STYLE(ROLE_DIM), label);
	return end - 12;
}

static void gc_row(const struct model_site *site, int y, const struct canvas *canvas)
{
	const struct quantiles *window = &site->window;
	char name[NAME_BYTES], rate[UNITS_BYTES], p99[UNITS_BYTES], max[UNITS_BYTES];
	int end = canvas->width_cells - 1;

	/* The figures stand at the right, max last; those that would leave no room for the name are left out. */
	units_rate(rate, window->rate_per_s);
	site_figure(p99, site, figure_or_none(window->count, window->p99));
	site_figure(max, site, figure_or_none(window->count, window->max));
	end = gc_figure(canvas, end, y, "max", max, end >= 38);
	end = gc_figure(canvas, end, y, "p99", p99, end >= 20);
	end = gc_figure(canvas, end, y, "", rate, end >= 14);
	name_fit(name, sizeof name, site->name, end - 1, canvas_glyphs(canvas));
	canvas_text(canvas, 1, y, STYLE(ROLE_TEXT), name);
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	int gc = model_class_find(model, "gc"), y = 1;
	char title[64], share[UNITS_BYTES], right[64];

	(void)view;
	panel_title(title, &panel_gc);
	units_percent(share, model_totals(model)->gc_share);
	snprintf(right, sizeof right, "paused %s", share);
	/* Pauses stand first, then the spans that pauses are made of. */
	for (int pauses = 1; pauses >= 0; pauses--)
		for (uint32_t i = 0; i < model_site_count(model); i++) {
			const struct model_site *site = model_site(model, i);

			if (is_gc(site, gc) && (site->detail == SPAN_IS_PAUSE) == pauses)
				gc_row(site, y++, canvas);
		}
	title_draw(canvas, title, y > 1 ? right : NULL, y > 1 ? share : NULL);
	if (y == 1)
		text_wrap(canvas, 1, 1, STYLE(ROLE_DIM), "The target declares no span of class gc.");
}

static int count(const struct model *model)
{
	int gc = model_class_find(model, "gc"), spans = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++)
		spans += is_gc(model_site(model, i), gc);
	return spans;
}

const struct panel panel_gc = {
	.name = "GC",
	.small = small,
	.count = count,
	.places = { [OVERVIEW_WIDE] = { 2, 3 }, [OVERVIEW_MEDIUM] = { 3, 2 }, [OVERVIEW_NARROW] = { 3, 2 } },
};
