#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/session/session.h"
#include "tests/support/figures.h"
#include "tests/support/fixture.h"
#include "tests/support/story.h"
#include "widgets/text.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct session session;
static struct story story;

static int setup(void **state)
{
	(void)state;
	story_init(&story, 7);
	return session_init(&session, "unix:/tmp/x.sock", LIMIT_LEAD_BYTES);
}

static int teardown(void **state)
{
	(void)state;
	story_fini(&story);
	session_fini(&session);
	return 0;
}

static const struct model_link *link_of(void) { return model_link(session.model); }
static void feed(const void *bytes, size_t count) { figures_feed(&session, bytes, count, 0); }
/* Feeds what the story has written since the last call. */
static void feed_story(void)
{
	feed(story.wire.bytes, story.wire.count);
	story.wire.count = 0;
}

static char *json_in_pieces(const uint8_t *bytes, size_t count, size_t first, size_t piece)
{
	struct session other;
	char *text;

	assert_int_equal(session_init(&other, "x", LIMIT_LEAD_BYTES), 0);
	if (first)
		figures_feed(&other, bytes, first, 0);
	figures_feed(&other, bytes + first, count - first, piece);
	text = figures_json(&other);
	session_fini(&other);
	return text;
}

/* ---- bytes in any pieces ---- */

static void a_stream_is_heard_without_a_loss(void **state)
{
	(void)state;
	story_greet(&story);
	story_ticks(&story, 70);
	story_bye(&story);
	feed_story();
	assert_int_equal(model_ticks(session.model), 71);
	assert_true(link_of()->is_balanced && link_of()->has_bye);
	assert_int_equal(link_of()->lost_events + link_of()->dropped_events, 0);
	assert_int_equal(link_of()->lost_blocks + link_of()->damaged_blocks + link_of()->skipped_bytes, 0);
	assert_int_equal(link_of()->bad_messages + link_of()->unknown_messages, 0);
	assert_int_equal(link_of()->emitted, 70 * 42);
	assert_int_equal(link_of()->events, 70 * 42);
	assert_int_equal(model_class(session.model, STORY_NET)->received, 70 * 41);
	assert_int_equal(model_site_by_id(session.model, STORY_REQUEST)->window.count, 60 * 20);
	assert_int_equal(session.problem.code, EXIT_DONE);
}

static void figures_do_not_depend_on_how_the_bytes_were_cut(void **state)
{
	static const size_t pieces[] = { 1, 2, 3, 38, 39, 40, 1000, 4095, 4096, 4097, 65536 };

	(void)state;
	story_greet(&story);
	wire_raw(&story.wire, "damage", 6);
	story_ticks(&story, 5);
	story.wire.bytes[story.wire.count - 700] ^= 4;
	story_lose_tick(&story);
	story_ticks(&story, 2);
	for (size_t i = 0; i < COUNT(pieces); i++)
		figures_equal(json_in_pieces(story.wire.bytes, story.wire.count, 0, 0),
			      json_in_pieces(story.wire.bytes, story.wire.count, 0, pieces[i]));
}

static void figures_do_not_depend_on_any_one_cut(void **state)
{
	char *whole;

	(void)state;
	story_greet(&story);
	story_tick(&story);
	whole = json_in_pieces(story.wire.bytes, story.wire.count, 0, 0);
	for (size_t cut = 1; cut < story.wire.count; cut++) {
		char *text = json_in_pieces(story.wire.bytes, story.wire.count, cut, 0);

		if (strcmp(text, whole))
			fail_msg("cut at %zu", cut);
		free(text);
	}
	free(whole);
}

static void a_hold_applies_nothing_and_a_step_one_block(void **state)
{
	size_t room, count;
	uint8_t *at = session_room(&session, &room);

	(void)state;
	story_greet(&story);
	count = story.wire.count;
	story_ticks(&story, 2);
	memcpy(at, story.wire.bytes, story.wire.count);
	assert_true(count < story.wire.count && story.wire.count < room);
	session_hold(&session, story.wire.count);
	assert_false(model_target(session.model)->is_known);
	assert_true(session_step(&session, 5));
	assert_true(model_target(session.model)->is_known);
	assert_int_equal(session.now_ns, 5);
	while (session_step(&session, 5))
		;
	assert_int_equal(model_ticks(session.model), 3);
}

