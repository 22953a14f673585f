#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"
#include "widgets/chart.h"
#include "widgets/key.h"
#include "widgets/text.h"

enum {
	LABEL_CELLS = 10,
	GAUGE_CELLS = 10,
	CHART_SECONDS = 300,
	CLASSES_NAMED_MAX = 6,
	LINES = 9                    /* the text usually has so many lines */
};

/* A text of lines that each have a label; y is the row of the next line. */
struct page {
	const struct model *model;
	const struct canvas *canvas;
	int y;
};

static void page_line(struct page *page, const char *label, struct style style, const char *text)
{
	canvas_text(page->canvas, 1, page->y, STYLE(ROLE_DIM), label);
	page->y = text_wrap(page->canvas, LABEL_CELLS, page->y, style, text);
}

/* The canvas is a box of the Overview. */
static bool is_narrow(const struct page *page)
{
	return page->canvas->width_cells < 76;
}

static void line_stream(struct page *page, const struct model_link *link)
{
	char bytes[UNITS_BYTES], events[UNITS_BYTES], blocks[UNITS_BYTES], text[256];

	units_byte_rate(bytes, link->bytes_per_s);
	units_rate(events, link->events_per_s);
	units_rate(blocks, link->blocks_per_s);
	snprintf(text, sizeof text, is_narrow(page) ? "%10s  %7s events  %7s blocks  damaged %" PRIu64
						    : "%10s   %7s events   %7s blocks   damaged blocks %" PRIu64,
		 bytes, events, blocks, link->damaged_blocks);
	page_line(page, "stream", link->damaged_blocks > 0 ? STYLE(ROLE_WARN) : STYLE(ROLE_TEXT), text);
}

static void line_lag(struct page *page, const struct model_link *link)
{
	char lag[UNITS_BYTES], queue[UNITS_BYTES], max[UNITS_BYTES], text[256];
	bool is_late = link->lag_ns > 3 * (double)model_interval_ns(page->model) + 1e9;

	units_time(lag, link->lag_ns);
	units_bytes(queue, (double)link->queue_bytes);
	units_bytes(max, (double)link->queue_bytes_max);
	snprintf(text, sizeof text, "%10s%squeue %s of %s", lag, is_narrow(page) ? "  " : "   ", queue, max);
	page_line(page, "lag", is_late ? STYLE(ROLE_WARN) : STYLE(ROLE_TEXT), text);
}

/* Writes the classes that have losses: "sql 200, log 12 and 3 classes more". */
static void losses_by_class(char *out, size_t out_bytes, const struct page *page)
{
	int named = 0, more = 0;
	size_t used = 0;

	out[0] = '\0';
	for (uint32_t id = 0; id < model_class_count(page->model); id++) {
		const struct model_class *class = model_class(page->model, id);
		char name[NAME_BYTES], fit[NAME_BYTES], count[32];

		if (model_dropped(class) + class->lost == 0)
			continue;
		if (named == CLASSES_NAMED_MAX || used >= out_bytes) {
			more++;
			continue;
		}
		class_name_clean(name, sizeof name, page->model, id, canvas_glyphs(page->canvas));
		text_fit(fit, sizeof fit, name, 16, canvas_glyphs(page->canvas));
		digits_text(count, model_dropped(class) + class->lost);
		used += (size_t)snprintf(out + used, out_bytes - used, "%s%s %s", named++ ? ", " : "", fit, count);
	}
	if (more > 0 && used < out_bytes)
		snprintf(out + used, out_bytes - used, " and %d classes more", more);
}

static void line_lost(struct page *page, const struct model_link *link)
{
	uint64_t losses = link->lost_events + link->dropped_events;
	char count[32], way[32], share[UNITS_BYTES], last[UNITS_BYTES], classes[512], text[1024];
	size_t used;

	if (losses == 0) {
		page_line(page, "lost", STYLE(ROLE_TEXT), "0 events");
		return;
	}
	digits_text(count, losses);
	digits_text(way, link->lost_events);
	units_percent(share, link->emitted > 0 ? (double)losses / (double)link->emitted : NAN);
	losses_by_class(classes, sizeof classes, page);
	used = (size_t)snprintf(text, sizeof text, "%s event%s (%s)", count, losses == 1 ? "" : "s", share);
	if (classes[0])
		used += (size_t)snprintf(text + used, sizeof text - used, ": %s", classes);
	if (link->last_loss_ns > 0 && used < sizeof text) {
		clock_text(last, page->model, link->last_loss_ns, 0);
		used += (size_t)snprintf(text + used, sizeof text - used, "; last at %s", last);
	}
	if (link->lost_events > 0 && used < sizeof text)
		snprintf(text + used, sizeof text - used, "; %s of them on the way to us", way);
	page_line(page, "lost", STYLE(ROLE_WARN), text);
}

