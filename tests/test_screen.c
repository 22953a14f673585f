#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/cli/line.h"
#include "monitor/screen/header.h"
#include "monitor/screen/keys.h"
#include "monitor/screen/screen.h"
#include "tests/support/figures.h"
#include "tests/support/fixture.h"
#include "tests/support/golden.h"
#include "tests/support/replay.h"
#include "tests/support/story.h"
#include "widgets/key.h"
#include "widgets/text.h"

#define NOW_NS (1000 * STORY_SECOND)

static struct fixture fixture;
static struct story story;
static struct target target;
static struct screen screen;
static int control_fds[2];

static int control(struct source *source) { (void)source; return control_fds[0]; }
static int no_control(struct source *source) { (void)source; return -1; }
static const struct source_kind controlled = { .control = control }, uncontrolled = { .control = no_control };

static void on_change(void *arg, bool tick) { (void)arg, (void)tick; }
static void on_timer(evutil_socket_t fd, short what, void *arg) { (void)fd, (void)what, (void)arg; }

/* Makes a target without a connection. The story gives its stream, the test sets its state. */
static void make_target(enum source_state source_state)
{
	target = (struct target){ .config = { .interval_ns = STORY_SECOND }, .is_open = source_state == SOURCE_OPEN,
				  .on_change = on_change, .last_bytes_ns = NOW_NS, .opened_ns = NOW_NS - 2 * STORY_SECOND,
				  .address = { .kind = &source_unix } };
	strcpy(target.address.text, "4711");
	strcpy(target.address.path, "/run/user/1000/telem/4711.sock");
	target.source = (struct source){ .state = source_state, .kind = &controlled, .fd = -1, .listen_fd = -1,
					 .control_fd = -1, .lock_fd = -1 };
	assert_int_equal(session_init(&target.session, target.address.text, LIMIT_LEAD_BYTES), 0);
	controls_init(&target.controls, &target.session, &target.source);
	target.controls.interval_ns = STORY_SECOND;
	target.controls.now_ns = NOW_NS;
	target.has_session = true;
	screen_init(&screen, &target);
	screen.now_ns = NOW_NS;
	screen.real_ns = 1700000100 * (int64_t)STORY_SECOND;
}

static void hear_story(void)
{
	figures_feed(&target.session, story.wire.bytes, story.wire.count, 0);
	story.wire.count = 0;
}

static int setup_empty(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	story_init(&story, 7);
	make_target(SOURCE_CONNECTING);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, control_fds) < 0)
		return -1;
	return fixture_init(&fixture);
}

static int setup(void **state)
{
	if (setup_empty(state) < 0)
		return -1;
	target.source.state = SOURCE_OPEN;
	target.is_open = true;
	story.hello.name = text_of("imgsrv");
	story.hello.host = text_of("web2");
	story.hello.control = 1;
	story_greet(&story);
	story_ticks(&story, 70);
	hear_story();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	screen_fini(&screen);
	target_close(&target);
	story_fini(&story);
	close(control_fds[0]);
	close(control_fds[1]);
	fixture_fini(&fixture);
	return 0;
}

static char *drawn(int width, int height, enum glyphs glyphs)
{
	struct canvas_backing *backing = canvas_text_new(width, height, glyphs);
	struct canvas canvas = canvas_of(backing);
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	controls_name_classes(&target.controls);
	screen_draw(&screen, &canvas);
	canvas_text_write(backing, out);
	fclose(out);
	canvas_backing_free(backing);
	return text;
}

static void golden(const char *name)
{
	static const int sizes[][2] = { { 80, 24 }, { 120, 40 } };

	for (int i = 0; i < 2; i++) {
		char *text = drawn(sizes[i][0], sizes[i][1], GLYPHS_BLOCKS), full[100];

		snprintf(full, sizeof full, "screen_%s_%dx%d", name, sizes[i][0], sizes[i][1]);
		golden_check(full, text);
		free(text);
	}
}

static const char *badge(void)
{
	static char text[64];

	header_badge(&screen, text, sizeof text);
	return text;
}

static enum key_result press(int key) { return keys_press(&screen, key); }
static void type(const char *text)
{
	for (; *text; text++)
		press(*text);
}
static void said(const char *text) { assert_string_equal(screen.message, text); }

/* Returns the next request that was sent; false when there is none. */
static bool asked(struct message *message)
{
	static uint8_t bytes[LIMIT_REQUEST_BYTES];
	static struct decoder *decoder;
	const uint8_t *at = bytes;
	ssize_t count = read(control_fds[1], bytes, sizeof bytes);
	size_t left = count > 0 ? (size_t)count : 0;

	if (count <= 0)
		return false;
	if (!decoder)
		decoder = decoder_new();
	assert_int_equal(decode_next(decoder, &at, &left, message), DECODE_MESSAGE);
	assert_int_equal(left, 0);
	return true;
}

static void asked_for_level(uint64_t class_id, uint64_t level, bool keep)
{
	struct message message;

	assert_true(asked(&message));
	assert_int_equal(message.kind, KIND_SET_LEVEL);
	assert_int_equal(message.set_level.class_id, class_id);
	assert_int_equal(message.set_level.level, level);
	assert_int_equal(message.set_level.persist, keep);
}

static void asked_for_nothing(void)
{
	struct message message;

	assert_false(asked(&message));
}

static void answer(uint64_t request, uint64_t code, const char *text)
{
	wire_add(&story.wire, ACK, ack, .request = request, .code = code, .text = text_of(text));
	wire_close(&story.wire);
	hear_story();
	controls_clock(&target.controls, screen.now_ns);
}

/* ---- states ---- */

