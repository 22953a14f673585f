#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/model/model.h"
#include "tests/support/wire.h"

#define SECOND 1000000000ull
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { CLASS_MEM, CLASS_NET };
enum { SPAN = 1, NODE, BYTES_IN, CLIENTS, LEAF };

static struct model *model;

#define TELL(KIND, kind_, ...) tell(&(struct message){ .kind = KIND_##KIND, .kind_ = { __VA_ARGS__ } })
#define LIST(...) \
	{ (const struct number[]){ __VA_ARGS__ }, sizeof((struct number[]){ __VA_ARGS__ }) / sizeof(struct number) }

/* A row of HOLDERS; and a message of rows, the part of its tick. */
#define HOLDER(type, task, tag, bytes, count, deviation) n(type), n(task), n(tag), n(bytes), n(count), n(deviation)
#define HOLDERS(part_, ...) TELL(HOLDERS, holders, .part = part_, .mean_bytes = 1024, .rows = LIST(__VA_ARGS__))

static struct number n(uint64_t value) { return number_of(value); }
static struct number negative(int64_t value) { return (struct number){ (uint64_t)value, NUMBER_INT }; }
static struct number real(double value)
{
	struct number number = { .type = NUMBER_DOUBLE };

	memcpy(&number.bits, &value, sizeof value);
	return number;
}

static void tell(const struct message *message) { model_apply(model, message, 100); }
static void hello(uint64_t stream)
{
	TELL(HELLO, hello, .major = 1, .stream = stream, .name = text_of("app"), .mono_ns = 5 * SECOND,
	     .real_ns = 1700000000 * SECOND);
}
static void class(uint64_t id, const char *name) { TELL(CLASS, class, .id = id, .name = text_of(name), .level = LEVEL_SUM); }
static void site(uint64_t id, uint64_t class_id, uint64_t kind)
{
	TELL(SITE, site, .id = id, .class_id = class_id, .kind = kind, .name = text_of("s"), .own_level = LEVEL_OWN);
}
static void task(uint64_t id, const char *name) { TELL(TASK, task, .id = id, .name = text_of(name)); }
static void task_ends(uint64_t id) { TELL(TASK, task, .id = id, .ended = 1); }
static void values(uint64_t task_id, uint64_t id, uint64_t count, uint64_t sum, uint64_t min, uint64_t max)
{
	TELL(VALUES, values, .task = task_id, .rows = LIST(n(id), n(count), n(sum), n(min), n(max)));
}
static void snapshot_at(uint64_t time_ns) { TELL(SNAPSHOT, snapshot, .time_ns = time_ns, .interval_ns = SECOND); }
static void snapshot(uint64_t second) { snapshot_at(second * SECOND); }
static void books(uint64_t class_id, uint64_t emitted, uint64_t dropped, uint64_t taken)
{
	TELL(BOOKS, books, .rows = LIST(n(class_id), n(emitted), n(dropped), n(taken)));
}
static void batch(uint32_t id, uint32_t count)
{
	struct event events[300];

	for (uint32_t i = 0; i < count; i++)
		events[i] = (struct event){ .value = i, .site = id };
	TELL(BATCH, batch, .task = 2, .events = { events, count });
}

/* A distribution, and its figures, as a program sends them. */
static uint64_t told[HISTOGRAM_BUCKETS], told_count, told_sum, told_min, told_max;

static void happen(uint64_t value)
{
	told[histogram_index(value)]++;
	told_sum += value;
	told_min = told_count == 0 || value < told_min ? value : told_min;
	told_max = value > told_max ? value : told_max;
	told_count++;
}

static void tell_span(uint64_t task_id)
{
	struct number pairs[400];
	uint32_t count = 0;

	values(task_id, SPAN, told_count, told_sum, told_min, told_max);
	for (uint32_t i = 0; i <= HISTOGRAM_BUCKETS; i++) {
		if (count == COUNT(pairs) || (i == HISTOGRAM_BUCKETS && count)) {
			TELL(BUCKETS, buckets, .task = task_id, .site = SPAN, .pairs = { pairs, count });
			count = 0;
		}
		if (i < HISTOGRAM_BUCKETS && told[i]) {
			pairs[count++] = n(i);
			pairs[count++] = n(told[i]);
		}
	}
}

static const struct model_site *at(uint32_t id) { return model_site_by_id(model, id); }
static const struct model_link *link_of(void) { return model_link(model); }
static uint64_t refused(void) { return link_of()->bad_messages; }

static void greet(void)
{
	hello(7);
	class(CLASS_MEM, "mem");
	class(CLASS_NET, "net");
	site(SPAN, CLASS_NET, SITE_SPAN);
	site(NODE, CLASS_MEM, SITE_ALLOC);
	site(BYTES_IN, CLASS_NET, SITE_COUNTER);
	site(CLIENTS, CLASS_NET, SITE_GAUGE);
	site(LEAF, CLASS_MEM, SITE_ALLOC);
	task(TASK_ENDED, "(ended)");
	task(2, "main");
	task(3, "io");
}

static int setup_empty(void **state)
{
	(void)state;
	memset(told, 0, sizeof told);
	told_count = told_sum = told_min = told_max = 0;
	model = model_new();
	return model ? 0 : -1;
}

static int setup(void **state)
{
	if (setup_empty(state))
		return -1;
	greet();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(model);
	return 0;
}

/* ---- definitions ---- */

static void a_new_model_knows_nothing(void **state)
{
	(void)state;
	assert_false(model_target(model)->is_known);
	assert_int_equal(model_ticks(model), 0);
	assert_int_equal(model_site_count(model) + model_task_count(model) + model_class_count(model), 0);
	assert_int_equal(model_line_count(model), 0);
	assert_int_equal(model_window(model), 60);
	assert_null(model_site_by_id(model, 1));
	assert_null(model_task_by_id(model, 0));
	assert_int_equal(model_class_find(model, ""), -1);
	assert_false(model_is_settled(model));
}

static void hello_tells_who_it_is(void **state)
{
	const struct model_target *target = model_target(model);

	(void)state;
	TELL(HELLO, hello, .major = 1, .minor = 4, .stream = 9, .pid = 4711, .start_ns = 3, .mono_ns = 10 * SECOND,
	     .real_ns = 1700000000 * SECOND, .name = text_of("imgsrv"), .host = text_of("web2"), .version = text_of("1.2"),
	     .resolution_ns = 22, .uid = 1000, .tick_ns = 5, .flush_ns = 6, .ring_bytes = 7, .policy = 2, .control = 1);
	assert_true(target->is_known && target->may_control);
	assert_string_equal(target->name, "imgsrv");
	assert_string_equal(target->host, "web2");
	assert_string_equal(target->version, "1.2");
	assert_int_equal(target->pid, 4711);
	assert_int_equal(target->minor, 4);
	assert_int_equal(target->stream, 9);
	assert_int_equal(target->tick_ns, 5);
	assert_int_equal(model_link(model)->sync_ns, 10 * SECOND);
	/* A moment of the target's clock is converted to wall time. */
	assert_int_equal(model_real_ns(model, 12 * SECOND), 1700000002 * (int64_t)SECOND);
	assert_int_equal(model_real_ns(model, 9 * SECOND), 1699999999 * (int64_t)SECOND);
}

static void a_class_is_found_by_name_and_id(void **state)
{
	(void)state;
	TELL(CLASS, class, .id = 5, .name = text_of("sql"), .help = text_of("queries"), .level = 2, .own_level = 1,
	     .was_off = 1, .leases = 3);
	assert_int_equal(model_class_count(model), 6);
	assert_int_equal(model_class_find(model, "sql"), 5);
	assert_int_equal(model_class_find(model, "sq"), -1);
	assert_string_equal(model_class(model, 5)->help, "queries");
	assert_int_equal(model_class(model, 5)->level, 2);
	assert_int_equal(model_class(model, 5)->own_level, 1);
	assert_int_equal(model_class(model, 5)->leases, 3);
	assert_true(model_class(model, 5)->was_off);
	assert_false(model_class(model, 4)->is_defined);
}

static void ids_out_of_range_are_refused_and_counted(void **state)
{
	(void)state;
	class(LIMIT_CLASSES - 1, "last");
	site(LIMIT_SITES - 1, LIMIT_CLASSES - 1, SITE_COUNTER);
	task(UINT32_MAX, "last");
	assert_int_equal(refused(), 0);
	assert_int_equal(model_class_count(model), LIMIT_CLASSES);
	assert_non_null(at(LIMIT_SITES - 1));
	assert_non_null(model_task_by_id(model, UINT32_MAX));

	class(LIMIT_CLASSES, "no");
	class(UINT64_MAX, "no");
	assert_int_equal(refused(), 2);
	site(0, 0, SITE_COUNTER);
	site(LIMIT_SITES, 0, SITE_COUNTER);
	site(6, LIMIT_CLASSES, SITE_COUNTER);
	site(SPAN, UINT64_MAX, SITE_COUNTER);
	assert_int_equal(refused(), 6);
	task(TASK_ALL, "no");
	task(1ull << 32, "no");
	assert_int_equal(refused(), 8);
	TELL(CLASS, class, .id = 1, .name = text_of("no"), .level = 256);
	TELL(SITE, site, .id = SPAN, .name = text_of("no"), .own_level = 256);
	TELL(LEVEL, level, .class_id = 64);
	TELL(LEVEL, level, .site = LIMIT_SITES);
	TELL(LEVEL, level, .level = 1ull << 32);
	TELL(LOG, log, .site = LIMIT_SITES);
	TELL(RECORD, record, .task = 1ull << 32);
	assert_int_equal(refused(), 15);
	assert_int_equal(model_line_count(model), 0);
	assert_string_equal(at(SPAN)->name, "s");
	assert_int_equal(at(SPAN)->class_id, CLASS_NET);
	assert_string_equal(model_class(model, 1)->name, "net");
	assert_int_equal(model_site_count(model), 6);
	assert_int_equal(model_task_count(model), 4);
}

static void a_site_keeps_its_place_when_it_is_told_again(void **state)
{
	const struct text fields[LIMIT_FIELDS + 1] = { { "status", 6 }, { "bytes", 5 }, { "", 0 } };

	(void)state;
	TELL(SITE, site, .id = NODE, .class_id = CLASS_NET, .kind = SITE_ALLOC, .unit = UNIT_SIZE, .detail = 3,
	     .name = text_of("Node"),
	     .file = text_of("tree.c"), .line = 42, .level = 2, .own_level = 1, .fields = { fields, LIMIT_FIELDS + 1 });
	assert_int_equal(model_site_count(model), 5);
	assert_ptr_equal(model_site(model, 1), at(NODE));
	assert_string_equal(at(NODE)->name, "Node");
	assert_string_equal(at(NODE)->file, "tree.c");
	assert_int_equal(at(NODE)->line, 42);
	assert_int_equal(at(NODE)->class_id, CLASS_NET);
	assert_int_equal(at(NODE)->level, 2);
	assert_int_equal(at(NODE)->field_count, LIMIT_FIELDS);
	assert_string_equal(at(NODE)->fields[1], "bytes");
}

static void a_site_of_an_unknown_class_or_kind_counts_all_the_same(void **state)
{
	(void)state;
	site(20, 63, SITE_COUNTER);
	site(21, CLASS_NET, SITE_KIND_COUNT);
	site(22, CLASS_NET, (1ull << 32) + SITE_SPAN);        /* is not a span */
	assert_int_equal(refused(), 0);
	for (uint64_t tick = 1; tick <= 2; tick++) {
		for (uint64_t id = 20; id <= 22; id++)
			values(0, id, 10 * tick, 0, 0, 0);
		snapshot(tick);
	}
	for (uint32_t id = 20; id <= 22; id++) {
		assert_true(at(id)->rate_per_s == 10);
		assert_false(model_is_timed(at(id)));
	}
	assert_false(model_class(model, 63)->is_defined);
	batch(20, 5);
	assert_int_equal(model_class(model, 63)->received, 5);
}

