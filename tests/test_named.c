/* test_named.c -- sites that are named at run time. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "sockets", TELEM_SUM);

static int named_setup(void **state)
{
	int err = beside_setup(state);

	start("");
	reader = attach_viewer();
	return err;
}

static struct telem_site *counter(const char *name)
{
	return telem_site_new("shell", TELEM_KIND_COUNTER, TELEM_BYTES, name);
}

static void a_name_is_one_site(void **state)
{
	char name[] = "ls";
	struct telem_site *ls = counter(name);

	(void)state;
	name[0] = 'x';                           /* the name was copied */
	assert_ptr_equal(counter("ls"), ls);
	assert_ptr_not_equal(counter("xs"), ls);
	assert_ptr_not_equal(telem_site_new("other", TELEM_KIND_COUNTER, TELEM_BYTES, "ls"), ls);
	assert_ptr_not_equal(telem_site_new("shell", TELEM_KIND_COUNTER, TELEM_NONE, "ls"), ls);
	assert_ptr_not_equal(telem_site_new("shell", TELEM_KIND_MARK, TELEM_NONE, "ls"), ls);
	assert_ptr_equal(telem_site_new("shell", TELEM_KIND_SPAN, TELEM_BYTES, "ls"),
			 telem_site_new("shell", TELEM_KIND_SPAN, TELEM_NS, "ls"));
	telem_count(counter("ls"), 5);
	telem_count(ls, 7);
	hear(reader);
	assert_int_equal(site("shell.ls")->sum, 12);
	assert_int_equal(site("shell.ls")->unit, UNIT_SIZE);
	assert_int_equal(reader_class(reader, "shell")->level, TELEM_SUM);
}

/* A macro of the same class, kind, unit and name is another place of the same site. */
static void macros_and_names_meet(void **state)
{
	(void)state;
	TELEM_COUNT(net, "met", 1);
	telem_count(telem_site_new("net", TELEM_KIND_COUNTER, TELEM_NONE, "met"), 2);
	hear(reader);
	assert_int_equal(site("net.met")->sum, 3);
	assert_int_equal(site("net.met")->count, 2);
}

static void each_kind_does_what_its_macro_does(void **state)
{
	struct telem_site *span = telem_site_new("shell", TELEM_KIND_SPAN, TELEM_NS, "span"), *latency, *type;
	static char heap[8];

	(void)state;
	TELEM_SPAN_OF(span)
		assert_non_null(span);
	{
		TELEM_SPAN_OF_HERE(span);
	}
	latency = telem_site_new("shell", TELEM_KIND_LATENCY, TELEM_NS, "latency");
	telem_latency(latency, telem_stamp());
	telem_latency_begin(latency, 7);
	telem_latency_end(latency, 7);
	telem_value(telem_site_new("shell", TELEM_KIND_VALUE, TELEM_BYTES, "value"), 100);
	telem_gauge(telem_site_new("shell", TELEM_KIND_GAUGE, TELEM_NONE, "gauge"), -4);
	telem_gauge_add(telem_site_new("shell", TELEM_KIND_MOVED_GAUGE, TELEM_NONE, "moved"), -4);
	telem_mark(telem_site_new("shell", TELEM_KIND_MARK, TELEM_NONE, "mark"), 1);
	telem_log(telem_site_new("log", TELEM_KIND_WARN_LOG, TELEM_NONE, "script"), "%s", "text");
	type = telem_site_new("ignored", TELEM_KIND_TYPE, TELEM_NONE, "string");
	{
		TELEM_ALLOC_TAG_OF(telem_site_new("mem", TELEM_KIND_TAG, TELEM_BYTES, "block"));

		telem_heap_alloc(type, heap, 8);
	}
	hear(reader);
	assert_int_equal(site("shell.span")->count, 2);
	assert_int_equal(site("shell.latency")->count, 2);
	assert_int_equal(site("shell.value")->sum, 100);
	assert_int_equal(site("shell.gauge")->sum, (uint64_t)-4);
	assert_int_equal(site("shell.moved")->sum, (uint64_t)-4);
	assert_int_equal(site("shell.moved")->detail, 1);
	assert_int_equal(site("shell.mark")->count, 1);
	assert_int_equal(site("log.script")->detail, TELEM_WARN);
	assert_int_equal(site("log.script")->count, 1);
	assert_int_equal(site("mem.string")->sum, 8);
	assert_int_equal(site("mem.string")->detail, ALLOC_IS_FREED_ELSEWHERE);
	assert_int_equal(site("mem.block")->sum, 8);
	telem_heap_free(heap, 8);
	/* Levels hold for names as well. */
	telem_level_set("shell", TELEM_OFF);
	telem_mark(telem_site_new("shell", TELEM_KIND_MARK, TELEM_NONE, "mark"), 1);
	telem_mark(telem_site_new("shell", TELEM_KIND_MARK, TELEM_NONE, "late mark"), 1);
	telem_level_set("shell", TELEM_SUM);
	hear(reader);
	assert_int_equal(site("shell.mark")->count, 1);
	assert_int_equal(site("shell.late mark")->count, 0);
}

static void a_long_name_is_cut(void **state)
{
	char name[300], full[310];

	(void)state;
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	telem_count(counter(name), 1);
	name[200] = 'b';
	telem_count(counter(name), 1);
	/* A name that was cut says so. */
	snprintf(full, sizeof full, "shell.%.*s…", LIMIT_NAME_BYTES - 4, name);
	hear(reader);
	assert_int_equal(site(full)->count, 2);
}

enum { THREADS = 4, NAMES = 300 };
static struct telem_site *seen[THREADS][NAMES];

static void *look_up(void *arg)
{
	struct telem_site **own = arg;

	for (int round = 0; round < 20; round++)
		for (int i = 0; i < NAMES; i++) {
			char name[32];

			snprintf(name, sizeof name, "command %d", i);
			own[i] = counter(name);
			telem_count(own[i], 1);
		}
	return NULL;
}

static void threads_get_the_same_sites(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_up, seen[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < THREADS; i++)
		assert_memory_equal(seen[i], seen[0], sizeof seen[0]);
	hear(reader);
	assert_int_equal(site("shell.command 7")->count, 20 * THREADS);
}

/* The last test, because it uses up the names of this process. */
static void names_without_end_share_a_site(void **state)
{
	char name[32];

	(void)state;
	for (uint32_t i = 0; i < 2 * LIMIT_NAMED_SITES; i++) {
		snprintf(name, sizeof name, "query %u", (unsigned)i);
		telem_count(counter(name), 1);
	}
	assert_ptr_equal(counter("one more"), counter("and one more"));
	telem_mark(telem_site_new("shell", TELEM_KIND_MARK, TELEM_NONE, "too late"), 1);
	hear(reader);
	assert_true(site("shell.(others)")->count > LIMIT_NAMED_SITES);
	assert_ptr_equal(counter("query 1"), counter("query 1"));
	assert_ptr_not_equal(counter("query 1"), counter("query 2"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, named_setup, beside_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_is_one_site),
		TEST(macros_and_names_meet),
		TEST(each_kind_does_what_its_macro_does),
		TEST(a_long_name_is_cut),
		TEST(threads_get_the_same_sites),
		TEST(names_without_end_share_a_site),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("named", tests, NULL, NULL);
}
