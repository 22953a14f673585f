#include "monitor/screen/panels/panel_common.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_list.h"
#include "widgets/cells.h"
#include "widgets/chart.h"
#include "widgets/rule.h"
#include "widgets/sparkline.h"
#include "widgets/tabbar.h"
#include "widgets/text.h"

enum {
	SPARK_POINTS_MAX = 512,      /* no column of a panel is wider */
	SPARK_SECONDS = 60,
	CLASSES_NAMED_MAX = 3        /* so many classes are named in a reason, more are counted */
};

void name_clean(char *out, size_t out_bytes, const char *name, enum glyphs glyphs)
{
	if (name[0])
		text_clean(out, out_bytes, name, strlen(name), glyphs);
	else
		snprintf(out, out_bytes, "(no name)");
}

void name_fit(char *out, size_t out_bytes, const char *name, int width_cells, enum glyphs glyphs)
{
	char clean[NAME_BYTES];

	name_clean(clean, sizeof clean, name, glyphs);
	text_fit(out, out_bytes, clean, cells_max(width_cells, 0), glyphs);
}

void task_name_clean(char *out, size_t out_bytes, const struct model *model, uint32_t task, enum glyphs glyphs)
{
	const struct model_task *found = model_task_by_id(model, task);

	if (found && found->name[0])
		name_clean(out, out_bytes, found->name, glyphs);
	else if (task == TASK_ENDED)
		snprintf(out, out_bytes, "(ended tasks)");
	else if (task == TASK_ALL)
		snprintf(out, out_bytes, "(whole program)");
	else
		snprintf(out, out_bytes, "task %" PRIu32, task);
}

void class_name_clean(char *out, size_t out_bytes, const struct model *model, uint32_t class_id, enum glyphs glyphs)
{
	if (class_id < model_class_count(model) && model_class(model, class_id)->is_defined)
		name_clean(out, out_bytes, model_class(model, class_id)->name, glyphs);
	else
		snprintf(out, out_bytes, "class %" PRIu32, class_id);
}

char panel_digit(const struct panel *panel)
{
	return panel->of ? panel->of->digit : panel->digit;
}

void panel_title(char out[64], const struct panel *panel)
{
	char digit = panel_digit(panel);

	if (digit)
		snprintf(out, 64, "%c %s", digit, panel->name);
	else
		snprintf(out, 64, "%s", panel->name);
}

const char *window_name(int seconds)
{
	switch (seconds) {
	case 10:
		return "10 s";
	case 60:
		return "60 s";
	case 300:
		return "5 min";
	default:
		return "all";
	}
}

void filter_label(char *out, size_t out_bytes, const struct panel_view *view, int shown, int all, enum glyphs glyphs)
{
	char text[NAME_BYTES];
	struct filter filter;

	out[0] = '\0';
	if (!view->filter[0])
		return;
	name_fit(text, sizeof text, view->filter, 20, glyphs);
	filter_init(&filter, view->filter);
	if (filter.is_bad)
		snprintf(out, out_bytes, " ─ filter %s: no regular expression", text);
	else
		snprintf(out, out_bytes, " ─ filter %s: %d of %d", text, shown, all);
	filter_fini(&filter);
}

void no_match_text(char *out, size_t out_bytes, const struct panel_view *view, int all, const char *rows, enum glyphs glyphs)
{
	char filter[NAME_BYTES];

	name_fit(filter, sizeof filter, view->filter, 30, glyphs);
	snprintf(out, out_bytes, "0 of %d %s match \"%s\". Esc clears the filter.", all, rows, filter);
}

int no_match_draw(const struct panel_view *view, int shown, int all, const char *rows, int y, const struct canvas *canvas)
{
	char text[NAME_BYTES * 2];

	if (shown > 0 || all == 0)
		return y;
	no_match_text(text, sizeof text, view, all, rows, canvas_glyphs(canvas));
	return text_wrap(canvas, 1, y, STYLE(ROLE_TEXT), text);
}

bool nothing_draw(const struct panel *panel, const struct panel_view *view, const struct canvas *canvas)
{
	char title[64], text[NAME_BYTES];

	if (!view->nothing)
		return false;
	panel_title(title, panel);
	title_draw(canvas, title, NULL, NULL);
	text_clean(text, sizeof text, view->nothing, strlen(view->nothing), canvas_glyphs(canvas));
	text_wrap(canvas, 1, canvas->height_cells > 1, STYLE(ROLE_TEXT), text);
	return true;
}