static void connecting_says_to_what_and_how_long(void **state)
{
	(void)state;
	assert_string_equal(badge(), "CONNECTING");
	golden("connecting");
	target.address.kind = &source_listen;
	strcpy(target.address.host, "127.0.0.1");
	strcpy(target.address.port, "4712");
	golden("listening");
	target.source.state = SOURCE_OPEN;
	target.is_open = true;
	target.address.kind = &source_fifo;
	assert_string_equal(badge(), "CONNECTING");    /* open, but nothing has been received yet */
	golden("waiting");
}

static void live_shows_the_program(void **state)
{
	(void)state;
	assert_string_equal(badge(), "LIVE 1 s");
	golden("live");
}

/* Returns the line of `telemtop lines` for this target. The caller frees it. */
static char *lines(void)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	line_write(&target, out);
	fclose(out);
	return text;
}

static void shows(char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("\"%s\" is not in:\n%s", wanted, text);
	free(text);
}

/* A SNAPSHOT of a program that has 5 MiB resident. */
static void tick(uint64_t number, uint64_t time_ns)
{
	struct message snapshot = { .kind = KIND_SNAPSHOT };

	snapshot.snapshot = (struct message_snapshot){ .tick = number, .time_ns = time_ns, .interval_ns = STORY_SECOND,
						       .rss_bytes = 5 << 20 };
	model_apply(target.session.model, &snapshot, 0);
}

static void what_was_lost_is_told_with_when(void **state)
{
	(void)state;
	story_greet(&story);
	story_ticks(&story, 70);
	hear_story();
	shows(drawn(80, 24, GLYPHS_BLOCKS), " drop 0 ");
	story_lose_tick(&story);
	story_ticks(&story, 1);
	hear_story();
	shows(drawn(80, 24, GLYPHS_BLOCKS), " drop 42 ");
	story_ticks(&story, 14);
	hear_story();
	shows(drawn(80, 24, GLYPHS_BLOCKS), " drop 42, 14s ago ");
	/* A wide screen shows how fast memory grows, too. */
	shows(drawn(120, 30, GLYPHS_BLOCKS), " KiB/min");
}

static void typed_memory_that_was_freed_is_0_bytes_everywhere(void **state)
{
	struct model *model;

	(void)state;
	for (int site = STORY_NODE; site <= STORY_LEAF; site++)
		for (int task = 0; task < STORY_TASKS; task++) {
			uint64_t *four = story.sums[task][site];

			four[2] = four[0];      /* as many frees as allocations, and as many bytes */
			four[3] = four[1];
		}
	story_greet(&story);
	hear_story();
	model = target.session.model;
	tick(story.tick + 1, story.now_ns + STORY_SECOND);
	assert_true(model_has_typed_memory(model));
	assert_int_equal(model_totals(model)->live.bytes, 0);
	assert_true(model_totals(model)->alloc_per_s == 0);
	shows(drawn(80, 24, GLYPHS_BLOCKS), "\nmem 0 ");
	shows(drawn(39, 8, GLYPHS_BLOCKS), "0\nrequest ");
	screen.panel = 1;
	shows(drawn(80, 24, GLYPHS_BLOCKS), "\nmem 0 ");
	shows(lines(), "         0         0 ");
}

static void without_typed_memory_the_kernel_counts(void **state)
{
	struct model *model = target.session.model;
	struct message hello = { .kind = KIND_HELLO };

	(void)state;
	/* Another program, without typed memory, has taken its place. */
	hello.hello = (struct message_hello){ .major = 1, .stream = 9, .name = text_of("untyped"),
					      .mono_ns = STORY_FIRST_NS };
	model_apply(model, &hello, 0);
	for (uint64_t number = 1; number <= 3; number++)
		tick(number, STORY_FIRST_NS + number * STORY_SECOND);
	assert_false(model_has_typed_memory(model));
	shows(drawn(80, 24, GLYPHS_BLOCKS), "\nrss 5.00 MiB ");
	shows(lines(), " 5.00 MiB ");
}

static void stale_is_more_than_3_ticks_and_a_second_without_a_byte(void **state)
{
	(void)state;
	screen.now_ns = NOW_NS + 4 * STORY_SECOND;
	assert_string_equal(badge(), "LIVE 1 s");
	screen.now_ns = NOW_NS + 6 * STORY_SECOND;
	assert_string_equal(badge(), "STALE 6 s");
	golden("stale");
}

static void lagging_says_by_how_much(void **state)
{
	(void)state;
	model_set_transport(target.session.model, &(struct model_transport){ .lag_ns = 2e9 });
	assert_string_equal(badge(), "LIVE 1 s");
	model_set_transport(target.session.model, &(struct model_transport){ .lag_ns = 3.2e9 });
	assert_string_equal(badge(), "LAGGING 3.2 s");
}

static void lost_keeps_the_last_picture(void **state)
{
	(void)state;
	target.source.state = SOURCE_LOST;
	target.source.tries = 4;
	target.is_open = false;
	target.lost_ns = NOW_NS - 8 * STORY_SECOND;
	assert_string_equal(badge(), "LOST 00:08");
	golden("lost");
	target.lost_ns = NOW_NS - 4000 * STORY_SECOND + 3005 * STORY_SECOND;
	assert_string_equal(badge(), "LOST 16:35");
	screen.now_ns = NOW_NS + 3600 * STORY_SECOND;
	assert_string_equal(badge(), "LOST 1:16:35");
}

static void ended_says_whether_it_said_goodbye(void **state)
{
	(void)state;
	target.source.state = SOURCE_ENDED;
	target.is_open = false;
	assert_string_equal(badge(), "ENDED without goodbye");
	story_bye(&story);
	hear_story();
	assert_string_equal(badge(), "ENDED");
	golden("ended");
	target.controls.back_pid = 4802;
	golden("back");
}

