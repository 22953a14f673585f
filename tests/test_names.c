/* test_names.c -- names: what makes two places one site, and how long a name must live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(loud, "at all", TELEM_ALL);

static void places_of_one_name_are_one_site(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_COUNT(net, "twice", 1);
	TELEM_COUNT(net, "twice", 2);
	TELEM_VALUE(net, "twice", 5, TELEM_NONE);        /* a site of another kind is another site */
	hear(reader);
	assert_int_equal(site("net.twice")->count + 0, site("net.twice")->kind == TELEM_KIND_COUNTER_ ? 2 : 1);
}

/* How many sites of any kind have this name. */
static uint32_t sites_named(const char *class_name, const char *name, uint64_t detail)
{
	uint32_t count = 0;

	for (uint32_t id = 1; id < reader->site_room; id++)
		count += reader->sites[id].id && reader->sites[id].detail == detail &&
			 !strcmp(reader->sites[id].name, name) &&
			 !strcmp(reader->classes[reader->sites[id].class_id].name, class_name);
	return count;
}

static void one_format_with_two_severities_is_two_sites(void **state)
{
	(void)state;
	start("log=all");
	reader = attach_fd(NULL);
	TELEM_LOG(TELEM_WARN, "no answer");
	hear(reader);
	assert_int_equal(reader->log_severity, TELEM_WARN);
	TELEM_LOG(TELEM_ERROR, "no answer");
	hear(reader);
	assert_int_equal(reader->log_severity, TELEM_ERROR);
	assert_int_equal(sites_named("log", "no answer", TELEM_WARN), 1);
	assert_int_equal(sites_named("log", "no answer", TELEM_ERROR), 1);
}

static void a_gauge_that_is_set_and_one_that_is_moved_are_two_sites(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_fd(NULL);
	TELEM_GAUGE(net, "two gauges", 1000);
	TELEM_GAUGE_ADD(net, "two gauges", 1);
	hear(reader);
	assert_int_equal(sites_named("net", "two gauges", 0), 1);
	assert_int_equal(sites_named("net", "two gauges", 1), 1);
	for (uint32_t id = 1; id < reader->site_room; id++)
		if (!strcmp(reader->sites[id].name, "two gauges"))
			assert_int_equal(reader->sites[id].sum, reader->sites[id].detail ? 1 : 1000);
}

static const char *short_lived(char *text, size_t room, const char *name)
{
	snprintf(text, room, "%s", name);
	return text;
}

static int report_three(void *arg, int64_t *value)
{
	(void)arg;
	*value = 3;
	return 0;
}

static void names_may_die_before_anybody_reads_them(void **state)
{
	const char *path = fixture_path(fixture, "app.fifo");
	struct telem_options options = { .ignore_environment = true };
	char text[64];
	int id;

	(void)state;
	options.name = short_lived(text, sizeof text, "brief");
	assert_int_equal(telem_start(&options), 0);
	id = telem_task_new(short_lived(text, sizeof text, "brief task"));
	assert_true(id > 0);
	assert_true(telem_sink_fifo(short_lived(text, sizeof text, path)) >= 0);
	short_lived(text, sizeof text, "brief/report");
	assert_int_equal(telem_reporter(text, TELEM_REPORT_OTHER, TELEM_NONE, report_three, NULL), 0);
	memset(text, 'x', sizeof text);
	assert_int_equal(telem_task_enter(id), 0);
	TELEM_COUNT(loud, "for a brief task", 1);
	telem_task_leave();
	reader = attach_fifo(path);
	READ_UNTIL(reader, reader_site(reader, "report.brief/report") && site("report.brief/report")->sum == 3);
	assert_string_equal(reader->program, "brief");
	assert_non_null(reader_task(reader, "brief task"));
	assert_int_equal(telem_reporter_remove("brief/report"), 0);
	telem_task_end(id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(places_of_one_name_are_one_site),
		BESIDE_TEST(one_format_with_two_severities_is_two_sites),
		BESIDE_TEST(a_gauge_that_is_set_and_one_that_is_moved_are_two_sites),
		BESIDE_TEST(names_may_die_before_anybody_reads_them),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
