#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/observe/record.h"
#include "monitor/session/cursor.h"
#include "tests/support/figures.h"
#include "tests/support/fixture.h"
#include "tests/support/replay.h"
#include "tests/support/story.h"

/* Half a minute of the story, so that it is full soon. */
#define SMALL_BYTES (128 << 10)

static struct session live, past;
static struct timeline timeline;
static struct cursor cursor;
static struct story story;

static int setup(void **state)
{
	(void)state;
	story_init(&story, 7);
	timeline = (struct timeline){ 0 };
	if (session_init(&live, "live", LIMIT_LEAD_BYTES) < 0 || session_init(&past, "past", LIMIT_LEAD_BYTES) < 0)
		return -1;
	return timeline_keep(&timeline, &live, LIMIT_TIMELINE_BYTES);
}

static int setup_small(void **state)
{
	if (setup(state) < 0)
		return -1;
	timeline_close(&timeline);
	return timeline_keep(&timeline, &live, SMALL_BYTES);
}

static int teardown(void **state)
{
	(void)state;
	timeline_close(&timeline);
	session_fini(&live);
	session_fini(&past);
	story_fini(&story);
	return 0;
}

static void hear_story(void)
{
	figures_feed(&live, story.wire.bytes, story.wire.count, 0);
	story.wire.count = 0;
}

static void greet(void)
{
	story_greet(&story);
	hear_story();
}

static void live_on(int ticks)
{
	for (int i = 0; i < ticks; i++) {
		story_tick(&story);
		hear_story();
	}
}

static uint64_t time_of(const struct session *session) { return model_time_ns(session->model); }

static void same_as(char *figures)
{
	figures_equal(figures_essence(&past, false), figures);
}

/* ---- what is kept ---- */

static void the_past_looks_as_it_did_when_it_was_now(void **state)
{
	uint64_t moment;
	char *then;

	(void)state;
	greet();
	live_on(33);
	moment = time_of(&live);
	then = figures_essence(&live, false);
	live_on(60);
	assert_int_equal(timeline.last_ns, time_of(&live));
	assert_true(timeline.point_count > 10);
	cursor_open(&cursor, &timeline, &past);
	cursor_seek(&cursor, moment);
	assert_int_equal(time_of(&past), moment);
	assert_int_equal(cursor.position_ns, moment);
	assert_false(cursor.is_at_end);
	same_as(then);
	assert_int_equal(model_link(past.model)->lost_blocks, 0);
	assert_int_equal(model_link(past.model)->skipped_bytes, 0);
	assert_int_equal(model_link(past.model)->bad_messages, 0);
}

static void its_end_is_now_and_moves_on(void **state)
{
	(void)state;
	greet();
	live_on(20);
	cursor_open(&cursor, &timeline, &past);
	cursor_seek(&cursor, UINT64_MAX);
	assert_true(cursor.is_at_end);
	same_as(figures_essence(&live, false));
	live_on(3);
	assert_true(cursor_tick(&cursor));
	assert_false(cursor.is_at_end);
	assert_true(cursor_run(&cursor, UINT64_MAX));
	same_as(figures_essence(&live, false));
	assert_false(cursor_tick(&cursor));
}

static void a_held_picture_can_be_moved_from_where_it_stands(void **state)
{
	uint64_t moment;
	char *then;

	(void)state;
	greet();
	live_on(30);
	moment = time_of(&live);
	then = figures_essence(&live, false);
	model_free(past.model);
	past.model = model_copy(live.model);
	cursor_open_at(&cursor, &timeline, &past);
	assert_int_equal(cursor.position_ns, moment);
	live_on(10);
	same_as(then);
	then = figures_essence(&live, false);
	assert_true(cursor_tick(&cursor));
	assert_int_equal(time_of(&past), moment + STORY_SECOND);
	cursor_seek(&cursor, moment - 7 * STORY_SECOND);
	assert_int_equal(time_of(&past), moment - 7 * STORY_SECOND);
	cursor_run(&cursor, UINT64_MAX);
	same_as(then);
}

static void a_reconnect_is_part_of_the_past(void **state)
{
	(void)state;
	greet();
	live_on(12);
	story_tick(&story);
	figures_feed(&live, story.wire.bytes, story.wire.count - 300, 0);       /* cut */
	story.wire.count = 0;
	session_gap(&live, 99999);
	story_lose_tick(&story);
	greet();
	live_on(12);
	cursor_open(&cursor, &timeline, &past);
	cursor_run(&cursor, UINT64_MAX);
	assert_int_equal(model_link(past.model)->reconnects, 1);
	same_as(figures_essence(&live, false));
}

/* ---- its bound ---- */

