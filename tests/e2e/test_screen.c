/* test_screen.c -- telemtop on a terminal, watching telem-demo. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/e2e.h"
#include "tests/support/wire.h"

#define MS 5000

static const char *const fast[] = { "--rate", "200", NULL };

static struct term *open_screen(struct fixture *fixture, int rows, int cols, const char *option)
{
	struct proc *demo = demo_start(fixture, .args = fast);
	struct term *term = option ? screen_start(rows, cols, "-d", "0.1", option, pid_of(demo))
				   : screen_start(rows, cols, "-d", "0.1", pid_of(demo));

	term_wait_row_matches(term, 0, "LIVE 0\\.1 s", MS);
	return term;
}

/* ---- the first second ---- */

/* How many classes the demo has on: those of the library, and index, query, queue and report. Its class burst is off. */
enum {
	CLASSES_ON = 4
#define CLASS(name, help, level) + 1
#include "protocol/classes.def"
#undef CLASS
};

static void first_second_tells_who_how_and_which_keys_at_80x24(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *term = screen_start(24, 80, pid_of(demo));

	term_wait_row_matches(term, 0, fmt("^telemtop  telem-demo %s @.* LIVE 1 s .* [0-9:]{8}$", pid_of(demo)), 1000);
	term_wait_row_matches(term, 1, fmt("^mem [0-9.]+ [KM]iB .* drop 0 +cls %d/%d", CLASSES_ON, CLASSES_ON + 1), 1000);
	term_wait_row_matches(term, 2, "1 Memory", 1000);
	term_wait_text(term, "2 Latency", 1000);
	term_wait_text(term, " Tasks ", 1000);
	term_wait_text(term, " GC ", 1000);
	term_wait_text(term, " Events ", 1000);
	term_wait_row_matches(term, 23, "c classes  space freeze .*\\? help  q quit", 1000);
	/* Rates need a second snapshot. */
	term_wait_row_matches(term, 1, " ev [1-9][0-9.]*k?/s ", 2500);
	term_wait_row_matches(term, -1, "(queue wait|read file|insert|tokenise) +[0-9.]+k? */s .* [0-9.]+ (m|µ)s", 2500);
	screen_quit(term);
}

static void first_second_tells_more_at_120x40(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *term = screen_start(40, 120, pid_of(demo));

	term_wait_row_matches(term, 0, fmt("^telemtop  telem-demo %s @.* LIVE 1 s .* [0-9:]{8}$", pid_of(demo)), 1000);
	/* The row is cut when the library gets more classes. */
	term_wait_row_matches(term, 1, " on: mem gc task frame log .*(off: burst|…$)", 1000);
	term_wait_row_matches(term, 2, "1 Memory by task .*┬.* 2 Latency ", 1000);
	term_wait_text(term, " heat map: ", 2500);
	term_wait_text(term, " Counters ", 1000);
	term_wait_row_matches(term, 39, "R rec  \\? help  q quit", 1000);
	screen_quit(term);
}

static void all_that_is_on_a_wide_screen_is_there_at_200x50(void **state)
{
	struct term *term = open_screen(*state, 50, 200, NULL);

	term_wait_row_matches(term, 0, "libtelem [0-9.]+, protocol 1", MS);
	term_wait_text(term, "3 Classes", MS);
	term_wait_text(term, "8 Link", MS);
	screen_quit(term);
}

/* ---- choosing a program ---- */

static void picker_opens_a_program_by_its_number_or_by_enter(void **state)
{
	struct proc *first = demo_start(*state), *second = demo_start(*state);
	struct term *term = screen_start(24, 80, "-d", "0.1");
	int row, top;

	/* The list may have other programs, too. */
	term_wait_row_matches(term, 0, "^telemtop: [0-9]+ monitored programs", MS);
	term_wait_text(term, pid_of(first), MS);
	term_wait_row_matches(term, -1, fmt("^[ ▸]+[0-9]+ +%s +[a-z]+ +telem-demo .* ok$", pid_of(second)), MS);
	assert_true(term_find(term, "PID", &top, NULL));
	assert_true(term_find(term, pid_of(second), &row, NULL));
	term_keys(term, fmt("%d", row - top));
	term_wait_row_matches(term, 0, fmt("telem-demo %s @.*LIVE", pid_of(second)), MS);
	screen_quit(term);

	term = screen_start(24, 80, "-d", "0.1");
	term_wait_text(term, pid_of(first), MS);
	assert_true(term_find(term, pid_of(first), &row, NULL));
	for (int i = 0; i < row - top - 1; i++)
		term_keys(term, "down");
	WAIT_UNTIL(term_cursor(term).row == row, MS);
	term_keys(term, "enter");
	term_wait_row_matches(term, 0, fmt("telem-demo %s @.*LIVE", pid_of(first)), MS);
	screen_quit(term);
}