/* ---- losses and damage ---- */

static void lost_blocks_are_counted_by_their_numbers(void **state)
{
	uint64_t number;

	(void)state;
	story_greet(&story);
	story_ticks(&story, 2);
	number = story.wire.number;
	story_lose_tick(&story);
	number = story.wire.number - number;
	assert_true(number >= 2);
	story_tick(&story);
	feed_story();
	assert_int_equal(link_of()->lost_blocks, number);
	assert_int_equal(link_of()->lost_events, 42);
	assert_int_equal(model_class(session.model, STORY_NET)->lost, 41);
	assert_int_equal(model_class(session.model, STORY_LOG)->lost, 1);
	assert_true(link_of()->is_balanced);
}

static void a_greeting_carries_the_latest_number_and_is_no_loss(void **state)
{
	(void)state;
	story_greet(&story);
	story_ticks(&story, 2);
	story_greet(&story);
	story_ticks(&story, 2);
	feed_story();
	assert_int_equal(link_of()->lost_blocks, 0);
	assert_int_equal(model_ticks(session.model), 5);
}

static void one_damage_costs_one_block_and_is_counted(void **state)
{
	size_t at;

	(void)state;
	story_greet(&story);
	at = story.wire.count;
	story_tick(&story);
	story_tick(&story);
	story.wire.bytes[at + 10] ^= 0x20;
	feed_story();
	assert_int_equal(link_of()->damaged_blocks, 1);
	assert_int_equal(link_of()->lost_blocks, 1);
	assert_true(link_of()->skipped_bytes > 0);
	assert_int_equal(link_of()->lost_events, 42);
	assert_int_equal(model_ticks(session.model), 3);
}

static void damage_is_counted_before_a_good_block_comes(void **state)
{
	(void)state;
	story_greet(&story);
	story_tick(&story);
	story.wire.bytes[story.wire.count - 100] ^= 0x20;
	feed_story();
	assert_int_equal(model_ticks(session.model), 1);
	assert_int_equal(link_of()->damaged_blocks, 1);
}

static void a_number_at_its_end_is_no_loss_of_all(void **state)
{
	(void)state;
	wire_hello(&story.wire);
	wire_close(&story.wire);
	story.wire.number = UINT64_MAX - 1;
	wire_add(&story.wire, PING, ping, .request = 1);
	wire_close(&story.wire);
	feed_story();
	assert_int_equal(link_of()->lost_blocks, UINT64_MAX - 2);
	wire_add(&story.wire, PING, ping, .request = 1);
	wire_close(&story.wire);                /* number 0 */
	wire_add(&story.wire, PING, ping, .request = 1);
	wire_close(&story.wire);
	feed_story();
	assert_int_equal(link_of()->lost_blocks, UINT64_MAX - 2);
	assert_int_equal(link_of()->blocks, 4);
}

static void after_a_reconnect_the_time_away_is_no_loss(void **state)
{
	size_t count;

	(void)state;
	story_greet(&story);
	story_ticks(&story, 2);
	feed(story.wire.bytes, story.wire.count - 10);          /* the last block is cut */
	story.wire.count = 0;
	session_gap(&session, 12345);
	story_lose_tick(&story);
	story_lose_tick(&story);
	story_greet(&story);
	story_ticks(&story, 2);
	count = story.wire.count;
	feed_story();
	assert_int_equal(link_of()->reconnects, 1);
	assert_int_equal(link_of()->lost_blocks, 0);
	assert_int_equal(link_of()->lost_events, 0);
	assert_true(link_of()->is_balanced);
	assert_int_equal(link_of()->emitted, 6 * 42);
	assert_int_equal(model_class(session.model, STORY_NET)->received, 2 * 41);
	assert_int_equal(session.parser.offset, 12345 + count);
}

static void a_restart_forgets_everything_but_the_window(void **state)
{
	(void)state;
	model_set_window(session.model, 10);
	story_greet(&story);
	story_ticks(&story, 2);
	feed(story.wire.bytes, story.wire.count - 10);
	assert_int_equal(session_restart(&session, 0), 0);
	assert_int_equal(model_ticks(session.model), 0);
	assert_int_equal(model_window(session.model), 10);
	feed_story();
	assert_int_equal(model_ticks(session.model), 3);
	/* Bytes that were held at that moment do not count as damage. */
	assert_int_equal(link_of()->skipped_bytes, 0);
	assert_int_equal(link_of()->lost_blocks, 0);
}

