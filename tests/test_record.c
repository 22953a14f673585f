#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/observe/record.h"
#include "tests/support/figures.h"
#include "tests/support/fixture.h"
#include "tests/support/replay.h"
#include "tests/support/story.h"

static struct fixture fixture;
static struct session live, played;
static struct recorder recorder;
static struct replay replay;
static struct story story;
static struct problem problem, warning;
static const char *path;

static int setup(void **state)
{
	(void)state;
	if (fixture_init(&fixture) < 0 || session_init(&live, "live", LIMIT_LEAD_BYTES) < 0 ||
	    session_init(&played, "played", LIMIT_LEAD_BYTES) < 0)
		return -1;
	story_init(&story, 7);
	recorder_init(&recorder);
	replay = (struct replay){ 0 };
	problem = warning = (struct problem){ 0 };
	path = fixture_path(&fixture, "x.telem");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (recorder_is_on(&recorder))
		recorder_stop(&recorder);
	replay_close(&replay);
	session_fini(&live);
	session_fini(&played);
	story_fini(&story);
	fixture_fini(&fixture);
	return 0;
}

/* Feeds the live session with what the story has written since the last call. */
static void live_on(void)
{
	figures_feed(&live, story.wire.bytes, story.wire.count, 0);
	story.wire.count = 0;
}

static void tick_on(int count)
{
	for (int i = 0; i < count; i++) {
		story_tick(&story);
		live_on();
	}
}

static void begin(void)
{
	story_greet(&story);
	live_on();
	assert_int_equal(recorder_start(&recorder, &live, path, false, &problem), EXIT_DONE);
}

static void play_all(void)
{
	assert_int_equal(replay_open(&replay, path, &played, &problem, &warning), EXIT_DONE);
	cursor_run(&replay.cursor, UINT64_MAX);
	assert_true(replay.cursor.is_at_end);
}

static uint64_t file_bytes(void)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

/* ---- the same figures ---- */

static void a_recording_replays_to_the_same_figures(void **state)
{
	(void)state;
	begin();
	tick_on(70);
	story_bye(&story);
	live_on();
	recorder_stop(&recorder);
	assert_int_equal(recorder.problem.code, EXIT_DONE);
	play_all();
	assert_true(replay.timeline.is_clean);
	assert_int_equal(warning.code, EXIT_DONE);
	assert_int_equal(model_ticks(played.model), 71);
	assert_int_equal(model_link(played.model)->lost_blocks, 0);
	figures_equal(figures_essence(&live, true), figures_essence(&played, true));
}

static void a_file_belongs_to_its_owner_alone(void **state)
{
	struct stat st;

	(void)state;
	begin();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void one_that_starts_in_the_middle_knows_what_came_before(void **state)
{
	(void)state;
	story_greet(&story);
	tick_on(33);
	assert_int_equal(recorder_start(&recorder, &live, path, false, &problem), EXIT_DONE);
	tick_on(20);
	recorder_stop(&recorder);
	model_set_window(live.model, 0);        /* else a window begins before the recording */
	model_set_window(played.model, 0);
	play_all();
	assert_true(replay.timeline.is_clean);
	assert_int_equal(model_ticks(played.model), 21);
	figures_equal(figures_essence(&live, false), figures_essence(&played, false));
	assert_int_equal(model_link(played.model)->lost_events, 0);
	assert_true(model_link(played.model)->is_balanced);
	assert_int_equal(model_class(played.model, STORY_NET)->received, 20 * 41);
	/* From the next tick on its rates are right. */
	assert_true(model_site_by_id(played.model, STORY_NODE)->rate_per_s == 13);
}

/* The recording is started between two blocks of the figures of one tick. */
static void one_that_starts_within_a_tick_begins_behind_it(void **state)
{
	size_t half;

	(void)state;
	story.events_a_tick = 2000;
	story_greet(&story);
	tick_on(3);
	story_tick(&story);
	half = story.wire.count - 1;            /* all but the block with its SNAPSHOT */
	figures_feed(&live, story.wire.bytes, half, 0);
	assert_false(model_is_settled(live.model));
	assert_int_equal(recorder_start(&recorder, &live, path, false, &problem), EXIT_DONE);
	figures_feed(&live, story.wire.bytes + half, story.wire.count - half, 0);
	assert_int_equal(recorder_bytes(&recorder), 0);
	story.wire.count = 0;
	tick_on(1);
	model_set_window(live.model, 0);
	model_set_window(played.model, 0);
	recorder_stop(&recorder);
	play_all();
	assert_int_equal(model_ticks(played.model), 2);
	figures_equal(figures_essence(&live, false), figures_essence(&played, false));
}

/* Events that were taken before the recording do not count as lost. */
static void one_that_starts_before_the_first_tick_loses_nothing(void **state)
{
	(void)state;
	story_ticks(&story, 50);
	story.wire.count = 0;
	wire_hello(&story.wire);
	wire_close(&story.wire);
	live_on();
	assert_int_equal(recorder_start(&recorder, &live, path, false, &problem), EXIT_DONE);
	story_greet(&story);
	live_on();
	tick_on(3);
	recorder_stop(&recorder);
	play_all();
	assert_int_equal(model_link(live.model)->lost_events, 0);
	assert_int_equal(model_link(played.model)->lost_events, 0);
	figures_equal(figures_essence(&live, true), figures_essence(&played, true));
}

static void losses_are_the_same_in_the_recording(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 20; i++) {
		story.dropped[STORY_NET] += 3;
		tick_on(1);
		if (i % 7 == 3)
			story_lose_tick(&story);
	}
	recorder_stop(&recorder);
	play_all();
	assert_int_equal(model_link(live.model)->lost_events, 3 * 42);
	assert_int_equal(model_link(live.model)->dropped_events, 60);
	figures_equal(figures_essence(&live, true), figures_essence(&played, true));
}