static void the_oldest_goes_first_and_what_is_left_can_be_entered(void **state)
{
	uint8_t byte;
	uint64_t first_ns;

	(void)state;
	model_set_window(live.model, 10);       /* the timeline covers this window */
	model_set_window(past.model, 10);
	greet();
	live_on(400);
	assert_true(timeline.end > 5 * SMALL_BYTES);
	assert_true(timeline.end - timeline.start <= SMALL_BYTES);
	assert_int_equal(timeline.start, timeline.points[0].offset);
	assert_int_equal(timeline_read(&timeline, timeline.start - 1, &byte, 1), -ESTALE);
	assert_int_equal(timeline_read(&timeline, timeline.end, &byte, 1), 0);
	first_ns = timeline.first_ns;
	assert_true(first_ns > 300 * STORY_SECOND);
	for (uint64_t moment = first_ns; moment <= timeline.last_ns; moment += STORY_SECOND) {
		cursor_open(&cursor, &timeline, &past);
		assert_int_equal(session_restart(&past, timeline.start), 0);
		cursor_seek(&cursor, moment);
		assert_int_equal(time_of(&past), moment);
		assert_int_equal(model_link(past.model)->skipped_bytes, 0);
		assert_int_equal(model_link(past.model)->lost_blocks, 0);
	}
	cursor_seek(&cursor, 0);                /* goes to the oldest moment that is kept */
	assert_int_equal(time_of(&past), first_ns);
	cursor_run(&cursor, UINT64_MAX);
	same_as(figures_essence(&live, false));
}

static void a_cursor_whose_place_is_overwritten_goes_on_at_the_oldest(void **state)
{
	uint64_t moment;

	(void)state;
	greet();
	live_on(20);
	cursor_open(&cursor, &timeline, &past);
	cursor_run(&cursor, 10 * STORY_SECOND);
	moment = time_of(&past);
	live_on(400);
	while (cursor_tick(&cursor) && time_of(&past) < timeline.first_ns)
		;
	assert_true(time_of(&past) > moment + 200 * STORY_SECOND);
	cursor_run(&cursor, UINT64_MAX);
	assert_int_equal(time_of(&past), time_of(&live));
	assert_int_equal(model_link(past.model)->reconnects, 1);
}

static void one_that_is_too_small_for_a_point_holds_nothing_to_enter(void **state)
{
	(void)state;
	timeline_close(&timeline);
	assert_int_equal(timeline_keep(&timeline, &live, LIMIT_BLOCK_BYTES), 0);
	greet();
	live_on(50);
	assert_true(timeline.end - timeline.start <= LIMIT_BLOCK_BYTES);
	cursor_open(&cursor, &timeline, &past);
	assert_false(cursor_tick(&cursor));
	assert_true(cursor.is_at_end);
}

static void a_closed_one_hears_no_more(void **state)
{
	(void)state;
	greet();
	live_on(5);
	timeline_close(&timeline);
	assert_null(live.observers);
	live_on(5);
	assert_int_equal(timeline.end, 0);
	timeline_close(&timeline);              /* a second close does nothing */
}

/* ---- written down late ---- */

static void the_last_minutes_can_be_recorded_afterwards(void **state)
{
	struct problem problem = { 0 }, warning = { 0 };
	struct session played;
	struct recorder recorder;
	struct replay replay;
	struct fixture fixture;
	const char *path;

	(void)state;
	assert_int_equal(fixture_init(&fixture), 0);
	assert_int_equal(session_init(&played, "played", LIMIT_LEAD_BYTES), 0);
	path = fixture_path(&fixture, "late.telem");
	greet();
	live_on(400);
	cursor_open(&cursor, &timeline, &past);
	cursor_seek(&cursor, timeline.last_ns - 300 * STORY_SECOND);
	assert_int_equal(recorder_start(&recorder, &past, path, false, &problem), EXIT_DONE);
	cursor_run(&cursor, UINT64_MAX);
	recorder_stop(&recorder);
	assert_int_equal(replay_open(&replay, path, &played, &problem, &warning), EXIT_DONE);
	assert_int_equal(warning.code, EXIT_DONE);
	assert_int_equal(replay.timeline.last_ns - replay.timeline.first_ns, 300 * STORY_SECOND);
	cursor_run(&replay.cursor, UINT64_MAX);
	figures_equal(figures_essence(&played, false), figures_essence(&live, false));
	replay_close(&replay);
	session_fini(&played);
	fixture_fini(&fixture);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SMALL(name) cmocka_unit_test_setup_teardown(name, setup_small, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(the_past_looks_as_it_did_when_it_was_now), TEST(its_end_is_now_and_moves_on),
		TEST(a_held_picture_can_be_moved_from_where_it_stands), TEST(a_reconnect_is_part_of_the_past),
		SMALL(the_oldest_goes_first_and_what_is_left_can_be_entered),
		SMALL(a_cursor_whose_place_is_overwritten_goes_on_at_the_oldest),
		TEST(one_that_is_too_small_for_a_point_holds_nothing_to_enter),
		TEST(a_closed_one_hears_no_more), TEST(the_last_minutes_can_be_recorded_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