static void frozen_holds_the_picture_while_figures_come_in(void **state)
{
	char *before, *after;

	(void)state;
	press(' ');
	said("Frozen. The target and its recording go on; space returns to now.");
	assert_string_equal(badge(), "FROZEN -0 s  0 new");
	before = drawn(120, 40, GLYPHS_BLOCKS);
	story_ticks(&story, 12);
	hear_story();
	assert_string_equal(badge(), "FROZEN -12 s  12 new");
	golden("frozen");
	press(' ');
	said("The picture goes on; nothing was missed.");
	assert_string_equal(badge(), "LIVE 1 s");
	after = drawn(120, 40, GLYPHS_BLOCKS);
	assert_string_not_equal(before, after);
	free(before);
	free(after);
}

static uint64_t shown_second(void) { return model_time_ns(target_model(&target)) / STORY_SECOND; }

/* The screen has kept the stream since then; 20 ticks are in it. */
static void keep_the_past(void)
{
	assert_int_equal(timeline_keep(&target.timeline, &target.session, LIMIT_TIMELINE_BYTES), 0);
	story_ticks(&story, 20);
	hear_story();
}

static void a_frozen_picture_can_be_moved_through_the_past(void **state)
{
	uint64_t now;

	(void)state;
	keep_the_past();
	now = shown_second();
	press(KEYCODE_LEFT);
	assert_string_equal(badge(), "LIVE 1 s");       /* it is not frozen */
	press(' ');
	press(KEYCODE_LEFT);
	assert_int_equal(shown_second(), now - 1);
	press('[');
	assert_int_equal(shown_second(), now - 11);
	story_ticks(&story, 2);
	hear_story();
	assert_string_equal(badge(), "FROZEN -13 s  2 new");
	press(KEYCODE_RIGHT);
	assert_int_equal(shown_second(), now - 10);
	press(KEYCODE_HOME);                    /* the past begins where it was kept from */
	assert_int_equal(shown_second(), now - 20);
	free(drawn(120, 40, GLYPHS_BLOCKS));
	press(KEYCODE_END);
	assert_string_equal(badge(), "LIVE 1 s");
	assert_int_equal(shown_second(), now + 2);
}

static void without_a_past_a_frozen_picture_stays(void **state)
{
	uint64_t now = shown_second();

	(void)state;
	press(' ');
	press(KEYCODE_LEFT);
	said("Nothing earlier is kept.");
	assert_int_equal(shown_second(), now);
}

static void a_recording_may_begin_at_a_frozen_picture(void **state)
{
	const char *path = fixture_path(&fixture, "late.telem");
	struct problem problem = { 0 }, warning = { 0 };
	struct session played;
	struct replay replay;
	uint64_t moment;

	(void)state;
	model_set_window(target.session.model, 10);     /* the recording covers it */
	keep_the_past();
	press(' ');
	press('[');
	moment = model_time_ns(target_model(&target));
	keys_record(&screen, path);
	assert_non_null(strstr(screen.message, "late.telem, from the moment of this picture on. R ends it."));
	assert_int_equal(model_time_ns(target_model(&target)), moment);         /* the picture stays */
	story_ticks(&story, 5);
	hear_story();
	keys_record(&screen, NULL);
	assert_int_equal(session_init(&played, "late.telem", LIMIT_LEAD_BYTES), 0);
	model_set_window(played.model, 10);
	assert_int_equal(replay_open(&replay, path, &played, &problem, &warning), EXIT_DONE);
	assert_int_equal(warning.code, EXIT_DONE);
	assert_int_equal(replay.timeline.first_ns, moment);
	assert_int_equal(replay.timeline.last_ns, model_time_ns(target.session.model));
	cursor_run(&replay.cursor, UINT64_MAX);
	assert_int_equal(model_link(played.model)->lost_blocks, 0);
	figures_equal(figures_essence(&played, false), figures_essence(&target.session, false));
	replay_close(&replay);
	session_fini(&played);
}

static void frozen_survives_that_the_program_is_replaced(void **state)
{
	(void)state;
	press('Z');
	story_fini(&story);
	story_init(&story, 8);
	story_greet(&story);
	story_tick(&story);
	hear_story();
	assert_string_equal(badge(), "FROZEN -0 s  2 new");
	assert_int_equal(model_ticks(target_model(&target)), 71);
	press('w');
	press('m');
	press('M');
	free(drawn(80, 24, GLYPHS_BLOCKS));
}

static void names_from_the_stream_are_clean_on_every_screen(void **state)
{
	static const char evil[] = "\x1b]0;x\x07\x9b" "31m\xe2\x80\xae" "exe\r\n\xff";

	(void)state;
	wire_add(&story.wire, CLASS, class, .id = STORY_NET, .name = text_of(evil), .help = text_of(evil), .level = 2);
	for (uint64_t id = 1; id < STORY_SITES; id++)
		wire_add(&story.wire, SITE, site, .id = id, .class_id = STORY_NET, .name = text_of(evil),
			 .file = text_of(evil), .level = 2);
	wire_add(&story.wire, TASK, task, .id = STORY_MAIN, .name = text_of(evil));
	wire_log(&story.wire, evil, sizeof evil - 1);
	wire_add(&story.wire, LEVEL, level, .class_id = STORY_NET, .level = 2, .by = text_of(evil));
	wire_close(&story.wire);
	hear_story();
	snprintf(target.address.text, sizeof target.address.text, "%s", evil);
	for (int panel = 0; panels[panel]; panel++) {
		static const int overlays[] = { OVERLAY_NONE, OVERLAY_CLASSES, OVERLAY_HELP_ALL };

		screen.panel = panel;
		for (int i = 0; i < 3; i++) {
			char *text;

			screen.overlay = (enum overlay)overlays[i];
			screen_say(&screen, "%s", evil);
			text = drawn(120, 40, GLYPHS_BLOCKS);
			for (size_t at = 0; text[at];) {
				uint32_t ch;

				at += utf8_decode(text + at, strlen(text + at), &ch);
				assert_true(ch == '\n' || text_char_width(ch) > 0);
			}
			free(text);
		}
	}
}

