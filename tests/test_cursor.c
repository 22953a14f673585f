#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/observe/record.h"
#include "tests/support/figures.h"
#include "tests/support/fixture.h"
#include "tests/support/replay.h"
#include "tests/support/story.h"

static struct fixture fixture;
static struct session session, other_session;
static struct replay replay, other;
static struct problem problem, warning;
static struct story story;
static const char *path;

static int setup(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	if (fixture_init(&fixture) < 0 || session_init(&session, "x", LIMIT_LEAD_BYTES) < 0 ||
	    session_init(&other_session, "y", LIMIT_LEAD_BYTES) < 0)
		return -1;
	story_init(&story, 7);
	replay = other = (struct replay){ 0 };
	problem = warning = (struct problem){ 0 };
	path = fixture_path(&fixture, "run.telem");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	replay_close(&replay);
	replay_close(&other);
	session_fini(&session);
	session_fini(&other_session);
	story_fini(&story);
	fixture_fini(&fixture);
	return 0;
}

static void write_stream(void) { fixture_write(path, (char *)story.wire.bytes, story.wire.count); }

/* Writes a recording with index points. It has a greeting and `ticks` ticks. */
static void make_recording(int ticks)
{
	struct recorder recorder;
	struct session live;

	assert_int_equal(session_init(&live, "live", LIMIT_LEAD_BYTES), 0);
	story_greet(&story);
	figures_feed(&live, story.wire.bytes, story.wire.count, 0);
	assert_int_equal(recorder_start(&recorder, &live, path, true, &problem), EXIT_DONE);
	for (int i = 0; i < ticks; i++) {
		story.wire.count = 0;
		story_tick(&story);
		figures_feed(&live, story.wire.bytes, story.wire.count, 0);
	}
	recorder_stop(&recorder);
	session_fini(&live);
}

static void open_it(void)
{
	assert_int_equal(replay_open(&replay, path, &session, &problem, &warning), EXIT_DONE);
}

static uint64_t time_of(const struct session *of) { return model_time_ns(of->model); }

/* ---- opening ---- */

static void opening_tells_how_long_it_is_and_plays_nothing_yet(void **state)
{
	(void)state;
	make_recording(30);
	open_it();
	assert_int_equal(warning.code, EXIT_DONE);
	assert_true(replay.timeline.is_clean && replay.cursor.is_playing && !replay.cursor.is_at_end);
	assert_int_equal(replay.timeline.first_ns, 6 * STORY_SECOND);
	assert_int_equal(replay.timeline.last_ns, 36 * STORY_SECOND);
	assert_int_equal(replay.cursor.position_ns, replay.timeline.first_ns);
	assert_int_equal(replay.timeline.point_count, 6);
	assert_int_equal(replay.timeline.points[0].offset, 0);
	assert_int_equal(replay.timeline.whole_bytes, replay.timeline.end);
	assert_true(replay.cursor.speed == 1);
	assert_int_equal(model_ticks(session.model), 0);
}

static void a_bare_stream_is_a_recording(void **state)
{
	(void)state;
	story_greet(&story);
	story_ticks(&story, 3);
	write_stream();
	open_it();
	assert_false(replay.timeline.is_clean);
	assert_string_equal(strrchr(warning.what, '/') + 1, "run.telem: not closed cleanly; whole up to its end (22:13:23)");
	assert_string_equal(warning.todo, "Showing all of it. The writer was killed, or is still writing.");
	assert_int_equal(warning.code, EXIT_RECORDING);
	cursor_run(&replay.cursor, UINT64_MAX);
	assert_int_equal(model_ticks(session.model), 4);
}

static void what_is_none_says_why(void **state)
{
	(void)state;
	assert_int_equal(replay_open(&replay, fixture_path(&fixture, "no"), &session, &problem, &warning), EXIT_RECORDING);
	assert_non_null(strstr(problem.what, "/no: No such file or directory"));
	assert_string_equal(problem.todo, "Give the path of a recording.");
	problem.code = EXIT_DONE;
	assert_int_equal(replay_open(&replay, fixture.dir, &session, &problem, &warning), EXIT_RECORDING);
	assert_non_null(strstr(problem.what, "Is a directory"));
	problem.code = EXIT_DONE;
	fixture_write(path, "# Notes\n", 8);
	assert_int_equal(replay_open(&replay, path, &session, &problem, &warning), EXIT_RECORDING);
	assert_non_null(strstr(problem.what, "holds no whole tick of a recording"));
	assert_string_equal(problem.todo, "It was cut right at its beginning, or is not a recording.");
	problem.code = EXIT_DONE;
	fixture_write(path, "", 0);
	assert_int_equal(replay_open(&replay, path, &session, &problem, &warning), EXIT_RECORDING);
	assert_null(replay.source.kind);
}