static void filter_of_the_picker_is_left_with_escape(void **state)
{
	struct proc *first = demo_start(*state), *second = demo_start(*state, .telem = "name=other");
	struct term *term = screen_start(24, 80, "-d", "0.1");

	term_wait_text(term, pid_of(first), MS);
	term_keys(term, "/ O T H E R");
	term_wait_gone(term, pid_of(first), MS);
	assert_true(term_has(term, pid_of(second)));
	term_keys(term, "x");
	term_wait_gone(term, pid_of(second), MS);
	term_keys(term, "enter");
	term_wait_row_matches(term, 23, "^filter OTHERx: 0 of [0-9]+, Esc clears it", MS);
	term_keys(term, "esc");
	term_wait_text(term, pid_of(first), MS);
	term_keys(term, "/ n o esc");
	term_wait_text(term, pid_of(second), MS);
	screen_quit(term);
}

static void picker_is_left_with_q(void **state)
{
	demo_start(*state);
	demo_start(*state);
	struct term *term = screen_start(24, 80, "-d", "1");

	term_wait_text(term, "monitored programs", MS);
	screen_quit(term);
}

/* ---- keys ---- */

static bool counter_is_at(const char *target, const char *name, const char *level)
{
	json_t *json = once(target);
	bool is_at = !strcmp(text_at(named(json, "counters", name), "level"), level);

	json_decref(json);
	return is_at;
}

/* Counting them holds the program up. */
static void dear_figures_are_counted_while_a_panel_shows_them(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *term = screen_start(36, 120, "-d", "0.1", pid_of(demo));

	term_wait_row_matches(term, 0, "LIVE", MS);
	assert_true(counter_is_at(pid_of(demo), "process/pss", "off"));
	term_keys(term, "1");
	term_wait_row_matches(term, -1, "^ process: resident [0-9.]+ MiB  proportional [0-9.]+ MiB.*  malloc: alloc",
			      MS);
	assert_true(counter_is_at(pid_of(demo), "process/pss", "sum"));
	term_keys(term, "2");
	ASK_UNTIL(counter_is_at(pid_of(demo), "process/pss", "off"), MS);
	assert_true(counter_is_at(pid_of(demo), "malloc/free", "off"));
	screen_quit(term);
}

static void each_panel_opens_by_its_digit(void **state)
{
	struct term *term = open_screen(*state, 24, 80, NULL);

	term_keys(term, "1");
	term_wait_row_matches(term, 2, "1 Memory .*\\[task\\]", MS);
	term_wait_text(term, "holds: ", MS);
	term_keys(term, "2");
	term_wait_row_matches(term, 2, "2 Latency .* sort p99", MS);
	term_wait_text(term, "sweep", MS);
	term_keys(term, "3");
	term_wait_row_matches(term, 2, "3 Classes .*back to the program's own levels on leaving", MS);
	term_wait_row_matches(term, -1, "m +mem +sum +sum .*program$", MS);
	term_keys(term, "8");
	term_wait_row_matches(term, 2, "8 Link", MS);
	term_wait_row_matches(term, -1, "^ books +emitted .* balanced", MS);
	term_keys(term, "0");
	term_wait_row_matches(term, 2, "1 Memory", MS);
	term_wait_text(term, "2 Latency", MS);
	term_keys(term, "tab");
	term_wait_row_matches(term, 2, "1 Memory .*\\[task\\]", MS);
	term_keys(term, "shift-tab");
	term_wait_text(term, "2 Latency", MS);
	term_keys(term, "Y");
	term_wait_row_matches(term, 22, "No key \"Y\" here\\. \\? for help\\.", MS);
	assert_int_equal(term_bell_count(term), 0);
	screen_quit(term);
}