/* ---- sizes ---- */

static void no_size_is_too_small(void **state)
{
	(void)state;
	for (int width = 1; width <= 60; width++)
		for (int height = 1; height <= 30; height++) {
			screen.panel = (width + height) % 5;
			screen.overlay = (enum overlay)((width * 7 + height) % 5);
			if (screen.overlay == OVERLAY_PROMPT)
				lineedit_init(&screen.edit, screen.typed, sizeof screen.typed);
			free(drawn(width, height, width % 3 ? GLYPHS_BLOCKS : GLYPHS_ASCII));
		}
	screen.overlay = OVERLAY_NONE;
	for (int width = 1; width <= 60; width += 6)
		for (int height = 1; height <= 30; height += 3)
			for (screen.panel = 0; panels[screen.panel]; screen.panel++)
				free(drawn(width, height, GLYPHS_BLOCKS));
	screen.panel = 0;
	free(drawn(0, 0, GLYPHS_BLOCKS));
	free(drawn(400, 200, GLYPHS_BLOCKS));
}

static void below_40x6_plain_rows_are_left_and_then_a_letter(void **state)
{
	char *text = drawn(38, 5, GLYPHS_BLOCKS);

	(void)state;
	assert_non_null(strstr(text, "request "));
	assert_non_null(strstr(text, "drop 0\nLIVE 1 s"));
	free(text);
	text = drawn(9, 1, GLYPHS_BLOCKS);
	assert_string_equal(text, "L\n");
	free(text);
}

/* Returns the first row of a screen of this width. */
static const char *first_row(int width)
{
	static char row[400];
	char *text = drawn(width, 24, GLYPHS_BLOCKS);

	snprintf(row, sizeof row, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	return row;
}

static void record_into(const char *name)
{
	keys_record(&screen, fixture_path(&fixture, "%s", name));
	assert_true(recorder_is_on(&screen.recorder));
	story_ticks(&story, 42);
	hear_story();
}

static void the_first_row_gives_up_what_matters_least(void **state)
{
	(void)state;
	record_into("r.telem");
	assert_string_equal(first_row(72), "telemtop  imgsrv 4711 @web2   LIVE 1 s   REC 00:42 244 KiB      22:15:12");
	assert_string_equal(first_row(65), "telemtop  imgsrv 4711 @web2   LIVE   REC 00:42 244 KiB   22:15:12");
	assert_string_equal(first_row(60), "imgsrv 4711 @web2   LIVE   REC 00:42 244 KiB        22:15:12");
	assert_string_equal(first_row(50), "imgsrv 4711   LIVE   REC 00:42 244 KiB    22:15:12");
	assert_string_equal(first_row(46), "imgsrv   LIVE   REC 00:42 244 KiB     22:15:12");
	assert_string_equal(first_row(40), "imgsrv   LIVE   REC 00:42 244 KiB");
}

static void the_first_row_never_runs_into_its_clock(void **state)
{
	char row[400];

	(void)state;
	story.hello.name = text_of("a-server-with-a-long-name-界界界");
	story.hello.host = text_of("ip-10-0-31-117.example.org");
	story_greet(&story);
	record_into("r.telem");
	model_set_mark(target.session.model);
	for (int frozen = 0; frozen < 2; frozen++, press(' '))
		for (int width = 40; width <= 200; width++) {
			const char *clock;

			snprintf(row, sizeof row, "%s", first_row(width));
			assert_true(text_width(row) <= width);
			assert_non_null(strstr(row, "REC 00:42"));
			assert_non_null(strstr(row, frozen ? "   FROZEN -0 s" : "   LIVE"));
			assert_non_null(strstr(row, "a-s"));
			clock = strstr(row, "22:15:12");
			while (clock && strstr(clock + 1, "22:15:12"))          /* after the mark's */
				clock = strstr(clock + 1, "22:15:12");
			if (width >= 80)
				assert_non_null(clock);
			if (clock) {
				assert_int_equal(clock[8], '\0');
				assert_memory_equal(clock - 2, "  ", 2);
				assert_int_equal(text_width(row), width);
			}
		}
}

static void ascii_is_ascii(void **state)
{
	char *text;

	(void)state;
	for (screen.panel = 0; panels[screen.panel]; screen.panel++) {
		text = drawn(100, 30, GLYPHS_ASCII);
		for (const char *at = text; *at; at++)
			assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
		free(text);
	}
	screen.panel = 0;
}

/* ---- keys: panels and overlays ---- */

static void digits_and_tab_go_to_panels(void **state)
{
	int count = 0;

	(void)state;
	while (panels[count]) {
		if (panels[count]->digit) {
			assert_int_equal(press(panels[count]->digit), KEYS_STAY);
			assert_int_equal(screen.panel, count);
		}
		count++;
	}
	screen.panel = count - 1;
	press('\t');
	assert_int_equal(screen.panel, 0);
	press(KEYCODE_BACKTAB);
	assert_int_equal(screen.panel, count - 1);
	press(KEYCODE_BACKTAB);
	assert_int_equal(screen.panel, count - 2);
	press('\t');
	assert_int_equal(screen.panel, count - 1);
}

static void help_opens_deepens_and_closes(void **state)
{
	(void)state;
	press('?');
	assert_int_equal(screen.overlay, OVERLAY_HELP);
	press(KEYCODE_F0 + 1);
	assert_int_equal(screen.overlay, OVERLAY_HELP_ALL);
	assert_int_equal(press('q'), KEYS_STAY);
	assert_int_equal(screen.overlay, OVERLAY_NONE);
	press('?');
	press(KEYCODE_ESCAPE);
	assert_int_equal(screen.overlay, OVERLAY_NONE);
	press('?');
	press('2');                     /* another key closes it and acts */
	assert_int_equal(screen.overlay, OVERLAY_NONE);
	assert_ptr_equal(screen_panel(&screen), &panel_latency);
}

static void the_ways_out(void **state)
{
	(void)state;
	assert_int_equal(press('q'), KEYS_QUIT);
	assert_int_equal(press(KEYCODE_F0 + 10), KEYS_QUIT);
	assert_int_equal(press(KEYCODE_ESCAPE), KEYS_STAY);          /* never quits */
	for (int i = 0; i < 5; i++) {
		screen.overlay = (enum overlay)i;
		lineedit_init(&screen.edit, screen.typed, sizeof screen.typed);
		assert_int_equal(press(KEYCODE_CTRL('C')), KEYS_QUIT);
		assert_int_equal(press(KEYCODE_HANGUP), KEYS_QUIT);
	}
	screen.overlay = OVERLAY_NONE;
	assert_int_equal(press(KEYCODE_CTRL('L')), KEYS_REDRAW);
	assert_int_equal(press(KEYCODE_CTRL('Z')), KEYS_SUSPEND);
	assert_int_equal(press(KEYCODE_ENTER), KEYS_STAY);
	target.controls.back_pid = 4802;
	assert_int_equal(press(KEYCODE_ENTER), KEYS_FOLLOW);
	press(KEYCODE_ESCAPE);
	assert_int_equal(target.controls.back_pid, 0);
}

static void an_unknown_key_is_named(void **state)
{
	(void)state;
	press('!');
	said("No key \"!\" here. ? for help.");
	press(KEYCODE_CTRL('T'));
	said("No key \"^T\" here. ? for help.");
	press(0x20ac);
	said("No key \"€\" here. ? for help.");
	press(0x200b);                  /* a character that cannot be seen */
	said("No key \"that\" here. ? for help.");
	press(KEYCODE_UNKNOWN);
	said("No key \"that\" here. ? for help.");
	press(KEYCODE_ESCAPE);
	said("");
	press('<');                     /* a key of replays only */
	said("No key \"<\" here. ? for help.");
}

static void an_unknown_key_without_a_letter_has_its_name(void **state)
{
	static const struct { int key; const char *name; } named[] = {
		{ KEYCODE_ENTER, "Enter" }, { KEYCODE_PAGE_UP, "PgUp" }, { KEYCODE_PAGE_DOWN, "PgDn" },
		{ KEYCODE_HOME, "Home" }, { KEYCODE_END, "End" }, { KEYCODE_UP, "Up" }, { KEYCODE_DOWN, "Down" },
		{ KEYCODE_LEFT, "Left" }, { KEYCODE_RIGHT, "Right" }, { KEYCODE_F0 + 2, "F2" }, { KEYCODE_F0 + 12, "F12" },
		{ KEYCODE_BACKSPACE, "Backspace" }, { KEYCODE_DELETE, "Del" }, { KEYCODE_INSERT, "Ins" },
	};
	char text[100];

	(void)state;
	press('8');                     /* the panel has no list */
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		press(named[i].key);
		snprintf(text, sizeof text, "No key \"%s\" here. ? for help.", named[i].name);
		said(text);
	}
	press('c');
	press('\t');
	said("No class has the letter \"Tab\".");
	press('c');
	press(' ');
	said("No class has the letter \"Space\".");
	press('c');
	press(KEYCODE_BACKTAB);
	said("No class has the letter \"Shift-Tab\".");
}

