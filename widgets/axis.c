#include "widgets/axis.h"

#include <math.h>

#include "widgets/points.h"

enum {
	TICK_CELLS_MIN = 10,         /* room for "-1m30s" and a few blanks */
	SECONDS_MAX = 1000000000,    /* 30 years; a longer plot gets no labels */
	VALUE_CELLS = 8              /* all plots above one another start at the same column, whatever their unit */
};

struct axis axis_start(const struct canvas *canvas, const struct canvas *plot)
{
	int y = plot->y + plot->height_cells - canvas->y;

	return (struct axis){ .row = canvas_part(canvas, plot->x - canvas->x, y, plot->width_cells, 1) };
}

/* Takes the columns start..end-1 and a blank on both sides, if all of them are free. */
static bool take(struct axis *axis, int start, int end)
{
	if (start < 0 || end > axis->row.width_cells || axis->row.height_cells == 0)
		return false;
	if (axis->count == AXIS_LABELS_MAX)
		return false;
	for (int i = 0; i < axis->count; i++)
		if (start <= axis->taken[i].end && end >= axis->taken[i].start)
			return false;
	axis->taken[axis->count].start = start;
	axis->taken[axis->count].end = end;
	axis->count++;
	return true;
}

bool axis_label(struct axis *axis, int x, struct style style, const char *text)
{
	int width = canvas_text_width(&axis->row, text);

	if (x > axis->row.width_cells - width)
		x = axis->row.width_cells - width;
	if (!take(axis, x, x + width))
		return false;
	canvas_text(&axis->row, x, 0, style, text);
	return true;
}

bool axis_pointer(struct axis *axis, int x, struct style style, uint32_t pointer, const char *text)
{
	int width = canvas_text_width(&axis->row, text);

	if (x + 1 + width <= axis->row.width_cells) {
		if (!take(axis, x, x + 1 + width))
			return false;
		canvas_text(&axis->row, x + 1, 0, style, text);
	} else {
		if (!take(axis, x - width, x + 1))
			return false;
		canvas_text(&axis->row, x - width, 0, style, text);
	}
	canvas_put(&axis->row, x, 0, style, pointer);
	return true;
}

void axis_marks(struct axis *axis, const struct axis_mark *marks, int mark_count, int point_count)
{
	uint32_t tick = glyph(canvas_glyphs(&axis->row), GLYPH_MARK);

	for (int i = 0; i < mark_count; i++) {
		int x;

		if (marks[i].age < 0 || marks[i].age >= point_count)
			continue;
		x = points_column_of(point_count - 1 - marks[i].age, point_count, axis->row.width_cells);
		if (marks[i].tick)
			axis_pointer(axis, x, STYLE(ROLE_TEXT), tick, marks[i].text);
		else
			axis_label(axis, x, STYLE(ROLE_DIM), marks[i].text);
	}
}

/* The smallest step in people's units of time that leaves room for its labels. */
static double step_of(double seconds, int width_cells)
{
	static const int steps[] = {
		1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200,
	};

	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (steps[i] / seconds * width_cells >= TICK_CELLS_MIN)
			return steps[i];
	return 86400 * ceil(TICK_CELLS_MIN * seconds / width_cells / 86400);
}

static void age_text(char out[UNITS_BYTES], double age_s)
{
	long long age = llround(age_s);

	if (age % 86400 == 0)
		snprintf(out, UNITS_BYTES, "-%lldd", age / 86400);
	else if (age % 3600 == 0)
		snprintf(out, UNITS_BYTES, "-%lldh", age / 3600);
	else if (age % 60 == 0)
		snprintf(out, UNITS_BYTES, "-%lldm", age / 60);
	else
		snprintf(out, UNITS_BYTES, "-%llds", age);
}

void axis_time(struct axis *axis, double seconds)
{
	int width = axis->row.width_cells;
	double step;

	if (!(seconds > 0) || seconds > SECONDS_MAX || width == 0)
		return;
	axis_label(axis, width, STYLE(ROLE_DIM), "now");
	step = step_of(seconds, width);
	for (double age = step; age <= seconds; age += step) {
		char text[UNITS_BYTES];

		age_text(text, age);
		axis_label(axis, (int)((1 - age / seconds) * width), STYLE(ROLE_DIM), text);
	}
}

struct canvas axis_values(const struct canvas *canvas, int rows, enum unit unit, double low, double max)
{
	int width = units_width(unit) > VALUE_CELLS ? units_width(unit) : VALUE_CELLS;
	char text[UNITS_BYTES];

	/* A narrow plot says more when it has the columns that labels would take. */
	if (canvas->width_cells < 3 * width)
		return canvas_part(canvas, 0, 0, canvas->width_cells, rows);
	if (rows > 1 || !(max > 0)) {
		units_value(text, unit, low);
		canvas_text_right(canvas, width, rows - 1, STYLE(ROLE_DIM), low > 0 ? text : "0");
	}
	if (max > 0) {
		units_value(text, unit, max);
		canvas_text_right(canvas, width, 0, STYLE(ROLE_DIM), text);
	}
	return canvas_part(canvas, width + 1, 0, canvas->width_cells - width - 1, rows);
}