static void one_of_another_version_is_said_to_be_so(void **state)
{
	struct message message = { .kind = KIND_HELLO, .hello = wire_hello_fields(&story.wire) };

	(void)state;
	message.hello.major = 3;
	wire_message(&story.wire, &message);
	story_tick(&story);
	write_stream();
	assert_int_equal(replay_open(&replay, path, &session, &problem, &warning), EXIT_VERSION);
	assert_string_equal(problem.what, "PID 4711 (test): speaks protocol 3, this telemtop understands 1");
}

static void one_that_was_cut_says_where_and_when(void **state)
{
	char expected[200];
	size_t whole;

	(void)state;
	story_greet(&story);
	story_ticks(&story, 8);
	whole = story.wire.count;
	story_tick(&story);
	story.wire.count = whole + 100;
	write_stream();
	open_it();
	assert_int_equal(warning.code, EXIT_RECORDING);
	assert_in_range(whole, 1000, 99999);
	snprintf(expected, sizeof expected,
		 "run.telem: truncated at byte %zu,%03zu (22:13:28); the %.1f %% before that are whole",
		 whole / 1000, whole % 1000, 100.0 * (double)whole / (double)(whole + 100));
	assert_string_equal(strrchr(warning.what, '/') + 1, expected);
	assert_string_equal(warning.todo, "Showing those. The writer was killed or the disk filled up.");
}

static void garbage_behind_the_end_is_no_clean_end(void **state)
{
	char *bytes;
	size_t count;

	(void)state;
	make_recording(3);
	bytes = fixture_read(path, &count);
	fixture_write(path, bytes, count - 1);
	fixture_write(fixture_path(&fixture, "more"), bytes, count);
	bytes = realloc(bytes, count + 10);
	memcpy(bytes + count, "0123456789", 10);
	fixture_write(path, bytes, count + 10);
	open_it();
	assert_false(replay.timeline.is_clean);
	assert_non_null(strstr(warning.what, "truncated at byte"));
	free(bytes);
}

static void one_that_was_damaged_says_where_and_when(void **state)
{
	char expected[200];
	size_t before, block;
	char shown[32];

	(void)state;
	story_greet(&story);
	story_ticks(&story, 4);
	before = story.wire.count;
	story_tick(&story);
	/* No tick ends in the first block of that tick. */
	block = (size_t)((uint8_t *)memmem(story.wire.bytes + before, story.wire.count - before, story.wire.marker,
					   MARKER_BYTES) -
			 story.wire.bytes) - 4 + CHECK_BYTES - before;
	story.wire.bytes[before + 20] ^= 1;
	story_ticks(&story, 3);
	wire_add(&story.wire, END, end, .magic = { (const char *)end_magic, 8 });
	wire_close(&story.wire);
	write_stream();
	open_it();
	assert_true(replay.timeline.is_clean);
	assert_int_equal(replay.timeline.damaged_at, before);
	assert_int_equal(replay.timeline.damaged_bytes, block);
	snprintf(shown, sizeof shown, before >= 1000 ? "%zu,%03zu" : "%zu%zu", before / 1000, before % 1000);
	snprintf(expected, sizeof expected,
		 "run.telem: damaged at byte %s; skipped %zu bytes to the next marker (22:13:24 to 22:13:25)",
		 shown, block);
	assert_string_equal(strrchr(warning.what, '/') + 1, expected);
	assert_string_equal(warning.todo, "Everything outside of that is shown.");
	cursor_run(&replay.cursor, UINT64_MAX);
	assert_int_equal(model_ticks(session.model), 9);
	assert_int_equal(model_link(session.model)->lost_events, 42);
}

/* ---- playing ---- */

static void a_tick_at_a_time_up_to_the_end(void **state)
{
	(void)state;
	make_recording(12);
	open_it();
	for (uint64_t i = 0; i <= 12; i++) {
		assert_true(cursor_tick(&replay.cursor));
		assert_int_equal(model_ticks(session.model), i + 1);
		assert_int_equal(replay.cursor.position_ns, (6 + i) * STORY_SECOND);
		assert_false(replay.cursor.is_at_end);
	}
	assert_false(cursor_tick(&replay.cursor));
	assert_true(replay.cursor.is_at_end);
	assert_false(cursor_tick(&replay.cursor));
	assert_int_equal(model_ticks(session.model), 13);
}