static void help_names_the_panels_keys_then_all(void **state)
{
	struct term *term = open_screen(*state, 24, 80, NULL);

	term_keys(term, "2 ?");
	term_wait_text(term, "Help: Latency (2)", MS);
	term_wait_text(term, "? again: all keys", MS);
	term_keys(term, "?");
	term_wait_text(term, "^R", MS);
	term_keys(term, "esc");
	term_wait_row_matches(term, 2, "^─ 2 Latency", MS);
	term_keys(term, "? q");
	term_wait_row_matches(term, 2, "^─ 2 Latency", MS);
	screen_quit(term);
}

static void filter_narrows_a_table_until_esc(void **state)
{
	struct term *term = open_screen(*state, 24, 80, NULL);

	term_keys(term, "2");
	term_wait_text(term, "tokenise", MS);
	term_keys(term, "/");
	term_wait_row_matches(term, 22, "^filter: $|^filter:$", MS);
	term_type(term, "quer");
	term_wait_gone(term, "tokenise", MS);
	term_wait_text(term, "query", MS);
	term_keys(term, "enter");
	term_wait_gone(term, "filter: quer", MS);
	assert_false(term_has(term, "tokenise"));
	term_keys(term, "esc");
	term_wait_text(term, "tokenise", MS);
	screen_quit(term);
}

static void freezing_keeps_the_picture_and_misses_nothing(void **state)
{
	struct term *term = open_screen(*state, 24, 120, "--class=index=all");
	char frozen[400];

	term_wait_row_matches(term, 1, "index\\*", MS);
	term_wait_row_matches(term, 1, " ev [1-9]", MS);
	term_keys(term, "space");
	term_wait_row_matches(term, 0, "FROZEN -[0-9]+ s  [0-9]+ new", MS);
	snprintf(frozen, sizeof frozen, "%s", term_row(term, 1));
	term_wait_row_matches(term, 0, "FROZEN -[1-9][0-9]* s  ([2-9]|[1-9][0-9]+) new", MS);
	assert_string_equal(term_row(term, 1), frozen);
	/* Panels of the frozen moment can be looked through. */
	term_keys(term, "8");
	term_wait_text(term, "8 Link", MS);
	assert_true(term_row_matches(term, 0, "FROZEN"));
	term_keys(term, "space");
	term_wait_row_matches(term, 0, "LIVE", MS);
	term_wait_row_matches(term, -1, "^ lost +0 events", MS);
	term_wait_row_matches(term, -1, "^ books +emitted [1-9].* balanced", MS);
	screen_quit(term);
}

static void class_key_asks_the_program_which_acknowledges(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *term = screen_start(24, 80, "-d", "0.1", pid_of(demo));
	json_t *json;
	const json_t *class;

	term_wait_text(term, "LIVE", MS);
	assert_string_equal(levels_now(pid_of(demo), "log"), "sum/sum");
	term_keys(term, "c");
	term_wait_text(term, "class: mem[m]:sum gc[g]:sum", MS);
	term_wait_text(term, "[a]ll [s]um [n]one [r]estore", MS);
	term_keys(term, "l");
	term_wait_row_matches(term, 22, "log: level all, acknowledged", MS);
	json = once(pid_of(demo));
	class = named(json, "classes", "log");
	assert_string_equal(text_at(class, "level"), "all");
	assert_string_equal(text_at(class, "own_level"), "sum");
	assert_int_equal(figure(class, "leases"), 1);
	json_decref(json);
	/* The log lines are shown now. */
	term_wait_row_matches(term, -1, "^ [0-9:.]{12} +(debug|info|warn)", MS);
	term_keys(term, "c r");
	ASK_UNTIL(!strcmp(levels_now(pid_of(demo), "log"), "sum/sum"), MS);
	screen_quit(term);
}

