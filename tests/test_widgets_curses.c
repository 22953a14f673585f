/* The canvas of the terminal, on a pseudo-terminal: standard input and output are its one end, and the test writes and
 * reads at the other end what a person would type and see. */
#include "widgets/canvas_curses.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

enum { SEEN_BYTES = 1 << 17 };

static int master = -1;
static int saved_stdin, saved_stdout;
static char seen[SEEN_BYTES];                /* what the terminal got since the last look() */

static int writes;

/* Replaces libc's write(), also for curses. */
ssize_t write(int fd, const void *bytes, size_t count)
{
	writes++;
	return syscall(SYS_write, fd, bytes, count);
}

static void move_onto(int fd)
{
	fflush(stdout);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
}

static void set_size(int width_cells, int height_cells)
{
	struct winsize size = { .ws_col = (unsigned short)width_cells, .ws_row = (unsigned short)height_cells };

	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
}

static int setup(void **state)
{
	int slave;

	(void)state;
	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) || unlockpt(master))
		return -1;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0)
		return -1;
	fcntl(master, F_SETFL, O_NONBLOCK);
	set_size(80, 24);
	saved_stdin = dup(STDIN_FILENO);
	saved_stdout = dup(STDOUT_FILENO);
	move_onto(slave);
	close(slave);
	setenv("TERM", "xterm-256color", 1);
	unsetenv("NO_COLOR");
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	canvas_curses_close();
	dup2(saved_stdin, STDIN_FILENO);
	dup2(saved_stdout, STDOUT_FILENO);
	close(saved_stdin);
	close(saved_stdout);
	if (master >= 0)
		close(master);
	master = -1;
	setlocale(LC_CTYPE, "C");
	return 0;
}

/* Reads into seen, and returns how many bytes came. */
static size_t look(void)
{
	size_t bytes = 0;
	ssize_t got;

	while ((got = read(master, seen + bytes, sizeof seen - 1 - bytes)) > 0)
		bytes += (size_t)got;
	seen[bytes] = '\0';
	return bytes;
}

static int open_with(enum color color)
{
	struct canvas_curses_options options = { .color = color };

	return canvas_curses_open(&options);
}

static struct canvas opened(enum color color)
{
	assert_int_equal(open_with(color), 0);
	return canvas_curses_canvas();
}

static struct termios line(void)
{
	struct termios termios;

	assert_int_equal(tcgetattr(STDOUT_FILENO, &termios), 0);
	return termios;
}

static void check_same_line(struct termios before)
{
	struct termios now = line();

	assert_int_equal(now.c_iflag, before.c_iflag);
	assert_int_equal(now.c_oflag, before.c_oflag);
	assert_int_equal(now.c_lflag, before.c_lflag);
}

static void draw_all_roles(void)
{
	struct canvas canvas = canvas_curses_canvas();

	for (int role = 0; role < ROLE_COUNT; role++)
		canvas_text(&canvas, 0, role, STYLE((uint8_t)role), "role");
	canvas_curses_flush();
}

/* What the SGR sequences in seen set. */
struct colors {
	int foregrounds, backgrounds;
	bool palette[256];           /* 38;5;n */
};

static void count_color(struct colors *colors, const int *numbers, int count)
{
	for (int i = 0; i < count; i++) {
		int number = numbers[i];

		if ((number >= 40 && number <= 48) || (number >= 100 && number <= 107))
			colors->backgrounds++;
		if ((number >= 30 && number <= 38) || (number >= 90 && number <= 97))
			colors->foregrounds++;
		if (number == 38 && i + 2 < count && numbers[i + 1] == 5) {
			colors->palette[numbers[i + 2] & 255] = true;
			i += 2;
		}
	}
}

static struct colors colors_seen(void)
{
	struct colors colors = { 0 };

