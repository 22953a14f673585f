#include "monitor/screen/panels/panel_latency.h"

#include <math.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"
#include "widgets/heatmap.h"

extern const struct panel panel_latency_heat;

enum {
	HEAT_LABEL_S = 60,           /* a clock time stands below each column that is so many seconds from the next */
	HEAT_SPARE_ROWS = 3
};

struct heat_range { int low, high; };        /* the rows that are in use; low > high: no row is */

static struct heat_range heat_range(const struct heat *heat, int64_t first, int64_t last)
{
	struct heat_range range = { MODEL_HEAT_ROWS, -1 };

	for (int64_t second = first; second <= last; second++)
		for (int row = 0; row < MODEL_HEAT_ROWS; row++) {
			if (heat->counts[second % MODEL_WINDOW_S_MAX][row] == 0)
				continue;
			range.low = cells_min(range.low, row);
			range.high = cells_max(range.high, row);
		}
	return range;
}

/* The row of that share of all values, from the lowest up. */
static int heat_quantile(const struct heat *heat, int64_t first, int64_t last, double share)
{
	uint64_t counts[MODEL_HEAT_ROWS] = { 0 }, total = 0, below = 0;
	int row = 0;

	for (int64_t second = first; second <= last; second++)
		for (int i = 0; i < MODEL_HEAT_ROWS; i++)
			counts[i] += heat->counts[second % MODEL_WINDOW_S_MAX][i];
	for (int i = 0; i < MODEL_HEAT_ROWS; i++)
		total += counts[i];
	while (row < MODEL_HEAT_ROWS - 1 && (double)(below += counts[row]) < share * (double)total)
		row++;
	return row;
}

/* Adds some rows on either side while there is room, so that the picture does not jump with every slow call. */
static void heat_widen(struct heat_range *range, int rows)
{
	for (int i = 0; i < HEAT_SPARE_ROWS; i++) {
		if (range->high - range->low + 1 < rows && range->high < MODEL_HEAT_ROWS - 1)
			range->high++;
		if (range->high - range->low + 1 < rows && range->low > 0)
			range->low--;
	}
}

/* Writes the upper bound of a row; the topmost row has none and shows its lower bound. */
static void heat_label(char out[UNITS_BYTES], const struct model_site *site, int row)
{
	char text[UNITS_BYTES];
	bool is_last = row == MODEL_HEAT_ROWS - 1;

	/* Sizes are too wide for the axis with three digits. */
	if (site_unit(site) == UNIT_NS)
		units_time(text, ldexp(1, 6 + row - is_last));
	else
		units_tick(text, site_unit(site), ldexp(1, 6 + row - is_last));
	snprintf(out, UNITS_BYTES, "%s%.16s", is_last ? "≥" : "", text);
}

static void heat_shares(const struct heat *heat, const struct heat_range *range, int64_t first, int64_t last,
			int64_t newest, float *shares)
{
	for (int64_t second = first; second <= last; second++) {
		bool is_kept = second >= 0 && second <= newest && second > newest - MODEL_WINDOW_S_MAX;
		const uint32_t *counts = heat->counts[is_kept ? second % MODEL_WINDOW_S_MAX : 0];
		double total = 0;

		for (int row = 0; is_kept && row < MODEL_HEAT_ROWS; row++)
			total += counts[row];
		for (int row = range->low; row <= range->high; row++)
			*shares++ = is_kept && total > 0 ? (float)(counts[row] / total) : NAN;
	}
}

void latency_draw_heat(const struct model *model, const struct model_site *site, const struct canvas *canvas)
{
	float shares[MODEL_WINDOW_S_MAX * MODEL_HEAT_ROWS];
	char texts[MODEL_HEAT_ROWS][UNITS_BYTES], clocks[MODEL_WINDOW_S_MAX / HEAT_LABEL_S + 2][UNITS_BYTES + 4];
	const char *labels[MODEL_HEAT_ROWS];
	struct axis_mark marks[MODEL_WINDOW_S_MAX / HEAT_LABEL_S + 2];
	int64_t last = model_second(model), newest, oldest, first;
	struct heat_range range;
	int mark_count = 0;

	if (!site || !site->heat || site->heat->last_second < 0) {
		text_wrap(canvas, 1, 0, STYLE(ROLE_DIM), !site ? "The target declares no span."
			  : !site->heat ? "telemtop has no memory left for this heat map." : "Nothing to show yet.");
		return;
	}
	newest = site->heat->last_second;
	first = last - MODEL_WINDOW_S_MAX + 1;
	oldest = newest - MODEL_WINDOW_S_MAX + 1 > 0 ? newest - MODEL_WINDOW_S_MAX + 1 : 0;
	range = heat_range(site->heat, oldest, newest);
	if (range.low > range.high) {
		text_wrap(canvas, 1, 0, STYLE(ROLE_DIM), "Nothing happened in the last 5 minutes.");
		return;
	}
	heat_widen(&range, canvas->height_cells - 1);
	heat_shares(site->heat, &range, first, last, newest, shares);
	for (int row = range.low; row <= range.high; row++) {
		heat_label(texts[row], site, row);
		labels[row - range.low] = texts[row];
	}
	for (int age = 0; age < MODEL_WINDOW_S_MAX; age += HEAT_LABEL_S) {
		char clock[UNITS_BYTES];

		if ((uint64_t)age * 1000000000u > model_time_ns(model))
			break;
		clock_text(clock, model, model_time_ns(model) - (uint64_t)age * 1000000000u, 0);
		snprintf(clocks[mark_count], sizeof *clocks, "%s%s", age == 0 ? "now " : "", clock);
		marks[mark_count] = (struct axis_mark){ .age = age, .text = clocks[mark_count], .tick = age == 0 };
		mark_count++;
	}
	heatmap_draw(&(struct heatmap){
		.shares = shares,
		.row_count = range.high - range.low + 1,
		.column_count = MODEL_WINDOW_S_MAX,
		.row_labels = labels,
		/* One call that is far slower than the others does not flatten the picture. */
		.keep_low = heat_quantile(site->heat, oldest, newest, 0.5) - range.low,
		.keep_high = heat_quantile(site->heat, oldest, newest, 0.99) - range.low,
		.marks = marks,
		.mark_count = mark_count,
	}, canvas);
}

void latency_draw_named_heat(const struct model *model, const struct model_site *site, const struct canvas *canvas)
{
	struct canvas plot = canvas_part(canvas, 0, 1, canvas->width_cells, canvas->height_cells - 1);
	char name[NAME_BYTES], left[NAME_BYTES + 32] = "heat map";

	if (site) {
		name_fit(name, sizeof name, site->name, cells_min(32, canvas->width_cells - 16), canvas_glyphs(canvas));
		snprintf(left, sizeof left, "heat map: %s", name);
	}
	title_draw(canvas, left, "1 column = 1 s", NULL);
	latency_draw_heat(model, site, &plot);
}

static void heat_small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	latency_draw_named_heat(model, latency_chosen(model, view), canvas);
}

/* The Overview shows the heat map of the span that the cursor is on, or else of the worst. */
const struct panel panel_latency_heat = {
	.name = "Heat map",
	.of = &panel_latency,
	.small = heat_small,
	.places = { [OVERVIEW_WIDE] = { 2, 2 }, [OVERVIEW_MEDIUM] = { 2, 1 } },
};