static void a_recording_over_a_reconnect_replays_to_the_same_figures(void **state)
{
	(void)state;
	begin();
	tick_on(12);
	story_tick(&story);
	figures_feed(&live, story.wire.bytes, story.wire.count - 300, 0);       /* cut */
	story.wire.count = 0;
	session_gap(&live, 99999);
	for (int i = 0; i < 4; i++)
		story_lose_tick(&story);
	story_greet(&story);
	live_on();
	tick_on(12);
	recorder_stop(&recorder);
	play_all();
	assert_true(replay.timeline.is_clean);
	assert_int_equal(warning.code, EXIT_DONE);
	assert_int_equal(model_link(live.model)->lost_events, 0);
	figures_equal(figures_essence(&live, true), figures_essence(&played, true));
}

static void another_program_in_the_same_recording_is_another(void **state)
{
	(void)state;
	begin();
	tick_on(12);
	story_fini(&story);
	story_init(&story, 8);
	story_greet(&story);
	live_on();
	tick_on(12);
	recorder_stop(&recorder);
	play_all();
	assert_int_equal(model_target(played.model)->stream, 8);
	assert_int_equal(model_ticks(played.model), 13);
	figures_equal(figures_essence(&live, true), figures_essence(&played, true));
}

/* ---- index points ---- */

/* Goes from the last index point to the first, as END and INDEX say, and returns how many there are. Each is a block
 * that begins with HELLO and INDEX. */
static uint32_t walk(const char *bytes, size_t count, uint64_t *events, uint64_t *widest)
{
	struct decoder *decoder = decoder_new();
	uint64_t offset, point_count, above = count - RECORDING_END_BYTES;
	uint32_t walked = 0;

	*events = *widest = 0;
	assert_true(recording_end_read((const uint8_t *)bytes + count - RECORDING_END_BYTES, &offset, &point_count));
	for (;;) {
		const uint8_t *at = (const uint8_t *)bytes + offset;
		size_t left = count - offset;
		struct message message;

		assert_int_equal(decode_next(decoder, &at, &left, &message), DECODE_MESSAGE);
		assert_int_equal(message.kind, KIND_HELLO);
		assert_int_equal(decode_next(decoder, &at, &left, &message), DECODE_MESSAGE);
		assert_int_equal(message.kind, KIND_INDEX);
		assert_int_equal(message.index.offset, offset);
		assert_true(message.index.first_ns <= message.index.last_ns);
		*events += message.index.events;
		*widest = above - offset > *widest ? above - offset : *widest;
		walked++;
		if (offset == 0)
			break;
		above = offset;
		assert_true(message.index.previous < offset);
		offset = message.index.previous;
		decoder_reset(decoder);
	}
	assert_int_equal(walked, point_count);
	decoder_free(decoder);
	return walked;
}

static void points_come_each_5_s_of_the_programs_time(void **state)
{
	char *bytes;
	size_t count;
	uint64_t events, widest;

	(void)state;
	begin();
	tick_on(61);
	recorder_stop(&recorder);
	bytes = fixture_read(path, &count);
	/* The points come after ticks 0, 5, .. 60, before the next block. */
	assert_int_equal(walk(bytes, count, &events, &widest), 13);
	assert_int_equal(events, 60 * 42);
	free(bytes);
}