/* How many events the books are wrong by. */
static uint64_t books_gap(const struct model *model)
{
	uint64_t gap = 0;

	for (uint32_t id = 0; id < model_class_count(model); id++) {
		const struct model_class *class = model_class(model, id);
		uint64_t arrived = class->taken - class->base_taken, out = class->dropped + class->taken;

		gap += out > class->emitted ? out - class->emitted : 0;
		gap += class->received > arrived ? class->received - arrived : 0;
	}
	return gap;
}

static void line_books(struct page *page, const struct model_link *link)
{
	char emitted[32], taken[32], dropped[32], queued[32], gap[32], verdict[96], text[512];
	uint64_t gone = link->taken + link->dropped;

	if (!link->has_books) {
		page_line(page, "books", STYLE(ROLE_DIM), "–  none sent yet");
		return;
	}
	digits_text(emitted, link->emitted);
	digits_text(taken, link->taken);
	digits_text(dropped, link->dropped);
	digits_text(queued, link->emitted > gone ? link->emitted - gone : 0);
	digits_text(gap, books_gap(page->model));
	if (link->is_balanced)
		snprintf(verdict, sizeof verdict, "balanced");
	else
		snprintf(verdict, sizeof verdict, "NOT balanced, by %s events", gap);
	snprintf(text, sizeof text, "emitted %s = taken %s + dropped %s + queued %s   %s", emitted, taken, dropped, queued,
		 verdict);
	page_line(page, "books", link->is_balanced ? STYLE(ROLE_TEXT) : STYLE(ROLE_BAD, ATTR_BOLD), text);
	digits_text(taken, link->sink_taken);
	digits_text(emitted, link->sink_delivered);
	digits_text(dropped, link->sink_dropped);
	digits_text(queued, link->sink_queued);
	snprintf(text, sizeof text, "for us: taken %s = delivered %s + dropped %s + queued %s", taken, emitted, dropped,
		 queued);
	page_line(page, "", link->sink_dropped > 0 ? STYLE(ROLE_WARN) : STYLE(ROLE_TEXT), text);
}

static void line_ring(struct page *page, const struct model_link *link)
{
	double share = (double)link->ring_permille / 1000;
	int full = cells_min(GAUGE_CELLS, (int)ceil(fmin(share, 1) * GAUGE_CELLS));
	char text[UNITS_BYTES], line[256] = "fullest ";

	units_percent(text, share);
	for (int i = 0; i < GAUGE_CELLS; i++)
		strcat(line, i < full ? "▓" : "░");
	strcat(line, " ");
	strcat(line, text);
	page_line(page, "ring", share > 0.8 ? STYLE(ROLE_WARN) : STYLE(ROLE_TEXT), line);
}

static void line_cost(struct page *page, const struct model_link *link)
{
	const struct model_totals *totals = model_totals(page->model);
	char share[UNITS_BYTES], event[UNITS_BYTES], bytes[UNITS_BYTES], text[256];

	units_percent(share, totals->telem_cpu_share);
	units_time(event, link->event_cost_ps > 0 ? (double)link->event_cost_ps / 1000 : NAN);
	units_bytes(bytes, (double)totals->telem_bytes);
	snprintf(text, sizeof text, "target %s of a core (%s/event), %s", share, event, bytes);
	page_line(page, "cost", STYLE(ROLE_TEXT), text);
}

static void line_sync(struct page *page, const struct model_link *link)
{
	char last[UNITS_BYTES] = "–", text[256];

	if (link->sync_ns > 0)
		clock_text(last, page->model, link->sync_ns, 0);
	snprintf(text, sizeof text, "last %s   reconnects %" PRIu32 "   viewers %" PRIu64, last, link->reconnects,
		 link->viewers);
	page_line(page, "sync", STYLE(ROLE_TEXT), text);
}

