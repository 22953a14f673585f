#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/session/session.h"
#include "tests/support/figures.h"

#define SECOND 1000000000ull
#define TELL(KIND, kind_, ...) \
	model_apply(session.model, &(struct message){ .kind = KIND_##KIND, .kind_ = { __VA_ARGS__ } }, 64)
#define NUMBERS(...) \
	{ (const struct number[]){ __VA_ARGS__ }, sizeof((struct number[]){ __VA_ARGS__ }) / sizeof(struct number) }

enum { CLASS_MEM, CLASS_NET, CLASS_FRAME, CLASS_REPORT };
enum { NODE = 1, PARSE, REQUESTS, CLIENTS, LOOP, PSS };

static struct session session;
static json_t *root;

static struct number n(uint64_t value) { return number_of(value); }

static void values(uint64_t id, uint64_t count, uint64_t sum, uint64_t min, uint64_t max)
{
	TELL(VALUES, values, .rows = NUMBERS(n(id), n(count), n(sum), n(min), n(max)));
}

static void snapshot(uint64_t second)
{
	TELL(SNAPSHOT, snapshot, .time_ns = second * SECOND, .interval_ns = SECOND);
}

static void site(uint64_t id, uint64_t class_id, uint64_t kind, const char *name)
{
	TELL(SITE, site, .id = id, .class_id = class_id, .kind = kind, .name = text_of(name), .own_level = LEVEL_OWN,
	     .detail = kind == SITE_SPAN ? SPAN_IS_FRAME : 0);
}

static int setup(void **state)
{
	(void)state;
	session.model = model_new();
	root = NULL;
	if (!session.model)
		return -1;
	TELL(HELLO, hello, .major = 1, .stream = 7, .name = text_of("app"));
	TELL(CLASS, class, .id = CLASS_MEM, .name = text_of("mem"), .level = LEVEL_SUM);
	TELL(CLASS, class, .id = CLASS_NET, .name = text_of("net"), .level = LEVEL_SUM);
	TELL(CLASS, class, .id = CLASS_FRAME, .name = text_of("frame"), .level = LEVEL_SUM);
	site(NODE, CLASS_MEM, SITE_ALLOC, "Node");
	site(PARSE, CLASS_MEM, SITE_TAG, "parse");
	site(REQUESTS, CLASS_NET, SITE_COUNTER, "requests");
	site(CLIENTS, CLASS_NET, SITE_GAUGE, "clients");
	site(LOOP, CLASS_FRAME, SITE_SPAN, "main loop");
	snapshot(1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(root);
	model_free(session.model);
	return 0;
}

/* Returns the whole document, which is valid until the next call. */
static json_t *written(void)
{
	char *text = figures_json(&session);

	json_decref(root);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static json_t *member(json_t *of, const char *key)
{
	json_t *found = json_object_get(of, key);

	if (!found)
		fail_msg("no \"%s\"", key);
	return found;
}

static json_int_t integer(json_t *of, const char *key)
{
	assert_true(json_is_integer(member(of, key)));
	return json_integer_value(member(of, key));
}

static json_t *first(json_t *list)
{
	assert_true(json_is_array(list));
	assert_true(json_array_size(list) > 0);
	return json_array_get(list, 0);
}

/* 0 would be a value. */
static void a_gauge_without_a_value_is_null(void **state)
{
	json_t *counters = member(written(), "counters"), *clients = json_array_get(counters, 1);

	(void)state;
	assert_string_equal(json_string_value(member(clients, "name")), "clients");
	assert_true(json_is_null(member(clients, "value")));
	assert_null(json_object_get(clients, "age_ns"));
}

static void values_of_reporters_have_ages(void **state)
{
	json_t *pss;

	(void)state;
	TELL(CLASS, class, .id = CLASS_REPORT, .name = text_of("report"), .level = LEVEL_SUM);
	site(PSS, CLASS_REPORT, SITE_GAUGE, "process/pss");
	snapshot(2);
	pss = json_array_get(member(written(), "counters"), 2);
	assert_true(json_is_null(member(pss, "age_ns")));
	values(PSS, 1, 4096, 0, 0);
	snapshot(3);
	snapshot(5);
	pss = json_array_get(member(written(), "counters"), 2);
	assert_int_equal(integer(pss, "value"), 4096);
	assert_int_equal(integer(pss, "age_ns"), 2000000000);
}

static void frames_are_the_latest_of_each_name(void **state)
{
	static const char *const severities[] = { "debug", "info", "warn", "error", "fatal" };
	static const char *const parts[] = { "time", "heap", "logs", "counter" };
	json_t *frame;

	(void)state;
	assert_int_equal(json_array_size(member(written(), "frames")), 0);
	TELL(FRAME, frame, .task = 2, .site = LOOP, .number = 10, .duration_ns = 4, .budget_ns = 100,
	     .figures = NUMBERS(n(0), n(0), n(0), n(0), n(0)));
	TELL(FRAME, frame, .task = 2, .site = LOOP, .number = 13, .duration_ns = 120, .budget_ns = 100, .heap_bytes = -5,
	     .heap_peak = 7, .allocations = 3, .broken = BROKE_TIME | BROKE_LOGS,
	     .figures = NUMBERS(n(0), n(10), n(20), n(30), n(40), n(REQUESTS), n(12), n(99), n(1)));
	frame = first(member(written(), "frames"));
	assert_string_equal(json_string_value(member(frame, "name")), "main loop");
	assert_int_equal(integer(frame, "number"), 13);
	assert_int_equal(integer(frame, "seen"), 2);
	assert_int_equal(integer(frame, "missed"), 2);
	assert_int_equal(integer(frame, "duration_ns"), 120);
	assert_int_equal(integer(frame, "budget_ns"), 100);
	assert_int_equal(integer(frame, "heap_bytes"), -5);
	assert_int_equal(integer(frame, "heap_peak_bytes"), 7);
	assert_int_equal(integer(frame, "allocations"), 3);
	for (int i = 0; i < 5; i++)
		assert_int_equal(integer(member(frame, "logs"), severities[i]), i * 10);
	assert_int_equal(json_object_size(member(frame, "counters")), 2);
	assert_int_equal(integer(member(frame, "counters"), "net.requests"), 12);
	assert_int_equal(integer(member(frame, "counters"), "site 99"), 1);
	assert_int_equal(integer(frame, "over"), 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(integer(member(frame, "over_parts"), parts[i]), i % 2 == 0);
}

static void tags_are_told_beside_the_types_and_not_as_counters(void **state)
{
	json_t *memory, *type, *tag, *list, *counter;
	size_t i;

	(void)state;
	values(NODE, 4, 1002, 1, 200);
	values(PARSE, 2, 500, 2, 600);
	TELL(HOLDERS, holders, .mean_bytes = 1024,
	     .rows = NUMBERS(n(NODE), n(0), n(PARSE), n(200), n(1), n(40), n(NODE), n(0), n(0), n(602), n(2), n(30)));
	snapshot(2);
	memory = member(written(), "memory");
	assert_int_equal(integer(memory, "live_bytes"), 802);
	assert_int_equal(integer(memory, "sampled_one_byte_in"), 1024);
	assert_int_equal(integer(memory, "unsampled_bytes"), 0);
	assert_int_equal(json_array_size(member(memory, "holders")), 2);
	type = first(member(memory, "types"));
	tag = first(member(memory, "tags"));
	assert_int_equal(json_array_size(member(memory, "types")), 1);
	assert_int_equal(json_array_size(member(memory, "tags")), 1);
	assert_int_equal(integer(type, "live_bytes"), 802);
	assert_int_equal(integer(type, "live_count"), 3);
	assert_false(json_boolean_value(member(type, "live_is_estimate")));
	assert_true(fabs(json_real_value(member(type, "average_bytes")) - 802.0 / 3) < 1e-6);
	assert_string_equal(json_string_value(member(tag, "name")), "parse");
	assert_int_equal(integer(tag, "live_bytes"), 200);
	assert_int_equal(integer(tag, "live_count"), 1);
	assert_true(json_boolean_value(member(tag, "live_is_estimate")));
	/* The root of (602/802)^2 40^2 + (200/802)^2 30^2. */
	assert_int_equal(integer(tag, "live_deviation_bytes"), 31);
	assert_int_equal(integer(tag, "allocated_bytes"), 500);
	assert_int_equal(integer(tag, "allocations"), 2);
	assert_int_equal(integer(tag, "freed_bytes"), 600);
	assert_int_equal(integer(tag, "frees"), 2);
	assert_true(json_real_value(member(tag, "average_bytes")) == 200);
	assert_true(json_real_value(member(tag, "allocations_per_s")) == 2);
	assert_true(json_real_value(member(tag, "alloc_bytes_per_s")) == 500);
	assert_true(json_real_value(member(tag, "free_bytes_per_s")) == 600);
	/* The tag counts the same allocations as the type, and is part of no total. */
	assert_int_equal(integer(memory, "live_bytes"), 802);
	assert_int_equal(integer(memory, "live_count"), 3);
	assert_true(json_real_value(member(memory, "alloc_bytes_per_s")) == 1002);
	list = member(root, "counters");
	assert_int_equal(json_array_size(list), 2);
	json_array_foreach(list, i, counter)
		assert_string_equal(json_string_value(member(counter, "class")), "net");
}

static void an_average_of_nothing_is_null(void **state)
{
	json_t *memory = member(written(), "memory");

	(void)state;
	assert_true(json_is_null(member(first(member(memory, "types")), "average_bytes")));
	assert_true(json_is_null(member(first(member(memory, "tags")), "average_bytes")));
}

static void names_that_are_no_utf8_are_keys_all_the_same(void **state)
{
	char longest[LIMIT_NAME_BYTES];
	json_t *counters;

	(void)state;
	memset(longest, 0xff, sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	TELL(CLASS, class, .id = CLASS_NET, .name = text_of(longest), .level = LEVEL_SUM);
	site(REQUESTS, CLASS_NET, SITE_COUNTER, longest);
	site(CLIENTS, CLASS_NET, SITE_COUNTER, "\"\\\n\xed\xa0\x80");
	site(LOOP, CLASS_FRAME, SITE_SPAN, "\xc3(");
	TELL(FRAME, frame, .site = LOOP, .number = 1,
	     .figures = NUMBERS(n(0), n(0), n(0), n(0), n(0), n(REQUESTS), n(1), n(CLIENTS), n(2)));
	counters = member(first(member(written(), "frames")), "counters");
	assert_int_equal(json_object_size(counters), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_are_the_latest_of_each_name), TEST(tags_are_told_beside_the_types_and_not_as_counters),
		TEST(a_gauge_without_a_value_is_null), TEST(values_of_reporters_have_ages),
		TEST(an_average_of_nothing_is_null), TEST(names_that_are_no_utf8_are_keys_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