static void names_end_at_a_nul_and_never_within_a_character(void **state)
{
	char name[LIMIT_NAME_BYTES + 4];

	(void)state;
	TELL(TASK, task, .id = 2, .name = { "a\0b", 3 });
	assert_string_equal(model_task_by_id(model, 2)->name, "a");
	/* One that is cut ends in three bytes that say so. */
	memset(name, 'x', sizeof name);
	memcpy(name + LIMIT_NAME_BYTES - 5, "\xe2\x82\xac", 3);        /* only its first byte would fit */
	TELL(TASK, task, .id = 2, .name = { name, sizeof name });
	assert_int_equal(strlen(model_task_by_id(model, 2)->name), LIMIT_NAME_BYTES - 5 + 3);
	assert_string_equal(model_task_by_id(model, 2)->name + LIMIT_NAME_BYTES - 6, "x\xe2\x80\xa6");
	memset(name, 'x', sizeof name);
	memcpy(name + LIMIT_NAME_BYTES - 7, "\xe2\x82\xac", 3);        /* ends right there */
	TELL(TASK, task, .id = 2, .name = { name, sizeof name });
	assert_int_equal(strlen(model_task_by_id(model, 2)->name), LIMIT_NAME_BYTES - 1);
	TELL(TASK, task, .id = 2, .name = { name, LIMIT_NAME_BYTES - 1 });
	assert_null(strstr(model_task_by_id(model, 2)->name, "\xe2\x80\xa6"));
	memset(name, 0x80, sizeof name);                               /* no character starts anywhere */
	TELL(TASK, task, .id = 2, .name = { name, sizeof name });
	assert_string_equal(model_task_by_id(model, 2)->name, "\xe2\x80\xa6");
	TELL(TASK, task, .id = 2, .name = { NULL, 0 });
	assert_string_equal(model_task_by_id(model, 2)->name, "");
}

/* ---- levels and lines ---- */

static void a_class_level_moves_the_sites_that_follow_it(void **state)
{
	(void)state;
	TELL(SITE, site, .id = BYTES_IN, .class_id = CLASS_NET, .kind = SITE_COUNTER, .level = 1, .own_level = 1);
	TELL(LEVEL, level, .time_ns = 9, .class_id = CLASS_NET, .level = 2, .own_level = 1, .leases = 1,
	     .by = text_of("me"));
	assert_int_equal(model_class(model, CLASS_NET)->level, 2);
	assert_string_equal(model_class(model, CLASS_NET)->set_by, "me");
	assert_int_equal(at(SPAN)->level, 2);
	assert_int_equal(at(BYTES_IN)->level, 1);      /* has one of its own */
	assert_int_equal(at(NODE)->level, 0);          /* of another class */
	assert_int_equal(model_line_count(model), 1);
	assert_int_equal(model_line(model, 0)->kind, LINE_LEVEL);
	assert_string_equal(model_line(model, 0)->text, "level all, set by me");
	TELL(LEVEL, level, .class_id = CLASS_NET, .site = BYTES_IN, .level = 0, .own_level = 0);
	assert_int_equal(at(BYTES_IN)->level, 0);
	assert_int_equal(model_class(model, CLASS_NET)->level, 2);
	assert_false(model_class(model, CLASS_NET)->was_off);
	TELL(LEVEL, level, .class_id = CLASS_NET, .level = 0);
	assert_true(model_class(model, CLASS_NET)->was_off);
}

static void lines_are_kept_newest_first_and_the_oldest_go(void **state)
{
	char text[32];

	(void)state;
	for (int i = 0; i < MODEL_LINES + 10; i++) {
		snprintf(text, sizeof text, "line %d", i);
		TELL(LOG, log, .task = 3, .site = SPAN, .time_ns = (uint64_t)i, .severity = 2, .text = text_of(text));
	}
	assert_int_equal(model_line_count(model), MODEL_LINES);
	assert_string_equal(model_line(model, 0)->text, "line 265");
	assert_string_equal(model_line(model, MODEL_LINES - 1)->text, "line 10");
	assert_int_equal(model_line(model, 0)->class_id, CLASS_NET);
	assert_int_equal(model_line(model, 0)->severity, 2);
	assert_int_equal(link_of()->events, MODEL_LINES + 10);
}

static void a_record_is_a_line_with_its_fields(void **state)
{
	const struct text fields[] = { { "status", 6 }, { "delta", 5 }, { "share", 5 } };

	(void)state;
	TELL(SITE, site, .id = 9, .class_id = CLASS_NET, .kind = SITE_EVENT, .name = text_of("request"),
	     .fields = { fields, 3 });
	TELL(RECORD, record, .task = 2, .site = 9, .time_ns = 4, .values = LIST(n(200), negative(-1), real(0.5), n(7)));
	assert_string_equal(model_line(model, 0)->text, "request status=200 delta=-1 share=0.5 ?=7");
	TELL(RECORD, record, .task = 2, .site = 9, .values = LIST(real(NAN), real(-INFINITY), n(UINT64_MAX)));
	assert_string_equal(model_line(model, 0)->text, "request status=nan delta=-inf share=18446744073709551615");
	TELL(RECORD, record, .task = 2, .site = 999, .values = LIST(n(1)));    /* a site that was never defined */
	assert_int_equal(model_line_count(model), 2);
	assert_int_equal(link_of()->events, 3);
}

static void a_folded_line_tells_how_many_more_there_were(void **state)
{
	(void)state;
	TELL(LOG, log, .task = 3, .site = SPAN, .time_ns = 1, .severity = 2, .text = text_of("retry 1"));
	TELL(LOG, log, .task = 3, .site = SPAN, .time_ns = 2, .severity = 2, .text = text_of("retry 3"), .folded = 1234);
	assert_int_equal(model_line(model, 0)->folded, 1234);
	assert_int_equal(model_line(model, 1)->folded, 0);
	assert_int_equal(model_line_count(model), 2);
}

/* ---- frames ---- */

static void frame_told(uint64_t id, uint64_t number, uint64_t duration_ns, uint64_t broken)
{
	TELL(FRAME, frame, .task = 2, .site = id, .number = number, .time_ns = number * 1000, .duration_ns = duration_ns,
	     .budget_ns = 500, .heap_bytes = -5, .heap_peak = 7, .allocations = 9, .broken = broken,
	     .figures = LIST(n(0), n(number), n(2), n(0), n(1), n(BYTES_IN), n(40)));
}

static const struct model_frame *frame_at(uint32_t index) { return model_frame(model, index); }

static void a_frame_is_kept_by_its_name_and_the_latest_of_each_whole(void **state)
{
	(void)state;
	site(9, CLASS_NET, SITE_SPAN);
	assert_int_equal(model_frame_count(model), 0);
	frame_told(SPAN, 1, 300, 0);
	frame_told(9, 1, 1, 0);
	frame_told(SPAN, 2, 700, BROKE_TIME | BROKE_COUNTER);
	assert_int_equal(model_frame_count(model), 2);
	assert_int_equal(frame_at(0)->site, SPAN);
	assert_int_equal(frame_at(0)->seen, 2);
	assert_int_equal(frame_at(0)->missed, 0);
	assert_int_equal(frame_at(0)->number, 2);
	assert_int_equal(frame_at(0)->time_ns, 2000);
	assert_int_equal(frame_at(0)->duration_ns, 700);
	assert_int_equal(frame_at(0)->budget_ns, 500);
	assert_int_equal(frame_at(0)->heap_bytes, -5);
	assert_int_equal(frame_at(0)->heap_peak, 7);
	assert_int_equal(frame_at(0)->allocations, 9);
	assert_int_equal(frame_at(0)->logs[1], 2);
	assert_int_equal(frame_at(0)->logs[4], 1);
	assert_int_equal(frame_at(0)->counter_count, 1);
	assert_int_equal(frame_at(0)->counters[0].site, BYTES_IN);
	assert_int_equal(frame_at(0)->counters[0].sum, 40);
	assert_int_equal(frame_at(1)->site, 9);
	assert_int_equal(frame_at(1)->seen, 1);
	assert_int_equal(refused(), 0);
}

static void a_broken_budget_is_counted_by_its_parts(void **state)
{
	(void)state;
	frame_told(SPAN, 1, 700, BROKE_TIME | BROKE_COUNTER);
	frame_told(SPAN, 2, 700, BROKE_TIME | BROKE_HEAP | BROKE_LOGS);
	frame_told(SPAN, 3, 300, 0);
	assert_int_equal(frame_at(0)->broken, 2);
	assert_int_equal(frame_at(0)->broken_ns, 2000);
	assert_int_equal(frame_at(0)->broke[0], 2);
	assert_int_equal(frame_at(0)->broke[1], 1);
	assert_int_equal(frame_at(0)->broke[2], 1);
	assert_int_equal(frame_at(0)->broke[3], 1);
	/* A later libtelem may have more parts of a budget. A frame that breaks one of these counts as broken, too. */
	frame_told(SPAN, 4, 300, 16);
	assert_int_equal(frame_at(0)->broken, 3);
}

static void numbers_tell_of_frames_that_were_not_told_in_any_order(void **state)
{
	(void)state;
	frame_told(SPAN, 100, 1, 0);         /* frames from before we joined are not missed */
	assert_int_equal(frame_at(0)->missed, 0);
	frame_told(SPAN, 104, 1, 0);
	assert_int_equal(frame_at(0)->missed, 3);
	/* A frame of another thread that arrives late was not missed after all, and is not the newest. */
	frame_told(SPAN, 102, 1, 0);
	assert_int_equal(frame_at(0)->missed, 2);
	assert_int_equal(frame_at(0)->number, 104);
	frame_told(SPAN, 105, 1, 0);
	assert_int_equal(frame_at(0)->missed, 2);
	assert_int_equal(frame_at(0)->seen, 4);
	/* Impossible numbers of frames make the count of missed frames neither negative nor wrap. */
	for (int i = 0; i < 5; i++)
		frame_told(SPAN, 1, 1, 0);
	assert_int_equal(frame_at(0)->missed, 0);
	frame_told(SPAN, UINT64_MAX, 1, 0);
	frame_told(SPAN, UINT64_MAX, 1, 0);
	assert_int_equal(frame_at(0)->number, UINT64_MAX);
	assert_true(frame_at(0)->missed >= UINT64_MAX - 200);
}

static void the_latest_durations_are_kept_and_the_oldest_go(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= MODEL_FRAMES + 10; i++)
		frame_told(SPAN, i, i * 3, 0);
	assert_int_equal(frame_at(0)->seen, MODEL_FRAMES + 10);
	for (uint64_t age = 0; age < MODEL_FRAMES; age++)
		assert_int_equal(frame_at(0)->durations_ns[(frame_at(0)->seen - 1 - age) % MODEL_FRAMES],
				 (MODEL_FRAMES + 10 - age) * 3);
}

static void frames_that_cannot_be_are_refused(void **state)
{
	struct number many[SEVERITY_COUNT + 2 * (LIMIT_COUNTERS_A_FRAME + 1)] = { { 0, NUMBER_UINT } };
	const struct number bad[] = { real(1), real(NAN), negative(-1) };

	(void)state;
	/* The frame has no site, or one without a duration. */
	frame_told(0, 1, 1, 0);
	frame_told(500, 1, 1, 0);
	frame_told(UINT64_MAX, 1, 1, 0);
	frame_told(NODE, 1, 1, 0);
	assert_int_equal(refused(), 4);
	/* Figures of a wrong length: severities that are missing, half a counter, too many. */
	TELL(FRAME, frame, .site = SPAN, .number = 1, .figures = { NULL, 0 });
	TELL(FRAME, frame, .site = SPAN, .number = 1, .figures = LIST(n(0), n(0), n(0), n(0)));
	TELL(FRAME, frame, .site = SPAN, .number = 1, .figures = LIST(n(0), n(0), n(0), n(0), n(0), n(BYTES_IN)));
	TELL(FRAME, frame, .site = SPAN, .number = 1, .figures = { many, COUNT(many) });
	assert_int_equal(refused(), 8);
	/* Figures that cannot be counts are refused as well. */
	for (size_t i = 0; i < COUNT(bad); i++)
		TELL(FRAME, frame, .site = SPAN, .number = 1, .figures = LIST(n(0), bad[i], n(0), n(0), n(0)));
	assert_int_equal(refused(), 11);
	assert_int_equal(model_frame_count(model), 0);
	/* The greatest possible number of counters is accepted, and so are counters that were not declared. */
	TELL(FRAME, frame, .site = SPAN, .number = 1, .figures = { many, COUNT(many) - 2 });
	assert_int_equal(frame_at(0)->counter_count, LIMIT_COUNTERS_A_FRAME);
	assert_int_equal(refused(), 11);
}

static void names_of_frames_beyond_the_limit_are_refused(void **state)
{
	(void)state;
	for (uint64_t id = 100; id < 100 + LIMIT_FRAMES + 3; id++) {
		site(id, CLASS_NET, SITE_SPAN);
		frame_told(id, 1, 1, 0);
	}
	assert_int_equal(model_frame_count(model), LIMIT_FRAMES);
	assert_int_equal(refused(), 3);
	/* Frames that have a place are still updated. */
	frame_told(100, 2, 1, 0);
	assert_int_equal(frame_at(0)->seen, 2);
	assert_int_equal(refused(), 3);
}