static void line_damage(struct page *page, const struct model_link *link)
{
	char bytes[UNITS_BYTES], text[256];

	if (link->lost_blocks + link->skipped_bytes + link->bad_messages + link->unknown_messages == 0)
		return;
	units_bytes(bytes, (double)link->skipped_bytes);
	snprintf(text, sizeof text,
		 "blocks lost %" PRIu64 "   skipped %s   bad messages %" PRIu64 "   unknown messages %" PRIu64,
		 link->lost_blocks, bytes, link->bad_messages, link->unknown_messages);
	page_line(page, "damage", STYLE(ROLE_WARN), text);
}

static void line_bye(struct page *page, const struct model_link *link)
{
	const struct message_bye *bye = &link->bye;
	char at[UNITS_BYTES], emitted[32], delivered[32], dropped[32], text[256];

	if (!link->has_bye)
		return;
	clock_text(at, page->model, bye->time_ns, 0);
	digits_text(emitted, bye->emitted);
	digits_text(delivered, bye->delivered);
	digits_text(dropped, bye->dropped);
	snprintf(text, sizeof text, "the target said goodbye at %s: emitted %s, delivered %s, dropped %s", at, emitted,
		 delivered, dropped);
	page_line(page, "ended", STYLE(ROLE_TEXT), text);
}

/* Draws the bytes that arrived. In a second with losses they are a lower bound. */
static void draw_chart(const struct model *model, const struct canvas *canvas)
{
	double values[CHART_SECONDS], losses[CHART_SECONDS];
	bool lost[CHART_SECONDS];
	double max = series_max(model_series(model, MODEL_WIRE), model_second(model), CHART_SECONDS);
	char text[UNITS_BYTES], right[64];
	struct canvas plot = canvas_part(canvas, 0, 1, canvas->width_cells - 1, canvas->height_cells - 1);

	units_byte_rate(text, max);
	snprintf(right, sizeof right, "5 min%s%s ─ ? loss", isnan(max) ? "" : " ─ max ", isnan(max) ? "" : text);
	title_draw(canvas, "arriving bytes/s", right, "5 min");
	series_copy(model_series(model, MODEL_WIRE), model_second(model), CHART_SECONDS, values);
	series_copy(model_series(model, MODEL_LOSS), model_second(model), CHART_SECONDS, losses);
	for (int i = 0; i < CHART_SECONDS; i++)
		lost[i] = losses[i] > 0;
	chart_draw(&(struct chart){
		.points = { .values = values, .lost = lost, .count = CHART_SECONDS },
		.unit = UNIT_BYTES_PER_S,
		.point_s = 1,
		.style = STYLE(ROLE_SERIES1),
	}, &plot);
}

/* Draws the title and the text; returns the row after them. */
static int draw_lines(const struct model *model, const struct canvas *canvas)
{
	const struct model_link *link = model_link(model);
	struct page page = { .model = model, .canvas = canvas, .y = 1 };
	char title[64];

	panel_title(title, &panel_link);
	title_draw(canvas, title, NULL, NULL);
	line_stream(&page, link);
	line_lag(&page, link);
	line_lost(&page, link);
	line_books(&page, link);
	line_ring(&page, link);
	line_cost(&page, link);
	line_sync(&page, link);
	line_damage(&page, link);
	line_bye(&page, link);
	return page.y;
}

static void draw(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	int y;

	canvas_clear(canvas);
	view->cursor_x = view->cursor_y = -1;
	if (nothing_draw(&panel_link, view, canvas))
		return;
	y = draw_lines(model, canvas);
	if (canvas->height_cells - y >= 4) {
		struct canvas part = canvas_part(canvas, 0, y, canvas->width_cells, cells_min(canvas->height_cells - y, 16));

		draw_chart(model, &part);
	}
}

static void small(const struct model *model, struct panel_view *view, const struct canvas *canvas)
{
	(void)view;
	draw_lines(model, canvas);
}

static int count(const struct model *model)
{
	(void)model;
	return LINES;
}

static const struct panel_key keys[] = {
	{ KEYCODE_CTRL('R'), .footer = "^R sync", .help_keys = "^R", .help = "ask the target to flush and sync" },
	{ 0 }
};

const struct panel panel_link = {
	.name = "Link",
	.digit = '8',
	.help = "the way here: rate, lag, losses, books, cost",
	.keys = keys,
	.draw = draw,
	.small = small,
	.count = count,
	.places = { [OVERVIEW_WIDE] = { 3, 3 } },
};