static void classes_panel_moves_one_class_a_level_on_or_off(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *term = screen_start(24, 80, "-d", "0.1", "-p", "3", pid_of(demo));

	term_wait_row_matches(term, -1, " m +mem +sum +sum .*program$", MS);
	term_keys(term, "down x");
	term_wait_row_matches(term, 22, "mem: level all, acknowledged", MS);
	term_wait_row_matches(term, -1, "▸ m +mem +all +sum .* you$", MS);
	assert_string_equal(levels_now(pid_of(demo), "mem"), "all/sum");
	term_keys(term, "X");
	term_wait_row_matches(term, 22, "mem: level off, acknowledged", MS);
	term_wait_row_matches(term, -1, "▸ m +mem +off +sum ", MS);
	assert_string_equal(levels_now(pid_of(demo), "mem"), "off/sum");
	term_keys(term, "x");
	term_wait_row_matches(term, 22, "mem: level sum, acknowledged", MS);
	screen_quit(term);
}

/* ---- sizes ---- */

static void picture_fits_any_size_and_comes_back(void **state)
{
	static const struct { int cols, rows; const char *row, *expected; } sizes[] = {
		{ 1, 1, "0", "^L$" }, { 10, 3, "0", "MiB" }, { 38, 10, "-1", "drop 0" }, { 38, 10, "-1", "LIVE" },
		{ 60, 12, "11", "q quit" }, { 40, 6, "0", "telemtop  telem-demo" }, { 200, 50, "49", "q quit" },
		{ 5, 40, "0", "L" }, { 300, 2, "-1", "." }, { 2, 1, "0", "^L" },
	};
	struct term *term = open_screen(*state, 24, 80, NULL);

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		term_resize(term, sizes[i].rows, sizes[i].cols);
		term_wait_row_matches(term, atoi(sizes[i].row), sizes[i].expected, MS);
		term_resize(term, 24, 80);
		term_wait_row_matches(term, 23, "q quit$", MS);
		term_wait_row_matches(term, 0, "^telemtop  telem-demo .*LIVE", MS);
		term_wait_row_matches(term, 2, "1 Memory", MS);
	}
	screen_quit(term);
}

static void random_sizes_and_keys_do_no_harm(void **state)
{
	static const char *const keys[] = { "0", "1", "2", "3", "8", "?", "c", "/", "esc", "down", "up", "enter", "s", "m",
					    "w", "space", "tab", "d", "pgdn", "end", "v", "L", "x" };
	uint64_t random = random_seed(4711);
	struct term *term = open_screen(*state, 24, 80, NULL);

	for (int i = 0; i < 20; i++) {
		uint64_t before = term_byte_count(term);

		term_resize(term, 1 + (int)random_below(&random, 60), 1 + (int)random_below(&random, 220));
		for (int k = 0; k < 4; k++)
			term_keys(term, keys[random_below(&random, sizeof keys / sizeof *keys)]);
		/* The screen was drawn at least once at this size. */
		WAIT_UNTIL(term_byte_count(term) > before || proc_exited(term_proc(term)), MS);
		assert_false(proc_exited(term_proc(term)));
	}
	term_resize(term, 24, 80);
	term_keys(term, "esc esc esc esc 0");
	term_wait_row_matches(term, 23, "q quit$", MS);
	term_wait_text(term, "1 Memory", MS);
	screen_quit(term);
}

/* ---- ways out ---- */

static void terminal_is_restored_on_every_way_out(void **state)
{
	static const struct { const char *key; int signal, code; } ways[] = {
		{ "q", 0, 0 }, { "ctrl-c", 0, 0 }, { "F10", 0, 0 }, { NULL, SIGINT, 0 },
		{ NULL, SIGTERM, 128 + SIGTERM }, { NULL, SIGHUP, 128 + SIGHUP },
		{ NULL, SIGQUIT, 128 + SIGQUIT }, { NULL, SIGABRT, -SIGABRT },
	};
	struct proc *demo = demo_start(*state);

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct term *term = screen_start(24, 80, pid_of(demo));

		term_wait_text(term, "LIVE", MS);
		assert_true(term_on_alternate_screen(term));
		assert_false(term_is_cooked(term));
		if (ways[i].key)
			term_keys(term, ways[i].key);
		else
			proc_signal(term_proc(term), ways[i].signal);
		assert_int_equal(term_wait_exit(term, MS), ways[i].code);
		assert_terminal_restored(term);
		/* Nothing is left on the user's screen. */
		assert_string_equal(term_row(term, 0), "");
		term_end(term);
	}
	assert_int_equal(proc_exited(demo), false);
}