static void another_streams_frames_are_not_this_ones(void **state)
{
	(void)state;
	frame_told(SPAN, 1, 1, 0);
	hello(8);
	assert_int_equal(model_frame_count(model), 0);
}

/* ---- tags ---- */

static void tags_have_figures_like_types_and_are_in_no_total(void **state)
{
	(void)state;
	site(9, CLASS_MEM, SITE_TAG);
	snapshot(1);
	values(0, NODE, 10, 1000, 4, 400);
	values(2, NODE, 10, 1000, 4, 400);
	values(0, 9, 8, 800, 2, 200);
	values(2, 9, 8, 800, 2, 200);
	HOLDERS(0, HOLDER(NODE, 2, 0, 100, 1, 0), HOLDER(NODE, 2, 9, 500, 5, 0));
	snapshot(2);
	assert_int_equal(model_totals(model)->live.bytes, 600);
	assert_int_equal(model_totals(model)->live.count, 6);
	assert_int_equal(at(9)->live.bytes, 500);
	assert_int_equal(at(9)->live.count, 5);
	assert_true(model_totals(model)->alloc_per_s == 1000);
	assert_true(model_totals(model)->free_per_s == 400);
	assert_true(model_totals(model)->events_per_s == 10);
	assert_int_equal(model_task_by_id(model, 2)->live.bytes, 600);
	assert_int_equal(model_task_by_id(model, 2)->alloc_bytes, 1000);
	assert_int_equal(model_task_by_id(model, 2)->alloc_count, 10);
	assert_true(model_task_by_id(model, 2)->events_per_s == 10);
	assert_true(at(9)->rate_per_s == 8);
	assert_true(at(9)->sum_per_s == 800);
	assert_true(at(9)->free_per_s == 200);
	assert_true(series_at(at(9)->trend, 2) == 500);
	model_set_mark(model);
	assert_int_equal(at(9)->mark_value, 500);
	/* A site that counts bytes cannot have a negative figure. */
	TELL(VALUES, values, .rows = LIST(n(9), n(1), negative(-1), n(0), n(0)));
	assert_int_equal(refused(), 1);
	assert_int_equal(at(9)->sum, 800);
}

/* ---- rates ---- */

static void the_first_tick_has_values_but_no_rates(void **state)
{
	(void)state;
	values(0, BYTES_IN, 10, 5000, 0, 0);
	snapshot(100);
	assert_int_equal(at(BYTES_IN)->sum, 5000);
	assert_true(at(BYTES_IN)->rate_per_s == 0 && at(BYTES_IN)->sum_per_s == 0);
	assert_int_equal(model_ticks(model), 1);
	assert_int_equal(model_time_ns(model), 100 * SECOND);
	assert_int_equal(model_interval_ns(model), 0);
	assert_true(isnan(series_at(model_series(model, MODEL_EVENTS), 100)));
}

static void rates_are_by_the_time_that_passed_between_ticks(void **state)
{
	(void)state;
	values(0, BYTES_IN, 10, 5000, 0, 0);
	snapshot(100);
	values(0, BYTES_IN, 30, 6000, 0, 0);
	snapshot(102);
	assert_true(at(BYTES_IN)->rate_per_s == 10);
	assert_true(at(BYTES_IN)->sum_per_s == 500);
	assert_int_equal(model_interval_ns(model), 2 * SECOND);
	assert_true(model_totals(model)->events_per_s == 10);
	/* Both seconds of that tick. */
	assert_true(series_at(at(BYTES_IN)->trend, 101) == 10);
	assert_true(series_at(at(BYTES_IN)->trend, 102) == 10);
	values(0, BYTES_IN, 40, 6000, 0, 0);
	snapshot_at(102 * SECOND + SECOND / 10);
	assert_true(fabs(at(BYTES_IN)->rate_per_s - 100) < 1e-6);
	snapshot(104);                          /* no figure was sent: nothing happened */
	assert_true(at(BYTES_IN)->rate_per_s == 0);
}

static void figures_that_go_down_are_no_negative_rates(void **state)
{
	(void)state;
	values(0, BYTES_IN, 100, 5000, 0, 0);
	snapshot(100);
	values(0, BYTES_IN, 50, 100, 0, 0);
	snapshot(101);
	assert_true(at(BYTES_IN)->rate_per_s == 0 && at(BYTES_IN)->sum_per_s == 0);
}

static void time_only_goes_on(void **state)
{
	(void)state;
	snapshot(100);
	snapshot(99);
	assert_int_equal(model_ticks(model), 1);
	assert_int_equal(model_time_ns(model), 100 * SECOND);
	snapshot(101);
	assert_int_equal(model_ticks(model), 2);
}

static void a_greetings_snapshot_is_no_tick_of_its_own(void **state)
{
	(void)state;
	values(0, BYTES_IN, 100, 0, 0, 0);
	snapshot(100);
	values(0, BYTES_IN, 150, 0, 0, 0);
	TELL(SNAPSHOT, snapshot, .time_ns = 100 * SECOND + SECOND / 2, .interval_ns = 0);
	assert_int_equal(model_ticks(model), 1);
	assert_int_equal(at(BYTES_IN)->count, 150);
	values(0, BYTES_IN, 200, 0, 0, 0);
	snapshot(101);
	assert_true(at(BYTES_IN)->rate_per_s == 100);
}

static void two_ticks_within_a_second_share_its_point(void **state)
{
	(void)state;
	values(0, CLIENTS, 1, 3, 0, 0);
	snapshot_at(100 * SECOND + 1);
	values(0, CLIENTS, 2, 4, 0, 0);
	snapshot_at(100 * SECOND + SECOND / 2);
	assert_int_equal(model_ticks(model), 2);
	assert_true(series_at(at(CLIENTS)->trend, 100) == 4);
	assert_true(isnan(series_at(at(CLIENTS)->trend, 99)));
	/* The same moment comes a second time. */
	snapshot_at(100 * SECOND + SECOND / 2);
	assert_true(at(CLIENTS)->rate_per_s == 0);
}

static void a_gauge_is_signed(void **state)
{
	(void)state;
	snapshot(99);
	TELL(VALUES, values, .rows = LIST(n(CLIENTS), n(2), negative(-5), n(0), n(0)));
	snapshot(100);
	assert_int_equal((int64_t)at(CLIENTS)->sum, -5);
	assert_true(series_at(at(CLIENTS)->trend, 100) == -5);
	assert_true(at(CLIENTS)->sum_per_s == 0);
	assert_true(at(CLIENTS)->rate_per_s == 2);
	values(0, CLIENTS, 3, (uint64_t)-7, 0, 0);     /* two's complement is the same number */
	snapshot(101);
	assert_true(series_at(at(CLIENTS)->trend, 101) == -7);
	assert_int_equal(refused(), 0);
}

static void cpu_and_memory_come_from_the_snapshot(void **state)
{
	(void)state;
	TELL(SNAPSHOT, snapshot, .time_ns = 10 * SECOND, .interval_ns = 1, .rss_bytes = 1000, .cpu_ns = 5 * SECOND,
	     .telem_cpu_ns = 100, .thread_count = 3);
	assert_true(model_totals(model)->cpu_share == 0);
	TELL(SNAPSHOT, snapshot, .time_ns = 12 * SECOND, .interval_ns = 1, .rss_bytes = 2000, .cpu_ns = 8 * SECOND,
	     .telem_cpu_ns = SECOND / 50 + 100,
	     .thread_count = 4, .telem_bytes = 77, .event_cost_ps = 9, .ring_permille = 500);
	assert_true(model_totals(model)->cpu_share == 1.5);
	assert_true(fabs(model_totals(model)->telem_cpu_share - 0.01) < 1e-12);
	assert_int_equal(model_totals(model)->rss_bytes, 2000);
	assert_int_equal(model_totals(model)->thread_count, 4);
	assert_int_equal(link_of()->ring_permille, 500);
	assert_true(series_at(model_series(model, MODEL_RSS), 10) == 1000);
	assert_true(series_at(model_series(model, MODEL_RSS), 11) == 2000);
}

static void collections_are_told_by_their_longest_span(void **state)
{
	(void)state;
	class(5, "gc");
	site(50, 5, SITE_SPAN);
	site(51, 5, SITE_SPAN);
	values(0, 50, 0, 0, 0, 0);
	snapshot(10);
	values(0, 50, 20, SECOND / 10, 1, 9);          /* the pause */
	values(0, 51, 60, SECOND / 20, 1, 9);          /* a phase in it */
	snapshot(12);
	assert_true(model_totals(model)->gc_per_s == 10);
	assert_true(fabs(model_totals(model)->gc_share - 0.05) < 1e-12);
}

static void collections_are_told_by_their_pauses_where_there_are_any(void **state)
{
	(void)state;
	class(5, "gc");
	for (uint32_t id = 50; id < 53; id++)
		site(id, 5, SITE_SPAN);
	TELL(SITE, site, .id = 51, .class_id = 5, .kind = SITE_SPAN, .detail = SPAN_IS_PAUSE, .name = text_of("gen 0"));
	TELL(SITE, site, .id = 52, .class_id = 5, .kind = SITE_SPAN, .detail = SPAN_IS_PAUSE, .name = text_of("gen 1"));
	values(0, 50, 0, 0, 0, 0);
	snapshot(10);
	values(0, 50, 60, SECOND, 1, 9);               /* something longer, but no pause */
	values(0, 51, 20, SECOND / 10, 1, 9);
	values(0, 52, 2, SECOND / 10, 1, 9);
	snapshot(12);
	assert_true(model_totals(model)->gc_per_s == 11);
	assert_true(fabs(model_totals(model)->gc_share - 0.1) < 1e-12);
}

static void log_lines_are_counted_by_severity(void **state)
{
	(void)state;
	TELL(SITE, site, .id = 60, .kind = SITE_LOG, .detail = 3);
	TELL(SITE, site, .id = 61, .kind = SITE_LOG, .detail = UINT64_MAX);
	snapshot(10);
	values(0, 60, 8, 0, 0, 0);
	values(0, 61, 8, 0, 0, 0);
	snapshot(12);
	assert_true(model_totals(model)->log_per_s[3] == 4);
	assert_true(model_totals(model)->log_per_s[0] == 0);
}

/* ---- memory ---- */

static void live_bytes_are_what_was_allocated_less_what_was_freed(void **state)
{
	(void)state;
	values(0, NODE, 10, 1000, 4, 300);
	values(0, LEAF, 1, 50, 0, 0);
	snapshot(100);
	assert_int_equal(at(NODE)->live.bytes, 700);
	assert_int_equal(at(NODE)->live.count, 6);
	assert_int_equal(model_totals(model)->live.bytes, 750);
	assert_int_equal(model_totals(model)->live.count, 7);
	values(0, NODE, 14, 1800, 6, 500);
	snapshot(102);
	assert_true(at(NODE)->rate_per_s == 2);
	assert_true(at(NODE)->sum_per_s == 400 && at(NODE)->free_per_s == 100);
	assert_true(model_totals(model)->alloc_per_s == 400 && model_totals(model)->free_per_s == 100);
	assert_true(series_at(at(NODE)->trend, 102) == 1300);
	assert_true(series_at(model_series(model, MODEL_MEMORY), 101) == 1350);
}

static void tell_was_off(uint32_t id)
{
	TELL(SITE, site, .id = id, .class_id = CLASS_MEM, .kind = SITE_ALLOC, .name = text_of("type"), .level = LEVEL_SUM,
	     .own_level = LEVEL_OWN, .was_off = 1);
}

static void types_are_rough_when_they_were_off(void **state)
{
	(void)state;
	tell_was_off(NODE);
	snapshot(1);
	assert_true(at(NODE)->live.is_rough);
	assert_false(at(LEAF)->live.is_rough);
	/* The total is rough as well, once the type has counted something. */
	assert_false(model_totals(model)->live.is_rough);
	values(0, NODE, 1, 50, 0, 0);
	snapshot(2);
	assert_true(model_totals(model)->live.is_rough);
}