static void it_runs_to_the_first_tick_at_or_behind_a_moment(void **state)
{
	(void)state;
	make_recording(12);
	open_it();
	assert_true(cursor_run(&replay.cursor, replay.timeline.first_ns));
	assert_int_equal(time_of(&session), 6 * STORY_SECOND);
	assert_false(cursor_run(&replay.cursor, replay.timeline.first_ns));
	assert_true(cursor_run(&replay.cursor, 9 * STORY_SECOND));
	assert_int_equal(time_of(&session), 9 * STORY_SECOND);
	assert_true(cursor_run(&replay.cursor, 9 * STORY_SECOND + 1));
	assert_int_equal(time_of(&session), 10 * STORY_SECOND);
	assert_int_equal(replay.cursor.position_ns, 9 * STORY_SECOND + 1);
	assert_false(cursor_run(&replay.cursor, 9 * STORY_SECOND + STORY_SECOND / 2));
	assert_false(cursor_run(&replay.cursor, 8 * STORY_SECOND));    /* it never plays backwards */
	assert_int_equal(time_of(&session), 10 * STORY_SECOND);
	assert_true(cursor_run(&replay.cursor, UINT64_MAX));
	assert_true(replay.cursor.is_at_end);
	assert_int_equal(replay.cursor.position_ns, replay.timeline.last_ns);
	assert_int_equal(time_of(&session), 18 * STORY_SECOND);
}

static void any_way_to_a_moment_shows_the_same(void **state)
{
	static const uint64_t seconds[] = { 20, 10, 45, 44, 6, 66, 7, 30, 31, 5, 100, 0 };

	(void)state;
	make_recording(60);
	open_it();
	for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
		uint64_t moment = seconds[i] * STORY_SECOND;

		cursor_seek(&replay.cursor, moment);
		assert_int_equal(replay_open(&other, path, &other_session, &problem, &warning), EXIT_DONE);
		cursor_run(&other.cursor, moment < other.timeline.first_ns ? other.timeline.first_ns
				   : moment >= other.timeline.last_ns ? UINT64_MAX : moment);
		assert_int_equal(time_of(&session), time_of(&other_session));
		assert_int_equal(replay.cursor.position_ns, other.cursor.position_ns);
		figures_equal(figures_json(&session), figures_json(&other_session));
		replay_close(&other);
		assert_int_equal(session_restart(&other_session, 0), 0);
	}
	/* Bytes that were read ahead before a seek do not count as damage. */
	assert_int_equal(model_link(session.model)->skipped_bytes, 0);
}

static void far_back_in_a_long_one_the_last_hour_is_as_it_was(void **state)
{
	uint64_t moment;

	(void)state;
	story.tick_ns = 30 * STORY_SECOND;
	make_recording(360);            /* three hours */
	open_it();
	moment = replay.timeline.first_ns + 9000 * STORY_SECOND;
	model_set_window(session.model, 0);
	model_set_window(other_session.model, 0);
	cursor_run(&replay.cursor, UINT64_MAX);
	assert_true(replay.timeline.point_count > 300);
	cursor_seek(&replay.cursor, moment);
	/* The cursor did not play the first hour and a half again. */
	assert_true(model_ticks(session.model) < 130);
	assert_int_equal(replay_open(&other, path, &other_session, &problem, &warning), EXIT_DONE);
	cursor_run(&other.cursor, moment);
	assert_int_equal(model_ticks(other_session.model), 301);
	figures_equal(figures_essence(&session, false), figures_essence(&other_session, false));
	for (int64_t second = model_second(session.model);
	     second > model_second(session.model) - LIMIT_HISTORY_S + 30; second--) {
		double a = series_at(model_series(session.model, MODEL_EVENTS), second);
		double b = series_at(model_series(other_session.model, MODEL_EVENTS), second);

		assert_true((isnan(a) && isnan(b)) || a == b);
	}
	assert_int_equal(model_link(session.model)->lost_events, 0);
}

static void going_back_from_the_end_plays_on(void **state)
{
	(void)state;
	make_recording(20);
	open_it();
	cursor_run(&replay.cursor, UINT64_MAX);
	cursor_seek(&replay.cursor, 10 * STORY_SECOND);
	assert_false(replay.cursor.is_at_end);
	assert_int_equal(time_of(&session), 10 * STORY_SECOND);
	cursor_run(&replay.cursor, UINT64_MAX);
	assert_int_equal(model_ticks(session.model), 21);
	assert_int_equal(model_link(session.model)->lost_blocks, 0);
	assert_int_equal(model_link(session.model)->reconnects, 0);
}

static void the_window_chosen_stays_when_going_back(void **state)
{
	(void)state;
	make_recording(30);
	open_it();
	model_set_window(session.model, 10);
	cursor_run(&replay.cursor, UINT64_MAX);
	cursor_seek(&replay.cursor, 20 * STORY_SECOND);
	assert_int_equal(model_window(session.model), 10);
	assert_int_equal(model_site_by_id(session.model, STORY_REQUEST)->window.count, 200);
}