static void points_come_each_mib(void **state)
{
	char *bytes;
	size_t count;
	uint64_t events, widest;

	(void)state;
	story.events_a_tick = 12000;            /* 312 kB */
	begin();
	tick_on(20);
	recorder_stop(&recorder);
	bytes = fixture_read(path, &count);
	assert_in_range(walk(bytes, count, &events, &widest), count / LIMIT_INDEX_BYTES, 20);
	assert_true(widest < LIMIT_INDEX_BYTES + 8192 + 8 * LIMIT_BLOCK_BYTES);
	free(bytes);
}

static void from_any_point_on_the_same_figures_are_reached(void **state)
{
	char *bytes;
	size_t count;

	(void)state;
	begin();
	tick_on(40);
	recorder_stop(&recorder);
	model_set_window(live.model, 0);
	bytes = fixture_read(path, &count);
	assert_int_equal(replay_open(&replay, path, &played, &problem, &warning), EXIT_DONE);
	assert_int_equal(replay.timeline.point_count, 8);
	for (uint32_t i = 0; i < replay.timeline.point_count; i++) {
		uint64_t offset = replay.timeline.points[i].offset;
		struct session other;

		assert_int_equal(session_init(&other, "x", LIMIT_LEAD_BYTES), 0);
		model_set_window(other.model, 0);
		figures_feed(&other, (uint8_t *)bytes + offset, count - offset, 0);
		figures_equal(figures_essence(&live, false), figures_essence(&other, false));
		assert_int_equal(model_link(other.model)->lost_events, 0);
		assert_true(model_link(other.model)->is_balanced);
		assert_int_equal(model_ticks(other.model), 41 - 5 * i);
		session_fini(&other);
	}
	free(bytes);
}

/* ---- cut and damaged ---- */

/* Where each block ends, and how many ticks there are up to it. */
static size_t block_ends[4000], end_ticks[4000], end_count;

static void note_end(void *arg, const struct block *block)
{
	(void)arg;
	block_ends[end_count] = block->offset + block->byte_count + CHECK_BYTES;
}

static void find_ends(const char *bytes, size_t count)
{
	struct observer observer = { .on_block = note_end };
	struct session other;
	size_t room;

	end_count = 0;
	assert_int_equal(session_init(&other, "x", LIMIT_LEAD_BYTES), 0);
	assert_true(count < BLOCK_READER_BYTES / 2);
	memcpy(session_room(&other, &room), bytes, count);
	session_hold(&other, count);
	session_observe(&other, &observer);
	while (session_step(&other, 0))
		end_ticks[end_count++] = model_ticks(other.model);
	session_fini(&other);
	assert_int_equal(block_ends[end_count - 1], count);
}

static void cut_anywhere_all_before_it_is_there(void **state)
{
	char *bytes;
	size_t count, end;
	uint32_t opened = 0;

	(void)state;
	begin();
	tick_on(6);
	recorder_stop(&recorder);
	bytes = fixture_read(path, &count);
	find_ends(bytes, count);
	end = end_count - 1;
	for (size_t cut = count - 1; cut > 0; cut--) {
		problem.code = EXIT_DONE;
		assert_int_equal(truncate(path, (off_t)cut), 0);
		while (end > 0 && block_ends[end] > cut)
			end--;
		replay_open(&replay, path, &played, &problem, &warning);
		if (block_ends[end] > cut || end_ticks[end] == 0) {
			assert_int_equal(problem.code, EXIT_RECORDING);
			assert_non_null(strstr(problem.what, "holds no whole tick of a recording"));
			continue;
		}
		opened++;
		assert_int_equal(problem.code, EXIT_DONE);
		assert_int_equal(warning.code, EXIT_RECORDING);
		assert_false(replay.timeline.is_clean);
		assert_int_equal(replay.timeline.whole_bytes, block_ends[end]);
		assert_int_equal(replay.timeline.damaged_bytes, 0);
		assert_non_null(strstr(warning.what, block_ends[end] == cut ? "not closed cleanly" : "truncated at byte"));
		if (cut % 16 == 0) {
			cursor_run(&replay.cursor, UINT64_MAX);
			assert_int_equal(model_ticks(played.model), end_ticks[end]);
			assert_int_equal(session_restart(&played, 0), 0);
		}
		replay_close(&replay);
	}
	assert_true(opened > count / 2);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(replay_open(&replay, path, &played, &problem, &warning), EXIT_RECORDING);
	free(bytes);
}