static void nothing_is_below_0_after_a_gap(void **state)
{
	(void)state;
	tell_was_off(NODE);
	tell_was_off(LEAF);
	values(0, NODE, 1, 50, 9, 900);
	values(0, LEAF, 5, 50, 1, 10);
	HOLDERS(0, HOLDER(NODE, 2, 0, 70, 7, 3), HOLDER(LEAF, 2, 0, 20, 2, 1));
	snapshot(1);
	assert_true(at(NODE)->live.bytes == 0 && at(NODE)->live.is_rough);
	assert_true(model_totals(model)->live.bytes == 40 && model_totals(model)->live.is_rough);
	/* The samples since then are not scaled to totals that are wrong. */
	assert_true(model_task_by_id(model, 2)->live.bytes == 90 && model_task_by_id(model, 2)->live.is_rough);
}

static void a_type_that_was_off_makes_a_gap_too(void **state)
{
	(void)state;
	snapshot(1);
	TELL(LEVEL, level, .class_id = CLASS_MEM, .site = NODE, .level = LEVEL_OFF, .own_level = LEVEL_OFF);
	snapshot(2);
	assert_true(at(NODE)->live.is_rough);
}

static void a_task_holds_what_it_allocated_whoever_frees(void **state)
{
	const struct model_task *main_task, *io;

	(void)state;
	values(2, NODE, 10, 1000, 0, 0);
	values(3, NODE, 1, 10, 4, 400);
	values(3, LEAF, 2, 60, 0, 0);
	values(0, NODE, 11, 1010, 4, 400);
	values(0, LEAF, 2, 60, 0, 0);
	HOLDERS(0, HOLDER(NODE, 2, 0, 590, 6, 0), HOLDER(NODE, 3, 0, 20, 1, 0), HOLDER(LEAF, 3, 0, 60, 2, 0));
	snapshot(100);
	main_task = model_task_by_id(model, 2);
	io = model_task_by_id(model, 3);
	assert_int_equal(main_task->live.bytes, 590);
	assert_int_equal(main_task->live.count, 6);
	assert_int_equal(io->live.bytes, 80);
	assert_int_equal(io->live.count, 3);
	assert_int_equal(io->free_bytes, 400);
	assert_int_equal(io->free_count, 4);
	assert_int_equal(model_task_site_of(model, 3, LEAF)->live.bytes, 60);
	assert_int_equal(model_totals(model)->live.bytes, 670);
	assert_false(main_task->live.is_rough);
	values(2, NODE, 20, 3000, 5, 500);
	values(3, NODE, 1, 10, 9, 1400);
	values(0, NODE, 21, 3010, 14, 1900);
	HOLDERS(0, HOLDER(NODE, 2, 0, 1110, 10, 0));
	snapshot(102);
	assert_true(main_task->alloc_per_s == 1000 && main_task->free_per_s == 250);
	assert_true(io->alloc_per_s == 0 && io->free_per_s == 500);
	assert_true(main_task->events_per_s == 5 && io->events_per_s == 0);
	assert_int_equal(main_task->last_ns, 102 * SECOND);
	assert_int_equal(io->last_ns, 100 * SECOND);
	assert_true(series_at(io->trend, 102) == 0);
	assert_int_equal(main_task->live.bytes, 1110);
	assert_int_equal(model_task_site_of(model, 3, NODE)->max, 1400);
	assert_null(model_task_site_of(model, 2, LEAF));
	assert_int_equal(model_task_site_count(model), 3);
}

static void estimates_are_scaled_to_the_total_which_is_exact(void **state)
{
	const struct model_task *main_task, *io;

	(void)state;
	site(9, CLASS_MEM, SITE_TAG);
	values(0, NODE, 100, 10000, 0, 0);
	/* Two messages of one tick. The samples stand for 8,000 bytes and 80 objects. */
	HOLDERS(0, HOLDER(NODE, 2, 9, 5000, 50, 300));
	HOLDERS(1, HOLDER(NODE, 2, 0, 1000, 10, 100), HOLDER(NODE, 3, 9, 2000, 20, 400));
	snapshot(10);
	main_task = model_task_by_id(model, 2);
	io = model_task_by_id(model, 3);
	assert_int_equal(main_task->live.bytes, 7500);
	assert_int_equal(io->live.bytes, 2500);
	assert_int_equal(io->live.count, 25);
	assert_true(main_task->live.is_rough && io->live.is_rough);
	assert_int_equal(at(9)->live.bytes, 8750);
	assert_int_equal(model_totals(model)->unsampled_bytes, 0);
	/* Of a ratio: 1.25^2 (0.25^2 (300^2 + 100^2) + 0.75^2 400^2), and the same for the other part of the whole. */
	assert_true(fabs(main_task->live.variance - 150390.625) < 1e-6);
	assert_true(fabs(io->live.variance - 150390.625) < 1e-6);
	/* All that was sampled need not be all, unless nothing could be missed. */
	HOLDERS(0, HOLDER(NODE, 3, 9, 12000, 50, 2000));
	snapshot(11);
	assert_int_equal(io->live.bytes, 10000);
	assert_true(io->live.is_rough);
	HOLDERS(0, HOLDER(NODE, 3, 9, 10000, 50, 0));
	snapshot(11);
	assert_false(io->live.is_rough);
	assert_int_equal(main_task->live.bytes, 0);
	/* Nothing is left over from a tick whose message says that nothing lives. */
	TELL(HOLDERS, holders, .mean_bytes = 1024);
	snapshot(12);
	assert_int_equal(io->live.bytes, 0);
	assert_int_equal(model_totals(model)->unsampled_bytes, 10000);
}

static void what_no_sample_stands_for_is_held_by_nobody(void **state)
{
	(void)state;
	values(0, NODE, 100, 100000, 0, 0);
	values(0, LEAF, 9, 900, 0, 0);
	HOLDERS(0, HOLDER(NODE, 2, 0, 20000, 20, 1000));
	snapshot(10);
	/* The addresses of most nodes were not told, so task 2 is not said to hold all of them. */
	assert_int_equal(model_task_by_id(model, 2)->live.bytes, 20000);
	assert_int_equal(model_totals(model)->unsampled_bytes, 80900);
}

static void types_without_frees_of_their_own_share_them(void **state)
{
	(void)state;
	TELL(SITE, site, .id = 20, .class_id = CLASS_MEM, .kind = SITE_ALLOC, .name = text_of("key"),
	     .detail = ALLOC_IS_FREED_ELSEWHERE);
	TELL(SITE, site, .id = 21, .class_id = CLASS_MEM, .kind = SITE_ALLOC, .name = text_of("value"),
	     .detail = ALLOC_IS_FREED_ELSEWHERE);
	TELL(SITE, site, .id = 22, .class_id = CLASS_MEM, .kind = SITE_ALLOC, .name = text_of("(freed)"),
	     .detail = ALLOC_IS_FREES);
	values(0, 20, 10, 1000, 0, 0);
	values(0, 21, 10, 9000, 0, 0);
	values(0, 22, 0, 0, 4, 2000);
	values(0, NODE, 10, 1000, 4, 300);
	HOLDERS(0, HOLDER(20, 2, 0, 500, 5, 50), HOLDER(21, 2, 0, 3000, 4, 100), HOLDER(21, 3, 0, 6500, 7, 100),
		HOLDER(NODE, 3, 0, 700, 6, 0));
	snapshot(10);
	assert_int_equal(model_totals(model)->live.bytes, 8700);
	assert_int_equal(model_totals(model)->live.count, 22);
	assert_false(model_totals(model)->live.is_rough);
	assert_int_equal(at(20)->live.bytes, 400);
	assert_int_equal(at(21)->live.bytes, 7600);
	assert_true(at(20)->live.is_rough && at(20)->live.variance > 0);
	assert_int_equal(at(22)->live.bytes, 0);
	assert_int_equal(model_task_by_id(model, 2)->live.bytes, 2800);
	assert_int_equal(model_task_by_id(model, 3)->live.bytes, 5900);
	assert_int_equal(model_totals(model)->unsampled_bytes, 0);
}

static void sampled_allocations_read_as_words(void **state)
{
	(void)state;
	TELL(SITE, site, .id = 30, .class_id = CLASS_MEM, .kind = SITE_EVENT, .name = text_of("sampled"));
	TELL(RECORD, record, .task = 2, .site = 30, .time_ns = 5,
	     .values = LIST(n(NODE), n(64), n(0x7f00), n(0), n(2), n(0)));
	assert_string_equal(model_line(model, 0)->text, "allocated a sampled s of 64 bytes at 0x7f00");
	TELL(RECORD, record, .task = 2, .site = 30, .time_ns = 6,
	     .values = LIST(n(NODE), n(64), n(0x7f00), n(1234567), n(2), n(1)));
	assert_string_equal(model_line(model, 0)->text, "freed a sampled s of 64 bytes at 0x7f00 after 1234 us");
}

static void without_holders_nobody_knows_what_a_task_holds(void **state)
{
	(void)state;
	values(2, NODE, 10, 1000, 0, 0);
	values(0, NODE, 10, 1000, 0, 0);
	snapshot(10);
	assert_false(model_has_holders(model));
	assert_false(model_task_by_id(model, 2)->live.is_known);
	assert_true(at(NODE)->live.is_known);
	assert_int_equal(model_totals(model)->unsampled_bytes, 0);
}

static void holders_of_a_task_that_has_ended_are_one(void **state)
{
	(void)state;
	values(0, NODE, 10, 1000, 0, 0);
	HOLDERS(0, HOLDER(NODE, 77, 0, 600, 6, 0), HOLDER(NODE, TASK_ENDED, 0, 400, 4, 0));
	snapshot(10);
	assert_int_equal(model_task_site_of(model, TASK_ENDED, NODE)->live.bytes, 1000);
	assert_int_equal(model_holder_count(model), 2);
}

/* A float keeps 24 bits: rates are not taken from the trend. */
static void a_tasks_rates_are_exact_for_huge_memory(void **state)
{
	const uint64_t tera = 1ull << 40;

	(void)state;
	values(2, NODE, 1, 64 * tera, 0, 0);
	snapshot(10);
	values(2, NODE, 2, 64 * tera + 10, 1, 4);
	snapshot(11);
	assert_true(model_task_by_id(model, 2)->alloc_per_s == 10);
	assert_true(model_task_by_id(model, 2)->free_per_s == 4);
	assert_int_equal(model_task_by_id(model, 2)->alloc_bytes, 64 * tera + 10);
}

/* ---- tasks ---- */

static void an_ended_task_is_gone_with_its_figures(void **state)
{
	(void)state;
	task(4, "late");
	for (uint64_t id = 2; id <= 4; id++)
		for (uint64_t s = NODE; s <= LEAF; s++)
			values(id, s, id, id, 0, 0);
	snapshot(10);
	assert_int_equal(model_task_site_count(model), 12);
	task_ends(2);
	assert_null(model_task_by_id(model, 2));
	assert_int_equal(model_task_site_count(model), 8);
	assert_null(model_task_site_of(model, 2, NODE));
	for (uint64_t id = 3; id <= 4; id++)
		for (uint32_t s = NODE; s <= LEAF; s++)
			assert_int_equal(model_task_site_of(model, (uint32_t)id, s)->count, id);
	assert_int_equal(model_task_count(model), 3);
	snapshot(11);
	assert_string_equal(model_task(model, 1)->name, "io");      /* in their order */
	assert_string_equal(model_task(model, 2)->name, "late");
	assert_ptr_equal(model_task_by_id(model, 4), model_task(model, 2));
	task_ends(2);                   /* a task that has ended already or never existed: nothing happens */
	task_ends(77);
	task_ends(TASK_ENDED);
	assert_int_equal(model_task_count(model), 3);
	assert_int_equal(refused(), 0);
}

static void many_tasks_that_end_are_gone_at_the_next_tick(void **state)
{
	(void)state;
	for (uint64_t id = 100; id < 1100; id++)
		task(id, "t");
	for (uint64_t id = 100; id < 1100; id += 2) {
		task_ends(id);
		assert_null(model_task_by_id(model, (uint32_t)id));
	}
	assert_true(model_task_count(model) <= 503 + 503 / 64 + 1);
	snapshot(1);
	assert_int_equal(model_task_count(model), 503);
	for (uint32_t i = 3; i < 503; i++) {
		assert_int_equal(model_task(model, i)->id, 101 + 2 * (i - 3));
		assert_ptr_equal(model_task_by_id(model, 101 + 2 * (i - 3)), model_task(model, i));
	}
}