bool title_fits(const struct canvas *canvas, const char *left, const char *right)
{
	/* rule_draw() puts 7 cells around two texts. */
	return canvas_text_width(canvas, left) + canvas_text_width(canvas, right) + 7 <= canvas->width_cells;
}

void title_draw(const struct canvas *canvas, const char *left, const char *right, const char *shorter)
{
	if (right && !title_fits(canvas, left, right))
		right = shorter;
	rule_draw(canvas, 0, left, right && right[0] ? right : NULL);
}

int tabs_label(char *left, size_t left_bytes, const char *const *names, int count, int tab, const struct canvas *canvas)
{
	size_t used = strlen(left);
	int x;

	used += (size_t)snprintf(left + used, left_bytes - used, " ─");
	x = 2 + canvas_text_width(canvas, left);
	for (int i = 0; i < count && used < left_bytes; i++)
		used += (size_t)snprintf(left + used, left_bytes - used, i == tab ? "[%s]" : " %s ", names[i]);
	if (left[strlen(left) - 1] == ' ')
		left[strlen(left) - 1] = '\0';
	return x;
}

void tabs_draw(const char *left, int x, const char *const *names, int count, int tab, const struct canvas *canvas)
{
	if (canvas_text_width(canvas, left) + 4 <= canvas->width_cells)
		tabbar_draw(canvas, x, 0, names, count, tab);
}

int text_wrap(const struct canvas *canvas, int x, int y, struct style style, const char *text)
{
	int width = canvas->width_cells - x;

	while (*text && width > 0 && y < canvas->height_cells) {
		char line[NAME_BYTES];
		size_t take = 0, word = 0;

		/* A row takes whole words as long as they fit; the canvas cuts a word that is longer than the row. */
		while (text[take]) {
			size_t end = take + strspn(text + take, " ");

			end += strcspn(text + end, " ");
			if (end >= sizeof line)
				break;
			snprintf(line, sizeof line, "%.*s", (int)end, text);
			if (word > 0 && canvas_text_width(canvas, line) > width)
				break;
			take = word = end;
		}
		if (take == 0)
			break;
		snprintf(line, sizeof line, "%.*s", (int)take, text);
		canvas_text(canvas, x, y++, style, line);
		text += take;
		text += strspn(text, " ");
		/* No row is left for the rest. */
		if (*text && y == canvas->height_cells)
			canvas_put(canvas, cells_min(x + canvas_text_width(canvas, line), canvas->width_cells - 1), y - 1,
				   style, glyph(canvas_glyphs(canvas), GLYPH_ELLIPSIS));
	}
	return y;
}

void text_field(const struct canvas *canvas, int x_end, int y, int width_cells, struct style style, const char *text)
{
	char fit[NAME_BYTES];

	text_fit(fit, sizeof fit, text, cells_max(width_cells, 0), canvas_glyphs(canvas));
	canvas_text_right(canvas, x_end, y, style, fit);
}

/* ---- figures ---- */

enum unit site_unit(const struct model_site *site)
{
	if (site->kind == SITE_SPAN || site->kind == SITE_LATENCY || site->unit == UNIT_TIME)
		return UNIT_NS;
	return model_is_memory(site) || site->unit == UNIT_SIZE ? UNIT_BYTES : UNIT_NONE;
}

void site_figure(char out[UNITS_BYTES], const struct model_site *site, double value)
{
	char text[UNITS_BYTES];

	units_value(text, site_unit(site), value);
	snprintf(out, UNITS_BYTES, "%s%.20s", site->is_rough && !isnan(value) ? "~" : "", text);
}

/* A value that is older than this has its age with it: three ticks of the default length. */
#define OLD_NS 3000000000u

void figure_text(char out[UNITS_BYTES], const struct model *model, const struct model_site *site)
{
	uint64_t age_ns = model_age_ns(model, site);
	enum unit unit = site_unit(site);
	char text[UNITS_BYTES], age[UNITS_BYTES];

	/* What never had a value would look like a true 0. */
	if (site->count == 0 && site->level == LEVEL_OFF)
		snprintf(text, sizeof text, "off");
	else if (site->kind == SITE_GAUGE)
		units_value(text, unit, site->count > 0 ? (double)(int64_t)site->sum : NAN);
	else if (unit == UNIT_BYTES)
		units_byte_rate(text, site->sum_per_s);
	else
		units_rate(text, site->sum_per_s);
	if (age_ns < OLD_NS || site->count == 0) {
		strcpy(out, text);
		return;
	}
	units_uptime(age, (double)age_ns);
	snprintf(out, UNITS_BYTES, "%.11s (%.9s)", text, age);
}