	for (const char *at = seen; (at = strstr(at, "\x1b[")); ) {
		int numbers[16] = { 0 }, count = 0;

		for (at += 2; (*at >= '0' && *at <= '9') || *at == ';'; at++) {
			if (*at == ';' && count < 15)
				count++;
			else if (*at != ';')
				numbers[count] = numbers[count] * 10 + *at - '0';
		}
		if (*at == 'm')
			count_color(&colors, numbers, count + 1);
	}
	return colors;
}

static int palette_size(const struct colors *colors)
{
	int size = 0;

	for (int i = 0; i < 256; i++)
		size += colors->palette[i];
	return size;
}

/* ---- open and close ---- */

static void unusable_terminals_are_refused_and_left_alone(void **state)
{
	static const char *const names[] = { "bogus", "", "dumb", "unknown" };
	struct termios before = line();

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		setenv("TERM", names[i], 1);
		assert_int_equal(open_with(COLOR_AUTO), -ENXIO);
	}
	unsetenv("TERM");
	assert_int_equal(open_with(COLOR_AUTO), -ENXIO);
	check_same_line(before);
	assert_int_equal(look(), 0);
}

static void output_that_is_no_terminal_is_refused(void **state)
{
	int ends[2], tty = dup(STDOUT_FILENO), err;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDOUT_FILENO);
	err = open_with(COLOR_ALWAYS);
	dup2(tty, STDOUT_FILENO);
	close(tty);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(err, -ENOTTY);
}

static void second_open_is_busy(void **state)
{
	(void)state;
	opened(COLOR_AUTO);
	assert_int_equal(open_with(COLOR_AUTO), -EBUSY);
	assert_int_equal(canvas_curses_canvas().width_cells, 80);
}

static void close_restores_and_may_be_repeated(void **state)
{
	struct termios before = line();

	(void)state;
	for (int round = 0; round < 3; round++) {
		opened(COLOR_AUTO);
		draw_all_roles();
		assert_false(line().c_lflag & (ICANON | ECHO));
		look();
		canvas_curses_close();
		look();
		assert_non_null(strstr(seen, "\x1b[?1049l"));
		check_same_line(before);
		canvas_curses_close();
		assert_int_equal(look(), 0);
	}
}

/* Some terminals scroll each time. */
static void alternate_screen_is_entered_and_left_once(void **state)
{
	const char *at;
	int count = 0;

	(void)state;
	opened(COLOR_AUTO);
	draw_all_roles();
	canvas_curses_flush();
	canvas_curses_close();
	look();
	for (at = seen; (at = strstr(at, "\x1b[?1049")) != NULL; at++)
		count++;
	assert_int_equal(count, 2);
}

static void close_from_signal_restores_too(void **state)
{
	struct termios before = line();

	(void)state;
	canvas_curses_close_from_signal();
	assert_int_equal(look(), 0);
	opened(COLOR_AUTO);
	draw_all_roles();
	canvas_curses_cursor(-1, -1);
	canvas_curses_flush();
	look();
	canvas_curses_close_from_signal();
	look();
	assert_non_null(strstr(seen, "\x1b[?1049l"));
	assert_non_null(strstr(seen, "\x1b[?25h"));
	check_same_line(before);
	/* A second close does nothing, and neither does drawing. */
	canvas_curses_close_from_signal();
	canvas_curses_flush();
	assert_int_equal(look(), 0);
}

static void closed_terminal_does_nothing(void **state)
{
	(void)state;
	assert_int_equal(canvas_curses_canvas().width_cells, 0);
	assert_int_equal(canvas_curses_canvas().height_cells, 0);
	assert_int_equal(canvas_curses_fd(), -1);
	assert_int_equal(canvas_curses_key(), KEYCODE_NONE);
	canvas_curses_flush();
	canvas_curses_redraw();
	canvas_curses_suspend();
	assert_int_equal(canvas_curses_resume(), 0);
	assert_int_equal(canvas_curses_resize(), 0);
	assert_int_equal(look(), 0);
}

/* ---- drawing ---- */