static void the_same_slot_with_another_generation_is_another_task(void **state)
{
	const uint32_t first = 0x00010005, second = 0x00020005;

	(void)state;
	task(first, "one");
	values(first, NODE, 10, 1000, 0, 0);
	snapshot(10);
	task_ends(first);
	task(second, "two");
	values(second, NODE, 1, 5, 0, 0);
	values(first, NODE, 99, 9999, 0, 0);            /* late figures, of a task that has ended */
	snapshot(11);
	assert_null(model_task_by_id(model, first));
	assert_null(model_task_site_of(model, first, NODE));
	assert_int_equal(model_task_by_id(model, second)->alloc_bytes, 5);
	/* An id can be used again. The new task begins with figures of 0. */
	task_ends(second);
	task(second, "three");
	assert_int_equal(model_task_by_id(model, second)->alloc_bytes, 0);
	snapshot(12);
	assert_string_equal(model_task_by_id(model, second)->name, "three");
	assert_int_equal(model_task_by_id(model, second)->alloc_bytes, 0);
}

static void what_a_task_leaves_behind_did_not_happen_now(void **state)
{
	(void)state;
	values(2, NODE, 1000, 50000, 0, 0);
	values(TASK_ENDED, NODE, 5, 5, 0, 0);
	snapshot(10);
	task_ends(2);
	values(TASK_ENDED, NODE, 1005, 50005, 0, 0);
	snapshot(11);
	assert_int_equal(model_task_by_id(model, TASK_ENDED)->alloc_bytes, 50005);
	assert_true(model_task_by_id(model, TASK_ENDED)->alloc_per_s == 0);
	assert_true(model_task_by_id(model, TASK_ENDED)->events_per_s == 0);
}

static void figures_of_a_task_nobody_named_are_left_out(void **state)
{
	(void)state;
	values(99, NODE, 1, 1, 0, 0);
	TELL(BUCKETS, buckets, .task = 99, .site = SPAN, .pairs = LIST(n(1), n(1)));
	assert_int_equal(model_task_site_count(model), 0);
	/* Task 2^44 does not exist, and must not be taken for task 0 or 2. */
	values(1ull << 44, NODE, 1, 1, 0, 0);
	values((1ull << 44) + 2, NODE, 1, 1, 0, 0);
	assert_int_equal(model_task_site_count(model), 0);
	assert_int_equal(at(NODE)->count, 0);
	assert_int_equal(refused(), 2);
}

static void a_task_that_a_later_greeting_does_not_name_has_ended(void **state)
{
	(void)state;
	values(2, NODE, 1, 100, 0, 0);
	values(3, NODE, 1, 100, 0, 0);
	snapshot(10);
	model_gap(model);
	hello(7);
	task(3, "io");
	task(4, "new");
	assert_non_null(model_task_by_id(model, 2));    /* the greeting is not over */
	snapshot(12);
	assert_null(model_task_by_id(model, 2));
	assert_null(model_task_site_of(model, 2, NODE));
	assert_int_equal(model_task_by_id(model, 3)->alloc_bytes, 100);
	assert_int_equal(model_task_count(model), 3);
	assert_non_null(model_task_by_id(model, TASK_ENDED));
	snapshot(13);                   /* later ticks name no task */
	assert_int_equal(model_task_count(model), 3);
}

/* ---- distributions ---- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void assert_near(uint64_t figure, uint64_t exact)
{
	if (fabs((double)figure - (double)exact) > (double)exact / 32)
		fail_msg("%llu is not near %llu", (unsigned long long)figure, (unsigned long long)exact);
}

static void quantiles_are_within_a_buckets_width_of_the_exact_ones(void **state)
{
	enum { EVENTS = 10000 };
	static uint64_t exact[EVENTS];
	uint64_t random = random_seed(3), sum = 0;
	const struct quantiles *window = &at(SPAN)->window;

	(void)state;
	snapshot(100);
	for (int i = 0; i < EVENTS; i++) {
		exact[i] = 50 + random_below(&random, 1000) * random_below(&random, 100000);
		sum += exact[i];
		happen(exact[i]);
	}
	qsort(exact, EVENTS, sizeof *exact, compare);
	tell_span(0);
	snapshot(101);
	assert_int_equal(at(SPAN)->count, EVENTS);
	assert_int_equal(at(SPAN)->sum, sum);
	assert_int_equal(at(SPAN)->min, exact[0]);
	assert_int_equal(at(SPAN)->max, exact[EVENTS - 1]);
	assert_int_equal(window->count, EVENTS);
	assert_true(window->rate_per_s == EVENTS);
	assert_int_equal(window->min, exact[0]);
	assert_int_equal(window->max, exact[EVENTS - 1]);
	assert_near(window->p50, exact[EVENTS / 2 - 1]);
	assert_near(window->p90, exact[EVENTS / 10 * 9 - 1]);
	assert_near(window->p99, exact[EVENTS / 100 * 99 - 1]);
	assert_near(window->p999, exact[EVENTS / 1000 * 999 - 1]);
	assert_near((uint64_t)series_at(at(SPAN)->trend, 101), exact[EVENTS / 100 * 99 - 1]);
}

static void small_values_are_exact(void **state)
{
	(void)state;
	snapshot(1);
	for (uint64_t i = 1; i <= 50; i++)
		happen(i);
	tell_span(0);
	snapshot(2);
	assert_int_equal(at(SPAN)->window.p50, 25);
	assert_int_equal(at(SPAN)->window.p90, 45);
	assert_int_equal(at(SPAN)->window.p99, 50);
	assert_int_equal(at(SPAN)->window.min, 1);
	assert_int_equal(at(SPAN)->window.max, 50);
}

/* The bucket of the value begins at 992 and has its middle at 1000. */
static void no_quantile_lies_outside_of_min_and_max(void **state)
{
	const struct quantiles *window = &at(SPAN)->window;

	(void)state;
	snapshot(1);
	happen(1007);
	tell_span(0);
	snapshot(2);
	assert_true(window->min == 1007 && window->max == 1007 && window->p50 == 1007 && window->p99 == 1007);
}

static void values_past_the_last_bucket_have_their_true_maximum(void **state)
{
	const struct quantiles *window = &at(SPAN)->window;

	(void)state;
	snapshot(1);
	happen(5);
	happen(1ull << 50);
	tell_span(0);
	snapshot(2);
	assert_int_equal(window->max, 1ull << 50);
	assert_int_equal(window->min, 5);
	happen(UINT64_MAX);
	tell_span(0);
	snapshot(3);
	assert_int_equal(window->max, UINT64_MAX);
	assert_true(window->p99 <= window->max && window->p50 <= window->p99);
}

/* One event a second; 100 ns up to second 350, then 1000. */
static void windows_reach_back_as_far_as_they_say(void **state)
{
	static const struct { int window_s; uint64_t count, p50, p99; } expected[] = {
		{ 10, 10, 1000, 1000 }, { 60, 60, 1000, 1000 }, { 300, 300, 100, 1000 }, { 0, 420, 100, 1000 },
	};
	uint64_t buckets[HISTOGRAM_BUCKETS];

	(void)state;
	for (uint64_t second = 1; second <= 420; second++) {
		happen(second <= 350 ? 100 : 1000);
		tell_span(0);
		snapshot(second);
	}
	for (size_t i = 0; i < COUNT(expected); i++) {
		model_set_window(model, expected[i].window_s);
		assert_int_equal(model_window(model), expected[i].window_s);
		assert_int_equal(at(SPAN)->window.count, expected[i].count);
		assert_near(at(SPAN)->window.p50, expected[i].p50);
		assert_near(at(SPAN)->window.p99, expected[i].p99);
		assert_true(at(SPAN)->window.rate_per_s == 1);
		assert_true(model_window_buckets(model, at(SPAN), buckets));
		assert_int_equal(buckets[histogram_index(100)], expected[i].count > 70 ? expected[i].count - 70 : 0);
	}
	model_set_window(model, 10000);
	assert_int_equal(model_window(model), MODEL_WINDOW_S_MAX);
	model_set_window(model, -1);
	assert_int_equal(model_window(model), 0);
	assert_false(model_window_buckets(model, at(NODE), buckets));
	assert_false(at(SPAN)->is_rough);
}

static void a_window_forgets_what_is_too_old_also_when_nothing_happens(void **state)
{
	(void)state;
	snapshot(100);
	happen(100);
	tell_span(0);
	snapshot(101);
	for (uint64_t second = 102; second <= 160; second++) {
		snapshot(second);
		assert_int_equal(at(SPAN)->window.count, 1);
	}
	snapshot(161);
	assert_int_equal(at(SPAN)->window.count, 0);
	assert_int_equal(at(SPAN)->window.p99, 0);
	assert_true(isnan(series_at(at(SPAN)->trend, 161)));
	assert_true(series_at(at(SPAN)->trend, 101) == 100);
	/* The slot of second 101 comes again at 401. */
	snapshot(401);
	assert_int_equal(at(SPAN)->window.count, 0);
}

static void all_ticks_of_a_second_are_in_its_window(void **state)
{
	(void)state;
	model_set_window(model, 10);
	for (uint64_t tick = 0; tick <= 100; tick++) {
		for (int i = 0; i < 5; i++)
			happen(100);
		tell_span(0);
		snapshot_at(100 * SECOND + tick * SECOND / 10);
	}
	/* Seconds 101 to 110, the last with one tick so far. */
	assert_int_equal(at(SPAN)->window.count, 5 * 91);
}

static void the_rate_of_a_window_counts_only_time_that_was_watched(void **state)
{
	(void)state;
	snapshot(100);
	for (uint64_t second = 104; second <= 112; second += 4) {
		for (int i = 0; i < 40; i++)
			happen(9);
		tell_span(0);
		snapshot(second);
		assert_true(at(SPAN)->window.rate_per_s == 10);
	}
	/* A window is not shorter than a tick. */
	model_set_window(model, 1);
	assert_int_equal(at(SPAN)->window.count, 40);
	assert_true(at(SPAN)->window.rate_per_s == 10);
}

static void heat_is_by_octave_and_second(void **state)
{
	static const struct { uint64_t value; uint32_t row; } expected[] = {
		{ 0, 0 }, { 63, 0 }, { 64, 1 }, { 127, 1 }, { 128, 2 }, { 1000, 4 }, { 1024, 5 }, { 1ull << 41, 36 },
		{ UINT64_MAX, 36 },
	};
	const struct heat *heat = at(SPAN)->heat;

	(void)state;
	snapshot(1000);
	for (size_t i = 0; i < COUNT(expected); i++) {
		happen(expected[i].value);
		tell_span(0);
		snapshot(1001 + i);
		assert_int_equal(heat->counts[(1001 + i) % MODEL_WINDOW_S_MAX][expected[i].row], 1);
		assert_int_equal(heat->last_second, 1001 + i);
	}
	/* Seconds without a tick between are empty. */
	snapshot(1001 + MODEL_WINDOW_S_MAX + 4);
	for (int row = 0; row < MODEL_HEAT_ROWS; row++)
		assert_int_equal(heat->counts[1001 % MODEL_WINDOW_S_MAX][row], 0);
	assert_int_equal(heat->counts[1006 % MODEL_WINDOW_S_MAX][4], 1);
	snapshot(5000);
	for (int column = 0; column < MODEL_WINDOW_S_MAX; column++)
		for (int row = 0; row < MODEL_HEAT_ROWS; row++)
			assert_int_equal(heat->counts[column][row], 0);
}

static void a_tasks_share_of_a_span_is_its_own(void **state)
{
	(void)state;
	happen(100);
	tell_span(3);
	happen(200);
	tell_span(0);
	snapshot(1);
	assert_int_equal(model_task_site_of(model, 3, SPAN)->count, 1);
	assert_int_equal(model_task_site_of(model, 3, SPAN)->buckets[histogram_index(100)], 1);
	assert_int_equal(model_task_site_of(model, 3, SPAN)->buckets[histogram_index(200)], 0);
	assert_int_equal(at(SPAN)->buckets[histogram_index(200)], 1);
}

/* ---- books ---- */

static void what_was_taken_before_we_came_is_not_lost(void **state)
{
	const struct model_class *net = model_class(model, CLASS_NET);

	(void)state;
	books(CLASS_NET, 1000, 10, 990);
	snapshot(10);
	assert_int_equal(net->lost, 0);
	assert_int_equal(link_of()->lost_events, 0);
	assert_int_equal(link_of()->dropped_events, 0);
	assert_true(link_of()->is_balanced && link_of()->has_books);
	batch(SPAN, 100);
	books(CLASS_NET, 1110, 10, 1100);               /* 10 of 110 are missing */
	snapshot(11);
	assert_int_equal(net->received, 100);
	assert_int_equal(net->lost, 10);
	assert_int_equal(link_of()->lost_events, 10);
	assert_int_equal(link_of()->emitted, 1110);
	assert_true(link_of()->is_balanced);
	assert_true(net->events_per_s == 100 && at(SPAN)->streamed_per_s == 100);
	assert_true(link_of()->drops_per_s == 10);
	assert_int_equal(link_of()->last_loss_ns, 11 * SECOND);
}

