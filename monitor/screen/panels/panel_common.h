/* panel_common.h -- what panels share: safe names, titles, reasons for emptiness, wishes.
 *
 * Names in the model are as the target sent them. A panel draws a name only after name_clean() made it safe. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_COMMON_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_COMMON_H

#include "monitor/screen/panels/panel.h"
#include "widgets/units.h"

/* Room for any name or line of the model after name_clean(), which makes at most three bytes of one. */
enum { NAME_BYTES = 3 * 256 + 1 };

/* Writes a name or line of the model so that it is safe to draw; "(no name)" for an empty one. */
void name_clean(char *out, size_t out_bytes, const char *name, enum glyphs glyphs);
/* The same, with the middle left out when it is wider than width_cells. */
void name_fit(char *out, size_t out_bytes, const char *name, int width_cells, enum glyphs glyphs);
/* "decoder"; "task 7" for a task without a name; "(ended tasks)"; "(whole program)". */
void task_name_clean(char *out, size_t out_bytes, const struct model *model, uint32_t task, enum glyphs glyphs);
void class_name_clean(char *out, size_t out_bytes, const struct model *model, uint32_t class_id, enum glyphs glyphs);

/* "2 Latency"; the name alone when the panel has no digit. A box has the digit of the panel that it is of. */
void panel_title(char out[64], const struct panel *panel);
/* The digit that switches to the panel, or to the panel that a box is of; 0 when there is none. */
char panel_digit(const struct panel *panel);
/* The window as text: "10 s", "60 s", "5 min" or "all". */
const char *window_name(int seconds);
/* " ─ filter sql: 3 of 14" for a title; "" without a filter. */
void filter_label(char *out, size_t out_bytes, const struct panel_view *view, int shown, int all, enum glyphs glyphs);
/* The text that stands in place of the rows when a filter hides all of them. */
void no_match_text(char *out, size_t out_bytes, const struct panel_view *view, int all, const char *rows,
		   enum glyphs glyphs);
/* Draws that text at row y when a filter hides all rows; returns the row after it, or y. */
int no_match_draw(const struct panel_view *view, int shown, int all, const char *rows, int y, const struct canvas *canvas);

/* When there is no data at all, draws the panel's title and the view's reason for it, and returns true. */
bool nothing_draw(const struct panel *panel, const struct panel_view *view, const struct canvas *canvas);

/* Whether both texts of a title fit. */
bool title_fits(const struct canvas *canvas, const char *left, const char *right);
/* Draws the title of a panel. At its right stands the first of the two texts right and shorter that fits; either may be
 * NULL. */
void title_draw(const struct canvas *canvas, const char *left, const char *right, const char *shorter);
/* Adds the names of a panel's tabs to the left text of its title; returns the column where they begin. tabs_draw() then
 * draws them over the title, if they fit. */
int tabs_label(char *left, size_t left_bytes, const char *const *names, int count, int tab, const struct canvas *canvas);
void tabs_draw(const char *left, int x, const char *const *names, int count, int tab, const struct canvas *canvas);
/* Draws text from column x on, over as many rows as it needs; returns the row after it. */
int text_wrap(const struct canvas *canvas, int x, int y, struct style style, const char *text);
/* Draws text in a field of width_cells that ends at column x_end; a text that is too wide is cut. */
void text_field(const struct canvas *canvas, int x_end, int y, int width_cells, struct style style, const char *text);

/* The unit of a site's values. */
enum unit site_unit(const struct model_site *site);
/* One of a site's values as text, with ~ when it is an estimate; "–" for NaN. */
void site_figure(char out[UNITS_BYTES], const struct model_site *site, double value);
/* Bytes as text, with ~ when they are an estimate. */
void bytes_text(char *out, size_t out_bytes, double bytes, bool is_rough);
/* What lives as text, with ~ when it is an estimate; "–" when it is not known. */
/* The figure of a counter, a rate, or of a gauge, its value; "off", and "–" for a gauge without a value. The old value of
 * a reporter has its age with it: "20.9 MiB (8s)". */