static void esc_never_quits(void **state)
{
	struct term *term = open_screen(*state, 24, 80, NULL);

	term_keys(term, "esc esc esc 3");
	term_wait_text(term, "3 Classes", MS);
	screen_quit(term);
}

static void suspending_gives_the_terminal_back_until_it_goes_on(void **state)
{
	struct term *term = open_screen(*state, 24, 80, NULL);

	term_keys(term, "ctrl-z");
	WAIT_UNTIL(proc_state(term_proc(term)) == 'T', MS);
	WAIT_UNTIL(!term_on_alternate_screen(term) && term_is_cooked(term), MS);
	proc_signal(term_proc(term), SIGCONT);
	WAIT_UNTIL(term_on_alternate_screen(term), MS);
	term_wait_row_matches(term, 0, "LIVE", MS);
	screen_quit(term);
}

/* ---- poor terminals ---- */

static void unusable_terminal_is_told_with_9(void **state)
{
	static const char *const names[] = { "dumb", "bogus" };
	struct proc *demo = demo_start(*state);

	for (size_t i = 0; i < 2; i++) {
		struct term *term = term_start(.argv = PROC_LIST(bin("telemtop"), pid_of(demo)),
					       .env = PROC_LIST(fmt("TERM=%s", names[i])));

		assert_int_equal(term_wait_exit(term, MS), 9);
		assert_true(term_row_matches(term, 0, fmt("^telemtop: TERM=%s: unknown terminal", names[i])));
		assert_string_equal(term_row(term, 1), "  Try TERM=xterm-256color, or telemtop lines for plain text.");
		assert_false(term_raw_has(term, "\033", 1));
		term_end(term);
	}
}

static void ascii_locale_gets_ascii_only(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *term = term_start(.argv = PROC_LIST(bin("telemtop"), "-d", "0.1", pid_of(demo)),
				       .env = PROC_LIST("LANG=C"), .rows = 40, .cols = 120);
	const char *raw;
	size_t count;

	term_wait_row_matches(term, 0, "LIVE", MS);
	term_wait_text(term, "heat map: ", MS);
	term_keys(term, "1");
	term_wait_text(term, "[task]", MS);
	term_keys(term, "2 down enter");
	term_wait_row_matches(term, 2, "2 Latency . ", MS);
	term_keys(term, "esc 3 ?");
	term_wait_text(term, "Help: Classes", MS);
	term_keys(term, "esc 8 c");
	term_wait_text(term, "[r]estore", MS);
	term_keys(term, "esc m");
	term_wait_text(term, "Mark set", MS);
	screen_quit(term);
	raw = term_raw(term, &count);
	for (size_t i = 0; i < count; i++)
		if ((unsigned char)raw[i] >= 0x80) {
			proc_print(raw + (i < 60 ? 0 : i - 60), 80);
			proc_failed("a byte above 0x7f", __FILE__, __LINE__);
		}
}

static bool has_colour(const struct term *term)
{
	for (int row = 0; row < term_rows(term); row++)
		for (int col = 0; col < term_cols(term); col++) {
			struct term_cell cell = term_cell(term, row, col);

			if (cell.fg != TERM_COLOR_DEFAULT || cell.bg != TERM_COLOR_DEFAULT)
				return true;
		}
	return false;
}

static void no_color_is_obeyed_and_color_always_beats_it(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	const char *const no_color[] = { "NO_COLOR=1", NULL };
	struct term *term = screen_start(24, 80, "-d", "0.1", pid_of(demo));

	term_wait_text(term, "LIVE", MS);
	WAIT_UNTIL(has_colour(term), MS);
	screen_quit(term);

	term = term_start(.argv = PROC_LIST(bin("telemtop"), "-d", "0.1", pid_of(demo)), .env = no_color);
	term_wait_text(term, "LIVE", MS);
	term_wait_row_matches(term, 1, " ev [1-9]", MS);
	term_keys(term, "1");
	term_wait_text(term, "[task]", MS);
	assert_false(has_colour(term));
	screen_quit(term);

	term = term_start(.argv = PROC_LIST(bin("telemtop"), "--color", "always", pid_of(demo)), .env = no_color);
	term_wait_text(term, "LIVE", MS);
	WAIT_UNTIL(has_colour(term), MS);
	screen_quit(term);
}