void bytes_text(char *out, size_t out_bytes, double bytes, bool is_rough)
{
	char text[UNITS_BYTES];

	units_bytes(text, bytes);
	snprintf(out, out_bytes, "%s%.*s", is_rough && !isnan(bytes) ? "~" : "", (int)out_bytes - 2, text);
}

void live_text(char out[UNITS_BYTES], const struct live *live)
{
	bytes_text(out, UNITS_BYTES, live->is_known ? live->bytes : NAN, live->is_rough);
}

double figure_or_none(uint64_t count, uint64_t value)
{
	return count > 0 ? (double)value : NAN;
}

double quantile_or_none(const struct quantiles *window, uint64_t value)
{
	/* A site without buckets has a count, but no quantiles: they are 0. A 0 is a quantile only when all values are 0. */
	if (window->count == 0 || (value == 0 && window->max > 0))
		return NAN;
	/* A quantile is the middle of its bucket, which may be below the least value that was seen. */
	return (double)(value < window->min ? window->min : value);
}

double window_figure(const struct model_site *site, enum window_figure figure)
{
	const struct quantiles *window = &site->window;

	switch (figure) {
	case WINDOW_RATE:
		return window->rate_per_s;
	case WINDOW_P50:
		return quantile_or_none(window, window->p50);
	case WINDOW_P90:
		return quantile_or_none(window, window->p90);
	case WINDOW_P99:
		return quantile_or_none(window, window->p99);
	case WINDOW_MAX:
		return figure_or_none(window->count, window->max);
	}
	return NAN;
}

void window_figure_text(char out[UNITS_BYTES], const struct model_site *site, enum window_figure figure)
{
	if (figure == WINDOW_RATE)
		units_rate(out, window_figure(site, figure));
	else
		site_figure(out, site, window_figure(site, figure));
}

void clock_text(char out[UNITS_BYTES], const struct model *model, uint64_t time_ns, int decimals)
{
	units_clock(out, model_real_ns(model, time_ns), decimals);
}

void digits_text(char out[32], uint64_t number)
{
	char digits[24];
	int count = snprintf(digits, sizeof digits, "%" PRIu64, number), at = 0;

	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
}

int series_trend(const struct series *series, int64_t second, int seconds)
{
	double now = series ? series_at(series, second) : NAN, before = NAN;

	/* A series that is younger than that is compared with its first point. */
	for (int age = seconds; series && age > 0 && isnan(before); age--)
		before = series_at(series, second - age);
	if (isnan(now) || isnan(before) || fabs(now - before) <= 0.02 * fmax(fabs(before), fabs(now)))
		return 0;
	return now > before ? 1 : -1;
}

const char *trend_arrow(int trend)
{
	return trend > 0 ? "▲" : trend < 0 ? "▼" : "";
}

double series_max(const struct series *series, int64_t second, int seconds)
{
	double max = NAN;

	for (int age = 0; series && age < seconds; age++)
		max = fmax(max, series_at(series, second - age));
	return max;
}

void series_chart(const struct model *model, const struct series *series, int seconds, enum unit unit, bool times,
		  const struct canvas *canvas)
{
	double values[MODEL_WINDOW_S_MAX];
	uint64_t mark_ns = model_mark_ns(model), now_ns = model_time_ns(model);
	struct axis_mark mark = { .age = -1, .text = "mark", .tick = true };

	seconds = cells_min(seconds, MODEL_WINDOW_S_MAX);
	series_copy(series, model_second(model), seconds, values);
	if (mark_ns > 0 && now_ns >= mark_ns && (now_ns - mark_ns) / 1000000000u < (uint64_t)seconds)
		mark.age = (int)((now_ns - mark_ns) / 1000000000u);
	chart_draw(&(struct chart){
		.points = { .values = values, .count = seconds },
		.unit = unit,
		.point_s = times ? 1 : 0,
		.marks = &mark,
		.mark_count = 1,
		.style = STYLE(ROLE_SERIES1),
	}, canvas);
}

