#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"

extern const struct panel panel_counters;

enum {
	TREND_SECONDS = 60,
	COUNTER_CELLS = 19,          /* "conns 41.0 ▲" */
	SPARK_CELLS = 40,            /* a counter with this many cells or more shows its trend */
	LONG_TITLE_CELLS = 56
};

static int count_figures(const struct model *model)
{
	int figures = 0;

	for (uint32_t i = 0; i < model_site_count(model); i++)
		figures += site_is_figure(model_site(model, i));
	return figures;
}

static void draw_counter(const struct model *model, const struct model_site *site, int x, int y, int width,
			 const struct canvas *canvas)
{
	bool has_spark = width >= SPARK_CELLS;
	int spark = has_spark ? cells_min(width - 30, 30) : 0, end = width - 2 - (has_spark ? spark + 2 : 0);
	int value_cells = 10, trend = series_trend(site->trend, model_second(model), TREND_SECONDS);
	struct style style = site->level == LEVEL_OFF ? STYLE(ROLE_DIM) : STYLE(ROLE_TEXT);
	char name[NAME_BYTES], value[UNITS_BYTES];

	figure_text(value, model, site);
	if (!has_spark)
		value_cells = canvas_text_width(canvas, value);
	name_fit(name, sizeof name, site->name, end - 2 - value_cells, canvas_glyphs(canvas));
	canvas_text(canvas, x + 1, y, style, name);
	canvas_text_right(canvas, x + end, y, style, value);
	canvas_text(canvas, x + end + 1, y, STYLE(ROLE_ACCENT), trend_arrow(trend));
	if (has_spark) {
		struct canvas part = canvas_part(canvas, x + end + 3, y, spark, 1);

		series_spark(site->trend, model_second(model), SPARK_SHAPE, &part);
	}
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	int count = count_figures(model), rows = cells_max(canvas->height_cells - 1, 1), columns, per_column, at = 0;
	char title[64 + 16], hidden[32] = "";

	(void)view;
	panel_title(title, &panel_counters);
	if (canvas->width_cells >= LONG_TITLE_CELLS)
		strcat(title, " and gauges");
	/* There are as few columns as can show all, so that each has the most room. */
	columns = cells_max(1, cells_min((count + rows - 1) / rows, canvas->width_cells / COUNTER_CELLS));
	per_column = cells_max(1, canvas->width_cells / columns);
	/* Those that are off come last, so that they do not hide others. */
	for (int off = 0; off <= 1; off++)
		for (uint32_t i = 0; i < model_site_count(model) && at < rows * columns; i++) {
			const struct model_site *site = model_site(model, i);

			if (!site_is_figure(site) || (site->level == LEVEL_OFF) != off)
				continue;
			draw_counter(model, site, at / rows * per_column, 1 + at % rows, per_column, canvas);
			at++;
		}
	if (at < count)
		snprintf(hidden, sizeof hidden, "%d not shown", count - at);
	title_draw(canvas, title, hidden, NULL);
	if (count == 0)
		text_wrap(canvas, 1, 1, STYLE(ROLE_DIM), "The target declares no counter or gauge.");
}

const struct panel panel_counters = {
	.name = "Counters",
	.small = small,
	.count = count_figures,
	.places = { [OVERVIEW_WIDE] = { 3, 1 }, [OVERVIEW_MEDIUM] = { 3, 3 } },
};