static void another_program_on_the_same_way_begins_anew(void **state)
{
	struct story other;

	(void)state;
	story_init(&other, 8);
	story_greet(&story);
	story_ticks(&story, 30);
	feed_story();
	story_greet(&other);
	story_ticks(&other, 3);
	feed(other.wire.bytes, other.wire.count);
	assert_int_equal(model_target(session.model)->stream, 8);
	assert_int_equal(model_ticks(session.model), 4);
	assert_int_equal(link_of()->lost_blocks, 0);
	assert_int_equal(link_of()->lost_events, 0);
	story_fini(&other);
}

static void behind_an_end_another_recording_begins(void **state)
{
	(void)state;
	story_greet(&story);
	story_ticks(&story, 2);
	wire_add(&story.wire, END, end, .magic = { (const char *)end_magic, 8 });
	wire_close(&story.wire);
	feed_story();
	assert_int_equal(model_class(session.model, STORY_NET)->received, 2 * 41);     /* nothing has changed yet */
	for (int i = 0; i < 5; i++)
		story_lose_tick(&story);
	story_greet(&story);
	story_tick(&story);
	feed_story();
	assert_int_equal(link_of()->lost_events, 0);
	assert_int_equal(link_of()->lost_blocks, 0);
	assert_int_equal(link_of()->reconnects, 1);
	assert_int_equal(model_class(session.model, STORY_NET)->received, 41);
}

/* ---- what is not a stream ---- */

static void what_is_no_stream_is_said_to_be_none(void **state)
{
	char lines[LIMIT_LEAD_BYTES + 1];

	(void)state;
	memset(lines, '.', sizeof lines);
	memcpy(lines, "HTTP/1.1 400", 12);
	feed(lines, LIMIT_LEAD_BYTES / 2);
	assert_false(session.is_foreign);
	feed(lines, sizeof lines);
	assert_true(session.is_foreign);
	assert_int_equal(session.problem.code, EXIT_CONNECTION);
	assert_string_equal(session.problem.what,
			    "unix:/tmp/x.sock: not a telemetry stream (first bytes 48 54 54 50 2f 31 2e 31 \"HTTP/1.1\")");
	/* A greeting afterwards changes nothing. */
	story_greet(&story);
	feed_story();
	assert_false(model_target(session.model)->is_known);
}

static void first_bytes_are_shown_clean(void **state)
{
	(void)state;
	feed("\x1b]0;x\x07", 6);
	session_end(&session, EXIT_RECORDING);
	assert_int_equal(session.problem.code, EXIT_RECORDING);
	assert_null(strchr(session.problem.what, '\x1b'));
	assert_non_null(strstr(session.problem.what, "(first bytes 1b 5d 30 3b 78 07 \"\xc2\xb7]0;x\xc2\xb7\")"));
}

static void an_end_without_a_byte_is_said(void **state)
{
	(void)state;
	session_end(&session, EXIT_CONNECTION);
	assert_true(session.is_foreign);
	assert_string_equal(session.problem.what, "unix:/tmp/x.sock: ended before it sent anything");
}

static void the_end_of_a_stream_is_no_problem(void **state)
{
	(void)state;
	story_greet(&story);
	feed_story();
	session_end(&session, EXIT_CONNECTION);
	assert_false(session.is_foreign);
	assert_int_equal(session.problem.code, EXIT_DONE);
}

static void leftovers_before_the_first_hello_are_passed_over(void **state)
{
	(void)state;
	session_fini(&session);
	assert_int_equal(session_init(&session, "fifo:/tmp/x", LIMIT_LEFTOVER_BYTES), 0);
	for (int i = 0; i < 100; i++)
		feed("half a message of a former reader, again and again, as long as a pipe is "
		     "...............................", 100);
	story_greet(&story);
	story_tick(&story);
	feed_story();
	assert_false(session.is_foreign);
	assert_int_equal(model_ticks(session.model), 2);
	assert_int_equal(link_of()->skipped_bytes, 100 * 100);
}