static void a_class_without_events_when_we_came_starts_from_nothing(void **state)
{
	(void)state;
	TELL(BOOKS, books, .task = 0);                  /* the books of a greeting */
	snapshot(10);
	batch(SPAN, 5);
	books(CLASS_NET, 8, 0, 8);
	snapshot(11);
	assert_int_equal(model_class(model, CLASS_NET)->lost, 3);
	assert_int_equal(link_of()->lost_events, 3);
}

static void what_was_dropped_at_the_source_before_we_came_is_not_our_loss(void **state)
{
	const struct model_class *net = model_class(model, CLASS_NET);

	(void)state;
	books(CLASS_NET, 1000, 10, 990);
	snapshot(10);
	assert_int_equal(model_dropped(net), 0);
	assert_int_equal(link_of()->dropped_events, 0);
	batch(SPAN, 100);
	books(CLASS_NET, 1107, 17, 1090);
	snapshot(11);
	assert_int_equal(model_dropped(net), 7);
	assert_int_equal(link_of()->dropped_events, 7);
	assert_int_equal(link_of()->lost_events, 0);
	assert_int_equal(net->dropped, 17);             /* its own books stay what they are */
}

static void without_books_in_the_greeting_losses_count_from_the_start(void **state)
{
	const struct model_class *net = model_class(model, CLASS_NET);

	(void)state;
	batch(SPAN, 100);
	books(CLASS_NET, 115, 5, 110);
	snapshot(10);
	assert_int_equal(net->received, 100);
	assert_int_equal(net->lost, 10);
	assert_int_equal(link_of()->lost_events, 10);
	assert_int_equal(model_dropped(net), 5);
	assert_int_equal(link_of()->dropped_events, 5);
	assert_true(link_of()->is_balanced);
}

static void who_came_late_reads_no_loss_from_before(void **state)
{
	const struct model_class *net = model_class(model, CLASS_NET);

	(void)state;
	model_joined_late(model);
	batch(SPAN, 100);
	books(CLASS_NET, 5115, 5, 5110);
	snapshot(10);
	assert_int_equal(net->lost, 0);
	assert_int_equal(link_of()->dropped_events, 0);
	books(CLASS_NET, 5125, 5, 5120);
	snapshot(11);
	assert_int_equal(net->lost, 10);
}

/* Nothing in the protocol says that the books of a tick are one message. */
static void books_may_come_in_several_messages(void **state)
{
	(void)state;
	books(CLASS_MEM, 100, 0, 100);
	books(CLASS_NET, 2000, 5, 1990);
	snapshot(10);
	assert_int_equal(link_of()->emitted, 2100);
	assert_int_equal(link_of()->taken, 2090);
	assert_int_equal(link_of()->lost_events, 0);
	batch(NODE, 3);
	books(CLASS_MEM, 104, 0, 104);
	books(CLASS_NET, 2000, 5, 1995);
	snapshot(11);
	assert_int_equal(link_of()->lost_events, 6);
	assert_int_equal(link_of()->dropped_events, 0);
}

static void what_our_own_queue_dropped_is_no_loss_on_the_way(void **state)
{
	(void)state;
	books(CLASS_NET, 0, 0, 0);
	snapshot(10);
	batch(SPAN, 10);
	books(CLASS_NET, 100, 0, 100);
	snapshot(11);
	assert_int_equal(link_of()->lost_events, 90);
	TELL(SINK, sink, .taken = 100, .delivered = 20, .dropped = 80, .viewers = 2, .queue_bytes = 3, .queue_bytes_max = 4);
	assert_int_equal(link_of()->lost_events, 10);
	assert_int_equal(link_of()->dropped_events, 80);
	assert_int_equal(link_of()->viewers, 2);
}

static void books_of_one_task_are_not_those_of_all(void **state)
{
	(void)state;
	TELL(BOOKS, books, .task = 2, .rows = LIST(n(CLASS_NET), n(5), n(0), n(5)));
	assert_false(link_of()->has_books);
	assert_int_equal(model_class(model, CLASS_NET)->emitted, 0);
}

static void books_that_cannot_be_are_said_to_be_out_of_balance(void **state)
{
	(void)state;
	books(CLASS_NET, 10, 5, 5);
	assert_true(link_of()->is_balanced);
	books(CLASS_NET, 10, 5, 6);             /* more were taken or dropped than emitted */
	assert_false(link_of()->is_balanced);
	books(CLASS_NET, 10, 11, 5);
	assert_false(link_of()->is_balanced);
	books(CLASS_NET, UINT64_MAX, UINT64_MAX, UINT64_MAX);      /* their sum wraps to a small one */
	assert_false(link_of()->is_balanced);
	books(CLASS_NET, 10, 5, 5);
	assert_true(link_of()->is_balanced);
	batch(SPAN, 3);                         /* we received events that were never sent */
	books(CLASS_NET, 12, 5, 7);
	assert_false(link_of()->is_balanced);
	books(CLASS_NET, 12, 5, 2);             /* fewer than when we joined */
	assert_false(link_of()->is_balanced);
	assert_int_equal(model_class(model, CLASS_NET)->lost, 0);
}

static void after_a_gap_totals_stay_and_the_time_away_is_no_loss(void **state)
{
	const struct model_class *net = model_class(model, CLASS_NET);

	(void)state;
	books(CLASS_NET, 100, 0, 100);
	values(0, BYTES_IN, 100, 0, 0, 0);
	snapshot(10);
	batch(SPAN, 7);
	books(CLASS_NET, 110, 0, 110);
	snapshot(11);
	assert_int_equal(link_of()->lost_events, 3);
	model_gap(model);
	assert_false(model_is_settled(model));
	hello(7);
	values(0, BYTES_IN, 5000, 0, 0, 0);
	books(CLASS_NET, 9000, 20, 8980);
	TELL(SNAPSHOT, snapshot, .time_ns = 20 * SECOND);
	assert_int_equal(link_of()->lost_events, 3);
	assert_int_equal(net->lost, 0);
	assert_int_equal(net->received, 0);
	assert_int_equal(at(BYTES_IN)->count, 5000);
	assert_true(at(BYTES_IN)->rate_per_s == 0);
	assert_true(link_of()->is_balanced);
	batch(SPAN, 1);
	books(CLASS_NET, 9005, 20, 8985);
	values(0, BYTES_IN, 5010, 0, 0, 0);
	snapshot(21);
	assert_int_equal(link_of()->lost_events, 7);
	assert_true(at(BYTES_IN)->rate_per_s == 10);
	/* No connection, no points. */
	assert_true(isnan(series_at(model_series(model, MODEL_RSS), 15)));
}

static void ticks_for_a_more_impatient_viewer_are_passed_over(void **state)
{
	(void)state;
	model_set_interval(model, SECOND);
	snapshot_at(10 * SECOND);
	values(0, BYTES_IN, 100, 0, 0, 0);
	snapshot_at(10 * SECOND + SECOND / 4);
	assert_int_equal(model_ticks(model), 1);
	values(0, BYTES_IN, 400, 0, 0, 0);
	snapshot_at(11 * SECOND - SECOND / 50);         /* our tick comes a little early */
	assert_int_equal(model_ticks(model), 2);
	assert_true(fabs(at(BYTES_IN)->rate_per_s - 400 / 0.98) < 1e-6);
	/* The latest figures count when the program ends, although their tick was too soon. */
	values(0, BYTES_IN, 500, 0, 0, 0);
	snapshot_at(11 * SECOND);
	assert_int_equal(model_ticks(model), 2);
	TELL(BYE, bye, .time_ns = 11 * SECOND);
	assert_int_equal(model_ticks(model), 3);
	assert_int_equal(at(BYTES_IN)->count, 500);
	/* Also after another program took the place of this one. */
	TELL(HELLO, hello, .major = 1, .stream = 4711);
	snapshot_at(1 * SECOND);
	snapshot_at(1 * SECOND + SECOND / 4);
	assert_int_equal(model_ticks(model), 1);
}

static void goodbye_is_kept_as_it_was_said(void **state)
{
	(void)state;
	assert_false(link_of()->has_bye);
	TELL(BYE, bye, .time_ns = 5, .emitted = 100, .before = 10, .delivered = 80, .dropped = 10);
	assert_true(link_of()->has_bye);
	assert_int_equal(link_of()->bye.delivered, 80);
	model_gap(model);
	assert_false(link_of()->has_bye);
}

static void a_class_tells_what_watching_it_costs(void **state)
{
	const struct model_class *net = model_class(model, CLASS_NET);

	(void)state;
	TELL(CLASS, class, .id = CLASS_NET, .name = text_of("net"), .level = LEVEL_ALL);
	TELL(SNAPSHOT, snapshot, .time_ns = 10 * SECOND, .interval_ns = 1, .event_cost_ps = 20000);
	batch(SPAN, 200);
	TELL(SNAPSHOT, snapshot, .time_ns = 11 * SECOND, .interval_ns = 1, .event_cost_ps = 20000);
	assert_true(net->events_per_s == 200);
	assert_true(net->bytes_per_s == 0);             /* 100 bytes for 200 events: less than one each */
	assert_true(fabs(net->cost_share - 200 * 20e-9) < 1e-15);
	TELL(LEVEL, level, .class_id = CLASS_NET, .level = LEVEL_OFF);
	TELL(SNAPSHOT, snapshot, .time_ns = 12 * SECOND, .interval_ns = 1, .event_cost_ps = 20000);
	assert_true(net->events_per_s == 0 && net->cost_share == 0);
	assert_true(net->last_events_per_s == 200 && net->last_cost_share > 0);
}

/* ---- marks, copies, streams ---- */

static void a_mark_has_the_window_that_is_shown(void **state)
{
	(void)state;
	snapshot(1);
	for (int i = 2; i <= 50; i++) {
		happen(i <= 45 ? 100 : 100000);
		tell_span(0);
		snapshot((uint64_t)i);
	}
	model_set_mark(model);
	assert_int_equal(at(SPAN)->mark.count, 49);
	happen(5);
	tell_span(0);
	snapshot(51);
	model_set_window(model, 10);
	assert_int_equal(at(SPAN)->mark.count, 10);
	assert_int_equal(at(SPAN)->window.count, 10);
	model_set_window(model, 0);              /* what the whole run was then is not known any more */
	assert_int_equal(at(SPAN)->mark.count, 0);
	model_set_window(model, 60);
	assert_int_equal(at(SPAN)->mark.count, 49);
}

static void another_model_can_take_a_mark(void **state)
{
	struct model *copy;

	(void)state;
	happen(100);
	tell_span(0);
	HOLDERS(0, HOLDER(NODE, 2, 0, 10, 1, 0));
	values(0, NODE, 1, 10, 0, 0);
	snapshot(1);
	copy = model_copy(model);
	model_set_mark(copy);
	values(0, NODE, 2, 500, 0, 0);
	snapshot(5);
	model_take_mark(model, copy);
	assert_int_equal(model_mark_ns(model), SECOND);
	assert_int_equal(at(NODE)->mark_value, 10);
	assert_int_equal(model_task_by_id(model, 2)->mark_value, 10);
	model_free(copy);
}

static void a_mark_keeps_what_there_was(void **state)
{
	(void)state;
	values(0, NODE, 10, 1000, 0, 0);
	values(2, NODE, 10, 1000, 0, 0);
	values(0, CLIENTS, 1, (uint64_t)-3, 0, 0);
	values(0, BYTES_IN, 44, 1, 0, 0);
	snapshot(1);
	happen(100);
	tell_span(0);
	HOLDERS(0, HOLDER(NODE, 2, 0, 1000, 10, 0));
	snapshot(2);
	model_set_mark(model);
	values(0, NODE, 20, 5000, 0, 0);
	happen(100000);
	tell_span(0);
	snapshot(3);
	assert_int_equal(model_mark_ns(model), 2 * SECOND);
	assert_int_equal(at(NODE)->mark_value, 1000);
	assert_int_equal(at(CLIENTS)->mark_value, -3);
	assert_int_equal(at(BYTES_IN)->mark_value, 44);
	assert_int_equal(at(SPAN)->mark.count, 1);
	assert_int_equal(at(SPAN)->window.count, 2);
	assert_int_equal(model_task_by_id(model, 2)->mark_value, 1000);
	model_clear_mark(model);
	assert_int_equal(model_mark_ns(model), 0);
}