static void the_last_row_offers_enter_only_where_it_opens(void **state)
{
	char line[200];

	(void)state;
	for (int digit = '2'; digit <= '3'; digit++) {
		press(digit);
		keys_footer(&screen, 80, line, sizeof line);
		assert_non_null(strstr(line, "⏎ "));
		assert_null(strstr(line, "Esc back"));
		press(KEYCODE_ENTER);
		free(drawn(80, 24, GLYPHS_BLOCKS));
		keys_footer(&screen, 80, line, sizeof line);
		assert_null(strstr(line, "⏎"));
		assert_non_null(strstr(line, "Esc back"));
		press(KEYCODE_ENTER);
		said("No key \"Enter\" here. ? for help.");
		press(KEYCODE_ESCAPE);
		keys_footer(&screen, 80, line, sizeof line);
		assert_non_null(strstr(line, "⏎ "));
	}
}

/* ---- keys: levels ---- */

static void the_class_strip_moves_a_class_to_its_next_level(void **state)
{
	struct message message;

	(void)state;
	press('c');
	assert_int_equal(screen.overlay, OVERLAY_CLASSES);
	golden("classes");
	assert_int_equal(target.controls.letters[STORY_MEM], 'm');
	assert_int_equal(target.controls.letters[STORY_NET], 'e');    /* n is taken: [n]one */
	assert_int_equal(target.controls.letters[STORY_LOG], 'l');
	press('m');
	assert_int_equal(screen.overlay, OVERLAY_NONE);
	asked_for_level(STORY_MEM, LEVEL_ALL, false);
	said("mem: asked for level all");
	press('c');
	press('e');
	asked_for_level(STORY_NET, LEVEL_OFF, false);           /* the level after all */
	press('c');
	press('!');
	said("No class has the letter \"!\".");
	press('c');
	press(KEYCODE_ESCAPE);
	press('c');
	press('q');
	assert_int_equal(screen.overlay, OVERLAY_NONE);
	assert_false(asked(&message));
}

static void a_class_may_have_the_letter_q(void **state)
{
	(void)state;
	wire_add(&story.wire, CLASS, class, .id = 9, .name = text_of("sq"), .level = LEVEL_SUM);
	wire_close(&story.wire);
	hear_story();
	press('c');
	assert_int_equal(target.controls.letters[9], 'q');
	press('q');
	asked_for_level(9, LEVEL_ALL, false);
}