static void hello_of(uint64_t major, uint64_t must)
{
	struct message message = { .kind = KIND_HELLO, .hello = wire_hello_fields(&story.wire) };

	message.hello.major = major;
	message.hello.must = must;
	message.hello.name = text_of("imgsrv");
	wire_close(&story.wire);
	wire_message(&story.wire, &message);
}

static void another_major_version_is_one_clear_message_and_the_end(void **state)
{
	(void)state;
	hello_of(4, 0);
	wire_add(&story.wire, CLASS, class, .id = 1, .name = text_of("means something else now"));
	wire_close(&story.wire);
	feed_story();
	assert_true(session.is_foreign);
	assert_int_equal(session.problem.code, EXIT_VERSION);
	assert_string_equal(session.problem.what, "PID 4711 (imgsrv): speaks protocol 4, this telemtop understands 1");
	assert_int_equal(model_class_count(session.model), 0);
	assert_false(session_step(&session, 0));
}

static void a_feature_one_must_know_is_named(void **state)
{
	(void)state;
	hello_of(1, 5);
	wire_close(&story.wire);
	feed_story();
	assert_int_equal(session.problem.code, EXIT_VERSION);
	assert_string_equal(session.problem.what,
			    "PID 4711 (imgsrv): uses features (5) of protocol 1 that this telemtop does not know");
}

static void a_program_that_was_replaced_by_a_newer_one_leaves_its_picture(void **state)
{
	(void)state;
	story_greet(&story);
	story_ticks(&story, 2);
	feed_story();
	wire_fini(&story.wire);
	wire_init(&story.wire, 99);
	hello_of(2, 0);
	wire_close(&story.wire);
	feed_story();
	assert_int_equal(session.problem.code, EXIT_VERSION);
	assert_int_equal(model_ticks(session.model), 3);
}

static void features_one_may_know_and_newer_minor_versions_are_read(void **state)
{
	struct message message = { .kind = KIND_HELLO, .hello = wire_hello_fields(&story.wire) };

	(void)state;
	message.hello.may = UINT32_MAX;
	message.hello.minor = 900;
	wire_message(&story.wire, &message);
	wire_close(&story.wire);
	feed_story();
	assert_false(session.is_foreign);
	assert_int_equal(model_target(session.model)->minor, 900);
}

/* ---- messages ---- */

/* Feeds a greeting and a block of any bytes. */
static void block_of(const void *bytes, uint32_t count)
{
	if (!model_target(session.model)->is_known) {
		story_greet(&story);
		story_tick(&story);
		feed_story();
	}
	memcpy(story.wire.encoder.bytes + story.wire.encoder.used, bytes, count);
	story.wire.encoder.used += count;
	wire_close(&story.wire);
	feed_story();
}

static void unknown_kinds_are_counted_and_passed_over(void **state)
{
	(void)state;
	block_of("\x92\x2a\x01" "\x91\xcd\x03\xe8" "\x93\x48\x07\x01", 11);     /* 42, 1000; PING is known */
	assert_int_equal(link_of()->unknown_messages, 2);
	assert_int_equal(link_of()->bad_messages, 0);
}

static void bad_messages_are_counted_and_the_next_is_read(void **state)
{
	(void)state;
	block_of("\x92\x04\xa1x" "\x93\x04\x63\xa3new", 11);    /* TASK with a text for an id; task 99 */
	assert_int_equal(link_of()->bad_messages, 1);
	assert_string_equal(model_task_by_id(session.model, 99)->name, "new");
}

static void half_a_message_at_a_blocks_end_is_one_bad_message(void **state)
{
	(void)state;
	block_of("\x93\x04\x63", 3);
	assert_int_equal(link_of()->bad_messages, 1);
	/* A message cannot continue in the next block. */
	block_of("\xa3new" "\x93\x04\x62\xa3two", 11);
	assert_int_equal(link_of()->bad_messages, 2);
	assert_null(model_task_by_id(session.model, 99));
	assert_string_equal(model_task_by_id(session.model, 98)->name, "two");
	block_of("", 0);
	assert_int_equal(link_of()->bad_messages, 2);
}

