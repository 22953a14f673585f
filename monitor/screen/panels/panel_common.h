/* panel_common.h -- what panels share: safe names, titles, reasons for emptiness, wishes.
 *
 * Names in the model are as the target sent them; nothing of them reaches a canvas but
 * through name_clean(). */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_COMMON_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_COMMON_H

#include "monitor/screen/panels/panel.h"
#include "widgets/units.h"

/* Room for any name or line of the model after cleaning: a byte becomes three at most. */
enum { NAME_BYTES = 3 * 256 + 1 };

/* A name or line of the model, safe to draw; "(no name)" when it is empty. */
void name_clean(char *out, size_t out_bytes, const char *name, enum glyphs glyphs);
/* The same, cut in the middle to width_cells. */
void name_fit(char *out, size_t out_bytes, const char *name, int width_cells, enum glyphs glyphs);
/* "decoder", "task 7" without a name, "(ended tasks)", "(whole program)". */
void task_name_clean(char *out, size_t out_bytes, const struct model *model, uint32_t task, enum glyphs glyphs);
void class_name_clean(char *out, size_t out_bytes, const struct model *model, uint32_t class_id, enum glyphs glyphs);

/* "2 Latency"; the name alone when the panel has no digit. A box has the digit of the panel that it is of. */
void panel_title(char out[64], const struct panel *panel);
/* The digit that switches to the panel, or to the panel that a box is of; 0 when there is none. */
char panel_digit(const struct panel *panel);
/* "10 s" "60 s" "5 min" "all". */
const char *window_name(int seconds);
/* " ─ /sql: 3 of 14" for a title; "" without a filter. */
void filter_label(char *out, size_t out_bytes, const struct panel_view *view, int shown, int all, enum glyphs glyphs);
/* In place of all the rows that a filter hides. */
void no_match_text(char *out, size_t out_bytes, const struct panel_view *view, int all, const char *rows,
		   enum glyphs glyphs);
/* Draws it when that is so; returns the row after it. */
int no_match_draw(const struct panel_view *view, int shown, int all, const char *rows, int y, const struct canvas *canvas);

/* When there is no data at all, draws the panel's title and the view's reason for it, and returns true. */
bool nothing_draw(const struct panel *panel, const struct panel_view *view, const struct canvas *canvas);

/* Whether both texts of a title fit. */
bool title_fits(const struct canvas *canvas, const char *left, const char *right);
/* The title of a panel: of the two texts for the right the first that fits, either may be NULL. */
void title_draw(const struct canvas *canvas, const char *left, const char *right, const char *shorter);
/* Text from column x on, over as many rows as it needs; returns the row after it. */
int text_wrap(const struct canvas *canvas, int x, int y, struct style style, const char *text);
/* The text at the right of column x_end, in a field of width_cells, cut rather than spilt. */
void text_field(const struct canvas *canvas, int x_end, int y, int width_cells, struct style style, const char *text);

/* What a site's values are counted in, and one of them as text; NaN is "–". */
enum unit site_unit(const struct model_site *site);
/* A distribution's figure, with ~ when it is an estimate; "–" when there is none. */
void site_figure(char out[UNITS_BYTES], const struct model_site *site, double value);
/* value, or NaN when count is 0. */
double figure_or_none(uint64_t count, uint64_t value);
/* value, one of the window's quantiles, or NaN when none is known. */
double quantile_or_none(const struct quantiles *window, uint64_t value);
/* The figures of a site's window that several panels list, and sort by. */
enum window_figure { WINDOW_RATE, WINDOW_P50, WINDOW_P90, WINDOW_P99, WINDOW_MAX };
/* NaN when it is not known. */
double window_figure(const struct model_site *site, enum window_figure figure);
/* The same as text, with ~ when it is an estimate. */
void window_figure_text(char out[UNITS_BYTES], const struct model_site *site, enum window_figure figure);
/* Clock time of a moment of the target, with decimals. */
void clock_text(char out[UNITS_BYTES], const struct model *model, uint64_t time_ns, int decimals);
/* "172,401,220" */
void digits_text(char out[32], uint64_t number);
/* How a series went over the last seconds: 1 rose, -1 fell, 0 neither or not known. */
int series_trend(const struct series *series, int64_t second, int seconds);
/* ▲ or ▼ or nothing, by series_trend(). */
const char *trend_arrow(int trend);
/* The newest seconds of a series as a chart, with times and mark below when they are wanted
 * and there are four rows; at most 300 of them. */
void series_chart(const struct model *model, const struct series *series, int seconds, enum unit unit, bool times,
		    const struct canvas *canvas);
/* The greatest of the newest seconds, NaN when there is none. */
double series_max(const struct series *series, int64_t second, int seconds);
/* How a sparkline is scaled: from zero, or between the least and the greatest of what is
 * seen, for what seldom comes near zero; there what changes by little stays flat. */
enum spark { SPARK_FROM_ZERO, SPARK_SHAPE };
/* A sparkline of the last minute, or of more where there is room; nothing when series is NULL. */
void series_spark(const struct series *series, int64_t second, enum spark spark, const struct canvas *canvas);
/* More than doubled against the mark. */
bool is_worse(double mark, double now);

/* What a panel needs, to say why it has nothing to show. */
struct need {
	bool (*wants)(const struct model_site *site);
	const char *one, *many, *done;       /* "span", "spans", "entered" */
};
/* Why there is nothing to show, in words and with the key that cures it; false when there
 * is something. All sites that are wanted may be off and still have figures of before: then
 * out is written as well, and the panel shows both. */
bool reason_text(char *out, size_t out_bytes, const struct model *model, const struct panel_view *view,
		 const struct need *need, enum glyphs glyphs);

/* Off to sum to all to off. */
uint8_t level_next(uint8_t level);
/* Asks for a level of a site of a class, or with site 0 of the class; says why not when it
 * may not. */
void wish_level(struct panel_view *view, uint32_t class_id, uint32_t site, uint8_t level);
/* What x and X do in a list of sites: ask for the site's next level, or for off. With site NULL no row is chosen, which
 * they say. Return true, for the key is taken. */
bool wish_site_next(struct panel_view *view, const struct model_site *site);
bool wish_site_off(struct panel_view *view, const struct model_site *site);

bool site_is_timed(const struct model_site *site);
/* Of an allocation's type: "TYPE lifetime" in class mem. */
bool site_is_lifetime(const struct model *model, const struct model_site *site);
/* How long objects of a type live, of those that are followed; NULL: not told, or no type. */
const struct model_site *site_lifetime_of(const struct model *model, const struct model_site *type);
bool site_is_alloc(const struct model_site *site);
bool site_is_tag(const struct model_site *site);
bool site_is_frame(const struct model_site *site);
bool site_is_figure(const struct model_site *site);      /* counter or gauge */
#endif