static void the_letters_of_many_classes_take_the_rows_they_need(void **state)
{
	char name[16], *text;

	(void)state;
	for (uint64_t i = 10; i < 30; i++) {
		snprintf(name, sizeof name, "class%d", (int)i);
		wire_add(&story.wire, CLASS, class, .id = i, .name = text_of(name), .level = LEVEL_SUM);
	}
	wire_close(&story.wire);
	hear_story();
	press('c');
	text = drawn(80, 24, GLYPHS_BLOCKS);
	assert_non_null(strstr(text, "\nclass: mem[m]:"));
	for (uint64_t i = 10; i < 30; i++) {
		snprintf(name, sizeof name, "class%d[", (int)i);
		assert_non_null(strstr(text, name));
	}
	assert_non_null(strstr(text, "[r]estore\n"));
	free(text);
	free(drawn(41, 6, GLYPHS_BLOCKS));
}

static void letters_of_all_classes(void **state)
{
	static const struct { int key; uint64_t level; const char *text; } expected[] = {
		{ 'a', LEVEL_ALL, "every class: asked for level all" },
		{ 's', LEVEL_SUM, "every class: asked for level sum" },
		{ 'n', LEVEL_OFF, "every class: asked for level off" },
		{ 'r', LEVEL_OWN, "every class: asked for level own" },
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		press('c');
		press(expected[i].key);
		for (uint64_t id = 0; id < STORY_CLASSES; id++)
			asked_for_level(id, expected[i].level, false);
		asked_for_nothing();
		said(expected[i].text);
	}
	press('K');
	said("Levels set from now on stay when telemtop leaves.");
	press('c');
	press('m');
	asked_for_level(STORY_MEM, LEVEL_ALL, true);
	press('K');
	said("Levels set from now on are taken back when telemtop leaves.");
}

static const struct wish *wish_for_mem(void)
{
	for (int i = 0; i < target.controls.wish_count; i++)
		if (!strcmp(target.controls.wishes[i].name, "mem"))
			return &target.controls.wishes[i];
	fail_msg("no level of mem is wanted");
	return NULL;
}

static void an_answer_is_told_when_it_comes(void **state)
{
	(void)state;
	press('c');
	press('m');
	assert_int_equal(wish_for_mem()->state, WISH_WAITING);
	answer(1, ACK_DONE, "");
	assert_int_equal(wish_for_mem()->state, WISH_DONE);
	said("mem: level all, acknowledged");
	press('c');
	press('m');
	answer(2, ACK_DENIED, "not \x1b[2J for you");
	said("mem: refused: not \xc2\xb7[2J for you");
	assert_string_equal(wish_for_mem()->text, "not \x1b[2J for you");
	/* When no answer comes, the request is forgotten after a while. */
	press('c');
	press('m');
	screen.now_ns += 11 * STORY_SECOND;
	controls_clock(&target.controls, screen.now_ns);
	assert_int_equal(wish_for_mem()->state, WISH_UNANSWERED);
	said("mem: no answer");
}

static void without_a_way_or_permission_nothing_is_asked_for(void **state)
{
	(void)state;
	target.controls.is_read_only = true;
	press('c');
	press('m');
	said("telemtop was started with --read-only: nothing is sent to the target.");
	press('c');
	press('a');
	said("telemtop was started with --read-only: nothing is sent to the target.");
	target.controls.is_read_only = false;
	target.source.kind = &uncontrolled;
	press('c');
	press('a');
	said("4711: no control way: levels cannot be set");
	press(KEYCODE_CTRL('R'));
	said("4711: no control way: nothing can be asked for");
	assert_int_equal(target.controls.wish_count, 0);
	asked_for_nothing();
}

/* ---- keys: the rest ---- */

static void sync_asks_to_flush_and_tell_again(void **state)
{
	struct message message;

	(void)state;
	press(KEYCODE_CTRL('R'));
	assert_true(asked(&message));
	assert_int_equal(message.kind, KIND_FLUSH);
	assert_true(asked(&message));
	assert_int_equal(message.kind, KIND_SYNC);
	said("Asked the target to flush and to send everything again.");
}

static void sync_tries_again_when_the_connection_is_lost(void **state)
{
	struct event_base *base = event_base_new();

	(void)state;
	target.source.state = SOURCE_LOST;
	target.source.timer = evtimer_new(base, on_timer, NULL);
	press(KEYCODE_CTRL('R'));
	said("Trying again.");
	assert_true(evtimer_pending(target.source.timer, NULL));
	target.source.state = SOURCE_ENDED;
	press(KEYCODE_CTRL('R'));
	said("The target has ended and cannot be asked for anything.");
	event_free(target.source.timer);
	event_base_free(base);
	target.source.timer = NULL;
}

static void marks_are_set_and_cleared(void **state)
{
	(void)state;
	press('m');
	said("Mark set: changes are counted from here. M clears it.");
	assert_int_equal(model_mark_ns(target.session.model), story.now_ns);
	press('M');
	said("Mark cleared.");
	assert_int_equal(model_mark_ns(target.session.model), 0);
}

static void windows_go_round(void **state)
{
	static const struct { int window_s; const char *text; } expected[] = {
		{ 300, "Distributions cover the last 300 s." }, { 0, "Distributions cover the whole run." },
		{ 10, "Distributions cover the last 10 s." }, { 60, "Distributions cover the last 60 s." },
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		press('w');
		assert_int_equal(model_window(target.session.model), expected[i].window_s);
		said(expected[i].text);
	}
}