static void how_old_figures_were_is_told_by_wall_time(void **state)
{
	size_t room;
	uint8_t *at;

	(void)state;
	story_greet(&story);
	story_tick(&story);
	at = session_room(&session, &room);
	memcpy(at, story.wire.bytes, story.wire.count);
	session_filled(&session, story.wire.count, 1700000000 * STORY_SECOND + story.now_ns - 6 * STORY_SECOND + 250000000);
	assert_true(link_of()->lag_ns == 250000000);
	/* No lag is known when the target's clock is behind ours. */
	story.wire.count = 0;
	story_tick(&story);
	at = session_room(&session, &room);
	memcpy(at, story.wire.bytes, story.wire.count);
	session_filled(&session, story.wire.count, 1);
	assert_int_equal(model_ticks(session.model), 3);
	assert_true(link_of()->lag_ns == 250000000);
}

/* ---- bad-inputs.tsv, in the place of a field ---- */

/* The text is a task's name and a log line. The model has it as it was sent, and the screen shows it cleaned. */
static void text_arrives_raw_and_is_shown_clean(const uint8_t *bytes, uint32_t count)
{
	uint8_t message[600] = { 0x93, KIND_TASK, 99 };
	const char *text = (const char *)bytes + 1;
	char clean[400];
	size_t length = strnlen(text, count - 1);
	uint32_t ch;

	memcpy(message + 3, bytes, count);
	block_of(message, 3 + count);
	assert_int_equal(strlen(model_task_by_id(session.model, 99)->name), length);
	assert_memory_equal(model_task_by_id(session.model, 99)->name, text, length);
	memcpy(message, (uint8_t[]){ 0x96, KIND_LOG, 2, STORY_LINE, 1, 1 }, 6);
	memcpy(message + 6, bytes, count);
	block_of(message, 6 + count);
	assert_memory_equal(model_line(session.model, 0)->text, text, length);
	text_clean(clean, sizeof clean, text, count - 1, GLYPHS_BLOCKS);
	for (size_t at = 0; clean[at]; at += utf8_decode(clean + at, strlen(clean + at), &ch)) {
		utf8_decode(clean + at, strlen(clean + at), &ch);
		assert_true(text_char_width(ch) > 0);
	}
	text_clean(clean, sizeof clean, text, count - 1, GLYPHS_ASCII);
	for (size_t at = 0; clean[at]; at++)
		assert_in_range(clean[at], ' ', '~');
	assert_int_equal(link_of()->bad_messages, 0);
}

/* The number is the count of a counter, and then the sum. */
static void number_where_a_count_belongs(const uint8_t *bytes, uint32_t count, bool is_good)
{
	const struct model_site *site;
	uint8_t message[100] = { 0x94, KIND_VALUES, 1, 0, 0x95, STORY_BYTES_IN };
	uint64_t before, bad = link_of()->bad_messages;

	block_of("", 0);
	site = model_site_by_id(session.model, STORY_BYTES_IN);
	before = site->count;
	memcpy(message + 6, bytes, count);
	memcpy(message + 6 + count, "\x05\x00\x00", 3);
	block_of(message, 9 + count);
	assert_int_equal(link_of()->bad_messages, bad + !is_good);
	if (!is_good)
		assert_int_equal(site->count, before);
	else
		assert_int_equal(site->sum, 5);
}

/* The number is the duration of a span: its sum, min and max, with count 1. */
static void a_duration(const uint8_t *bytes, uint32_t count)
{
	uint8_t message[100] = { 0x94, KIND_VALUES, 1, 0, 0x95, STORY_REQUEST, 1 };
	const struct model_site *site;

	block_of("", 0);
	for (int i = 0; i < 3; i++)
		memcpy(message + 7 + (uint32_t)i * count, bytes, count);
	block_of(message, 7 + 3 * count);
	site = model_site_by_id(session.model, STORY_REQUEST);
	assert_int_equal(site->sum, UINT64_MAX);
	assert_int_equal(site->max, UINT64_MAX);
	story_ticks(&story, 2);
	feed_story();
	assert_true(site->rate_per_s >= 0 && site->window.p99 <= site->window.max);
}