static void a_flipped_byte_costs_one_block(void **state)
{
	char *bytes;
	size_t count, ticks;

	(void)state;
	begin();
	tick_on(12);
	recorder_stop(&recorder);
	bytes = fixture_read(path, &count);
	find_ends(bytes, count);
	ticks = end_ticks[end_count - 1];
	for (size_t at = block_ends[2]; at < block_ends[end_count - 2]; at += 97) {
		bytes[at] ^= 0x10;
		fixture_write(path, bytes, count);
		bytes[at] ^= 0x10;
		assert_int_equal(replay_open(&replay, path, &played, &problem, &warning), EXIT_DONE);
		assert_int_equal(warning.code, EXIT_RECORDING);
		assert_non_null(strstr(warning.what, "damaged at byte"));
		assert_true(replay.timeline.is_clean);
		assert_in_range(replay.timeline.damaged_bytes, 1, LIMIT_BLOCK_BYTES);
		assert_in_range(at, replay.timeline.damaged_at,
				replay.timeline.damaged_at + replay.timeline.damaged_bytes - 1);
		cursor_run(&replay.cursor, UINT64_MAX);
		assert_in_range(model_ticks(played.model), ticks - 1, ticks);
		replay_close(&replay);
		assert_int_equal(session_restart(&played, 0), 0);
	}
	free(bytes);
}

/* ---- the file ---- */

static void no_file_is_overwritten_unless_told_to(void **state)
{
	char *text;

	(void)state;
	fixture_write(path, "precious", 8);
	story_greet(&story);
	live_on();
	assert_int_equal(recorder_start(&recorder, &live, path, false, &problem), EXIT_INTERNAL);
	assert_false(recorder_is_on(&recorder));
	assert_null(live.observers);
	assert_non_null(strstr(problem.what, "x.telem: the file is there already"));
	assert_string_equal(problem.todo, "Choose another name, or give --force.");
	text = fixture_read(path, NULL);
	assert_string_equal(text, "precious");
	free(text);
	problem.code = EXIT_DONE;
	assert_int_equal(recorder_start(&recorder, &live, path, true, &problem), EXIT_DONE);
	tick_on(2);
	recorder_stop(&recorder);
	play_all();
	assert_true(replay.timeline.is_clean);
}

static void a_file_that_is_being_recorded_into_is_not_taken_even_so(void **state)
{
	struct recorder other;
	uint64_t before;

	(void)state;
	begin();
	tick_on(2);
	before = file_bytes();
	assert_true(before > 0);
	assert_int_equal(recorder_start(&other, &played, path, true, &problem), EXIT_INTERNAL);
	assert_non_null(strstr(problem.what, "it is being read, or another program is recording into it"));
	assert_int_equal(file_bytes(), before);
	problem.code = EXIT_DONE;
	tick_on(2);
	recorder_stop(&recorder);
	play_all();
	assert_true(replay.timeline.is_clean);
	assert_int_equal(model_ticks(played.model), 5);
}

static void a_place_that_does_not_exist_is_said(void **state)
{
	(void)state;
	story_greet(&story);
	live_on();
	assert_int_equal(recorder_start(&recorder, &live, fixture_path(&fixture, "no/x.telem"), false, &problem),
			 EXIT_INTERNAL);
	assert_non_null(strstr(problem.what, "no/x.telem: No such file or directory"));
	assert_string_equal(problem.todo, "Choose another place with -o FILE.");
}

static void a_recording_without_a_name_is_named_after_the_program(void **state)
{
	char here[300];
	struct message message = { .kind = KIND_HELLO, .hello = wire_hello_fields(&story.wire) };

	(void)state;
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(fixture.dir), 0);
	setenv("TZ", "UTC", 1);
	message.hello.name = text_of("../im g/srv-1.2");
	wire_message(&story.wire, &message);
	story_tick(&story);
	live_on();
	assert_int_equal(recorder_start(&recorder, &live, NULL, false, &problem), EXIT_DONE);
	assert_int_equal(chdir(here), 0);
	assert_string_equal(recorder.path, "imgsrv-1.2-20231114-221321.telem");
}

