#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "monitor/model/held.h"
#include "monitor/screen/panels/panel.h"
#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "protocol/histogram.h"
#include "tests/support/golden.h"
#include "widgets/canvas_backing.h"
#include "widgets/key.h"
#include "widgets/text.h"

static const struct help_key some_keys[] = {
	{ "0-9", "panel", true }, { "space", "freeze", true }, { "c", "+ letter: class level", true },
	{ "w", "window", false }, { "^R", "sync, retry", false }, { NULL, NULL, false },
};

#define COUNT(array) ((int)(sizeof (array) / sizeof (array)[0]))
#define SECOND_NS 1000000000ull
#define START_NS (1000 * SECOND_NS)
#define START_REAL_NS (1772447807ull * SECOND_NS)        /* 2026-03-02 10:36:47 UTC */

/* ---- a target, made of single messages ---- */

enum { MEM, SQL, GC, TASK, LOG, NET, CLASS_COUNT };
enum {
	FRAME = 1, NODE, STR, UNTYPED, QUERY, REPLY, DECODE, FLUSH, COMPACT, SIZE, MINOR, MAJOR, CONNS, REQS, BYTES_IN, LINE,
	SEND, SITE_END
};
enum { DECODER = 2, CACHE, IO_0, IO_1, TASK_END };

static uint64_t buckets[SITE_END][HISTOGRAM_BUCKETS], sent[SITE_END][HISTOGRAM_BUCKETS];
static uint64_t task_buckets[TASK_END][HISTOGRAM_BUCKETS];
static uint64_t sums[SITE_END][4], task_sums[TASK_END][SITE_END][4], random_state, emitted[CLASS_COUNT],
	received[CLASS_COUNT];