static void a_copy_stands_still(void **state)
{
	struct model *copy;
	uint64_t buckets[HISTOGRAM_BUCKETS], total = 0;

	(void)state;
	values(2, NODE, 10, 1000, 0, 0);
	books(CLASS_NET, 5, 0, 5);
	TELL(LOG, log, .text = text_of("old"));
	snapshot(10);
	for (int i = 0; i < 3; i++)
		happen(100);
	tell_span(0);
	tell_span(2);
	snapshot(11);
	copy = model_copy(model);
	assert_non_null(copy);
	/* Everything changes. */
	happen(5000);
	tell_span(0);
	tell_span(2);
	values(2, NODE, 20, 9000, 0, 0);
	TELL(LOG, log, .text = text_of("new"));
	snapshot(12);
	task_ends(2);
	site(77, 0, SITE_COUNTER);
	snapshot(13);
	hello(8);
	assert_int_equal(model_site_count(model), 0);
	assert_int_equal(model_ticks(copy), 2);
	assert_int_equal(model_site_count(copy), 5);
	assert_int_equal(model_site_by_id(copy, SPAN)->window.count, 3);
	assert_int_equal(model_site_by_id(copy, SPAN)->heat->counts[11][1], 3);
	assert_int_equal(model_task_by_id(copy, 2)->alloc_bytes, 1000);
	assert_int_equal(model_task_site_of(copy, 2, SPAN)->count, 3);
	assert_int_equal(model_task_site_of(copy, 2, SPAN)->buckets[histogram_index(5000)], 0);
	assert_string_equal(model_line(copy, 0)->text, "old");
	assert_int_equal(model_target(copy)->stream, 7);
	/* Its window can still be changed, and its tasks can end. */
	model_set_window(copy, 10);
	assert_true(model_window_buckets(copy, model_site_by_id(copy, SPAN), buckets));
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		total += buckets[i];
	assert_int_equal(total, 3);
	model_apply(copy, &(struct message){ .kind = KIND_TASK, .task = { .id = 2, .ended = 1 } }, 9);
	assert_int_equal(model_task_site_count(copy), 0);
	model_free(copy);
}

static void another_stream_empties_the_model(void **state)
{
	(void)state;
	values(2, NODE, 10, 1000, 0, 0);
	books(CLASS_NET, 5, 1, 4);
	TELL(LOG, log, .text = text_of("old"));
	snapshot(100);
	model_set_mark(model);
	model_set_window(model, 300);
	model_gap(model);
	model_gap(model);
	hello(7);                       /* the same: nothing changes */
	assert_int_equal(model_ticks(model), 1);
	hello(8);
	assert_int_equal(model_ticks(model), 0);
	assert_int_equal(model_site_count(model) + model_task_count(model) + model_class_count(model), 0);
	assert_int_equal(model_task_site_count(model) + model_line_count(model), 0);
	assert_int_equal(model_mark_ns(model), 0);
	assert_false(link_of()->has_books);
	assert_int_equal(model_window(model), 300);
	assert_int_equal(link_of()->reconnects, 2);
	/* The clock of the next program may be behind, after a reboot or on another machine. */
	site(SPAN, 0, SITE_COUNTER);
	values(0, SPAN, 1, 1, 0, 0);
	snapshot(3);
	assert_int_equal(model_ticks(model), 1);
	assert_true(isnan(series_at(model_series(model, MODEL_RSS), 100)));
}

static void it_is_settled_between_ticks_only(void **state)
{
	(void)state;
	assert_false(model_is_settled(model));
	snapshot(10);
	assert_true(model_is_settled(model));
	batch(SPAN, 1);
	assert_true(model_is_settled(model));
	values(0, SPAN, 1, 1, 1, 1);
	assert_false(model_is_settled(model));
	snapshot(11);
	assert_true(model_is_settled(model));
	TELL(BUCKETS, buckets, .site = SPAN);
	assert_false(model_is_settled(model));
	snapshot(12);
	hello(7);
	assert_false(model_is_settled(model));
	TELL(SNAPSHOT, snapshot, .time_ns = 12 * SECOND);
	assert_true(model_is_settled(model));
}

/* ---- hostile ---- */

static void lists_of_a_wrong_length_are_refused_whole(void **state)
{
	(void)state;
	TELL(VALUES, values, .rows = LIST(n(NODE), n(1), n(2), n(3), n(4), n(LEAF)));
	TELL(VALUES, values, .rows = LIST(n(NODE), n(1), n(2), n(3)));
	TELL(BUCKETS, buckets, .site = SPAN, .pairs = LIST(n(1), n(1), n(2)));
	TELL(BOOKS, books, .rows = LIST(n(0), n(1), n(0), n(1), n(1)));
	assert_int_equal(refused(), 4);
	assert_int_equal(at(NODE)->count, 0);
	assert_int_equal(at(SPAN)->buckets[1], 0);
	assert_false(link_of()->has_books);
	TELL(VALUES, values, .rows = { NULL, 0 });      /* an empty list is not an error */
	assert_int_equal(refused(), 4);
}

static void numbers_that_count_nothing_cost_their_row_only(void **state)
{
	const struct number bad[] = { real(1), real(NAN), real(-INFINITY), negative(-1), negative(INT64_MIN) };
	uint64_t before = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		TELL(VALUES, values, .rows = LIST(bad[i], n(1), n(1), n(1), n(1), n(NODE), n(i + 1), n(7), n(0), n(0)));
		TELL(VALUES, values, .rows = LIST(n(NODE), bad[i], n(1), n(1), n(1)));
		TELL(VALUES, values, .rows = LIST(n(NODE), n(1), bad[i], n(1), n(1)));
		TELL(VALUES, values, .rows = LIST(n(NODE), n(1), n(1), n(1), bad[i]));
		TELL(VALUES, values, .rows = LIST(n(SPAN), bad[i], n(1), n(1), n(1)));
		TELL(BUCKETS, buckets, .site = SPAN, .pairs = LIST(bad[i], n(1), n(3), n(i + 1)));
		TELL(BUCKETS, buckets, .site = SPAN, .pairs = LIST(n(5), bad[i]));
		TELL(BOOKS, books, .rows = LIST(n(CLASS_MEM), n(i + 1), n(0), n(i), n(CLASS_NET), n(1), bad[i], n(1)));
		TELL(BOOKS, books, .rows = LIST(bad[i], n(1), n(1), n(1)));
		assert_int_equal(refused(), before + 9);
		before = refused();
		assert_int_equal(at(NODE)->count, i + 1);
		assert_int_equal(at(SPAN)->buckets[3], i + 1);
		assert_int_equal(at(SPAN)->buckets[5], 0);
		assert_int_equal(model_class(model, CLASS_MEM)->emitted, i + 1);
		assert_int_equal(model_class(model, CLASS_NET)->emitted, 0);
	}
	assert_int_equal(at(SPAN)->count, 0);
}

static void buckets_that_do_not_exist_are_refused(void **state)
{
	(void)state;
	TELL(BUCKETS, buckets, .site = SPAN, .pairs = LIST(n(HISTOGRAM_BUCKETS - 1), n(1)));
	assert_int_equal(refused(), 0);
	TELL(BUCKETS, buckets, .site = SPAN, .pairs = LIST(n(HISTOGRAM_BUCKETS), n(1), n(UINT64_MAX), n(1), n(1ull << 32),
							   n(1)));
	assert_int_equal(refused(), 3);
	TELL(BUCKETS, buckets, .site = NODE, .pairs = LIST(n(1), n(1)));       /* a type has no buckets */
	TELL(BUCKETS, buckets, .site = 500, .pairs = LIST(n(1), n(1)));
	assert_int_equal(refused(), 3);
	TELL(BUCKETS, buckets, .site = LIMIT_SITES, .pairs = LIST(n(1), n(1)));
	values(0, LIMIT_SITES + NODE, 1, 1, 1, 1);
	assert_int_equal(refused(), 5);
	assert_int_equal(at(NODE)->count, 0);
}

static void sums_at_their_end_do_not_wrap(void **state)
{
	(void)state;
	snapshot(1);
	/* Each task and type has 2^63 - 1 bytes. */
	for (uint64_t id = 2; id <= 3; id++) {
		values(id, NODE, INT64_MAX, INT64_MAX, 0, 0);
		values(id, LEAF, INT64_MAX, INT64_MAX, 0, 0);
	}
	values(0, NODE, INT64_MAX, INT64_MAX, 0, 0);
	values(0, LEAF, INT64_MAX, INT64_MAX, 0, 0);
	snapshot(2);
	assert_true(model_totals(model)->live.bytes == 0x1p64);
	assert_int_equal(model_round(model_totals(model)->live.bytes), UINT64_MAX);
	for (uint64_t id = 2; id <= 3; id++)
		values(id, NODE, UINT64_MAX, UINT64_MAX, 0, 0);
	model_set_mark(model);
	snapshot(3);
	assert_int_equal(model_task_by_id(model, 2)->alloc_bytes, UINT64_MAX);
	books(CLASS_MEM, UINT64_MAX, 0, UINT64_MAX);
	books(CLASS_NET, UINT64_MAX, UINT64_MAX, 0);
	assert_int_equal(link_of()->emitted, UINT64_MAX);
	assert_int_equal(link_of()->dropped, UINT64_MAX);
	for (uint64_t i = 0; i < 100; i++)
		TELL(BUCKETS, buckets, .site = SPAN, .pairs = LIST(n(i), n(UINT64_MAX)));
	snapshot(4);
	assert_int_equal(at(SPAN)->heat->counts[4][0], UINT32_MAX);
	model_set_window(model, 0);
	assert_int_equal(at(SPAN)->window.count, UINT64_MAX);
}

static void time_at_its_end_is_a_time(void **state)
{
	(void)state;
	snapshot(1);
	happen(5);
	tell_span(0);
	snapshot_at(UINT64_MAX);
	assert_int_equal(model_ticks(model), 2);
	assert_int_equal(model_second(model), (int64_t)(UINT64_MAX / SECOND));
	assert_int_equal(at(SPAN)->window.count, 1);
	snapshot_at(UINT64_MAX);
	assert_int_equal(at(SPAN)->rate_per_s, 0);
}

/* Messages of every kind have fields of numbers that may cause trouble. */
static void no_message_whatever_does_harm(void **state)
{
	static const uint64_t bag[] = {
		0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 255, 256, 1215, 1216, 65535, 65536, INT32_MAX, UINT32_MAX,
		1ull << 32,
		(1ull << 32) + 1, 1ull << 44, INT64_MAX, 1ull << 63, UINT64_MAX - 1, UINT64_MAX, 10 * SECOND, 11 * SECOND,
		400 * SECOND,
	};
	static const char *const texts[] = { "", "mem", "gc", "\xff\xfe", "\x1b[2J", "\xe2\x80\xaetxt" };
	uint64_t random = random_seed(5), digest = 0;

	(void)state;
	for (int turn = 0; turn < 120000; turn++) {
		const struct kind_row *row = &kind_rows[random_below(&random, (uint32_t)kind_row_count)];
		struct message message = { .kind = (enum kind)row->id };
		uint8_t *field = (uint8_t *)&message.check;
		struct number numbers[40];
		struct event events[40];
		struct text names[12];

		for (int i = 0; i < 40; i++) {
			uint32_t type = random_below(&random, 20);

			numbers[i] = (struct number){ bag[random_below(&random, COUNT(bag))],
						      type > 1 ? NUMBER_UINT : type ? NUMBER_INT : NUMBER_DOUBLE };
			events[i] = (struct event){ bag[random_below(&random, COUNT(bag))],
						    (uint32_t)bag[random_below(&random, COUNT(bag))],
						    (uint32_t)bag[random_below(&random, 21)] };
		}
		for (int i = 0; i < 12; i++)
			names[i] = text_of(texts[random_below(&random, COUNT(texts))]);
		for (uint32_t i = 0; i < row->field_count; i++) {
			void *any = field;
			uint32_t count = random_below(&random, 41) / 20 * 20;

			switch (row->fields[i].type) {
			case FIELD_UINT:
			case FIELD_INT:
				*(uint64_t *)any = bag[random_below(&random, COUNT(bag))];
				if (row->id == KIND_HELLO && !strcmp(row->fields[i].name, "stream"))
					*(uint64_t *)any = random_below(&random, 50) ? 7 : 8;
				break;
			case FIELD_TEXT:
			case FIELD_BIN:
				*(struct text *)any = names[0];
				break;
			case FIELD_LIST:
				*(struct list *)any = (struct list){ numbers, count };
				break;
			case FIELD_TEXTS:
				*(struct texts *)any = (struct texts){ names, random_below(&random, 12) };
				break;
			case FIELD_EVENTS:
				*(struct events *)any = (struct events){ events, random_below(&random, 40) };
				break;
			}
			field += field_bytes(row->fields[i].type);
		}
		model_apply(model, &message, (uint32_t)bag[random_below(&random, COUNT(bag))]);
		if (turn % 1000 == 0) {
			struct model *copy;

			model_set_window(model, turn % 3000 ? 60 : 0);
			model_set_mark(model);
			model_gap(model);
			copy = model_copy(model);
			assert_non_null(copy);
			model_free(copy);
		}
		digest += model_task_count(model) + model_site_count(model) +
			  (uint64_t)model_real_ns(model, model_time_ns(model));
	}
	assert_true(digest != 0);
	assert_true(refused() > 0);
}