static void only_changed_cells_travel(void **state)
{
	struct canvas canvas = opened(COLOR_AUTO);

	(void)state;
	draw_all_roles();
	look();
	canvas_curses_flush();
	assert_int_equal(look(), 0);
	canvas_put(&canvas, 40, 12, STYLE(ROLE_TEXT), 'Q');
	canvas_curses_flush();
	assert_in_range(look(), 1, 40);
	assert_non_null(strchr(seen, 'Q'));
	/* The same is cleared and drawn again between two flushes. */
	canvas_clear(&canvas);
	draw_all_roles();
	canvas_put(&canvas, 40, 12, STYLE(ROLE_TEXT), 'Q');
	canvas_curses_flush();
	look();
	canvas_curses_flush();
	assert_int_equal(look(), 0);
}

/* Over SSH each write is a packet, and half a frame would be visible between two of them. */
static void a_frame_is_one_write(void **state)
{
	struct canvas canvas = opened(COLOR_AUTO);

	(void)state;
	canvas_curses_flush();           /* and the cursor has gone */
	for (int frame = 0; frame < 3; frame++) {
		for (int y = 0; y < 20; y += 3)
			canvas_put(&canvas, 2 * y, y, STYLE(ROLE_TEXT), (uint32_t)('a' + frame));
		writes = 0;
		canvas_curses_flush();
		assert_int_equal(writes, 1);
		look();
	}
}

static void redraw_paints_all_anew(void **state)
{
	(void)state;
	opened(COLOR_AUTO);
	draw_all_roles();
	look();
	canvas_curses_redraw();
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "role"));
}

static void wide_characters_come_and_go_whole(void **state)
{
	struct canvas canvas = opened(COLOR_AUTO);

	(void)state;
	canvas_text(&canvas, 0, 0, STYLE(ROLE_TEXT), "日本語");
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "日本語"));
	canvas_text(&canvas, 1, 0, STYLE(ROLE_TEXT), "語");
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "語"));
	canvas_text(&canvas, 0, 0, STYLE(ROLE_TEXT), "abc");
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "abc"));
}

static void no_control_byte_gets_through(void **state)
{
	struct canvas canvas = opened(COLOR_NEVER);

	(void)state;
	canvas_curses_flush();
	look();
	canvas_text(&canvas, 0, 0, STYLE(ROLE_TEXT), "a\x1b]0;evil\x07\r\nb");
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "a·]0;evil···b"));
}

static void without_utf8_all_is_ascii(void **state)
{
	struct canvas canvas;

	(void)state;
	setlocale(LC_CTYPE, "C");
	canvas = opened(COLOR_AUTO);
	assert_int_equal(canvas_glyphs(&canvas), GLYPHS_ASCII);
	canvas_text(&canvas, 0, 0, STYLE(ROLE_TEXT), "▁█→é");
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "_#->?"));
}

static void cursor_shows_where_it_was_put(void **state)
{
	(void)state;
	opened(COLOR_AUTO);
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "\x1b[?25l"));
	canvas_curses_cursor(4, 2);
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "\x1b[3;5H"));
	assert_non_null(strstr(seen, "\x1b[?25h"));
	canvas_curses_cursor(80, 2);
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "\x1b[?25l"));
}

/* ---- colours ---- */

static void background_is_never_painted(void **state)
{
	static const char *const names[] = { "xterm-256color", "xterm", "linux", "vt100", "screen" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		setenv("TERM", names[i], 1);
		opened(COLOR_ALWAYS);
		draw_all_roles();
		canvas_curses_close();
		look();
		assert_int_equal(colors_seen().backgrounds, 0);
	}
}

static void heat_has_eight_colours_where_there_are_256(void **state)
{
	struct colors colors;
	struct canvas canvas = opened(COLOR_AUTO);

	(void)state;
	for (int role = ROLE_HEAT0; role <= ROLE_HEAT7; role++)
		canvas_put(&canvas, role, 0, STYLE((uint8_t)role), 'h');
	canvas_curses_flush();
	look();
	colors = colors_seen();
	assert_int_equal(palette_size(&colors), 8);
}