static void what_bad_inputs_says_of_the_monitor_holds(void **state)
{
	char *text = fixture_read("tests/data/msgpack/bad-inputs.tsv", NULL), *save = NULL;
	int seen = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *tab = strchr(line, '\t');
		uint8_t bytes[300];
		uint32_t count;
		bool is_text;

		if (line[0] == '#' || !tab || tab - line > 200)
			continue;
		*tab++ = '\0';
		count = (uint32_t)hex_read(line, bytes, sizeof bytes);
		is_text = (bytes[0] & 0xe0) == 0xa0;
		teardown(state);
		setup(state);
		if (is_text && (!strncmp(tab, "escape", 6) || !strncmp(tab, "schema", 6)))
			text_arrives_raw_and_is_shown_clean(bytes, count);
		else if (!strncmp(tab, "schema", 6) && bytes[0] >= 0xca && bytes[0] <= 0xd3)
			number_where_a_count_belongs(bytes, count, false);
		else if (!strncmp(tab, "decode\t", 7) && bytes[0] == 0xcf)
			number_where_a_count_belongs(bytes, count, true);
		else if (!strncmp(tab, "saturate", 8))
			a_duration(bytes, count);
		else
			continue;
		seen++;
	}
	free(text);
	assert_int_equal(seen, 5 + 3 + 3 + 1 + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

struct watcher { struct observer observer; int blocks, cuts, messages, ticks; bool leaves; };

static void on_block(void *arg, const struct block *block)
{
	struct watcher *watcher = arg;

	watcher->blocks += block != NULL;
	watcher->cuts += block == NULL;
	if (watcher->leaves)
		session_unobserve(&session, &watcher->observer);
}

static void on_message(void *arg, const struct message *message)
{
	(void)message;
	((struct watcher *)arg)->messages++;
}

static void on_tick(void *arg)
{
	struct watcher *watcher = arg;

	assert_true(model_is_settled(session.model));
	assert_int_equal(model_ticks(session.model), ++watcher->ticks);
}

static void observers_see_blocks_messages_and_ticks_until_they_leave(void **state)
{
	struct watcher all = { .observer = { on_block, on_message, on_tick, &all, NULL } };
	struct watcher first = { .observer = { .on_block = on_block, .arg = &first }, .leaves = true };

	(void)state;
	session_observe(&session, &first.observer);
	session_observe(&session, &all.observer);
	story_greet(&story);
	story_ticks(&story, 5);
	feed_story();
	/* The greeting's SNAPSHOT is the first tick. All ticks came in one piece, and the observer was called for
	 * each. */
	assert_int_equal(all.ticks, 6);
	assert_int_equal(all.blocks, link_of()->blocks);
	assert_true(all.messages > all.blocks);
	session_gap(&session, story.wire.count);
	assert_int_equal(all.cuts, 1);
	assert_int_equal(first.blocks, 1);       /* it removed itself in its first call */
	session_unobserve(&session, &all.observer);
	session_unobserve(&session, &all.observer);
	assert_null(session.observers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stream_is_heard_without_a_loss),
		TEST(observers_see_blocks_messages_and_ticks_until_they_leave),
		TEST(figures_do_not_depend_on_how_the_bytes_were_cut),
		TEST(figures_do_not_depend_on_any_one_cut), TEST(a_hold_applies_nothing_and_a_step_one_block),
		TEST(lost_blocks_are_counted_by_their_numbers), TEST(a_greeting_carries_the_latest_number_and_is_no_loss),
		TEST(one_damage_costs_one_block_and_is_counted), TEST(damage_is_counted_before_a_good_block_comes),
		TEST(a_number_at_its_end_is_no_loss_of_all), TEST(after_a_reconnect_the_time_away_is_no_loss),
		TEST(a_restart_forgets_everything_but_the_window), TEST(another_program_on_the_same_way_begins_anew),
		TEST(behind_an_end_another_recording_begins), TEST(what_is_no_stream_is_said_to_be_none),
		TEST(first_bytes_are_shown_clean), TEST(an_end_without_a_byte_is_said),
		TEST(the_end_of_a_stream_is_no_problem), TEST(leftovers_before_the_first_hello_are_passed_over),
		TEST(another_major_version_is_one_clear_message_and_the_end), TEST(a_feature_one_must_know_is_named),
		TEST(a_program_that_was_replaced_by_a_newer_one_leaves_its_picture),
		TEST(features_one_may_know_and_newer_minor_versions_are_read),
		TEST(unknown_kinds_are_counted_and_passed_over),
		TEST(bad_messages_are_counted_and_the_next_is_read), TEST(half_a_message_at_a_blocks_end_is_one_bad_message),
		TEST(how_old_figures_were_is_told_by_wall_time),
		TEST(what_bad_inputs_says_of_the_monitor_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