static void one_that_ends_at_once_holds_what_is_known(void **state)
{
	(void)state;
	story_greet(&story);
	tick_on(12);
	assert_int_equal(recorder_start(&recorder, &live, path, false, &problem), EXIT_DONE);
	recorder_stop(&recorder);
	assert_null(live.observers);
	recorder_stop(&recorder);               /* a second stop does nothing */
	play_all();
	assert_true(replay.timeline.is_clean);
	assert_int_equal(model_ticks(played.model), 1);
	assert_true(model_totals(live.model)->live.bytes > 0);
	assert_int_equal(model_totals(played.model)->live.bytes, model_totals(live.model)->live.bytes);
	assert_int_equal(model_site_count(played.model), model_site_count(live.model));
	for (uint32_t i = 0; i < model_site_count(live.model); i++)
		assert_int_equal(model_site(played.model, i)->count, model_site(live.model, i)->count);
}

/* ---- a full disk ---- */

static void a_full_disk_ends_it_at_a_whole_block_and_watching_goes_on(void **state)
{
	struct rlimit before, small;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 10000;
	begin();
	setrlimit(RLIMIT_FSIZE, &small);
	tick_on(30);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_false(recorder_is_on(&recorder));
	assert_null(live.observers);
	assert_int_equal(recorder.problem.code, EXIT_INTERNAL);
	assert_non_null(strstr(recorder.problem.what, "recording stopped: "));
	assert_non_null(strstr(recorder.problem.what, "MiB saved, whole up to its last block"));
	assert_int_equal(model_ticks(live.model), 31);
	assert_in_range(file_bytes(), 10000 - LIMIT_BLOCK_BYTES, 10000);
	assert_int_equal(file_bytes(), recorder_bytes(&recorder));
	recorder_stop(&recorder);               /* it has stopped already */
	play_all();
	assert_int_equal(replay.timeline.whole_bytes, replay.timeline.end);
	assert_int_equal(warning.code, EXIT_RECORDING);
	assert_non_null(strstr(warning.what, "not closed cleanly; whole up to its end"));
	assert_true(model_ticks(played.model) > 3);
}

static void no_space_at_all_is_said_in_words(void **state)
{
	(void)state;
	story_greet(&story);
	live_on();
	assert_int_equal(recorder_start(&recorder, &live, "/dev/full", true, &problem), EXIT_DONE);
	tick_on(1);
	assert_true(recorder_is_on(&recorder) && recorder.is_full);
	assert_string_equal(recorder.problem.what,
			    "recording stopped: /dev/full: the disk is full; 0.0 MiB saved, whole up to its last block");
	assert_int_equal(model_ticks(live.model), 2);
	recorder_stop(&recorder);
	assert_false(recorder_is_on(&recorder));
}

static void a_pipe_can_be_recorded_into(void **state)
{
	static uint8_t bytes[65536];
	char name[32];
	int fds[2];
	ssize_t count;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	snprintf(name, sizeof name, "/dev/fd/%d", fds[1]);
	story_greet(&story);
	live_on();
	assert_int_equal(recorder_start(&recorder, &live, name, true, &problem), EXIT_DONE);
	tick_on(5);
	recorder_stop(&recorder);
	close(fds[1]);
	count = read(fds[0], bytes, sizeof bytes);
	assert_true(count > 0);
	figures_feed(&played, bytes, (size_t)count, 0);
	figures_equal(figures_essence(&live, true), figures_essence(&played, true));
	close(fds[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recording_replays_to_the_same_figures), TEST(a_file_belongs_to_its_owner_alone),
		TEST(one_that_starts_in_the_middle_knows_what_came_before),
		TEST(one_that_starts_within_a_tick_begins_behind_it),
		TEST(one_that_starts_before_the_first_tick_loses_nothing), TEST(losses_are_the_same_in_the_recording),
		TEST(a_recording_over_a_reconnect_replays_to_the_same_figures),
		TEST(another_program_in_the_same_recording_is_another), TEST(points_come_each_5_s_of_the_programs_time),
		TEST(points_come_each_mib), TEST(from_any_point_on_the_same_figures_are_reached),
		TEST(cut_anywhere_all_before_it_is_there), TEST(a_flipped_byte_costs_one_block),
		TEST(no_file_is_overwritten_unless_told_to), TEST(a_file_that_is_being_recorded_into_is_not_taken_even_so),
		TEST(a_place_that_does_not_exist_is_said), TEST(a_recording_without_a_name_is_named_after_the_program),
		TEST(one_that_ends_at_once_holds_what_is_known),
		TEST(a_full_disk_ends_it_at_a_whole_block_and_watching_goes_on),
		TEST(no_space_at_all_is_said_in_words), TEST(a_pipe_can_be_recorded_into),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