/* ---- memory is bounded ---- */

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
static size_t heap_bytes(void) { return __sanitizer_get_current_allocated_bytes(); }
#else
static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}
#endif

/* The model's own struct, with its classes, lines and series. */
#define FIXED_BYTES (1 << 20)

static size_t before_bytes;

static int setup_measured(void **state)
{
	before_bytes = heap_bytes();
	return setup(state);
}

static void assert_bounded(void)
{
	size_t bytes = heap_bytes() - before_bytes;

	if (bytes > LIMIT_STREAM_BYTES + FIXED_BYTES)
		fail_msg("%zu bytes", bytes);
}

static void all_sites_there_can_be_stay_within_the_limit(void **state)
{
	(void)state;
	for (uint64_t id = 1; id < LIMIT_SITES; id++)
		TELL(SITE, site, .id = id, .class_id = id % LIMIT_CLASSES, .kind = 1 + id % 9,
		     .name = text_of("a site like many others"));
	assert_bounded();
	assert_true(model_site_count(model) > 1000);
	/* What found no room is counted. Receiving it again changes nothing. */
	assert_int_equal(refused(), LIMIT_SITES - 1 - model_site_count(model));
	for (uint64_t tick = 1; tick <= 5; tick++) {
		for (uint64_t id = 1; id < LIMIT_SITES; id += 7) {
			values(0, id, tick, tick, 1, 1);
			TELL(BUCKETS, buckets, .site = id, .pairs = LIST(n(tick), n(tick), n(tick * 100), n(1)));
		}
		snapshot(tick);
	}
	assert_bounded();
	/* Tasks that are defined later still find room. */
	assert_true(at(SPAN)->buckets && at(SPAN)->deltas && at(SPAN)->heat && at(SPAN)->trend);
}

static void looking_back_does_not_take_the_room_of_what_is_told_later(void **state)
{
	(void)state;
	for (uint64_t id = 2; id < 3000; id++)
		task(id, "one of many threads");
	for (uint64_t id = 100; id < 300; id++)
		site(id, CLASS_NET, SITE_SPAN);
	assert_int_equal(refused(), 0);
	assert_int_equal(model_task_count(model), 2999);
	assert_int_equal(model_site_count(model), 205);
	assert_non_null(at(299)->buckets);
	assert_bounded();
}

static void all_tasks_there_can_be_stay_within_the_limit(void **state)
{
	uint32_t count;

	(void)state;
	for (uint64_t id = 2; id < LIMIT_TASKS + 100; id++) {
		task(id, "t");
		for (uint64_t s = SPAN; s <= LEAF; s++)
			values(id, s, 1, 1, 0, 0);
	}
	assert_bounded();
	count = model_task_count(model);
	assert_true(count > 8000);
	assert_true(refused() > 0);
	snapshot(1);
	/* All of them end, and as many others come. */
	for (uint64_t id = 2; id < LIMIT_TASKS + 100; id++)
		task_ends(id);
	assert_int_equal(model_task_site_count(model), 0);
	snapshot(2);
	assert_int_equal(model_task_count(model), 1);
	for (uint64_t id = 1 << 20; id < (1 << 20) + count / 2; id++)
		task(id, "t");
	assert_int_equal(model_task_count(model), 1 + count / 2);
	assert_bounded();
}

static void tasks_that_come_and_go_take_no_memory(void **state)
{
	size_t after_few = 0;

	(void)state;
	for (uint64_t id = 10; id < 200000; id++) {
		task(id, "short");
		values(id, NODE, 1, 10, 0, 0);
		values(id, SPAN, 1, 10, 0, 0);
		if (id >= 60)
			task_ends(id - 50);
		if (id % 5000 == 0)
			snapshot(id / 5000 + 1);
		if (id == 20000)
			after_few = heap_bytes();
	}
	snapshot(1000);
	assert_true(heap_bytes() <= after_few + 65536);
	assert_int_equal(model_task_count(model), 3 + 50);
	assert_int_equal(model_task_site_count(model), 100);
	assert_int_equal(refused(), 0);
}

static void windows_get_shorter_when_there_is_no_room(void **state)
{
	enum { SPANS = 100, PAIRS = 100 };
	static struct number pairs[2 * PAIRS];

	(void)state;
	model_set_window(model, 10);
	for (uint64_t id = 100; id < 100 + SPANS; id++)
		site(id, CLASS_NET, SITE_SPAN);
	for (uint64_t second = 1; second <= 310; second++) {
		for (uint32_t i = 0; i < PAIRS; i++) {
			pairs[2 * i] = n(i);
			pairs[2 * i + 1] = n(second);
		}
		for (uint64_t id = 100; id < 100 + SPANS; id++)
			TELL(BUCKETS, buckets, .site = id, .pairs = { pairs, 2 * PAIRS });
		for (uint64_t id = 100; id < 100 + SPANS; id++)
			values(0, id, second * PAIRS, 1, 0, 99);
		snapshot(second);
	}
	assert_bounded();
	for (uint32_t id = 100; id < 100 + SPANS; id++)
		assert_true(at(id)->window.count == 10 * PAIRS && !at(id)->is_rough);
	/* The oldest of the five minutes were freed, so the figure is marked as an estimate. */
	model_set_window(model, 300);
	snapshot(311);
	assert_true(at(100 + SPANS - 1)->window.count < 300 * PAIRS);
	assert_true(at(100 + SPANS - 1)->is_rough);
}

#define WITH(test, how) cmocka_unit_test_setup_teardown(test, how, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(a_new_model_knows_nothing, setup_empty), WITH(hello_tells_who_it_is, setup_empty),
		WITH(a_class_is_found_by_name_and_id, setup), WITH(ids_out_of_range_are_refused_and_counted, setup),
		WITH(a_site_keeps_its_place_when_it_is_told_again, setup),
		WITH(a_site_of_an_unknown_class_or_kind_counts_all_the_same, setup),
		WITH(names_end_at_a_nul_and_never_within_a_character, setup),
		WITH(a_class_level_moves_the_sites_that_follow_it, setup),
		WITH(lines_are_kept_newest_first_and_the_oldest_go, setup), WITH(a_record_is_a_line_with_its_fields, setup),
		WITH(a_folded_line_tells_how_many_more_there_were, setup),
		WITH(a_frame_is_kept_by_its_name_and_the_latest_of_each_whole, setup),
		WITH(a_broken_budget_is_counted_by_its_parts, setup),
		WITH(numbers_tell_of_frames_that_were_not_told_in_any_order, setup),
		WITH(the_latest_durations_are_kept_and_the_oldest_go, setup), WITH(frames_that_cannot_be_are_refused, setup),
		WITH(names_of_frames_beyond_the_limit_are_refused, setup),
		WITH(another_streams_frames_are_not_this_ones, setup),
		WITH(tags_have_figures_like_types_and_are_in_no_total, setup),
		WITH(the_first_tick_has_values_but_no_rates, setup),
		WITH(rates_are_by_the_time_that_passed_between_ticks, setup),
		WITH(figures_that_go_down_are_no_negative_rates, setup), WITH(time_only_goes_on, setup),
		WITH(a_greetings_snapshot_is_no_tick_of_its_own, setup),
		WITH(two_ticks_within_a_second_share_its_point, setup), WITH(a_gauge_is_signed, setup),
		WITH(cpu_and_memory_come_from_the_snapshot, setup), WITH(collections_are_told_by_their_longest_span, setup),
		WITH(collections_are_told_by_their_pauses_where_there_are_any, setup),
		WITH(log_lines_are_counted_by_severity, setup),
		WITH(live_bytes_are_what_was_allocated_less_what_was_freed, setup),
		WITH(types_are_rough_when_they_were_off, setup),
		WITH(nothing_is_below_0_after_a_gap, setup),
		WITH(a_type_that_was_off_makes_a_gap_too, setup),
		WITH(a_task_holds_what_it_allocated_whoever_frees, setup),
		WITH(estimates_are_scaled_to_the_total_which_is_exact, setup),
		WITH(what_no_sample_stands_for_is_held_by_nobody, setup),
		WITH(types_without_frees_of_their_own_share_them, setup),
		WITH(sampled_allocations_read_as_words, setup),
		WITH(without_holders_nobody_knows_what_a_task_holds, setup),
		WITH(holders_of_a_task_that_has_ended_are_one, setup),
		WITH(a_tasks_rates_are_exact_for_huge_memory, setup), WITH(an_ended_task_is_gone_with_its_figures, setup),
		WITH(many_tasks_that_end_are_gone_at_the_next_tick, setup),
		WITH(the_same_slot_with_another_generation_is_another_task, setup),
		WITH(what_a_task_leaves_behind_did_not_happen_now, setup),
		WITH(figures_of_a_task_nobody_named_are_left_out, setup),
		WITH(a_task_that_a_later_greeting_does_not_name_has_ended, setup),
		WITH(quantiles_are_within_a_buckets_width_of_the_exact_ones, setup), WITH(small_values_are_exact, setup),
		WITH(no_quantile_lies_outside_of_min_and_max, setup),
		WITH(values_past_the_last_bucket_have_their_true_maximum, setup),
		WITH(windows_reach_back_as_far_as_they_say, setup),
		WITH(a_window_forgets_what_is_too_old_also_when_nothing_happens, setup),
		WITH(all_ticks_of_a_second_are_in_its_window, setup),
		WITH(the_rate_of_a_window_counts_only_time_that_was_watched, setup),
		WITH(heat_is_by_octave_and_second, setup),
		WITH(a_tasks_share_of_a_span_is_its_own, setup), WITH(what_was_taken_before_we_came_is_not_lost, setup),
		WITH(a_class_without_events_when_we_came_starts_from_nothing, setup),
		WITH(what_was_dropped_at_the_source_before_we_came_is_not_our_loss, setup),
		WITH(without_books_in_the_greeting_losses_count_from_the_start, setup),
		WITH(who_came_late_reads_no_loss_from_before, setup),
		WITH(books_may_come_in_several_messages, setup),
		WITH(what_our_own_queue_dropped_is_no_loss_on_the_way, setup),
		WITH(books_of_one_task_are_not_those_of_all, setup),
		WITH(books_that_cannot_be_are_said_to_be_out_of_balance, setup),
		WITH(after_a_gap_totals_stay_and_the_time_away_is_no_loss, setup),
		WITH(ticks_for_a_more_impatient_viewer_are_passed_over, setup), WITH(goodbye_is_kept_as_it_was_said, setup),
		WITH(a_class_tells_what_watching_it_costs, setup), WITH(a_mark_keeps_what_there_was, setup),
		WITH(a_mark_has_the_window_that_is_shown, setup), WITH(another_model_can_take_a_mark, setup),
		WITH(a_copy_stands_still, setup), WITH(another_stream_empties_the_model, setup),
		WITH(it_is_settled_between_ticks_only, setup), WITH(lists_of_a_wrong_length_are_refused_whole, setup),
		WITH(numbers_that_count_nothing_cost_their_row_only, setup),
		WITH(buckets_that_do_not_exist_are_refused, setup),
		WITH(sums_at_their_end_do_not_wrap, setup), WITH(time_at_its_end_is_a_time, setup),
		WITH(no_message_whatever_does_harm, setup),
		WITH(all_sites_there_can_be_stay_within_the_limit, setup_measured),
		WITH(looking_back_does_not_take_the_room_of_what_is_told_later, setup_measured),
		WITH(all_tasks_there_can_be_stay_within_the_limit, setup_measured),
		WITH(tasks_that_come_and_go_take_no_memory, setup_measured),
		WITH(windows_get_shorter_when_there_is_no_room, setup_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