/* Moves the values so that the least becomes 0, or, when they differ by little, so that all are in the middle. Returns the
 * greatest value of the scale. */
static double values_shape(double *values, int count)
{
	double least = INFINITY, most = -INFINITY, range;

	for (int i = 0; i < count; i++) {
		if (isnan(values[i]))
			continue;
		least = fmin(least, values[i]);
		most = fmax(most, values[i]);
	}
	if (!(most >= least))
		return 0;
	range = fmax(most - least, 0.05 * fmax(fabs(most), fabs(least)));
	for (int i = 0; i < count; i++)
		values[i] = values[i] - (most + least) / 2 + range / 2;
	return range;
}

void series_spark(const struct series *series, int64_t second, enum spark spark, const struct canvas *canvas)
{
	double values[SPARK_POINTS_MAX], max = 0;
	int count = cells_min(canvas->width_cells, SPARK_POINTS_MAX), step;

	if (!series || count <= 0)
		return;
	/* A bar stands for a whole step of the clock, so that bars move to the left without changing their height. */
	step = cells_max(1, (SPARK_SECONDS + count - 1) / count);
	for (int i = 0; i < count; i++) {
		int64_t first = (second / step - (count - 1 - i)) * step;

		values[i] = NAN;
		for (int64_t at = first; at < first + step && at <= second; at++)
			values[i] = fmax(values[i], series_at(series, at));
	}
	if (spark == SPARK_SHAPE)
		max = values_shape(values, count);
	sparkline_draw(&(struct sparkline){
		.points = { .values = values, .count = count },
		.max = max,
		.style = STYLE(ROLE_SERIES1),
	}, canvas);
}

bool is_worse(double mark, double now)
{
	return mark > 0 && now > 2 * mark;
}

/* ---- reasons ---- */

/* Writes the names of the classes that are meant: "sql", "sql and net", "sql, net and 4 more"; into keys it writes how to
 * switch them: "c then q, or c then e". */
static void classes_text(char *out, size_t out_bytes, char *keys, size_t keys_bytes, const struct model *model,
			 const struct panel_view *view, const bool *is_meant, int count, enum glyphs glyphs)
{
	int named = 0, shown = cells_min(count, CLASSES_NAMED_MAX);
	size_t used = 0, keys_used = 0;

	for (uint32_t id = 0; id < LIMIT_CLASSES && named < shown; id++) {
		char name[NAME_BYTES], fit[NAME_BYTES];
		char letter = view->class_keys ? view->class_keys[id] : '\0';

		if (!is_meant[id])
			continue;
		class_name_clean(name, sizeof name, model, id, glyphs);
		text_fit(fit, sizeof fit, name, 20, glyphs);
		used += (size_t)snprintf(out + used, out_bytes - used, "%s%s",
					 named == 0 ? "" : named == count - 1 ? " and " : ", ", fit);
		used = used < out_bytes ? used : out_bytes - 1;
		if (letter > ' ' && letter < 0x7F && keys_used < keys_bytes)
			keys_used += (size_t)snprintf(keys + keys_used, keys_bytes - keys_used, "%sc then %c",
						      keys_used == 0 ? "" : ", or ", letter);
		named++;
	}
	if (count > shown)
		snprintf(out + used, out_bytes - used, " and %d more", count - shown);
}

static bool all_classes_off(const struct model *model)
{
	int defined = 0;

	for (uint32_t id = 0; id < model_class_count(model); id++) {
		if (!model_class(model, id)->is_defined)
			continue;
		if (model_class(model, id)->level != LEVEL_OFF)
			return false;
		defined++;
	}
	return defined > 0;
}

struct census {
	int declared, on, off_classes;
	bool has_happened;
	bool is_off[LIMIT_CLASSES];          /* a wanted site of this class is off */
};

static void census_take(struct census *census, const struct model *model, const struct need *need)
{
	*census = (struct census){ .declared = 0 };
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		if (!need->wants(site))
			continue;
		census->declared++;
		census->on += site->level != LEVEL_OFF;
		census->has_happened |= site->count > 0;
		if (site->level == LEVEL_OFF && site->class_id < LIMIT_CLASSES && !census->is_off[site->class_id]) {
			census->is_off[site->class_id] = true;
			census->off_classes++;
		}
	}
}

