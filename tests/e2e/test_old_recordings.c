/* test_old_recordings.c -- recordings of an earlier telemtop are shown as that telemtop showed them.
 *
 * tests/data/recordings/README.md says how the recordings, the expected screens and the expected
 * figures were made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/e2e.h"
#include "tests/support/golden.h"

#define MS 10000

static const char *path_of(const char *name, const char *ending)
{
	return fmt("tests/data/recordings/%s.%s", name, ending);
}

/* ---- screens ---- */

/* A message stands below the panels, beside the time of day at which it came. Writes hh:mm:ss over that time. */
static void hide_time_of_message(char *text, int row)
{
	while (row-- > 0)
		text = strchr(text, '\n') + 1;
	assert_int_equal(strspn(text, "0123456789:"), 8);
	memcpy(text, "hh:mm:ss", 8);
}

/* Compares the screen at the end of the recording with the expected one. */
static void check_screen(const char *name, int rows, int cols, const char *message)
{
	struct term *term = term_start(.argv = PROC_LIST(bin("telemtop"), "replay", "--speed", "1000",
							 path_of(name, "telem")),
				       .env = PROC_LIST("TZ=UTC"), .rows = rows, .cols = cols);
	char *text;

	term_wait_row_matches(term, 0, " REPLAY at its end ", MS);
	term_wait_row_matches(term, 2, " 100 %$", MS);
	term_wait_row_matches(term, rows - 2, message, MS);
	term_wait_row_matches(term, rows - 1, "q quit$", MS);    /* the last row to be drawn */
	term_wait_quiet(term, 300, MS);
	text = strdup(term_text(term));
	assert_non_null(text);
	if (term_row(term, rows - 2)[0])
		hide_time_of_message(text, rows - 2);
	golden_check(fmt("replay_old_%s_%dx%d", name, cols, rows), text);
	free(text);
	screen_quit(term);
}

static void a_recording_looks_as_it_did(void **state)
{
	(void)state;
	check_screen("default", 24, 80, "^$");
	check_screen("default", 40, 120, "^$");
}

static void a_recording_without_a_trailer_looks_as_it_did(void **state)
{
	(void)state;
	check_screen("killed", 24, 80, "not closed cleanly; whole up to i");
	check_screen("killed", 40, 120, "not closed cleanly; whole up to its end");
}

static void a_dump_looks_as_it_did(void **state)
{
	(void)state;
	check_screen("dump", 24, 80, "^$");
	check_screen("dump", 40, 120, "^$");
}

/* ---- figures ---- */

/* Fails unless everything in expected is also in actual, which may have more members. */
static void assert_holds(const json_t *expected, const json_t *actual, const char *path)
{
	const char *key;
	json_t *member;
	size_t index;

	if (json_is_object(expected) && json_is_object(actual)) {
		json_object_foreach((json_t *)expected, key, member)
			assert_holds(member, json_object_get(actual, key), fmt("%s.%s", path, key));
	} else if (json_is_array(expected) && json_is_array(actual)) {
		assert_int_equal(json_array_size(expected), json_array_size(actual));
		json_array_foreach(expected, index, member)
			assert_holds(member, json_array_get(actual, index), fmt("%s[%zu]", path, index));
	} else if (!json_equal(expected, actual)) {
		char *was = json_dumps(expected, JSON_ENCODE_ANY);
		char *is = actual ? json_dumps(actual, JSON_ENCODE_ANY) : NULL;

		proc_printf("%s was %s, is %s\n", path, was, is ? is : "missing");
		free(was);
		free(is);
		proc_failed("a figure differs", __FILE__, __LINE__);
	}
}

static void check_figures(const char *name, int code, const char *warning)
{
	struct said said = run("env", "TZ=UTC", bin("telemtop"), "once", "--json", path_of(name, "telem"));
	json_t *actual, *expected;
	json_error_t error;

	assert_code(said, code);
	assert_string_equal(said.err, warning);
	actual = json_loads(said.out, 0, &error);
	if (!actual)
		fail_msg("%s: %s", name, error.text);
	if (getenv("GOLDEN"))
		assert_int_equal(json_dump_file(actual, path_of(name, "json"), JSON_INDENT(1)), 0);
	expected = json_load_file(path_of(name, "json"), 0, &error);
	if (!expected)
		fail_msg("%s: %s", path_of(name, "json"), error.text);
	assert_holds(expected, actual, name);
	json_decref(expected);
	json_decref(actual);
}

static void the_figures_of_recordings_are_what_they_were(void **state)
{
	(void)state;
	check_figures("default", 0, "");
	check_figures("killed", 8, fmt("telemtop: %s: not closed cleanly; whole up to its end (15:08:51)\n"
				       "  Showing all of it. The writer was killed, or is still writing.\n",
				       path_of("killed", "telem")));
	check_figures("dump", 0, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recording_looks_as_it_did),
		TEST(a_recording_without_a_trailer_looks_as_it_did),
		TEST(a_dump_looks_as_it_did),
		TEST(the_figures_of_recordings_are_what_they_were),
	};

	return cmocka_run_group_tests_name("old recordings", tests, NULL, NULL);
}