static void a_filter_acts_as_it_is_typed(void **state)
{
	(void)state;
	press('2');
	press('/');
	assert_int_equal(screen.overlay, OVERLAY_PROMPT);
	type("req");
	assert_string_equal(screen_view(&screen)->filter, "req");
	type("q2");                     /* not a command here */
	assert_ptr_equal(screen_panel(&screen), &panel_latency);
	press(KEYCODE_BACKSPACE);
	press(KEYCODE_BACKSPACE);
	golden("filter");
	assert_true(screen.cursor_y >= 0);
	press(KEYCODE_ENTER);
	assert_int_equal(screen.overlay, OVERLAY_NONE);
	assert_string_equal(screen_view(&screen)->filter, "req");
	press(KEYCODE_F0 + 4);
	assert_string_equal(screen.typed, "req");
	press(KEYCODE_ESCAPE);
	assert_string_equal(screen_view(&screen)->filter, "");
	press('/');
	for (int i = 0; i < 200; i++)
		press('x');
	assert_int_equal(strlen(screen_view(&screen)->filter), sizeof screen.typed - 1);
	press(KEYCODE_ENTER);
	press(KEYCODE_ESCAPE);          /* clears it, too */
	assert_string_equal(screen_view(&screen)->filter, "");
	press('1');
	assert_string_equal(screen_view(&screen)->filter, "");
}

static void an_interval_is_asked_for_in_seconds(void **state)
{
	struct message message;

	(void)state;
	press('d');
	type("0.5");
	press(KEYCODE_ENTER);
	assert_true(asked(&message));
	assert_int_equal(message.kind, KIND_TICK);
	assert_int_equal(message.tick.tick_ns, STORY_SECOND / 2);
	said("Interval 0.5 s");
	press('d');
	type("61");
	press(KEYCODE_ENTER);
	said("\"61\" is not an interval: give 0.1 to 60 seconds");
	press('d');
	type("nan");
	press(KEYCODE_ENTER);
	said("\"nan\" is not an interval: give 0.1 to 60 seconds");
	press('d');
	press(KEYCODE_ENTER);           /* nothing typed, nothing done */
	press('d');
	type("5");
	press(KEYCODE_ESCAPE);
	asked_for_nothing();
}

static void recording_starts_and_ends_and_q_asks_once(void **state)
{
	char here[300];

	(void)state;
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(fixture.dir), 0);
	press('R');
	assert_true(recorder_is_on(&screen.recorder));
	assert_string_equal(screen.recorder.path, "imgsrv-20231114-221430.telem");
	said("Recording into imgsrv-20231114-221430.telem. R ends it.");
	story_ticks(&story, 42);
	hear_story();
	assert_int_equal(chdir(here), 0);
	golden("recording");
	assert_int_equal(press('q'), KEYS_STAY);
	said("Recording: q again ends it and quits (imgsrv-20231114-221430.telem)");
	assert_int_equal(press('q'), KEYS_QUIT);
	press('R');
	said("Recording ended: imgsrv-20231114-221430.telem, whole.");
	assert_false(recorder_is_on(&screen.recorder));
	assert_int_equal(press('q'), KEYS_QUIT);
	assert_int_equal(chdir(fixture.dir), 0);
	keys_record(&screen, "imgsrv-20231114-221430.telem");
	assert_int_equal(chdir(here), 0);
	said("imgsrv-20231114-221430.telem: the file is there already. Choose another name, or give --force.");
}

static void there_is_nothing_to_record_before_the_first_tick(void **state)
{
	(void)state;
	press('R');
	said("Nothing to record yet: the target has not sent anything.");
	assert_false(recorder_is_on(&screen.recorder));
}

/* Whatever keys are pressed, in any state, the screen can still be drawn. */
static void no_row_of_keys_does_harm(void **state)
{
	uint64_t random = random_seed(11);

	(void)state;
	screen.may_overwrite = true;
	for (int i = 0; i < 6000; i++) {
		int key = random_below(&random, 3) ? (int)random_below(&random, 0x80)
						  : KEYCODE_RESIZE + (int)random_below(&random, 32);
		struct message message;

		if (key == 'R')         /* makes files */
			continue;
		press(key);
		while (asked(&message))
			;
		if (i % 50 == 0) {
			story_tick(&story);
			hear_story();
			free(drawn(1 + (int)random_below(&random, 130), 1 + (int)random_below(&random, 50), GLYPHS_BLOCKS));
		}
	}
}

/* ---- replay ---- */

static int setup_replay(void **state)
{
	struct target_config config = { .interval_ns = STORY_SECOND };
	struct address address = { .kind = &source_file, .text = "x.telem" };
	const char *path;

	if (setup_empty(state) < 0)
		return -1;
	story_greet(&story);
	story_ticks(&story, 90);
	path = fixture_path(&fixture, "x.telem");
	fixture_write(path, (char *)story.wire.bytes, story.wire.count);
	target_close(&target);
	strcpy(address.path, path);
	if (target_open(&target, NULL, &config, &address, on_change, NULL) != EXIT_DONE)
		return -1;
	cursor_seek(&target.cursor, target.timeline.first_ns);
	return 0;
}

static uint64_t second(void) { return model_time_ns(target.session.model) / STORY_SECOND; }

static void a_replay_shows_where_in_time_it_is(void **state)
{
	(void)state;
	assert_string_equal(badge(), "REPLAY x1");
	cursor_seek(&target.cursor, 60 * STORY_SECOND);
	golden("replay");
	press(' ');
	assert_string_equal(badge(), "REPLAY paused");
	press(' ');
	assert_string_equal(badge(), "REPLAY x1");
	cursor_run(&target.cursor, UINT64_MAX);
	assert_string_equal(badge(), "REPLAY at its end");
	golden("replay_end");
	press(' ');                     /* plays again from the start */
	assert_string_equal(badge(), "REPLAY x1");
	assert_int_equal(second(), 6);
}