bool reason_text(char *out, size_t out_bytes, const struct model *model, const struct panel_view *view,
		 const struct need *need, enum glyphs glyphs)
{
	static const char no_control[] = "Levels cannot be set on this connection.";
	struct census census;

	if (view->nothing) {
		text_clean(out, out_bytes, view->nothing, strlen(view->nothing), glyphs);
		return true;
	}
	census_take(&census, model, need);
	/* A program that said goodbye has no levels any more; the figures it sent before stay on the screen. */
	if (model_link(model)->has_bye && census.has_happened)
		return false;
	if (all_classes_off(model)) {
		snprintf(out, out_bytes, "Connected. All event classes are off. %s",
			 view->may_control ? "Press c then s for sums, c then a for every event." : no_control);
	} else if (census.declared == 0) {
		snprintf(out, out_bytes, "The target declares no %s.", need->one);
	} else if (census.on == 0) {
		char names[NAME_BYTES], keys[128] = "";

		classes_text(names, sizeof names, keys, sizeof keys, model, view, census.is_off, census.off_classes, glyphs);
		snprintf(out, out_bytes, "%c%s are in class%s %s, %s off. %s%s%s", need->many[0] & ~0x20, need->many + 1,
			 census.off_classes > 1 ? "es" : "", names,
			 census.off_classes > 2 ? "all" : census.off_classes == 2 ? "both" : "which is",
			 view->may_control ? "Press " : no_control,
			 !view->may_control ? "" : keys[0] ? keys : "c and a class's letter", view->may_control ? "." : "");
	} else if (!census.has_happened) {
		char since[UNITS_BYTES];

		clock_text(since, model, model_target(model)->start_ns, 0);
		snprintf(out, out_bytes, "%d %s declared, none %s since %s.", census.declared,
			 census.declared == 1 ? need->one : need->many, need->done, since);
	} else {
		return false;
	}
	return true;
}

/* ---- wishes ---- */

uint8_t level_next(uint8_t level)
{
	return level == LEVEL_OFF ? LEVEL_SUM : level == LEVEL_SUM ? LEVEL_ALL : LEVEL_OFF;
}

void wish_level(struct panel_view *view, uint32_t class_id, uint32_t site, uint8_t level)
{
	if (!view->may_control) {
		snprintf(view->message, sizeof view->message, "Levels cannot be set on this connection.");
		return;
	}
	view->wish = (struct panel_wish){ .is_set = true, .class_id = class_id, .site = site, .level = level };
}

static bool wish_site_level(struct panel_view *view, const struct model_site *site, uint8_t level)
{
	if (site)
		wish_level(view, site->class_id, site->id, level);
	else
		snprintf(view->message, sizeof view->message, "Choose a row first: ↓.");
	return true;
}

bool wish_site_next(struct panel_view *view, const struct model_site *site)
{
	return wish_site_level(view, site, site ? level_next(site->level) : LEVEL_OFF);
}

bool wish_site_off(struct panel_view *view, const struct model_site *site)
{
	return wish_site_level(view, site, LEVEL_OFF);
}

/* ---- kinds of sites ---- */

static const char lifetime_ending[] = " lifetime";

const struct model_site *site_lifetime_of(const struct model *model, const struct model_site *type)
{
	char name[LIMIT_NAME_BYTES];

	if (!type)
		return NULL;
	snprintf(name, sizeof name, "%.*s%s", (int)(sizeof name - sizeof lifetime_ending), type->name, lifetime_ending);
	for (uint32_t i = 0; i < model_site_count(model); i++) {
		const struct model_site *site = model_site(model, i);

		if (model_is_lifetime(site) && !strcmp(site->name, name))
			return site;
	}
	return NULL;
}

bool site_is_lifetime(const struct model_site *site)
{
	return model_is_lifetime(site);
}

bool site_is_alloc(const struct model_site *site)
{
	return model_is_type(site);
}

bool site_is_tag(const struct model_site *site)
{
	return site->kind == SITE_TAG;
}

bool site_is_frame(const struct model_site *site)
{
	return site->kind == SITE_SPAN && site->detail == SPAN_IS_FRAME;
}

bool site_is_figure(const struct model_site *site)
{
	return site->kind == SITE_COUNTER || site->kind == SITE_GAUGE;
}