void figure_text(char out[UNITS_BYTES], const struct model *model, const struct model_site *site);
void live_text(char out[UNITS_BYTES], const struct live *live);
/* Returns value, or NaN when count is 0. */
double figure_or_none(uint64_t count, uint64_t value);
/* value is one of the window's quantiles: returns it, or NaN when it is not known. */
double quantile_or_none(const struct quantiles *window, uint64_t value);
/* The figures of a site's window that several panels list, and sort by. */
enum window_figure { WINDOW_RATE, WINDOW_P50, WINDOW_P90, WINDOW_P99, WINDOW_MAX };
/* NaN when it is not known. */
double window_figure(const struct model_site *site, enum window_figure figure);
/* The same as text, with ~ when it is an estimate. */
void window_figure_text(char out[UNITS_BYTES], const struct model_site *site, enum window_figure figure);
/* The clock time of a moment of the target, with so many decimals. */
void clock_text(char out[UNITS_BYTES], const struct model *model, uint64_t time_ns, int decimals);
/* The number with commas: "172,401,220". */
void digits_text(char out[32], uint64_t number);
/* 1 when the series rose over the last seconds, -1 when it fell, 0 when it did neither or that is not known. */
int series_trend(const struct series *series, int64_t second, int seconds);
/* "▲", "▼" or "" for a result of series_trend(). */
const char *trend_arrow(int trend);
/* Draws the newest seconds of a series, at most 300, as a chart. With times, and when there are four rows, clock times and
 * the mark stand below it. */
void series_chart(const struct model *model, const struct series *series, int seconds, enum unit unit, bool times,
		    const struct canvas *canvas);
/* The greatest value of the newest seconds; NaN when there is none. */
double series_max(const struct series *series, int64_t second, int seconds);
/* How a sparkline is scaled: from zero; or from the least to the greatest value that it shows, for values that are seldom
 * near zero. In that scale a series that changes by little stays flat. */
enum spark { SPARK_FROM_ZERO, SPARK_SHAPE };
/* Draws a sparkline of the last minute, or of more where there is room; draws nothing when series is NULL. */
void series_spark(const struct series *series, int64_t second, enum spark spark, const struct canvas *canvas);
/* Whether a value is more than twice as large as it was at the mark. */
bool is_worse(double mark, double now);

/* The sites that a panel shows, and words for them; reason_text() says with it why there is nothing to show. */
struct need {
	bool (*wants)(const struct model_site *site);
	const char *one, *many, *done;       /* "span", "spans", "entered" */
};
/* Writes why there is nothing to show and which key changes that; returns false when there is something to show. When all
 * sites of the need are off but have figures of an earlier time, there is a reason as well, and the panel shows both. */
bool reason_text(char *out, size_t out_bytes, const struct model *model, const struct panel_view *view,
		 const struct need *need, enum glyphs glyphs);

/* The level after this one: off, sum, all, and off again. */
uint8_t level_next(uint8_t level);
/* Asks for a level of a site, or, with site 0, of the class. On a connection without control it sets a message instead. */
void wish_level(struct panel_view *view, uint32_t class_id, uint32_t site, uint8_t level);
/* What x and X do in a list of sites: ask for the site's next level, or for off. With site NULL no row is chosen, which
 * they say. Return true, for the key is taken. */
bool wish_site_next(struct panel_view *view, const struct model_site *site);
bool wish_site_off(struct panel_view *view, const struct model_site *site);

bool site_is_lifetime(const struct model_site *site);
/* The lifetimes of a type's sampled allocations; NULL when the program does not send them, or type is NULL. */
const struct model_site *site_lifetime_of(const struct model *model, const struct model_site *type);
bool site_is_alloc(const struct model_site *site);
bool site_is_tag(const struct model_site *site);
bool site_is_frame(const struct model_site *site);
/* A counter or a gauge. */
bool site_is_figure(const struct model_site *site);
#endif