static void keys_step_through_a_replay(void **state)
{
	(void)state;
	press(KEYCODE_RIGHT);
	assert_int_equal(second(), 7);
	assert_string_equal(badge(), "REPLAY paused");
	press('l');
	press(']');
	assert_int_equal(second(), 18);
	press(KEYCODE_LEFT);
	press('h');
	assert_int_equal(second(), 16);
	press('[');
	assert_int_equal(second(), 6);
	press('[');                     /* before its start there is nothing */
	assert_int_equal(second(), 6);
	press(KEYCODE_END);
	assert_int_equal(second(), 96);
	press(KEYCODE_RIGHT);
	assert_int_equal(second(), 96);
	press(KEYCODE_HOME);
	assert_int_equal(second(), 6);
}

static void keys_change_its_speed_within_bounds(void **state)
{
	(void)state;
	press('>');
	said("Speed x2");
	assert_string_equal(badge(), "REPLAY x2");
	for (int i = 0; i < 20; i++)
		press('>');
	assert_true(target.cursor.speed <= 1000);
	for (int i = 0; i < 40; i++)
		press('<');
	assert_true(target.cursor.speed >= 0.1);
}

static void a_mark_outlives_a_step_back(void **state)
{
	uint64_t mark_ns;

	(void)state;
	press(':');
	type("22:14:00");
	press(KEYCODE_ENTER);
	press('m');
	mark_ns = model_mark_ns(target_model(&target));
	assert_int_not_equal(mark_ns, 0);
	press(']');
	press('[');                     /* hears the stream again from an earlier point */
	press(KEYCODE_LEFT);
	press(KEYCODE_LEFT);
	assert_int_equal(model_mark_ns(target_model(&target)), 0);     /* its moment has not come */
	press(']');
	assert_int_equal(model_mark_ns(target_model(&target)), mark_ns);
	press('M');
	press('[');
	press(']');
	assert_int_equal(model_mark_ns(target_model(&target)), 0);
}

static void a_time_of_day_is_gone_to(void **state)
{
	(void)state;
	press(':');
	type("22:14:00");
	press(KEYCODE_ENTER);
	assert_int_equal(second(), 46);
	press(':');
	type("22:13");                  /* before it began */
	press(KEYCODE_ENTER);
	assert_int_equal(second(), 6);
	said("It begins at 22:13:20.");
	press(':');
	type("22:59");                  /* after it ended */
	press(KEYCODE_ENTER);
	assert_int_equal(second(), 96);
	said("It ends at 22:14:50.");
	press(':');
	type("22:14:10x");
	press(KEYCODE_ENTER);
	assert_int_equal(second(), 56);
	press(':');
	type("soon");
	press(KEYCODE_ENTER);
	said("\"soon\" is not a time: give HH:MM or HH:MM:SS");
	press(':');
	type("99:00");
	press(KEYCODE_ENTER);
	said("\"99:00\" is not a time: give HH:MM or HH:MM:SS");
	assert_int_equal(second(), 56);
}

static void live_keys_do_nothing_in_a_replay(void **state)
{
	(void)state;
	press('c');
	said("No key \"c\" here. ? for help.");
	press('R');
	said("No key \"R\" here. ? for help.");
	press('d');
	press(KEYCODE_CTRL('R'));
	assert_int_equal(screen.overlay, OVERLAY_NONE);
	asked_for_nothing();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define EMPTY(name) cmocka_unit_test_setup_teardown(name, setup_empty, teardown)
#define REPLAYED(name) cmocka_unit_test_setup_teardown(name, setup_replay, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EMPTY(connecting_says_to_what_and_how_long), TEST(live_shows_the_program),
		TEST(what_was_lost_is_told_with_when), TEST(typed_memory_that_was_freed_is_0_bytes_everywhere),
		TEST(without_typed_memory_the_kernel_counts), TEST(stale_is_more_than_3_ticks_and_a_second_without_a_byte),
		TEST(lagging_says_by_how_much),
		TEST(lost_keeps_the_last_picture), TEST(ended_says_whether_it_said_goodbye),
		TEST(frozen_holds_the_picture_while_figures_come_in), TEST(a_frozen_picture_can_be_moved_through_the_past),
		TEST(without_a_past_a_frozen_picture_stays), TEST(a_recording_may_begin_at_a_frozen_picture),
		TEST(frozen_survives_that_the_program_is_replaced),
		TEST(names_from_the_stream_are_clean_on_every_screen), TEST(no_size_is_too_small),
		TEST(below_40x6_plain_rows_are_left_and_then_a_letter), TEST(ascii_is_ascii),
		TEST(the_first_row_gives_up_what_matters_least), TEST(the_first_row_never_runs_into_its_clock),
		TEST(digits_and_tab_go_to_panels),
		TEST(help_opens_deepens_and_closes), TEST(the_ways_out), TEST(an_unknown_key_is_named),
		TEST(an_unknown_key_without_a_letter_has_its_name), TEST(the_last_row_offers_enter_only_where_it_opens),
		TEST(the_class_strip_moves_a_class_to_its_next_level), TEST(a_class_may_have_the_letter_q),
		TEST(the_letters_of_many_classes_take_the_rows_they_need), TEST(letters_of_all_classes),
		TEST(an_answer_is_told_when_it_comes),
		TEST(without_a_way_or_permission_nothing_is_asked_for), TEST(sync_asks_to_flush_and_tell_again),
		TEST(sync_tries_again_when_the_connection_is_lost), TEST(marks_are_set_and_cleared), TEST(windows_go_round),
		TEST(a_filter_acts_as_it_is_typed), TEST(an_interval_is_asked_for_in_seconds),
		TEST(recording_starts_and_ends_and_q_asks_once), EMPTY(there_is_nothing_to_record_before_the_first_tick),
		TEST(no_row_of_keys_does_harm), REPLAYED(a_replay_shows_where_in_time_it_is),
		REPLAYED(keys_step_through_a_replay),
		REPLAYED(keys_change_its_speed_within_bounds), REPLAYED(a_time_of_day_is_gone_to),
		REPLAYED(a_mark_outlives_a_step_back),
		REPLAYED(live_keys_do_nothing_in_a_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