static void light_background_turns_heat_round(void **state)
{
	char first[2][16];

	(void)state;
	for (int light = 0; light < 2; light++) {
		struct canvas_curses_options options = { .color = COLOR_AUTO, .light_background = light };
		struct canvas canvas;
		const char *color;

		assert_int_equal(canvas_curses_open(&options), 0);
		canvas = canvas_curses_canvas();
		canvas_put(&canvas, 0, 0, STYLE(light ? ROLE_HEAT7 : ROLE_HEAT0), 'h');
		canvas_curses_flush();
		look();
		color = strstr(seen, "\x1b[38;5;");
		assert_non_null(color);
		snprintf(first[light], sizeof first[light], "%.11s", color);
		canvas_curses_close();
	}
	assert_string_equal(first[0], first[1]);
}

static void eight_colours_are_named(void **state)
{
	struct colors colors;

	(void)state;
	setenv("TERM", "xterm", 1);
	opened(COLOR_AUTO);
	draw_all_roles();
	look();
	colors = colors_seen();
	assert_true(colors.foregrounds > 5);
	assert_int_equal(palette_size(&colors), 0);
}

static void check_colored(enum color color, const char *no_color, bool expected)
{
	if (no_color)
		setenv("NO_COLOR", no_color, 1);
	else
		unsetenv("NO_COLOR");
	opened(color);
	draw_all_roles();
	look();
	canvas_curses_close();
	assert_int_equal(colors_seen().foregrounds > 0, expected);
	assert_non_null(strstr(seen, "\x1b["));
}

static void no_color_and_never_leave_attributes_only(void **state)
{
	(void)state;
	check_colored(COLOR_AUTO, "1", false);
	check_colored(COLOR_NEVER, NULL, false);
	check_colored(COLOR_NEVER, "", false);
}

static void empty_no_color_and_always_leave_colours(void **state)
{
	(void)state;
	check_colored(COLOR_AUTO, NULL, true);
	check_colored(COLOR_AUTO, "", true);
	check_colored(COLOR_ALWAYS, "1", true);
}

static void terminal_without_colours_has_none(void **state)
{
	(void)state;
	setenv("TERM", "vt100", 1);
	opened(COLOR_ALWAYS);
	draw_all_roles();
	look();
	assert_int_equal(colors_seen().foregrounds, 0);
}

/* ---- keys ---- */

static void check_key(const char *typed, int expected)
{
	assert_int_equal(write(master, typed, strlen(typed)), strlen(typed));
	assert_int_equal(canvas_curses_key(), expected);
	assert_int_equal(canvas_curses_key(), KEYCODE_NONE);
}

static void keys_are_code_points_or_named(void **state)
{
	(void)state;
	opened(COLOR_AUTO);
	assert_int_equal(canvas_curses_fd(), STDIN_FILENO);
	assert_int_equal(canvas_curses_key(), KEYCODE_NONE);
	check_key("q", 'q');
	check_key("é", 0xE9);
	check_key("日", 0x65E5);
	check_key("ā", 0x101);           /* curses' own number for KEY_BREAK */
	check_key("\x15", KEYCODE_CTRL('U'));
	check_key("\t", '\t');
	check_key("\r", KEYCODE_ENTER);
	check_key("\x7f", KEYCODE_BACKSPACE);
	check_key("\x1b", KEYCODE_ESCAPE);
	check_key("\x1bOA", KEYCODE_UP);
	check_key("\x1b[6~", KEYCODE_PAGE_DOWN);
	check_key("\x1b[Z", KEYCODE_BACKTAB);
	check_key("\x1b[15~", KEYCODE_F0 + 5);
}

static void keys_of_no_use_are_unknown(void **state)
{
	(void)state;
	opened(COLOR_AUTO);
	check_key("\x1b[1;2A", KEYCODE_UNKNOWN);     /* shift up */
}

static void lost_terminal_is_told(void **state)
{
	(void)state;
	opened(COLOR_AUTO);
	draw_all_roles();
	close(master);
	master = -1;
	assert_int_equal(canvas_curses_key(), KEYCODE_HANGUP);
	draw_all_roles();
	canvas_curses_close();
}