static double random_share(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

#define APPLY(model, KIND, field, ...) \
	model_apply((model), &(struct message){ .kind = KIND_##KIND, .field = { __VA_ARGS__ } }, 64)

static void tell_hello(struct model *model)
{
	APPLY(model, HELLO, hello, .major = 1, .stream = 7, .pid = 4711, .start_ns = START_NS, .mono_ns = START_NS,
	      .real_ns = START_REAL_NS, .name = text_of("imgsrv"), .host = text_of("web2"), .version = text_of("1.2"),
	      .resolution_ns = 10, .tick_ns = SECOND_NS, .control = 1);
}

static void tell_class(struct model *model, uint64_t id, const char *name, unsigned level)
{
	APPLY(model, CLASS, class, .id = id, .name = text_of(name), .help = text_of("help"), .level = level,
	      .own_level = LEVEL_SUM);
}

static void tell_site(struct model *model, uint64_t id, uint64_t class_id, unsigned kind, unsigned unit, const char *name,
		      unsigned level)
{
	APPLY(model, SITE, site, .id = id, .class_id = class_id, .kind = kind, .unit = unit,
	      .detail = kind == SITE_LOG ? 2 : 0,
	      .name = text_of(name), .file = text_of("src/server.c"), .line = 100 + id, .level = level,
	      .own_level = LEVEL_OWN);
}

static void tell_task(struct model *model, uint64_t id, const char *name)
{
	APPLY(model, TASK, task, .id = id, .name = text_of(name), .thread_id = 4711 + id);
}

static void tell_values(struct model *model, uint64_t tick, uint64_t task, uint64_t site, const uint64_t four[4])
{
	struct number row[5] = { number_of(site), number_of(four[0]), number_of(four[1]), number_of(four[2]),
				 number_of(four[3]) };

	APPLY(model, VALUES, values, .tick = tick, .task = task, .rows = { row, 5 });
}

static void tell_buckets(struct model *model, uint64_t tick, uint64_t task, uint64_t site, const uint64_t *now)
{
	static struct number pairs[HISTOGRAM_BUCKETS * 2];
	uint32_t count = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (task == TASK_ALL && now[i] == sent[site][i])
			continue;
		if (now[i] == 0)
			continue;
		pairs[count++] = number_of(i);
		pairs[count++] = number_of(now[i]);
		if (task == TASK_ALL)
			sent[site][i] = now[i];
	}
	if (count)
		APPLY(model, BUCKETS, buckets, .tick = tick, .task = task, .site = site, .pairs = { pairs, count });
}

static void tell_snapshot(struct model *model, uint64_t tick, uint64_t rss_bytes)
{
	uint64_t now_ns = START_NS + tick * SECOND_NS;

	APPLY(model, SNAPSHOT, snapshot, .tick = tick, .time_ns = now_ns, .real_ns = START_REAL_NS + tick * SECOND_NS,
	      .interval_ns = SECOND_NS, .rss_bytes = rss_bytes, .cpu_ns = tick * 600000000u, .thread_count = 5,
	      .telem_cpu_ns = tick * 14000000u, .telem_bytes = 7549747, .event_cost_ps = 29000, .ring_permille = 780);
}

static void happen(uint64_t site, uint64_t task, double value)
{
	uint64_t number = (uint64_t)value;

	buckets[site][histogram_index(number)]++;
	for (int i = 0; i < 2; i++) {
		uint64_t *four = i ? task_sums[task][site] : sums[site];

		if (four[0] == 0 || number < four[2])
			four[2] = number;
		if (number > four[3])
			four[3] = number;
		four[0]++;
		four[1] += number;
	}
	if (site == QUERY)
		task_buckets[task][histogram_index(number)]++;
}

/* Most values are near the median, some far above it. */
static double spread(double median, double width)
{
	double sum = 0;

	for (int i = 0; i < 6; i++)
		sum += random_share();
	return median * exp((sum - 3) * width);
}

static void allocate(uint64_t site, uint64_t task, uint64_t count, uint64_t bytes, uint64_t free_count, uint64_t free_bytes)
{
	uint64_t add[4] = { count, bytes, free_count, free_bytes };

	for (int i = 0; i < 4; i++) {
		sums[site][i] += add[i];
		task_sums[task][site][i] += add[i];
	}
}

static const uint64_t mib = 1 << 20;

static void second_pass(uint64_t tick)
{
	bool is_slow = tick % 97 > 80;

	for (int i = 0; i < 124; i++)
		happen(QUERY, i % 3 ? IO_0 : IO_1, spread(412e3, is_slow ? 1.1 : 0.6));
	for (int i = 0; i < 30; i++) {
		happen(REPLY, IO_0, spread(3.9e6, 0.5));
		happen(DECODE, DECODER, spread(2.1e6, 0.2));
		happen(SIZE, IO_0, spread(12000, 0.9));
	}
	for (int i = 0; i < 12; i++)
		happen(FLUSH, CACHE, spread(88e3, 0.1));
	for (int i = 0; i < 8; i++)
		happen(MINOR, DECODER, spread(600e3, 0.3));
	if (tick % 10 == 0)
		happen(MAJOR, DECODER, spread(12e6, 0.2));
	allocate(FRAME, DECODER, 2300, 18 * mib, tick > 200 ? 2300 : 2250, tick > 200 ? 18 * mib : 18 * mib - 400000);
	allocate(FRAME, CACHE, 20, mib, 15, mib - 60000);
	allocate(NODE, CACHE, 4100, 2 * mib, 4090, 2 * mib - 6000);
	allocate(STR, IO_0, 140000, 10 * mib, 140000 - (tick % 3), 10 * mib - 120000);
	allocate(UNTYPED, IO_1, 700, mib, 690, mib - 70000);
	sums[CONNS][0]++;
	sums[CONNS][1] = 41 + tick % 5;
	sums[REQS][0] += 124;
	sums[REQS][1] += 1240;
	sums[BYTES_IN][0] += 124;
	sums[BYTES_IN][1] += 2 * mib;
	sums[LINE][0] += 3;
}

/* Tells the model that the session has received so many more bytes and blocks. */
static void carry(struct model *model, uint64_t bytes, uint64_t blocks)
{
	const struct model_link *link = model_link(model);

	model_set_transport(model, &(struct model_transport){ .bytes = link->bytes + bytes, .blocks = link->blocks + blocks,
							      .lag_ns = 12e6 });
}

static void tell_events(struct model *model, uint64_t class_id, uint64_t site, uint64_t count, uint64_t lost)
{
	static struct event events[200];

	for (uint64_t i = 0; i < count - lost; i++)
		events[i] = (struct event){ .value = 1, .dt_ns = 10, .site = (uint32_t)site };
	model_apply(model, &(struct message){ .kind = KIND_BATCH,
					      .batch = { .task = IO_0, .events = { events, (uint32_t)(count - lost) } } },
		    (uint32_t)(13 * (count - lost)));
	carry(model, 13 * (count - lost), 4);
	emitted[class_id] += count;
	received[class_id] += count - lost;
}

static void tell_books(struct model *model, uint64_t tick)
{
	struct number rows[CLASS_COUNT * 4];
	uint32_t count = 0;
	uint64_t taken = 0;

	for (uint64_t i = 0; i < CLASS_COUNT; i++) {
		rows[count++] = number_of(i);
		rows[count++] = number_of(emitted[i]);
		rows[count++] = number_of(emitted[i] - received[i]);
		rows[count++] = number_of(received[i]);
		taken += received[i];
	}
	APPLY(model, BOOKS, books, .tick = tick, .task = TASK_ALL, .rows = { rows, count });
	APPLY(model, SINK, sink, .tick = tick, .taken = taken, .delivered = taken, .queue_bytes = 31744,
	      .queue_bytes_max = 4 * mib, .viewers = 2);
}

static void tell_log(struct model *model, uint64_t time_ns, uint64_t severity, uint64_t task, const char *text)
{
	APPLY(model, LOG, log, .task = task, .site = LINE, .time_ns = time_ns, .severity = severity, .text = text_of(text));
	emitted[LOG]++;
	received[LOG]++;
}

/* What tests add to what the tasks hold: rows of HOLDERS. */
static uint64_t more_held[8][HOLDER_NUMBERS];
static uint32_t more_held_count;

/* Each task holds what it allocated less what it freed, known to a 25th. */
static void tell_holders(struct model *model, uint64_t tick)
{
	struct number numbers[TASK_END * UNTYPED * HOLDER_NUMBERS + sizeof more_held / 8];
	uint32_t count = 0;

	for (uint64_t task = DECODER; task < TASK_END; task++)
		for (uint64_t site = FRAME; site <= UNTYPED; site++) {
			const uint64_t *four = task_sums[task][site];
			const uint64_t row[] = { site, task, 0, four[1] - four[3], four[0] - four[2],
						 (four[1] - four[3]) / 25 };

			for (int i = 0; four[1] > four[3] && i < HOLDER_NUMBERS; i++)
				numbers[count++] = number_of(row[i]);
		}
	for (uint32_t i = 0; i < more_held_count; i++)
		for (int j = 0; j < HOLDER_NUMBERS; j++)
			numbers[count++] = number_of(more_held[i][j]);
	APPLY(model, HOLDERS, holders, .tick = tick, .mean_bytes = 16 << 10, .rows = { numbers, count });
}

static void tell_tick(struct model *model, uint64_t tick)
{
	static const uint64_t timed[] = { QUERY, REPLY, DECODE, FLUSH, SIZE, MINOR, MAJOR };

	second_pass(tick);
	tell_events(model, MEM, FRAME, 150, 0);
	tell_events(model, SQL, QUERY, 124, tick == 240 || tick == 241 ? 100 : 0);
	for (uint64_t task = DECODER; task < TASK_END; task++)
		for (uint64_t site = 1; site < SITE_END; site++)
			if (task_sums[task][site][0])
				tell_values(model, tick, task, site, task_sums[task][site]);
	for (uint64_t site = 1; site < SITE_END; site++)
		if (sums[site][0])
			tell_values(model, tick, TASK_ALL, site, sums[site]);
	for (int i = 0; i < COUNT(timed); i++)
		tell_buckets(model, tick, TASK_ALL, timed[i], buckets[timed[i]]);
	for (uint64_t task = IO_0; task < TASK_END; task++)
		tell_buckets(model, tick, task, QUERY, task_buckets[task]);
	if (tick == 318)
		tell_log(model, START_NS + tick * SECOND_NS - 87000000, 2, CACHE, "evicted 4096 nodes in 18.2 ms");
	if (tick >= 316)
		tell_log(model, START_NS + tick * SECOND_NS - 10000000, 1, IO_0, "accept peer 10.0.0.7:5512");
	tell_holders(model, tick);
	tell_books(model, tick);
	tell_snapshot(model, tick, 360 * mib);
	carry(model, 0, 0);
}

static void tell_definitions(struct model *model)
{
	static const char *const classes[CLASS_COUNT] = { "mem", "sql", "gc", "task", "log", "net" };

	for (uint64_t i = 0; i < CLASS_COUNT; i++)
		tell_class(model, i, classes[i], i == SQL || i == MEM ? LEVEL_ALL : i == NET ? LEVEL_OFF : LEVEL_SUM);
	tell_site(model, FRAME, MEM, SITE_ALLOC, UNIT_SIZE, "Frame", LEVEL_ALL);
	tell_site(model, NODE, MEM, SITE_ALLOC, UNIT_SIZE, "Node", LEVEL_ALL);
	tell_site(model, STR, MEM, SITE_ALLOC, UNIT_SIZE, "str", LEVEL_ALL);
	tell_site(model, UNTYPED, MEM, SITE_ALLOC, UNIT_SIZE, "(untyped)", LEVEL_ALL);
	tell_site(model, QUERY, SQL, SITE_SPAN, UNIT_TIME, "sql.query", LEVEL_ALL);
	tell_site(model, REPLY, SQL, SITE_LATENCY, UNIT_TIME, "accept→reply", LEVEL_ALL);
	tell_site(model, DECODE, TASK, SITE_SPAN, UNIT_TIME, "decode", LEVEL_SUM);
	tell_site(model, FLUSH, TASK, SITE_SPAN, UNIT_TIME, "flush", LEVEL_SUM);
	tell_site(model, COMPACT, TASK, SITE_SPAN, UNIT_TIME, "compact", LEVEL_SUM);
	tell_site(model, SIZE, SQL, SITE_VALUE, UNIT_SIZE, "reply size", LEVEL_ALL);
	tell_site(model, MINOR, GC, SITE_SPAN, UNIT_TIME, "minor", LEVEL_SUM);
	tell_site(model, MAJOR, GC, SITE_SPAN, UNIT_TIME, "major", LEVEL_SUM);
	tell_site(model, CONNS, TASK, SITE_GAUGE, UNIT_PLAIN, "conns", LEVEL_SUM);
	tell_site(model, REQS, TASK, SITE_COUNTER, UNIT_PLAIN, "reqs", LEVEL_SUM);
	tell_site(model, BYTES_IN, TASK, SITE_COUNTER, UNIT_SIZE, "bytes in", LEVEL_SUM);
	tell_site(model, LINE, LOG, SITE_LOG, UNIT_PLAIN, "log", LEVEL_SUM);
	tell_site(model, SEND, NET, SITE_SPAN, UNIT_TIME, "net.send", LEVEL_OFF);
	tell_task(model, DECODER, "decoder");
	tell_task(model, CACHE, "cache");
	tell_task(model, IO_0, "io-0");
	tell_task(model, IO_1, "io-1");
}

static void forget(void)
{
	memset(buckets, 0, sizeof buckets);
	memset(sent, 0, sizeof sent);
	memset(task_buckets, 0, sizeof task_buckets);
	memset(sums, 0, sizeof sums);
	memset(task_sums, 0, sizeof task_sums);
	memset(emitted, 0, sizeof emitted);
	memset(received, 0, sizeof received);
	random_state = 42;
}

/* ---- the same, with a loop and its frames ---- */

enum { CLASS_FRAME = CLASS_COUNT };
enum { LOOP = 100, AUDIO, IDLE };
#define BUDGET_NS 16700000u

static uint64_t loop_buckets[2][HISTOGRAM_BUCKETS], loop_sums[2][4], loop_count[2];

static void tell_frame(struct model *model, uint64_t site, uint64_t time_ns, uint64_t duration_ns)
{
	bool is_audio = site == AUDIO, is_slow = !is_audio && duration_ns > BUDGET_NS,
		is_loud = loop_count[0] % 50 == 7 && !is_audio;
	uint64_t number = ++loop_count[is_audio], *four = loop_sums[is_audio];
	struct number figures[] = {
		number_of(0), number_of(is_audio ? 0 : 2), number_of(is_loud ? 1234 : 0), number_of(0), number_of(0),
		number_of(REQS), number_of(12), number_of(BYTES_IN), number_of(1229),
	};

	loop_buckets[is_audio][histogram_index(duration_ns)]++;
	four[2] = four[0] == 0 || duration_ns < four[2] ? duration_ns : four[2];
	four[3] = duration_ns > four[3] ? duration_ns : four[3];
	four[0]++;
	four[1] += duration_ns;
	/* Every 500th frame is not sent. */
	if (is_audio && number % 500 == 0)
		return;
	APPLY(model, FRAME, frame, .task = IO_0, .site = site, .number = number, .time_ns = time_ns,
	      .duration_ns = duration_ns,
	      .heap_bytes = 120 * (int64_t)mib + (int64_t)number * 1000,
	      .heap_peak = 121 * (int64_t)mib + (int64_t)number * 1000,
	      .allocations = is_audio ? 0 : 41, .broken = (is_slow ? BROKE_TIME : 0) | (is_loud ? BROKE_LOGS : 0),
	      .budget_ns = is_audio ? 0 : BUDGET_NS, .figures = { figures, is_audio ? SEVERITY_COUNT : COUNT(figures) });
}

static void tell_loops(struct model *model)
{
	tell_hello(model);
	tell_definitions(model);
	tell_class(model, CLASS_FRAME, "frame", LEVEL_SUM);
	for (uint64_t site = LOOP; site <= IDLE; site++)
		APPLY(model, SITE, site, .id = site, .class_id = CLASS_FRAME, .kind = SITE_SPAN, .unit = UNIT_TIME,
		      .detail = SPAN_IS_FRAME,
		      .name = text_of(site == LOOP ? "main loop" : site == AUDIO ? "audio" : "idle screen"),
		      .level = LEVEL_SUM, .own_level = LEVEL_OWN);
	tell_snapshot(model, 0, 100 * mib);
	for (uint64_t tick = 1; tick <= 90; tick++) {
		for (uint64_t i = 1; i <= 60; i++)
			tell_frame(model, LOOP, START_NS + (tick - 1) * SECOND_NS + i * 16600000,
				   (uint64_t)spread(11e6, 0.35));
		for (uint64_t i = 1; i <= 100; i++)
			tell_frame(model, AUDIO, START_NS + (tick - 1) * SECOND_NS + i * 10000000,
				   (uint64_t)spread(2e6, 0.1));
		for (uint64_t i = 0; i < 2; i++) {
			struct number pairs[HISTOGRAM_BUCKETS * 2];
			uint32_t count = 0;

			tell_values(model, tick, TASK_ALL, LOOP + i, loop_sums[i]);
			for (uint32_t at = 0; at < HISTOGRAM_BUCKETS; at++)
				if (loop_buckets[i][at]) {
					pairs[count++] = number_of(at);
					pairs[count++] = number_of(loop_buckets[i][at]);
				}
			APPLY(model, BUCKETS, buckets, .tick = tick, .site = LOOP + i, .pairs = { pairs, count });
		}
		tell_snapshot(model, tick, 100 * mib);
	}
}

static struct model *busy, *empty, *quiet;       /* 320 seconds of work; nothing; declared only */
static struct model *looping;                    /* 90 seconds of frames */
static struct panel_view view;
static struct panel_request requests[LIMIT_CLASSES];
static const char letters[LIMIT_CLASSES] = "mqgtlef";

static int group_setup(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	forget();
	empty = model_new();
	quiet = model_new();
	busy = model_new();
	looping = model_new();
	tell_hello(quiet);
	tell_definitions(quiet);
	tell_snapshot(quiet, 1, 100 * mib);
	tell_snapshot(quiet, 2, 100 * mib);
	tell_hello(busy);
	tell_definitions(busy);
	for (uint64_t tick = 1; tick <= 320; tick++) {
		tell_tick(busy, tick);
		if (tick == 133)
			model_set_mark(busy);
	}
	tell_loops(looping);
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	model_free(empty);
	model_free(quiet);
	model_free(busy);
	model_free(looping);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	panel_view_init(&view);
	memset(requests, 0, sizeof requests);
	view.requests = requests;
	view.class_keys = letters;
	view.may_control = true;
	view.now_ns = 5000 * SECOND_NS;
	return 0;
}

/* ---- looking ---- */

static struct canvas_backing *backing;

static char *drawn(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	canvas_text_write(backing, out);
	fclose(out);
	canvas_backing_free(backing);
	return text;
}

static char *picture(const struct panel *panel, const struct model *model, int width, int height, enum glyphs glyphs)
{
	struct canvas canvas;

	backing = canvas_text_new(width, height, glyphs);
	assert_non_null(backing);
	canvas = canvas_of(backing);
	panel->draw(model, &view, &canvas);
	return drawn();
}

static void check_picture(const struct panel *panel, const struct model *model, int width, int height, const char *name)
{
	char *text = picture(panel, model, width, height, GLYPHS_BLOCKS);

	golden_check(name, text);
	free(text);
}

static void check_text(char *text, const char *wanted, bool is_there)
{
	if ((strstr(text, wanted) != NULL) != is_there)
		fail_msg("\"%s\" is %s in:\n%s", wanted, is_there ? "not" : "wrongly", text);
}

static void check_shows(const struct panel *panel, const struct model *model, int width, int height, const char *wanted)
{
	char *text = picture(panel, model, width, height, GLYPHS_BLOCKS);

	check_text(text, wanted, true);
	free(text);
}

static void check_shows_not(const struct panel *panel, const struct model *model, int width, int height,
			    const char *unwanted)
{
	char *text = picture(panel, model, width, height, GLYPHS_BLOCKS);

	check_text(text, unwanted, false);
	free(text);
}

/* Returns the text of the row in which the cursor is. */
static char *cursor_row(const struct panel *panel, const struct model *model)
{
	static char row[1024];
	char *text = picture(panel, model, 80, 20, GLYPHS_BLOCKS), *at = text;

	assert_true(view.cursor_y >= 0);
	for (int y = 0; y < view.cursor_y; y++)
		at = strchr(at, '\n') + 1;
	snprintf(row, sizeof row, "%.*s", (int)strcspn(at, "\n"), at);
	free(text);
	return row;
}

static bool press(const struct panel *panel, const struct model *model, int key)
{
	return panel_press(panel, model, &view, key);
}

/* ---- the pictures ---- */

static void overview_at_80(void **state)
{
	(void)state;
	check_picture(&panel_overview, busy, 80, 20, "panel_overview_80x20");
}

static void overview_at_120(void **state)
{
	(void)state;
	check_picture(&panel_overview, busy, 120, 36, "panel_overview_120x36");
}

static void overview_at_200(void **state)
{
	(void)state;
	check_picture(&panel_overview, busy, 200, 46, "panel_overview_200x46");
}

static void overview_small(void **state)
{
	(void)state;
	check_picture(&panel_overview, busy, 38, 8, "panel_overview_38x8");
	check_picture(&panel_overview, busy, 60, 10, "panel_overview_60x10");
	check_picture(&panel_overview, busy, 80, 50, "panel_overview_80x50");
}

static void memory_by_task(void **state)
{
	(void)state;
	check_picture(&panel_memory, busy, 80, 20, "panel_memory_task_80x20");
}

static void memory_by_type(void **state)
{
	(void)state;
	view.tab = 1;
	press(&panel_memory, busy, KEYCODE_DOWN);
	check_picture(&panel_memory, busy, 80, 20, "panel_memory_type_80x20");
	check_picture(&panel_memory, busy, 120, 36, "panel_memory_type_120x36");
}

static void memory_matrix(void **state)
{
	(void)state;
	view.tab = 2;
	check_picture(&panel_memory, busy, 80, 20, "panel_memory_matrix_80x20");
}

static void latency_list_pictures(void **state)
{
	(void)state;
	press(&panel_latency, busy, KEYCODE_DOWN);
	check_picture(&panel_latency, busy, 80, 20, "panel_latency_80x20");
	check_picture(&panel_latency, busy, 120, 36, "panel_latency_120x36");
}

static void latency_opened(void **state)
{
	(void)state;
	snprintf(view.filter, sizeof view.filter, "query");
	assert_true(press(&panel_latency, busy, KEYCODE_ENTER));
	assert_true(view.is_open);
	check_picture(&panel_latency, busy, 120, 36, "panel_latency_open_120x36");
	check_picture(&panel_latency, busy, 80, 20, "panel_latency_open_80x20");
}

static void classes_pictures(void **state)
{
	(void)state;
	requests[GC] = (struct panel_request){ .is_waiting = true, .level = LEVEL_ALL, .sent_ns = view.now_ns - 400000000 };
	requests[TASK] = (struct panel_request){ .is_waiting = true, .level = LEVEL_ALL,
						 .sent_ns = view.now_ns - 3 * SECOND_NS };
	snprintf(requests[LOG].answer, sizeof requests[LOG].answer, "not allowed");
	for (int i = 0; i < 3; i++)
		press(&panel_classes, busy, KEYCODE_DOWN);
	check_picture(&panel_classes, busy, 80, 20, "panel_classes_80x20");
	memset(requests, 0, sizeof requests);
	view.cursor = 0;
	press(&panel_classes, busy, KEYCODE_UP);
	press(&panel_classes, busy, KEYCODE_DOWN);
	press(&panel_classes, busy, KEYCODE_ENTER);
	assert_true(view.is_open);
	check_picture(&panel_classes, busy, 80, 20, "panel_classes_sites_80x20");
}

static void link_picture(void **state)
{
	(void)state;
	check_picture(&panel_link, busy, 80, 20, "panel_link_80x20");
}

static void frames_pictures(void **state)
{
	(void)state;
	check_picture(&panel_frames, looping, 120, 36, "panel_frames_120x36");
	press(&panel_frames, looping, KEYCODE_DOWN);
	press(&panel_frames, looping, KEYCODE_DOWN);
	check_picture(&panel_frames, looping, 80, 20, "panel_frames_80x20");
}

/* Tags of blocks of code, and how long some allocations lived. */
static struct model *tagged(void)
{
	struct model *model = model_copy(busy);
	struct number pairs[] = { number_of(histogram_index(12100000)), number_of(1000) };
	uint64_t parse[4] = { 5000, 40 * mib, 4990, 36 * mib }, render[4] = { 100000, 900 * mib, 100000, 900 * mib };
	uint64_t four[4] = { 1000, 1000 * 12100000ull, 12100000, 12100000 };
	static const uint64_t held[][HOLDER_NUMBERS] = {
		{ FRAME, IO_0, 0, 5 * mib, 5, mib / 5 }, { FRAME, IO_1, 0, 3 * mib, 3, mib / 8 },
		{ NODE, CACHE, 100, 4 * mib, 10, mib / 4 },
	};

	tell_site(model, 100, MEM, SITE_TAG, UNIT_SIZE, "parse", LEVEL_SUM);
	tell_site(model, 101, MEM, SITE_TAG, UNIT_SIZE, "render", LEVEL_SUM);
	tell_site(model, 102, MEM, SITE_TAG, UNIT_SIZE, "never", LEVEL_SUM);
	APPLY(model, SITE, site, .id = 103, .class_id = MEM, .kind = SITE_LATENCY, .unit = UNIT_TIME,
	      .detail = LATENCY_IS_LIFETIME, .name = text_of("Frame lifetime"), .level = LEVEL_SUM,
	      .own_level = LEVEL_OWN);
	tell_tick(model, 321);
	tell_values(model, 322, TASK_ALL, 100, parse);
	tell_values(model, 322, TASK_ALL, 101, render);
	tell_values(model, 322, TASK_ALL, 103, four);
	memcpy(more_held, held, sizeof held);
	more_held_count = sizeof held / sizeof *held;
	APPLY(model, BUCKETS, buckets, .tick = 322, .site = 103, .pairs = { pairs, 2 });
	tell_tick(model, 322);
	more_held_count = 0;
	return model;
}

static void memory_by_tag(void **state)
{
	struct model *model = tagged();

	(void)state;
	view.tab = 3;
	check_picture(&panel_memory, model, 80, 20, "panel_memory_tag_80x20");
	check_shows(&panel_memory, model, 120, 36, "900 MiB  900 MiB");
	check_shows(&panel_memory, quiet, 80, 20, "The target declares no tag.");
	snprintf(view.filter, sizeof view.filter, "sqx");
	check_shows(&panel_memory, model, 80, 20, "0 of 3 tags match \"sqx\".");
	model_free(model);
}

static void help_pictures(void **state)
{
	static const struct { const char *name; bool all; int width, height; } pages[] = {
		{ "panel_help_80x20", false, 80, 20 }, { "panel_help_all_80x20", true, 80, 20 },
	};

	(void)state;
	for (int i = 0; i < COUNT(pages); i++) {
		struct canvas canvas;
		char *text;

		backing = canvas_text_new(pages[i].width, pages[i].height, GLYPHS_BLOCKS);
		canvas = canvas_of(backing);
		help_draw(&panel_latency, some_keys, pages[i].all, &canvas);
		text = drawn();
		golden_check(pages[i].name, text);
		free(text);
	}
}

static void ascii_has_nothing_but_ascii(void **state)
{
	(void)state;
	for (int i = 0; panels[i]; i++) {
		char *text = picture(panels[i], panels[i] == &panel_frames ? looping : busy, 120, 36, GLYPHS_ASCII);

		for (char *at = text; *at; at++)
			assert_true(*at == '\n' || (*at >= ' ' && *at < 0x7F));
		free(text);
	}
}

/* ---- any size ---- */

static void sizes_with(const struct model *model)
{
	for (int i = 0; panels[i]; i++)
		for (int width = 0; width <= 50; width++)
			for (int height = 0; height <= 30; height++)
				free(picture(panels[i], model, width, height,
					     (width + height) % 2 ? GLYPHS_BLOCKS : GLYPHS_ASCII));
}

static void every_size_can_be_drawn(void **state)
{
	static const int sizes[][2] = { { 59, 8 }, { 60, 7 }, { 99, 3 }, { 100, 5 }, { 159, 20 }, { 160, 9 }, { 300, 80 },
					{ 500, 2 }, { 1, 1 }, { 70, 12 } };

	(void)state;
	sizes_with(busy);
	sizes_with(empty);
	for (int i = 0; panels[i]; i++)
		for (int j = 0; j < COUNT(sizes); j++) {
			free(picture(panels[i], busy, sizes[j][0], sizes[j][1], GLYPHS_BLOCKS));
			free(picture(panels[i], quiet, sizes[j][0], sizes[j][1], GLYPHS_BLOCKS));
			free(picture(panels[i], looping, sizes[j][0], sizes[j][1], GLYPHS_BLOCKS));
		}
}

static void every_size_of_what_is_opened(void **state)
{
	(void)state;
	for (int width = 0; width <= 90; width++)
		for (int height = 0; height <= 30; height++) {
			struct canvas canvas;

			view.is_open = true;
			view.open_id = QUERY;
			free(picture(&panel_latency, busy, width, height, GLYPHS_BLOCKS));
			view.tab = height % 4;
			view.cursor = 0;
			free(picture(&panel_frames, looping, width, height, GLYPHS_BLOCKS));
			free(picture(&panel_memory, busy, width, height, GLYPHS_BLOCKS));
			view.open_id = SQL;
			free(picture(&panel_classes, busy, width, height, GLYPHS_BLOCKS));
			backing = canvas_text_new(width, height, GLYPHS_BLOCKS);
			canvas = canvas_of(backing);
			help_draw(&panel_classes, some_keys, width % 2, &canvas);
			free(drawn());
		}
}

static void rows_that_do_not_fit_are_told_of(void **state)
{
	(void)state;
	check_shows(&panel_overview, busy, 80, 8, "+ ");
	check_shows(&panel_overview, busy, 80, 8, "hidden");
	check_shows(&panel_latency, busy, 80, 6, "not shown");
	check_shows_not(&panel_overview, busy, 80, 20, "hidden");
}

/* ---- why there is nothing ---- */

static void nothing_has_a_reason(void **state)
{
	(void)state;
	view.nothing = "Connecting to /run/user/1000/telem/4711.sock … (2 s)";
	for (int i = 0; panels[i]; i++) {
		check_shows(panels[i], empty, 80, 20, "Connecting to /run/user/1000");
		/* In a narrow panel the text is broken into several rows. */
		check_shows(panels[i], empty, 30, 8, "Connecting to");
	}
	view.nothing = "bad \033[31m text";
	for (int i = 0; panels[i]; i++)
		check_shows_not(panels[i], empty, 80, 20, "\033");
}

static void nothing_declared_says_so(void **state)
{
	(void)state;
	check_shows(&panel_latency, empty, 80, 20, "The target declares no span.");
	check_shows(&panel_memory, empty, 80, 20, "The target declares no allocation type.");
	check_shows(&panel_memory, empty, 80, 20, "resident memory");
	check_shows(&panel_classes, empty, 80, 20, "The target declares no class.");
	check_shows(&panel_frames, empty, 80, 20, "The target declares no frame.");
	check_shows(&panel_frames, empty, 80, 20, "telem_frame(");
}

static void declared_but_never_entered_is_listed(void **state)
{
	(void)state;
	check_shows(&panel_latency, quiet, 80, 20, "8 spans declared, none entered since 10:36:47.");
	check_shows(&panel_latency, quiet, 80, 20, "compact");
	check_shows(&panel_memory, quiet, 80, 20, "4 allocation types declared, none used since");
	view.tab = 1;
	check_shows(&panel_memory, quiet, 80, 20, "Node");
	check_shows(&panel_memory, quiet, 80, 20, "100 MiB");        /* resident memory: none is typed */
}

static void classes_that_are_off_are_named_with_their_key(void **state)
{
	struct model *model = model_new();

	(void)state;
	tell_hello(model);
	tell_class(model, SQL, "sql", LEVEL_OFF);
	tell_class(model, MEM, "mem", LEVEL_SUM);
	tell_site(model, QUERY, SQL, SITE_SPAN, UNIT_TIME, "sql.query", LEVEL_OFF);
	check_shows(&panel_latency, model, 80, 20, "Spans are in class sql, which is off. Press c then q.");
	tell_class(model, NET, "net", LEVEL_OFF);
	tell_site(model, SEND, NET, SITE_SPAN, UNIT_TIME, "net.send", LEVEL_OFF);
	check_shows(&panel_latency, model, 80, 20,
		    "Spans are in classes sql and net, both off. Press c then q, or c then e.");
	view.may_control = false;
	check_shows(&panel_latency, model, 80, 20, "both off. Levels cannot be set on this");
	view.may_control = true;
	tell_class(model, MEM, "mem", LEVEL_OFF);
	check_shows(&panel_latency, model, 80, 20, "All event classes are off. Press c then s for sums");
	model_free(model);
}

static void a_gauge_that_is_off_has_no_value(void **state)
{
	struct model *model = model_new();

	(void)state;
	tell_hello(model);
	tell_class(model, NET, "net", LEVEL_SUM);
	tell_site(model, SEND, NET, SITE_GAUGE, UNIT_SIZE, "held", LEVEL_OFF);
	tell_snapshot(model, 1, 10 * mib);
	check_shows(&panel_overview, model, 120, 36, " off\n");
	tell_site(model, SEND, NET, SITE_GAUGE, UNIT_SIZE, "held", LEVEL_SUM);
	check_shows_not(&panel_overview, model, 120, 36, " off\n");
	/* What is off leaves its place to what is on. */
	tell_site(model, SEND, NET, SITE_GAUGE, UNIT_SIZE, "held", LEVEL_OFF);
	for (uint64_t i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof name, "gauge %d", (int)i);
		tell_site(model, 900 + i, NET, SITE_GAUGE, UNIT_SIZE, name, LEVEL_SUM);
	}
	check_shows_not(&panel_overview, model, 120, 36, " off\n");
	model_free(model);
}

/* A reporter that is dear is asked seldom; the figure of a gauge that the program sets stands until it sets another. */
static void an_old_value_of_a_reporter_has_its_age(void **state)
{
	struct model *model = model_new();
	uint64_t four[4] = { 1, 20 * mib, 0, 0 };

	(void)state;
	tell_hello(model);
	tell_class(model, NET, "report", LEVEL_SUM);
	tell_class(model, TASK, "net", LEVEL_SUM);
	tell_site(model, SEND, NET, SITE_GAUGE, UNIT_SIZE, "process/pss", LEVEL_SUM);
	tell_site(model, CONNS, TASK, SITE_GAUGE, UNIT_PLAIN, "conns", LEVEL_SUM);
	tell_snapshot(model, 1, mib);
	/* However many sites a stream gives that name, one is shown. */
	for (uint64_t i = 0; i < 40; i++)
		tell_site(model, 900 + i, NET, SITE_GAUGE, UNIT_SIZE, "process/rss", LEVEL_SUM);
	check_shows(&panel_memory, model, 120, 36, "process: resident –  proportional –");
	for (uint64_t i = 0; i < 40; i++)
		tell_site(model, 900 + i, NET, SITE_GAUGE, UNIT_SIZE, "others", LEVEL_SUM);
	/* It has no value yet, which is not 0. */
	check_shows(&panel_memory, model, 120, 36, "process: proportional –");
	tell_values(model, 2, TASK_ALL, SEND, four);
	tell_values(model, 2, TASK_ALL, CONNS, four);
	tell_snapshot(model, 2, mib);
	tell_snapshot(model, 4, mib);
	check_shows(&panel_memory, model, 120, 36, "process: proportional 20.0 MiB\n");
	tell_snapshot(model, 5, mib);
	check_shows(&panel_memory, model, 120, 36, "process: proportional 20.0 MiB (3s)\n");
	check_shows(&panel_overview, model, 200, 46, "20.0 MiB (3s)");
	check_shows_not(&panel_overview, model, 200, 46, "M (3s)");
	/* The same value again is a new one. */
	four[0] = 2;
	tell_values(model, 6, TASK_ALL, SEND, four);
	tell_snapshot(model, 6, mib);
	check_shows(&panel_memory, model, 120, 36, "process: proportional 20.0 MiB\n");
	model_free(model);
}

static void a_level_says_who_set_it(void **state)
{
	struct model *model = model_new();

	(void)state;
	tell_class(model, 1, "sql", LEVEL_ALL);
	view.own_name = "telemtop 77";
	APPLY(model, LEVEL, level, .class_id = 1, .level = LEVEL_ALL, .leases = 1, .by = text_of("telemtop 77"));
	tell_snapshot(model, 1, mib);
	check_shows(&panel_classes, model, 80, 20, "you");
	APPLY(model, LEVEL, level, .class_id = 1, .level = LEVEL_ALL, .leases = 2, .by = text_of("telemtop 77"));
	check_shows(&panel_classes, model, 80, 20, "you, 1 other");
	APPLY(model, LEVEL, level, .class_id = 1, .level = LEVEL_ALL, .leases = 3, .by = text_of("telemtop 8"));
	check_shows(&panel_classes, model, 120, 20, "telemtop 8, 2 others");
	model_free(model);
}

static void a_filter_that_hides_all_says_so(void **state)
{
	(void)state;
	snprintf(view.filter, sizeof view.filter, "sqx");
	check_shows(&panel_latency, busy, 80, 20, "0 of 8 spans match \"sqx\". Esc clears the filter.");
	check_shows(&panel_classes, busy, 80, 20, "0 of 6 classes match \"sqx\".");
	assert_true(press(&panel_latency, busy, KEYCODE_ESCAPE));
	assert_string_equal(view.filter, "");
	assert_false(press(&panel_latency, busy, KEYCODE_ESCAPE));
}

/* ---- figures ---- */

static void a_filter_that_is_no_expression_says_so(void **state)
{
	(void)state;
	snprintf(view.filter, sizeof view.filter, "/[/");
	check_shows(&panel_latency, busy, 80, 20, "filter /[/: no regular expression");
	snprintf(view.filter, sizeof view.filter, "/f[lx]/");
	check_shows(&panel_latency, busy, 80, 20, "filter /f[lx]/: 1 of 8");
}

static void no_data_is_a_dash_and_zero_is_zero(void **state)
{
	(void)state;
	snprintf(view.filter, sizeof view.filter, "compact");
	check_shows(&panel_latency, busy, 80, 20, "compact");
	check_shows(&panel_latency, busy, 80, 20, "0 /s       –       –       –       –");
}

static void sizes_and_lifetimes_are_no_latencies(void **state)
{
	struct model *model = model_copy(busy);

	(void)state;
	APPLY(model, SITE, site, .id = 103, .class_id = MEM, .kind = SITE_LATENCY, .unit = UNIT_TIME,
	      .detail = LATENCY_IS_LIFETIME, .name = text_of("Frame lifetime"), .level = LEVEL_SUM,
	      .own_level = LEVEL_OWN);
	check_shows(&panel_latency, model, 80, 20, "[latency] value  lifetime");
	check_shows(&panel_latency, model, 80, 20, "flush");
	check_shows_not(&panel_latency, model, 80, 20, "reply size");
	check_shows_not(&panel_latency, model, 80, 20, "Frame lifetime");
	assert_true(panel_press(&panel_latency, model, &view, 'v'));
	check_shows(&panel_latency, model, 80, 20, " latency [value] lifetime");
	check_shows(&panel_latency, model, 80, 20, "reply size      30.0 /s 11.4 KiB");
	check_shows_not(&panel_latency, model, 80, 20, "flush");
	assert_true(panel_press(&panel_latency, model, &view, 'v'));
	check_shows(&panel_latency, model, 80, 20, "Frame lifetime");
	check_shows_not(&panel_latency, model, 80, 20, "reply size");
	model_free(model);
}

static void estimates_have_a_tilde(void **state)
{
	struct model *model = model_new();
	uint64_t four[4] = { 10, 4 * mib, 5, mib };

	(void)state;
	tell_hello(model);
	APPLY(model, CLASS, class, .id = MEM, .name = text_of("mem"), .level = LEVEL_SUM, .own_level = LEVEL_SUM);
	APPLY(model, SITE, site, .id = FRAME, .class_id = MEM, .kind = SITE_ALLOC, .unit = UNIT_SIZE,
	      .name = text_of("Frame"), .level = LEVEL_SUM, .own_level = LEVEL_OWN, .was_off = 1);
	tell_values(model, 1, TASK_ALL, FRAME, four);
	tell_snapshot(model, 1, 10 * mib);
	view.tab = 1;
	check_shows(&panel_memory, model, 80, 20, "~3.00 MiB");
	model_free(model);
}

/* A program with many tasks sends their figures without histograms. */
static void percentiles_of_a_task_are_a_dash_once_its_histogram_is_old(void **state)
{
	struct model *model = model_new();
	uint64_t told[HISTOGRAM_BUCKETS] = { 0 }, four[4] = { 100, 100 * 5000, 5000, 5000 };
	char *text;

	(void)state;
	told[histogram_index(5000)] = 100;
	tell_hello(model);
	tell_definitions(model);
	tell_values(model, 1, TASK_ALL, QUERY, four);
	tell_values(model, 1, IO_0, QUERY, four);
	tell_buckets(model, 1, IO_0, QUERY, told);
	tell_snapshot(model, 1, mib);
	view.is_open = true;
	view.open_id = QUERY;
	check_shows(&panel_latency, model, 120, 36, "   100  5.00 µs  5.00 µs  5.00 µs");
	/* The buckets do not have the latest values yet. */
	four[0] = 102;
	tell_values(model, 2, IO_0, QUERY, four);
	tell_snapshot(model, 2, mib);
	check_shows(&panel_latency, model, 120, 36, "   102  5.00 µs  5.00 µs  5.00 µs");
	/* In the middle of a tick the buckets have not arrived yet. No dash is shown for that moment. */
	four[0] = 200;
	tell_values(model, 3, IO_0, QUERY, four);
	check_shows(&panel_latency, model, 120, 36, "   200  5.00 µs  5.00 µs  5.00 µs");
	tell_snapshot(model, 3, mib);
	check_shows(&panel_latency, model, 120, 36, "   200        –        –  5.00 µs");
	text = picture(&panel_latency, model, 120, 36, GLYPHS_ASCII);
	check_text(text, "   200        -        -  5.00 us", true);
	free(text);
	/* With fewer tasks the histogram is sent again. */
	told[histogram_index(5000)] = 200;
	tell_buckets(model, 4, IO_0, QUERY, told);
	tell_snapshot(model, 4, mib);
	check_shows(&panel_latency, model, 120, 36, "   200  5.00 µs  5.00 µs  5.00 µs");
	model_free(model);
}

static void books_that_do_not_balance_say_by_how_much(void **state)
{
	struct model *model = model_new();
	struct number rows[4] = { number_of(SQL), number_of(100), number_of(10), number_of(95) };

	(void)state;
	tell_hello(model);
	tell_class(model, SQL, "sql", LEVEL_ALL);
	check_shows(&panel_link, model, 80, 20, "none sent yet");
	APPLY(model, BOOKS, books, .tick = 1, .task = TASK_ALL, .rows = { rows, 4 });
	check_shows(&panel_link, model, 100, 20, "NOT balanced, by 5 events");
	check_shows(&panel_link, busy, 100, 20, "   balanced");
	model_free(model);
}

/* ---- frames ---- */

static void frames_have_their_span_before_one_is_told(void **state)
{
	struct model *model = model_copy(quiet);

	(void)state;
	snprintf(view.filter, sizeof view.filter, "idle");
	check_shows(&panel_frames, looping, 120, 20,
		    "0 /s        –        –        –       –     –        –        –      –     –");
	check_shows(&panel_frames, looping, 120, 20, "No single frame was sent yet");
	view.filter[0] = '\0';
	tell_class(model, CLASS_FRAME, "frame", LEVEL_OFF);
	APPLY(model, SITE, site, .id = LOOP, .class_id = CLASS_FRAME, .kind = SITE_SPAN, .detail = SPAN_IS_FRAME,
	      .name = text_of("main loop"), .level = LEVEL_OFF, .own_level = LEVEL_OWN);
	check_shows(&panel_frames, model, 80, 20, "Frames are in class frame, which is off. Press c then f.");
	check_shows(&panel_frames, model, 80, 20, "main loop");
	model_free(model);
}

static void budgets_that_break_are_marked_while_the_window_lasts(void **state)
{
	struct model *model = model_copy(looping);

	(void)state;
	check_shows(&panel_frames, model, 80, 20, " ! main loop");
	check_shows_not(&panel_frames, model, 80, 20, " ! audio");
	/* The panels neither show old frames as new ones nor forget them. */
	tell_snapshot(model, 200, 100 * mib);
	check_shows_not(&panel_frames, model, 80, 20, " ! ");
	snprintf(view.filter, sizeof view.filter, "main");
	check_shows(&panel_frames, model, 120, 20, "of 5,400 frames: time ");
	model_set_window(model, 0);
	check_shows(&panel_frames, model, 80, 20, " ! main loop");
	model_free(model);
}

static void frames_that_were_not_told_are_counted(void **state)
{
	(void)state;
	snprintf(view.filter, sizeof view.filter, "audio");
	check_shows(&panel_frames, looping, 80, 20, "8,982 seen, 17 not sent");
	check_shows(&panel_frames, looping, 80, 20, "broken by none of 8,982 frames");
	check_shows_not(&panel_frames, looping, 80, 20, "─ budget ");
	/* A narrow panel shows only this count. */
	check_shows(&panel_frames, looping, 30, 20, " 17 not sent ─");
	view.filter[0] = '\0';
	snprintf(view.filter, sizeof view.filter, "main");
	check_shows_not(&panel_frames, looping, 80, 20, "not sent");
}

/* Frames of 10 µs under a budget of 16.7 ms would be a line at the bottom. */
static void frames_far_below_their_budget_have_a_logarithmic_axis(void **state)
{
	struct model *model = model_copy(looping);

	(void)state;
	check_shows_not(&panel_frames, model, 80, 30, "log axis");
	for (uint64_t i = 0; i < MODEL_FRAMES; i++)
		tell_frame(model, LOOP, model_time_ns(model) + i, 10000 + i * 10);
	check_shows(&panel_frames, model, 80, 30, "budget 16.7 ms ─ log axis");
	check_shows(&panel_frames, model, 80, 30, "\n 10.0 µs ▁");
	tell_frame(model, LOOP, model_time_ns(model) + MODEL_FRAMES, 5000000);
	check_shows_not(&panel_frames, model, 80, 30, "log axis");
	model_free(model);
}

static void a_frame_opens_its_span_in_latency(void **state)
{
	(void)state;
	assert_true(press(&panel_frames, looping, KEYCODE_ENTER));
	assert_ptr_equal(view.go, &panel_latency);
	assert_int_equal(view.go_id, LOOP);
	press(&panel_frames, looping, KEYCODE_DOWN);
	press(&panel_frames, looping, KEYCODE_DOWN);
	press(&panel_frames, looping, KEYCODE_ENTER);
	assert_int_equal(view.go_id, AUDIO);
	press(&panel_frames, looping, 'x');
	assert_true(view.wish.is_set);
	assert_int_equal(view.wish.site, AUDIO);
	assert_int_equal(view.wish.level, LEVEL_ALL);
	view.go = NULL;
	assert_true(press(&panel_frames, empty, KEYCODE_ENTER));
	assert_null(view.go);
}

static void the_chosen_frame_is_the_one_below(void **state)
{
	(void)state;
	check_shows(&panel_frames, looping, 80, 20, "─ main loop ─");
	press(&panel_frames, looping, KEYCODE_DOWN);
	press(&panel_frames, looping, KEYCODE_DOWN);
	check_shows(&panel_frames, looping, 80, 20, "─ audio ─");
	check_shows(&panel_frames, looping, 80, 20, "sort p99 ▼ held");
	press(&panel_frames, looping, KEYCODE_ESCAPE);
	for (int i = 0; i < 4; i++)
		press(&panel_frames, looping, 's');
	check_shows(&panel_frames, looping, 80, 20, "sort over ▼");
}

static void the_overview_has_frames_where_there_is_room(void **state)
{
	(void)state;
	check_shows(&panel_overview, looping, 200, 46, "│─ 9 Frames ─");
	check_shows(&panel_overview, looping, 200, 46, "─ GC ─");
	check_shows(&panel_overview, looping, 200, 46, "over budget ");
	check_shows_not(&panel_overview, looping, 120, 36, "9 Frames");
	check_shows_not(&panel_overview, busy, 200, 46, "9 Frames");
}

/* ---- memory by type ---- */

static void averages_are_of_what_lives(void **state)
{
	struct model *model = model_new();
	uint64_t four[4] = { 14, 20480, 10, 12288 };

	(void)state;
	tell_hello(model);
	tell_definitions(model);
	tell_values(model, 1, TASK_ALL, NODE, four);
	tell_values(model, 1, CACHE, NODE, four);
	APPLY(model, HOLDERS, holders, .mean_bytes = 1024,
	      .rows = { (const struct number[]){ number_of(NODE), number_of(CACHE), number_of(0), number_of(8192),
						 number_of(4), number_of(0) }, HOLDER_NUMBERS });
	tell_snapshot(model, 1, mib);
	check_shows(&panel_memory, model, 120, 20, " 4 2.00 KiB");
	view.tab = 1;
	check_shows(&panel_memory, model, 120, 20, " 4 2.00 KiB");
	model_free(model);
}

static void what_is_open_tells_who_holds_it_and_since_when(void **state)
{
	struct held_sample samples[] = {
		{ FRAME, DECODER, 0, 100, 1000, 0xa, 6 }, { FRAME, DECODER, 0, 100, 2000, 0xb, 1 },
		{ FRAME, DECODER, 0, 100, 3000, 0xc, 4 }, { NODE, DECODER, 0, 100, 1, 0xd, 1 },
	};

	(void)state;
	for (int i = 0; i < COUNT(samples); i++)
		samples[i].born_ns = model_time_ns(busy) - samples[i].born_ns * 1000000;
	held_sort(samples, COUNT(samples));
	assert_true(press(&panel_memory, busy, KEYCODE_ENTER));
	assert_true(view.is_open);
	/* Nothing was answered yet. */
	check_shows(&panel_memory, busy, 120, 12, "1 Memory ─ task decoder ─");
	check_shows(&panel_memory, busy, 120, 12, "~76.3 MiB  855 KiB   10.0k       –       –");
	assert_true(view.wants_held);
	view.held_samples = samples;
	view.held_count = COUNT(samples);
	/* Of 11 allocations the sixth in age is one that the youngest sample stands for. */
	check_shows(&panel_memory, busy, 120, 12, "10.0k  3.00 s  1.00 s");
	assert_true(press(&panel_memory, busy, KEYCODE_DOWN));
	check_shows(&panel_memory, busy, 120, 12, "1 Memory ─ task io-0 ─");
	assert_true(press(&panel_memory, busy, KEYCODE_ESCAPE));
	check_shows(&panel_memory, busy, 120, 30, "[task]");
	assert_false(view.wants_held);
}

static void types_tell_how_long_they_live(void **state)
{
	struct model *model = tagged();

	(void)state;
	view.tab = 1;
	check_shows_not(&panel_memory, busy, 120, 36, "life p50");
	check_shows_not(&panel_memory, busy, 120, 36, "Lifetime");
	check_shows(&panel_memory, model, 120, 36, "life p50");
	check_shows(&panel_memory, model, 120, 36, " ~12.1 ms  ");
	check_shows(&panel_memory, model, 120, 20,
		    "cache ~17.1 MiB, io-0 ~4.61 MiB, io-1 ~2.77 MiB. Lifetime p50 ~12.1 ms.");
	/* When the line is too long, fewer holders are named. */
	check_shows(&panel_memory, model, 80, 20, "held by: decoder ~70.4 MiB, 3 more ~24.5 MiB. Lifetime p50 ~12.1 ms.");
	view.tab = 0;
	check_shows_not(&panel_memory, model, 120, 36, "life p50");
	model_free(model);
}

/* ---- events ---- */

static void folded_lines_say_how_many_more(void **state)
{
	struct model *model = model_new();

	(void)state;
	tell_hello(model);
	tell_definitions(model);
	APPLY(model, LOG, log, .task = IO_0, .site = LINE, .time_ns = START_NS, .severity = 2, .text = text_of("retry 3"),
	      .folded = 1234);
	tell_snapshot(model, 1, mib);
	check_shows(&panel_overview, model, 80, 20, "retry 3  (+1,234 more like it)");
	check_shows(&panel_overview, model, 200, 46, "retry 3  (+1,234 more like it)");
	check_shows(&panel_overview, model, 60, 20, "retry 3 (+1,234)");
	APPLY(model, LOG, log, .task = IO_0, .site = LINE, .time_ns = START_NS, .severity = 2, .folded = 5,
	      .text = text_of("a line that is far too long for what there is of room beside it"));
	check_shows(&panel_overview, model, 80, 20, "(+5 more like it)\n");
	check_shows(&panel_overview, model, 80, 20, "…");
	model_free(model);
}

/* ---- lists ---- */

static void cursor_enters_with_the_first_key_and_stays_on_its_item(void **state)
{
	struct model *model = model_copy(busy);

	(void)state;
	assert_int_equal(view.cursor, -1);
	assert_true(press(&panel_latency, model, 'j'));
	assert_int_equal(view.cursor, 0);
	assert_true(press(&panel_latency, model, KEYCODE_DOWN));
	assert_true(press(&panel_latency, model, KEYCODE_DOWN));
	assert_int_equal(view.cursor, 2);
	{
		uint32_t id = view.cursor_id;
		char before[1024];

		snprintf(before, sizeof before, "%.20s", cursor_row(&panel_latency, model));
		/* The order of the rows is reversed. */
		assert_true(press(&panel_latency, model, 'r'));
		assert_true(press(&panel_latency, model, 'o'));
		assert_int_equal(view.cursor_id, id);
		assert_memory_equal(cursor_row(&panel_latency, model), before, strlen(before));
		assert_int_not_equal(view.cursor, 2);
	}
	assert_true(press(&panel_latency, model, KEYCODE_HOME));
	assert_int_equal(view.cursor, 0);
	assert_true(press(&panel_latency, model, 'k'));
	assert_int_equal(view.cursor, 0);
	assert_true(press(&panel_latency, model, 'G'));
	assert_int_equal(view.cursor, 7);
	assert_true(press(&panel_latency, model, KEYCODE_ESCAPE));
	assert_int_equal(view.cursor, -1);
	assert_false(view.is_held);
	model_free(model);
}

static void order_holds_while_the_cursor_is_in_the_list(void **state)
{
	struct model *model = model_new();
	uint64_t four[4] = { 1, 100, 0, 0 };
	char *text;

	(void)state;
	tell_hello(model);
	tell_class(model, MEM, "mem", LEVEL_SUM);
	tell_site(model, FRAME, MEM, SITE_ALLOC, UNIT_SIZE, "Frame", LEVEL_SUM);
	tell_site(model, NODE, MEM, SITE_ALLOC, UNIT_SIZE, "Node", LEVEL_SUM);
	tell_values(model, 1, TASK_ALL, FRAME, four);
	tell_snapshot(model, 1, mib);
	view.tab = 1;
	press(&panel_memory, model, KEYCODE_DOWN);
	check_shows(&panel_memory, model, 80, 20, "live ▼ held");
	/* Node becomes larger than Frame, and there is a new type. Neither moves a row. */
	four[1] = 1000;
	tell_values(model, 2, TASK_ALL, NODE, four);
	tell_site(model, STR, MEM, SITE_ALLOC, UNIT_SIZE, "str", LEVEL_SUM);
	four[1] = 5000;
	tell_values(model, 2, TASK_ALL, STR, four);
	tell_snapshot(model, 2, mib);
	text = picture(&panel_memory, model, 80, 20, GLYPHS_BLOCKS);
	assert_true(strstr(text, "Frame") < strstr(text, "Node"));
	assert_true(strstr(text, "Node") < strstr(text, "str "));
	free(text);
	press(&panel_memory, model, 'o');
	text = picture(&panel_memory, model, 80, 20, GLYPHS_BLOCKS);
	assert_true(strstr(text, "str ") < strstr(text, "Node"));
	assert_non_null(strstr(strstr(text, "Node"), "Frame"));
	assert_null(strstr(text, "▼ held"));
	free(text);
	model_free(model);
}

static void list_begins_at_its_first_row_when_it_is_left(void **state)
{
	char first[21];

	(void)state;
	free(picture(&panel_latency, busy, 80, 6, GLYPHS_BLOCKS));
	press(&panel_latency, busy, KEYCODE_DOWN);
	snprintf(first, sizeof first, "%.20s", cursor_row(&panel_latency, busy));
	press(&panel_latency, busy, 'G');
	free(picture(&panel_latency, busy, 80, 6, GLYPHS_BLOCKS));
	assert_true(view.top > 0);
	press(&panel_latency, busy, KEYCODE_ESCAPE);
	free(picture(&panel_latency, busy, 80, 6, GLYPHS_BLOCKS));
	assert_int_equal(view.top, 0);
	press(&panel_latency, busy, KEYCODE_DOWN);
	assert_memory_equal(cursor_row(&panel_latency, busy), first, strlen(first));
}

static void gone_rows_stay_until_let_go(void **state)
{
	struct model *model = model_copy(busy);

	(void)state;
	press(&panel_memory, model, KEYCODE_DOWN);
	APPLY(model, TASK, task, .id = CACHE, .name = text_of("cache"), .ended = 1);
	check_shows(&panel_memory, model, 80, 20, "task 3");
	press(&panel_memory, model, KEYCODE_ESCAPE);
	check_shows_not(&panel_memory, model, 80, 20, "task 3");
	model_free(model);
}

static void sorting_goes_round_the_columns(void **state)
{
	char *text;

	(void)state;
	check_shows(&panel_latency, busy, 80, 20, "sort p99 ▼");
	press(&panel_latency, busy, 's');
	check_shows(&panel_latency, busy, 80, 20, "sort max ▼");
	press(&panel_latency, busy, 'r');
	check_shows(&panel_latency, busy, 80, 20, "sort max ▲");
	for (int i = 0; i < 4; i++)
		press(&panel_latency, busy, 's');
	check_shows(&panel_latency, busy, 80, 20, "sort name ▲");
	text = picture(&panel_latency, busy, 80, 20, GLYPHS_BLOCKS);
	assert_true(strstr(text, "accept") < strstr(text, "compact"));
	assert_true(strstr(text, "minor") < strstr(text, "sql.query"));
	free(text);
	press(&panel_latency, busy, 's');
	check_shows(&panel_latency, busy, 80, 20, "sort p99 ▼");
}

static bool matches(const char *pattern, const char *name)
{
	struct filter filter;
	bool found;

	filter_init(&filter, pattern);
	found = filter_match(&filter, name);
	filter_fini(&filter);
	return found;
}

static void filters_take_parts_negations_and_expressions(void **state)
{
	(void)state;
	assert_true(matches("", "anything"));
	assert_true(matches("SQL", "sql.query"));
	assert_false(matches("sqx", "sql.query"));
	assert_false(matches("!sql", "sql.query"));
	assert_true(matches("!sql", "decode"));
	assert_true(matches("/^de.*e$/", "decode"));
	assert_true(matches("/^DE", "decode"));
	assert_false(matches("/^e/", "decode"));
	assert_false(matches("!/^de/", "decode"));
	/* A filter that is not finished, or not valid, hides nothing. */
	assert_true(matches("/[a", "decode"));
	assert_true(matches("!", "decode"));
	assert_true(matches("/", "a/b"));
	assert_false(matches("/", "decode"));
	assert_true(matches("//", "decode"));
}

/* ---- levels ---- */

static void x_asks_for_the_next_level(void **state)
{
	(void)state;
	assert_true(press(&panel_classes, busy, 'x'));
	assert_false(view.wish.is_set);
	assert_string_not_equal(view.message, "");
	press(&panel_classes, busy, KEYCODE_DOWN);
	press(&panel_classes, busy, 'x');
	assert_true(view.wish.is_set);
	assert_int_equal(view.wish.class_id, MEM);
	assert_int_equal(view.wish.site, 0);
	assert_int_equal(view.wish.level, LEVEL_OFF);        /* its level was all */
	/* A second press before the answer goes one level further. */
	requests[MEM] = (struct panel_request){ .is_waiting = true, .level = LEVEL_OFF, .sent_ns = view.now_ns };
	press(&panel_classes, busy, 'x');
	assert_int_equal(view.wish.level, LEVEL_SUM);
	press(&panel_classes, busy, 'X');
	assert_int_equal(view.wish.level, LEVEL_OFF);
}

static void x_on_a_site_asks_for_that_site_alone(void **state)
{
	(void)state;
	press(&panel_classes, busy, KEYCODE_DOWN);
	press(&panel_classes, busy, KEYCODE_DOWN);
	press(&panel_classes, busy, KEYCODE_ENTER);
	assert_true(view.is_open);
	assert_int_equal(view.open_id, SQL);
	check_shows(&panel_classes, busy, 80, 20, "accept→reply");
	snprintf(view.filter, sizeof view.filter, "query");
	press(&panel_classes, busy, KEYCODE_DOWN);
	press(&panel_classes, busy, 'X');
	assert_true(view.wish.is_set);
	assert_int_equal(view.wish.class_id, SQL);
	assert_int_equal(view.wish.site, QUERY);
	assert_int_equal(view.wish.level, LEVEL_OFF);
	view.filter[0] = '\0';
	assert_true(press(&panel_classes, busy, KEYCODE_ESCAPE));
	assert_false(view.is_open);
	assert_int_equal(view.cursor_id, SQL);
}

static void without_control_nothing_is_asked(void **state)
{
	(void)state;
	view.may_control = false;
	press(&panel_classes, busy, KEYCODE_DOWN);
	press(&panel_classes, busy, 'x');
	assert_false(view.wish.is_set);
	assert_string_equal(view.message, "Levels cannot be set on this connection.");
	check_shows(&panel_classes, busy, 80, 20, "cannot be set");
}

static void a_class_that_is_off_shows_what_it_cost(void **state)
{
	struct model *model = model_copy(busy);

	(void)state;
	APPLY(model, LEVEL, level, .class_id = SQL, .level = LEVEL_OFF, .own_level = LEVEL_OFF, .by = text_of("viewer 1"));
	check_shows(&panel_classes, model, 80, 20, "(when last all: 124 /s");
	view.keep = true;
	check_shows(&panel_classes, model, 80, 20, "kept");
	model_free(model);
}

static void enter_on_the_overview_goes_to_latency(void **state)
{
	(void)state;
	snprintf(view.filter, sizeof view.filter, "query");
	press(&panel_overview, busy, KEYCODE_DOWN);
	assert_true(press(&panel_overview, busy, KEYCODE_ENTER));
	assert_ptr_equal(view.go, &panel_latency);
	assert_int_equal(view.go_id, QUERY);
}

static void arrows_go_on_to_the_next_while_one_is_open(void **state)
{
	uint32_t first;

	(void)state;
	press(&panel_latency, busy, KEYCODE_ENTER);
	first = view.open_id;
	press(&panel_latency, busy, KEYCODE_DOWN);
	assert_true(view.is_open);
	assert_int_not_equal(view.open_id, first);
	assert_true(press(&panel_latency, busy, 'L'));
	assert_true(view.log_y);
	assert_true(press(&panel_latency, busy, KEYCODE_ESCAPE));
	assert_false(view.is_open);
	/* A row that was open is closed when its id does not exist any more. */
	view.is_open = true;
	view.open_id = 65000;
	check_shows(&panel_latency, busy, 80, 20, "sql.query");
	assert_false(view.is_open);
}

/* ---- hostile targets ---- */

static void tell_frame_of(struct model *model, uint64_t site, uint64_t counter, uint64_t figure)
{
	struct number figures[SEVERITY_COUNT + 2 * LIMIT_COUNTERS_A_FRAME];

	for (int i = 0; i < COUNT(figures); i++)
		figures[i] = number_of(i < SEVERITY_COUNT || (i - SEVERITY_COUNT) % 2 ? figure : counter + (uint64_t)i / 4);
	APPLY(model, FRAME, frame, .site = site, .number = figure, .time_ns = figure, .duration_ns = figure,
	      .budget_ns = figure / 2,
	      .heap_bytes = (int64_t)(figure / 2), .heap_peak = -(int64_t)(figure / 2), .allocations = figure,
	      .broken = figure, .figures = { figures, COUNT(figures) });
}

static void hostile_names_stay_text(void **state)
{
	static const char *const names[] = {
		"\033[2J\033]0;owned\007", "\xe2\x80\xae" "gnp.exe", "\xff\xfe\x80", "日本語のスパンの名前がとても長いので切られます",
		"line\nbreak\r\ttab", "", "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81", "%s%n%d", "\xc2\x9b" "31m", "\xe2\x80\xa8",
	};
	struct model *model = model_new();
	char longest[LIMIT_NAME_BYTES + 40];
	uint64_t id = 1;

	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	APPLY(model, HELLO, hello, .major = 1, .stream = 9, .mono_ns = START_NS, .real_ns = START_REAL_NS,
	      .start_ns = START_NS, .name = text_of(names[0]), .host = text_of(names[1]));
	for (int i = 0; i <= COUNT(names); i++) {
		const char *name = i < COUNT(names) ? names[i] : longest;
		uint64_t four[4] = { 5, 500, 1, 100 };

		tell_class(model, (uint64_t)i, name, LEVEL_ALL);
		APPLY(model, LEVEL, level, .class_id = (uint64_t)i, .level = LEVEL_ALL, .leases = 2, .by = text_of(name));
		tell_task(model, (uint64_t)i + 2, name);
		for (unsigned kind = SITE_SPAN; kind < SITE_KIND_COUNT; kind++, id++) {
			APPLY(model, SITE, site, .id = id, .class_id = (uint64_t)i, .kind = kind, .name = text_of(name),
			      .file = text_of(name), .level = LEVEL_ALL, .own_level = LEVEL_OWN);
			tell_values(model, 1, TASK_ALL, id, four);
			tell_values(model, 1, (uint64_t)i + 2, id, four);
			APPLY(model, LOG, log, .task = (uint64_t)i + 2, .site = id, .time_ns = START_NS,
			      .severity = (uint64_t)i, .text = text_of(name), .folded = (uint64_t)i);
			if (kind == SITE_SPAN)
				tell_frame_of(model, id, id + SITE_COUNTER - SITE_SPAN, (uint64_t)i);
		}
	}
	tell_snapshot(model, 1, mib);
	tell_snapshot(model, 2, mib);
	for (int i = 0; panels[i]; i++)
		for (int width = 10; width <= 200; width += 19)
			for (int tab = 0; tab < 4; tab++) {
				char *text;

				setup(NULL);
				view.tab = tab;
				view.cursor = tab - 1;
				view.is_open = tab == 2;
				view.open_id = tab == 2 ? 1 : 0;
				snprintf(requests[0].answer, sizeof requests[0].answer, "%s", names[0]);
				text = picture(panels[i], model, width, 46, GLYPHS_BLOCKS);
				for (unsigned char *at = (unsigned char *)text; *at; at++) {
					assert_true(*at == '\n' || *at >= 0x20);
					assert_int_not_equal(*at, 0x7F);
					/* C1 controls are C2 80 .. C2 9F; bidi controls and line breaks E2 80 A8 ..
					 * AE. */
					assert_false(at[0] == 0xC2 && at[1] < 0xA0);
					assert_false(at[0] == 0xE2 && at[1] == 0x80 && at[2] >= 0xA8 && at[2] <= 0xAE);
				}
				free(text);
			}
	model_free(model);
}

static void huge_and_odd_figures_are_drawn(void **state)
{
	struct model *model = model_new();
	uint64_t four[4] = { UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 3, UINT64_MAX };
	uint64_t id = 1;

	(void)state;
	tell_hello(model);
	for (uint64_t i = 0; i < LIMIT_CLASSES; i++)
		tell_class(model, i, "class", (unsigned)(i % 4));
	for (unsigned kind = 0; kind < 12; kind++, id++) {
		struct number pairs[] = { number_of(0), number_of(UINT64_MAX / 4), number_of(HISTOGRAM_BUCKETS - 1),
					  number_of(UINT64_MAX / 4) };

		APPLY(model, SITE, site, .id = id, .class_id = id % 3, .kind = kind, .unit = id * 7, .name = text_of("odd"),
		      .level = kind, .own_level = kind, .line = UINT32_MAX);
		tell_values(model, 1, TASK_ALL, id, four);
		tell_values(model, 1, 5, id, four);
		tell_values(model, 1, TASK_ENDED, id, four);
		APPLY(model, BUCKETS, buckets, .site = id, .pairs = { pairs, 4 });
		APPLY(model, BUCKETS, buckets, .site = id, .task = 5, .pairs = { pairs, 4 });
		tell_frame_of(model, id, UINT32_MAX - 1, UINT64_MAX);
	}
	tell_task(model, 5, "five");
	tell_snapshot(model, 1, UINT64_MAX);
	APPLY(model, SNAPSHOT, snapshot, .time_ns = UINT64_MAX - 1, .real_ns = UINT64_MAX, .rss_bytes = UINT64_MAX,
	      .telem_cpu_ns = UINT64_MAX, .event_cost_ps = UINT64_MAX, .ring_permille = UINT64_MAX, .cpu_ns = UINT64_MAX);
	model_set_transport(model, &(struct model_transport){ .lag_ns = NAN });
	APPLY(model, SINK, sink, .tick = 1, .queued = UINT64_MAX, .queue_bytes = UINT64_MAX, .queue_bytes_max = 1);
	model_set_mark(model);
	for (int window = 0; window <= 300; window += 60) {
		model_set_window(model, window);
		for (int i = 0; panels[i]; i++)
			for (uint32_t open = 0; open < 13; open++) {
				setup(NULL);
				view.tab = (int)open % 5;
				view.is_open = open > 0;
				view.open_id = open;
				view.log_y = open % 2;
				view.cursor = 1000000;
				view.cursor_id = 77;
				view.sort = (int)open * 3 - 5;
				free(picture(panels[i], model, 120, 36, GLYPHS_BLOCKS));
				free(picture(panels[i], model, 200, 46, GLYPHS_BLOCKS));
				for (int key = 0; key < 128; key++)
					press(panels[i], model, key);
				for (int key = KEYCODE_ENTER; key <= KEYCODE_F0 + 12; key++)
					press(panels[i], model, key);
				free(picture(panels[i], model, 80, 20, GLYPHS_ASCII));
			}
	}
	model_free(model);
}

static void keys_of_nothing_do_no_harm(void **state)
{
	(void)state;
	for (int i = 0; panels[i]; i++)
		for (int key = -1; key < KEYCODE_F0 + 13; key = key == 300 ? KEYCODE_HANGUP : key + 1)
			press(panels[i], empty, key);
}

static bool both_apply(enum panel_while a, enum panel_while b)
{
	return a == b || a == PANEL_ALWAYS || b == PANEL_ALWAYS;
}

static void panels_have_keys_of_their_own(void **state)
{
	(void)state;
	for (int i = 0; panels[i]; i++) {
		assert_true(i < PANELS_MAX);
		assert_non_null(panels[i]->name);
		assert_non_null(panels[i]->help);
		assert_non_null(panels[i]->draw);
		assert_null(panels[i]->of);
		if (panels[i]->digit)           /* and no other panel has it */
			assert_ptr_equal(panel_find(panels[i]->digit), panels[i]);
		for (const struct panel_key *row = panels[i]->keys; row && row->key; row++) {
			assert_true(row->run || row->footer || row->help);
			assert_int_equal(row->help != NULL, row->help_keys != NULL);
			for (const struct panel_key *next = row + 1; row->run && next->key; next++)
				if (next->run && both_apply(row->applies, next->applies))
					assert_true(next->key != row->key && next->key != row->other && (!next->other ||
						    (next->other != row->key && next->other != row->other)));
		}
	}
	assert_null(panel_find('~'));
	assert_null(panel_find(0));
}

static void draw_name(const struct model *model, struct panel_view *panel_view, const struct canvas *canvas)
{
	(void)model;
	(void)panel_view;
	canvas_text(canvas, 0, 0, STYLE(ROLE_TEXT), "locks");
}

/* A panel may leave out its digit, keys, key() and small form. */
static void a_panel_needs_a_name_a_help_line_and_a_picture(void **state)
{
	static const struct panel least = { .name = "Locks", .help = "time spent waiting for locks", .draw = draw_name };
	struct canvas canvas;
	char title[64], *text;

	(void)state;
	check_shows(&least, busy, 80, 20, "locks");
	assert_false(press(&least, busy, 'x'));
	assert_false(press(&least, busy, 0));
	panel_title(title, &least);
	assert_string_equal(title, "Locks");
	backing = canvas_text_new(80, 20, GLYPHS_BLOCKS);
	canvas = canvas_of(backing);
	help_draw(&least, some_keys, true, &canvas);
	text = drawn();
	check_text(text, "Help: Locks", true);
	check_text(text, "(", false);
	free(text);
}

static int row_runs;
static bool count_run(const struct model *model, struct panel_view *panel_view)
{
	(void)model;
	(void)panel_view;
	return ++row_runs % 2;
}

static void a_row_applies_while_open_or_closed_and_may_pass_its_key_on(void **state)
{
	static const struct panel_key keys[] = {
		{ 'a', 'b', .run = count_run }, { 'c', .applies = PANEL_WHILE_OPEN, .run = count_run },
		{ 'd', .applies = PANEL_WHILE_CLOSED, .run = count_run }, { 'e', .footer = "e shown only" }, { 0 }
	};
	static const struct panel panel = { .name = "Locks", .help = "", .keys = keys, .draw = draw_name };

	(void)state;
	assert_true(press(&panel, busy, 'a'));
	assert_false(press(&panel, busy, 'b'));
	assert_int_equal(row_runs, 2);
	assert_false(press(&panel, busy, 'c'));
	assert_true(press(&panel, busy, 'd'));
	view.is_open = true;
	assert_false(press(&panel, busy, 'd'));
	assert_false(press(&panel, busy, 'e'));
	assert_int_equal(row_runs, 3);
	press(&panel, busy, 'c');
	assert_int_equal(row_runs, 4);
}

/* ---- the table ---- */

static bool are_at_one_place(const struct panel *a, const struct panel *b, int kind)
{
	return a->places[kind].band == b->places[kind].band && a->places[kind].column == b->places[kind].column;
}

static void boxes_of_the_overview_have_places(void **state)
{
	const struct panel *const *const tables[] = { panels, panel_boxes };

	(void)state;
	for (int i = 0; i < COUNT(tables); i++)
		for (const struct panel *const *box = tables[i]; *box; box++) {
			bool has_place = false;

			for (int kind = 0; kind < OVERVIEW_LAYOUT_COUNT; kind++) {
				has_place |= (*box)->places[kind].band > 0;
				assert_true((*box)->places[kind].band <= 4);
				assert_true((*box)->places[kind].column <= 3);
				/* Two boxes must not have the same place. */
				for (int j = 0; j < COUNT(tables) && (*box)->places[kind].band > 0; j++)
					for (const struct panel *const *other = tables[j]; *other; other++)
						assert_false(*other != *box && are_at_one_place(*other, *box, kind));
			}
			assert_true((*box)->small || !has_place);
			/* A box without a place of its own is shown while it has something to count. */
			assert_true(!(*box)->small || has_place || (*box)->count);
			if (i == 1) {
				assert_null((*box)->draw);
				assert_int_equal((*box)->digit, 0);
				assert_true(has_place);
			}
		}
}

static void panels_are_listed_from_the_table(void **state)
{
	char list[400], wanted[400] = "", part[64], shortest[8];
	int count = 0, last = 0;

	(void)state;
	panels_list(list, sizeof list);
	for (int i = 0; panels[i]; i++)
		last = panels[i]->digit ? i : last;
	for (int i = 0; panels[i]; i++) {
		if (!panels[i]->digit)
			continue;
		snprintf(part, sizeof part, "%s%c (%s)", count == 0 ? "" : i == last ? " or " : ", ",
			 panels[i]->digit, panels[i]->name);
		for (char *at = part; *at; at++)
			*at = *at >= 'A' && *at <= 'Z' ? (char)(*at + 'a' - 'A') : *at;
		strcat(wanted, part);
		count++;
	}
	assert_string_equal(list, wanted);
	panels_list(shortest, sizeof shortest);        /* the text is cut and does not overflow */
	assert_int_equal(strlen(shortest), sizeof shortest - 1);
}

/* The README has a table of keys, with the digits and names of all panels in one row. */
static void the_readme_names_the_panels_of_the_table(void **state)
{
	char digits[200] = "| ", names[400] = "| ", line[1000];
	FILE *readme = fopen("README.md", "r");
	bool is_there = false;

	(void)state;
	for (int i = 0; panels[i]; i++) {
		size_t used = strlen(names);

		if (!panels[i]->digit)
			continue;
		snprintf(digits + strlen(digits), sizeof digits - strlen(digits), "`%c` ", panels[i]->digit);
		snprintf(names + used, sizeof names - used, "%s%s", used > 2 ? ", " : "", panels[i]->name);
	}
	for (char *at = names; *at; at++)
		*at = *at >= 'A' && *at <= 'Z' ? (char)(*at + 'a' - 'A') : *at;
	assert_non_null(readme);
	strcat(digits, names);
	while (!is_there && fgets(line, sizeof line, readme))
		is_there = strncmp(line, digits, strlen(digits)) == 0 && line[strlen(digits)] == ' ';
	fclose(readme);
	if (!is_there)
		fail_msg("README.md has no row of keys that begins with:\n%s |", digits);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(overview_at_80), TEST(overview_at_120), TEST(overview_at_200), TEST(overview_small),
		TEST(memory_by_task), TEST(memory_by_type), TEST(memory_matrix), TEST(memory_by_tag), TEST(frames_pictures),
		TEST(latency_list_pictures), TEST(latency_opened), TEST(classes_pictures), TEST(link_picture),
		TEST(help_pictures), TEST(ascii_has_nothing_but_ascii),
		TEST(every_size_can_be_drawn), TEST(every_size_of_what_is_opened), TEST(rows_that_do_not_fit_are_told_of),
		TEST(nothing_has_a_reason), TEST(nothing_declared_says_so), TEST(declared_but_never_entered_is_listed),
		TEST(a_gauge_that_is_off_has_no_value),
		TEST(an_old_value_of_a_reporter_has_its_age), TEST(classes_that_are_off_are_named_with_their_key),
		TEST(a_level_says_who_set_it),
		TEST(a_filter_that_hides_all_says_so),
		TEST(a_filter_that_is_no_expression_says_so), TEST(no_data_is_a_dash_and_zero_is_zero),
		TEST(sizes_and_lifetimes_are_no_latencies),
		TEST(estimates_have_a_tilde), TEST(percentiles_of_a_task_are_a_dash_once_its_histogram_is_old),
		TEST(books_that_do_not_balance_say_by_how_much),
		TEST(frames_have_their_span_before_one_is_told), TEST(budgets_that_break_are_marked_while_the_window_lasts),
		TEST(frames_far_below_their_budget_have_a_logarithmic_axis),
		TEST(frames_that_were_not_told_are_counted), TEST(a_frame_opens_its_span_in_latency),
		TEST(the_chosen_frame_is_the_one_below), TEST(the_overview_has_frames_where_there_is_room),
		TEST(averages_are_of_what_lives), TEST(types_tell_how_long_they_live),
		TEST(what_is_open_tells_who_holds_it_and_since_when),
		TEST(folded_lines_say_how_many_more),
		TEST(cursor_enters_with_the_first_key_and_stays_on_its_item),
		TEST(order_holds_while_the_cursor_is_in_the_list),
		TEST(list_begins_at_its_first_row_when_it_is_left), TEST(gone_rows_stay_until_let_go),
		TEST(sorting_goes_round_the_columns),
		TEST(filters_take_parts_negations_and_expressions),
		TEST(x_asks_for_the_next_level), TEST(x_on_a_site_asks_for_that_site_alone),
		TEST(without_control_nothing_is_asked), TEST(a_class_that_is_off_shows_what_it_cost),
		TEST(enter_on_the_overview_goes_to_latency), TEST(arrows_go_on_to_the_next_while_one_is_open),
		TEST(hostile_names_stay_text), TEST(huge_and_odd_figures_are_drawn), TEST(keys_of_nothing_do_no_harm),
		TEST(panels_have_keys_of_their_own), TEST(a_panel_needs_a_name_a_help_line_and_a_picture),
		TEST(a_row_applies_while_open_or_closed_and_may_pass_its_key_on), TEST(boxes_of_the_overview_have_places),
		TEST(panels_are_listed_from_the_table), TEST(the_readme_names_the_panels_of_the_table),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