static void a_recording_never_lags(void **state)
{
	(void)state;
	make_recording(3);
	open_it();
	cursor_run(&replay.cursor, UINT64_MAX);
	assert_true(model_link(session.model)->lag_ns == 0);
}

/* ---- several programs, and times made by an enemy ---- */

/* A second program follows, whose clock stands lower: it ran on another machine, or since another start of it. */
static void a_second_program_with_a_lower_clock_plays_behind_the_first(void **state)
{
	struct story second;

	(void)state;
	story.now_ns += 1000 * STORY_SECOND;
	story_greet(&story);
	story_ticks(&story, 10);
	story_init(&second, 8);
	second.hello.real_ns = story.hello.real_ns + 1100 * STORY_SECOND;
	story_greet(&second);
	story_ticks(&second, 20);
	wire_raw(&story.wire, second.wire.bytes, second.wire.count);
	write_stream();
	open_it();
	assert_true(replay.timeline.clock_count == 2);
	cursor_run(&replay.cursor, replay.timeline.first_ns + 10 * STORY_SECOND);
	assert_int_equal(model_target(session.model)->stream, 7);
	for (int tick = 0; tick <= 20; tick++) {
		assert_true(cursor_tick(&replay.cursor));
		assert_int_equal(model_target(session.model)->stream, 8);
	}
	assert_int_equal(replay.cursor.position_ns, replay.timeline.last_ns);
	cursor_move(&replay.cursor, -5e9);
	assert_int_equal(model_target(session.model)->stream, 8);
	assert_int_equal(replay.cursor.position_ns, replay.timeline.last_ns - 5 * STORY_SECOND);
	cursor_seek(&replay.cursor, 0);
	assert_int_equal(model_target(session.model)->stream, 7);
	story_fini(&second);
}

static void moves_stop_at_both_ends(void **state)
{
	(void)state;
	make_recording(30);
	open_it();
	cursor_move(&replay.cursor, -1e300);
	assert_int_equal(replay.cursor.position_ns, replay.timeline.first_ns);
	cursor_move(&replay.cursor, 1e300);
	assert_int_equal(replay.cursor.position_ns, replay.timeline.last_ns);
	assert_true(replay.cursor.is_at_end);
	assert_false(cursor_play(&replay.cursor, UINT64_MAX));
	cursor_seek(&replay.cursor, 0);
	replay.cursor.is_playing = true;
	replay.cursor.speed = 1000;
	assert_true(cursor_play(&replay.cursor, UINT64_MAX));
	assert_int_equal(replay.cursor.position_ns, replay.timeline.last_ns);
}

/* Times at the end of their range, and a greeting in every block. */
static void times_made_by_an_enemy_stay_between_the_ends(void **state)
{
	static const uint64_t times[] = { 1, UINT64_MAX, 5, UINT64_MAX - 1, 1ull << 63, 2 };

	(void)state;
	for (uint64_t i = 0; i < 200; i++) {
		story.wire.stream = i;
		wire_hello(&story.wire);
		wire_add(&story.wire, SNAPSHOT, snapshot, .tick = i, .time_ns = times[i % 6], .real_ns = times[(i + 1) % 6]);
		wire_close(&story.wire);
	}
	write_stream();
	open_it();
	for (int i = 0; i < 50; i++) {
		cursor_move(&replay.cursor, i % 3 ? 1e18 : -1e19);
		assert_in_range(replay.cursor.position_ns, replay.timeline.first_ns, replay.timeline.last_ns);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opening_tells_how_long_it_is_and_plays_nothing_yet), TEST(a_bare_stream_is_a_recording),
		TEST(what_is_none_says_why), TEST(one_of_another_version_is_said_to_be_so),
		TEST(one_that_was_cut_says_where_and_when),
		TEST(garbage_behind_the_end_is_no_clean_end), TEST(one_that_was_damaged_says_where_and_when),
		TEST(a_tick_at_a_time_up_to_the_end), TEST(it_runs_to_the_first_tick_at_or_behind_a_moment),
		TEST(any_way_to_a_moment_shows_the_same), TEST(far_back_in_a_long_one_the_last_hour_is_as_it_was),
		TEST(going_back_from_the_end_plays_on), TEST(the_window_chosen_stays_when_going_back),
		TEST(a_recording_never_lags),
		TEST(a_second_program_with_a_lower_clock_plays_behind_the_first), TEST(moves_stop_at_both_ends),
		TEST(times_made_by_an_enemy_stay_between_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