/* ---- size ---- */

static void resize_takes_the_present_size(void **state)
{
	struct canvas canvas = opened(COLOR_AUTO);

	(void)state;
	draw_all_roles();
	set_size(120, 40);
	assert_int_equal(canvas_curses_resize(), 0);
	canvas = canvas_curses_canvas();
	assert_int_equal(canvas.width_cells, 120);
	assert_int_equal(canvas.height_cells, 40);
	look();
	canvas_text(&canvas, 110, 39, STYLE(ROLE_TEXT), "corner");
	canvas_curses_flush();
	look();
	assert_non_null(strstr(seen, "corner"));
}

static void any_size_is_taken(void **state)
{
	(void)state;
	opened(COLOR_AUTO);
	for (int i = 0; i < 300; i++) {
		int width = i % 2 ? 1 : 1 + i * 7 % 250, height = i % 2 ? 1 : 1 + i * 13 % 70;

		set_size(width, height);
		assert_int_equal(canvas_curses_resize(), 0);
		assert_int_equal(canvas_curses_canvas().width_cells, width);
		assert_int_equal(canvas_curses_canvas().height_cells, height);
		draw_all_roles();
		look();
	}
}

static void mad_sizes_are_bounded(void **state)
{
	struct canvas canvas = opened(COLOR_AUTO);

	(void)state;
	set_size(0, 0);
	assert_int_equal(canvas_curses_resize(), 0);
	canvas = canvas_curses_canvas();
	assert_int_equal(canvas.width_cells, 80);
	set_size(65535, 65535);
	assert_int_equal(canvas_curses_resize(), 0);
	canvas = canvas_curses_canvas();
	assert_true(canvas.width_cells <= 2000);
	assert_true(canvas.height_cells <= 1000);
}

static void suspend_gives_the_terminal_back_for_a_while(void **state)
{
	struct termios before = line();

	(void)state;
	opened(COLOR_AUTO);
	draw_all_roles();
	look();
	canvas_curses_suspend();
	look();
	assert_non_null(strstr(seen, "\x1b[?1049l"));
	check_same_line(before);
	canvas_curses_flush();
	assert_int_equal(look(), 0);
	set_size(100, 30);
	assert_int_equal(canvas_curses_resume(), 0);
	assert_int_equal(canvas_curses_canvas().width_cells, 100);
	assert_false(line().c_lflag & (ICANON | ECHO));
	draw_all_roles();
	look();
	assert_non_null(strstr(seen, "role"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unusable_terminals_are_refused_and_left_alone),
		TEST(output_that_is_no_terminal_is_refused),
		TEST(second_open_is_busy),
		TEST(close_restores_and_may_be_repeated),
		TEST(alternate_screen_is_entered_and_left_once),
		TEST(close_from_signal_restores_too),
		TEST(closed_terminal_does_nothing),
		TEST(only_changed_cells_travel),
		TEST(a_frame_is_one_write),
		TEST(redraw_paints_all_anew),
		TEST(wide_characters_come_and_go_whole),
		TEST(no_control_byte_gets_through),
		TEST(without_utf8_all_is_ascii),
		TEST(cursor_shows_where_it_was_put),
		TEST(background_is_never_painted),
		TEST(heat_has_eight_colours_where_there_are_256),
		TEST(light_background_turns_heat_round),
		TEST(eight_colours_are_named),
		TEST(no_color_and_never_leave_attributes_only),
		TEST(empty_no_color_and_always_leave_colours),
		TEST(terminal_without_colours_has_none),
		TEST(keys_are_code_points_or_named),
		TEST(keys_of_no_use_are_unknown),
		TEST(lost_terminal_is_told),
		TEST(resize_takes_the_present_size),
		TEST(any_size_is_taken),
		TEST(mad_sizes_are_bounded),
		TEST(suspend_gives_the_terminal_back_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