static void into_a_pipe_it_prints_lines_and_says_so_once(void **state)
{
	struct proc *demo = demo_start(*state);
	struct said said = run("/bin/sh", "-c", fmt("%s -d 0.1 -n 2 %s | cat", bin("telemtop"), pid_of(demo)));

	assert_code(said, 0);
	assert_string_equal(said.err,
			    "telemtop: standard output is not a terminal: printing lines, as telemtop lines does\n");
	assert_int_equal(strncmp(said.out, "time ", 5), 0);
	assert_has(said.out, " live ");
	assert_has_not(said.out, "\033");
}

static void nothing_to_choose_without_a_terminal_is_a_usage_error(void **state)
{
	(void)state;
	struct said said = telemtop("-d", "1");

	assert_code(said, 2);
	assert_has(said.err, "telemtop: a target is missing, and standard output is not a terminal\n");
}

/* ---- what it costs ---- */

static void idle_screen_sends_a_terminal_little(void **state)
{
	enum { SECONDS = 3, BYTES_PER_S_MAX = 4096, SLACK = 2 };
	struct proc *demo = demo_start(*state, .args = PROC_LIST("--rate", "10"));
	struct term *term = screen_start(40, 120, pid_of(demo));
	uint64_t before, bytes, cpu_ns;

	term_wait_row_matches(term, 1, " ev [1-9]", MS);
	term_wait_text(term, "heat map: ", MS);
	before = term_byte_count(term);
	cpu_ns = proc_cpu_ns(term_proc(term));
	proc_watch_for(SECONDS * 1000);
	bytes = (term_byte_count(term) - before) / SECONDS;
	cpu_ns = (proc_cpu_ns(term_proc(term)) - cpu_ns) / SECONDS;
	print_message("%llu bytes/s, %.2f %% of a core\n", (unsigned long long)bytes, (double)cpu_ns / 1e7);
	assert_in_range(bytes, 1, BYTES_PER_S_MAX * SLACK);
	assert_in_range(cpu_ns, 0, 50000000u * (uint64_t)proc_slowness());
	screen_quit(term);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_second_tells_who_how_and_which_keys_at_80x24),
		TEST(first_second_tells_more_at_120x40),
		TEST(all_that_is_on_a_wide_screen_is_there_at_200x50),
		TEST(picker_opens_a_program_by_its_number_or_by_enter),
		TEST(filter_of_the_picker_is_left_with_escape),
		TEST(picker_is_left_with_q),
		TEST(each_panel_opens_by_its_digit),
		TEST(dear_figures_are_counted_while_a_panel_shows_them),
		TEST(help_names_the_panels_keys_then_all),
		TEST(filter_narrows_a_table_until_esc),
		TEST(freezing_keeps_the_picture_and_misses_nothing),
		TEST(class_key_asks_the_program_which_acknowledges),
		TEST(classes_panel_moves_one_class_a_level_on_or_off),
		TEST(picture_fits_any_size_and_comes_back),
		TEST(random_sizes_and_keys_do_no_harm),
		TEST(terminal_is_restored_on_every_way_out),
		TEST(esc_never_quits),
		TEST(suspending_gives_the_terminal_back_until_it_goes_on),
		TEST(unusable_terminal_is_told_with_9),
		TEST(ascii_locale_gets_ascii_only),
		TEST(no_color_is_obeyed_and_color_always_beats_it),
		TEST(into_a_pipe_it_prints_lines_and_says_so_once),
		TEST(nothing_to_choose_without_a_terminal_is_a_usage_error),
		TEST(idle_screen_sends_a_terminal_little),
	};

	return cmocka_run_group_tests_name("screen", tests, NULL, NULL);
}
