/* test_faults.c -- either side is killed, stopped, restarted or too slow: nothing wrong is shown, every loss is
 * counted, and the program is not disturbed. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/e2e.h"

#define MS 5000

/* The program makes tens of thousands of events a second, in little memory. */
static const char *const busy[] = { "--rate", "250", "--heap", "1M", NULL };

static void assert_balanced(const char *target)
{
	json_t *json = once(target);
	int64_t emitted = figure(json, "link.emitted"), taken = figure(json, "link.taken"),
		dropped = figure(json, "link.dropped");

	assert_true(emitted > 0);
	assert_true(emitted >= taken + dropped);
	assert_true(figure(json, "link.balanced"));
	assert_int_equal(figure(json, "link.damaged_blocks"), 0);
	assert_int_equal(figure(json, "link.bad_messages"), 0);
	assert_int_equal(figure(json, "link.lost_events"), 0);
	json_decref(json);
}

static int64_t figure_now(const char *target, const char *list, const char *name, const char *key)
{
	json_t *json = once(target);
	int64_t value = figure(named(json, list, name), key);

	json_decref(json);
	return value;
}

/* ---- telemtop goes ---- */

static void program_does_not_notice_that_telemtop_was_killed(void **state)
{
	struct proc *demo = demo_start(*state, .telem = "index=all;mem=all", .args = busy);
	int64_t files;
	struct said said;

	for (int i = 0; i < 3; i++) {
		struct term *term = screen_start(24, 80, "-d", "0.1", pid_of(demo));

		term_wait_row_matches(term, 0, "LIVE", MS);
		term_wait_row_matches(term, 1, " ev [1-9]", MS);
		proc_signal(term_proc(term), SIGKILL);
		assert_int_equal(term_wait_exit(term, MS), -SIGKILL);
		term_end(term);
		/* The next viewer is greeted. */
		assert_balanced(pid_of(demo));
	}
	ASK_UNTIL(({ json_t *json = once(pid_of(demo)); int64_t viewers = figure(json, "link.viewers"); json_decref(json);
		     viewers == 1; }), MS);
	files = figure_now(pid_of(demo), "spans", "read file", "count");
	ASK_UNTIL(figure_now(pid_of(demo), "spans", "read file", "count") > files + 50, MS);
	proc_signal(demo, SIGTERM);
	said = said_of(demo, MS);
	assert_code(said, 0);
	assert_string_equal(said.err, "");
}

static void next_reader_of_a_fifo_is_greeted_behind_the_killed_ones_leftovers(void **state)
{
	const char *target = fmt("fifo:%s", fixture_path(*state, "t.fifo"));
	struct proc *demo = demo_start(*state, .telem = fmt("sink=%s;index=all;mem=all", target), .args = busy);

	for (int i = 0; i < 3; i++) {
		struct proc *lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.1", target),
						.in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
		json_t *json;

		proc_wait_text(lines, PROC_OUT, " live ", MS);
		proc_signal(lines, SIGKILL);
		proc_wait_exit(lines, MS);
		json = once(target);
		assert_true(figure(json, "link.emitted") > 0);
		assert_true(figure(json, "link.balanced"));
		assert_int_equal(figure(json, "link.bad_messages"), 0);
		json_decref(json);
	}
	assert_false(proc_exited(demo));
}

/* ---- the program goes ---- */

static void killed_program_ended_without_goodbye_and_its_picture_stays(void **state)
{
	struct proc *demo = demo_start(*state, .args = busy);
	struct term *term = screen_start(24, 80, "-d", "0.1", pid_of(demo));
	struct proc *lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.1", pid_of(demo)),
					.in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	struct said said;

	term_wait_row_matches(term, 1, "^mem [1-9].* ev [1-9]", MS);
	proc_wait_text(lines, PROC_OUT, " live ", MS);
	proc_signal(demo, SIGKILL);
	proc_wait_exit(demo, MS);
	term_wait_row_matches(term, 0, fmt("telem-demo %s @.* ENDED without goodbye", pid_of(demo)), MS);
	assert_true(term_row_matches(term, 1, "^mem [1-9].* ev [1-9]"));
	/* All panels can still be shown. */
	term_keys(term, "2");
	term_wait_row_matches(term, -1, "(tokenise|insert|query) +[0-9.]+k? */s", MS);
	term_keys(term, "c l");
	term_wait_text(term, "levels cannot be set", MS);
	screen_quit(term);
	said = said_of(lines, MS);
	assert_code(said, 6);
	assert_string_equal(said.err, fmt("telemtop: %s: connection lost\n  The target ended without saying goodbye.\n",
					  pid_of(demo)));
}

static void program_that_ends_says_goodbye(void **state)
{
	struct proc *demo = demo_start(*state, .telem = "index=all", .args = busy);
	struct term *term = screen_start(24, 80, "-d", "0.1", "-p", "8", pid_of(demo));
	struct proc *lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.1", pid_of(demo)),
					.in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	struct said said;

	term_wait_row_matches(term, 1, " ev [1-9]", MS);
	proc_wait_text(lines, PROC_OUT, " live ", MS);
	proc_signal(demo, SIGTERM);
	assert_code(said_of(demo, MS), 0);
	term_wait_row_matches(term, 0, " ENDED( exit 0)? +", MS);
	assert_false(term_row_matches(term, 0, "without goodbye"));
	term_wait_row_matches(term, -1, "^ lost +0 events", MS);
	screen_quit(term);
	said = said_of(lines, MS);
	assert_code(said, 0);
	assert_string_equal(said.err, "");
}

static void no_reconnect_leaves_on_loss_with_6(void **state)
{
	const char *target = fmt("tcp:127.0.0.1:%u", fixture_free_port());
	struct proc *demo = demo_start(*state, .telem = fmt("sink=%s", target));
	struct term *term = screen_start(24, 80, "--no-reconnect", target);

	term_wait_text(term, "LIVE", MS);
	proc_signal(demo, SIGKILL);
	assert_int_equal(term_wait_exit(term, MS), 6);
	assert_terminal_restored(term);
	assert_true(term_has(term, fmt("telemtop: %s: connection lost", target)));
}

/* ---- either is stopped ---- */

static void stopped_program_is_stale_not_zero(void **state)
{
	struct proc *demo = demo_start(*state, .args = busy);
	struct term *term = screen_start(24, 80, "-d", "0.1", pid_of(demo));
	char pulse[400];

	term_wait_row_matches(term, 1, "^mem [1-9].* ev [1-9]", MS);
	proc_signal(demo, SIGSTOP);
	term_wait_row_matches(term, 0, " STALE [1-9][0-9]* s ", MS);
	snprintf(pulse, sizeof pulse, "%s", term_row(term, 1));
	assert_true(term_row_matches(term, 1, "^mem [1-9].* ev [1-9]"));
	term_wait_row_matches(term, 0, " STALE [2-9] s ", MS);
	assert_string_equal(term_row(term, 1), pulse);
	/* The keys work, but the program does not answer. */
	term_keys(term, "3");
	term_wait_text(term, "3 Classes", MS);
	proc_signal(demo, SIGCONT);
	term_wait_row_matches(term, 0, " LIVE 0.1 s ", MS);
	screen_quit(term);
}

/* The program emits at least so many events while a viewer does not read. */
enum { EVENTS_TOO_MANY = 200000 };

static int64_t lost_of_classes(const json_t *json)
{
	int64_t lost = 0;
	size_t index;
	json_t *class;

	json_array_foreach(json_object_get(json, "classes"), index, class)
		lost += figure(class, "lost");
	return lost;
}

static void stopped_viewer_costs_nobody_else_anything_and_its_loss_is_counted(void **state)
{
	struct proc *demo = demo_start(*state, .telem = "index=all;mem=all;queue=all", .args = busy);
	const char *target = pid_of(demo), *path = fixture_path(*state, "r.telem");
	struct proc *record = proc_start(.argv = PROC_LIST(bin("telemtop"), "record", "-d", "0.1", "-o", path, target),
					 .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	struct term *term = screen_start(24, 80, "-d", "0.1", "-p", "8", target), *other;
	uint64_t rss_before, rss_after;
	int64_t emitted, files;
	json_t *json;

	proc_wait_text(record, PROC_ERR, "recording into", MS);
	term_wait_row_matches(term, -1, "^ books +emitted [1-9]", MS);
	json = once(target);
	emitted = figure(json, "link.emitted");
	files = figure(named(json, "spans", "read file"), "count");
	json_decref(json);
	rss_before = proc_rss_bytes(demo);
	proc_signal(record, SIGSTOP);
	proc_signal(term_proc(term), SIGSTOP);

	/* Another viewer sees that the program goes on as before, and loses nothing itself. */
	other = screen_start(24, 80, "-d", "0.1", "-p", "8", target);
	ASK_UNTIL(({ json = once(target); int64_t now = figure(json, "link.emitted"); json_decref(json);
		     now > emitted + EVENTS_TOO_MANY; }), 20000);
	assert_true(figure_now(target, "spans", "read file", "count") > files + 100);
	rss_after = proc_rss_bytes(demo);
	/* Sanitizers, under which TEST_SLOW is set, do not return freed memory. */
	assert_true(proc_slowness() > 1 || rss_after < rss_before + (8u << 20));
	term_wait_row_matches(other, -1, "^ lost +0 events", MS);
	term_wait_row_matches(other, -1, "^ books .*balanced", MS);
	screen_quit(other);

	/* The viewers that were stopped show what they missed. */
	proc_signal(term_proc(term), SIGCONT);
	proc_signal(record, SIGCONT);
	term_wait_row_matches(term, 0, " LIVE ", MS);
	term_wait_row_matches(term, -1, "^ lost +[1-9]", MS);
	term_wait_row_matches(term, -1, "^ +for us: taken [1-9].* = delivered [1-9].* \\+ dropped [1-9]", MS);
	term_wait_row_matches(term, -1, "^ books .* balanced", MS);
	screen_quit(term);
	proc_signal(demo, SIGTERM);
	assert_code(said_of(demo, MS), 0);
	assert_code(said_of(record, MS), 0);
	json = once(path);
	assert_true(figure(json, "lost") > 0);
	assert_int_equal(figure(json, "link.dropped"), 0);
	assert_int_equal(figure(json, "lost"), lost_of_classes(json));
	assert_true(figure(json, "link.balanced"));
	assert_int_equal(figure(json, "link.bad_messages"), 0);
	assert_int_equal(figure(json, "link.damaged_blocks"), 0);
	assert_true(figure(named(json, "classes", "mem"), "received") > 0);
	json_decref(json);
}

/* ---- again ---- */

static void restarted_program_is_offered_and_followed(void **state)
{
	const char *name = fmt("e2e-%d", (int)getpid() % 100000);
	struct proc *beside = demo_start(*state, .name = name), *first = demo_start(*state, .name = name), *second;
	struct term *term = screen_start(24, 80, "-d", "0.1", pid_of(first));

	term_wait_row_matches(term, 0, fmt(" %s @.*LIVE.* up [2-9]s", pid_of(first)), MS);
	proc_signal(first, SIGKILL);
	proc_wait_exit(first, MS);
	term_wait_row_matches(term, 0, "ENDED without goodbye", MS);
	/* A program of the same name that was running before is not taken for the restarted one. */
	HOLDS_FOR(!term_has(term, "is back as PID"), 1200);
	assert_false(proc_exited(beside));
	second = demo_start(*state, .name = name);
	term_wait_row_matches(term, 22, fmt("%s is back as PID %s\\. Enter: follow it, Esc: stay here", name,
					    pid_of(second)), MS);
	/* The restarted program is offered, and not shown without being asked for. */
	assert_true(term_row_matches(term, 0, "ENDED without goodbye"));
	term_keys(term, "enter");
	term_wait_row_matches(term, 0, fmt("^telemtop  telem-demo %s @.*LIVE", pid_of(second)), MS);
	screen_quit(term);
}

/* The program ends and starts again at the same address. */
static void assert_reconnects(struct fixture *fixture, const char *target)
{
	const char *telem = fmt("sink=%s,control", target);
	struct proc *first, *second, *lines;
	struct term *term;

	if (!strncmp(target, "unix:", 5))
		telem = fmt("sink=%s", target);
	first = demo_start(fixture, .telem = telem);
	term = screen_start(24, 80, "-d", "0.1", "-c", "mem=all", target);
	lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.1", target), .in = PROC_NULL,
			   .out = PROC_PIPE, .err = PROC_PIPE);

	term_wait_row_matches(term, 0, fmt(" %s @.*LIVE", pid_of(first)), MS);
	ASK_UNTIL(!strcmp(level_now(pid_of(first), "mem"), "all"), MS);
	proc_wait_text(lines, PROC_OUT, " live ", MS);
	proc_signal(first, SIGKILL);
	term_wait_row_matches(term, 0, " LOST 00:0[0-9]", MS);
	term_wait_row_matches(term, 22,
			      "Connection lost\\. Retry [0-9]+ .+ \\^R tries now\\. The last picture is kept\\.", MS);
	assert_true(term_row_matches(term, 1, "^mem "));
	proc_mark(lines, PROC_OUT);
	second = demo_start(fixture, .telem = telem);
	term_wait_row_matches(term, 0, fmt(" %s @.*LIVE", pid_of(second)), MS);
	proc_wait_text(lines, PROC_OUT, " live ", MS);
	/* telemtop requests its level again. */
	ASK_UNTIL(!strcmp(level_now(pid_of(second), "mem"), "all"), MS);
	screen_quit(term);
	assert_false(proc_exited(lines));
}

static void lost_tcp_connection_comes_back(void **state)
{
	assert_reconnects(*state, fmt("tcp:127.0.0.1:%u", fixture_free_port()));
}

static void lost_unix_connection_comes_back(void **state)
{
	assert_reconnects(*state, fmt("unix:%s", fixture_path(*state, "own.sock")));
}

/* ---- exact ---- */

static void read_burst(struct said said, int64_t *emitted, int64_t *delivered, int64_t *dropped)
{
	long long numbers[3];

	assert_code(said, 0);
	assert_int_equal(sscanf(said.out, "emitted %lld delivered %lld dropped %lld", &numbers[0], &numbers[1],
				&numbers[2]), 3);
	*emitted = numbers[0];
	*delivered = numbers[1];
	*dropped = numbers[2];
}

static void million_events_are_delivered_or_counted_as_dropped(void **state)
{
	const char *path = fixture_path(*state, "burst.telem");
	struct proc *demo = demo_start(*state, .args = PROC_LIST("--burst", "1000000", "--wait"));
	struct proc *record = proc_start(.argv = PROC_LIST(bin("telemtop"), "record", "-d", "0.1", "-o", path, pid_of(demo)),
					 .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	int64_t emitted, delivered, dropped;
	json_t *json;
	const json_t *class;

	read_burst(said_of(demo, 60000), &emitted, &delivered, &dropped);
	assert_int_equal(emitted, 1000000);
	assert_int_equal(delivered + dropped, emitted);
	assert_code(said_of(record, 10000), 0);
	json = once(path);
	class = named(json, "classes", "burst");
	assert_int_equal(figure(class, "emitted"), emitted);
	assert_int_equal(figure(class, "received"), delivered);
	assert_int_equal(figure(class, "dropped") + figure(class, "lost"), dropped);
	assert_int_equal(figure(json, "link.emitted"), figure(json, "link.taken") + figure(json, "link.dropped"));
	assert_int_equal(figure(json, "link.events") + figure(json, "link.lost_events") +
			 figure(json, "link.dropped_events"), emitted);
	assert_true(figure(json, "link.balanced"));
	json_decref(json);
}

/* A file takes everything, so only a full ring loses events. */
static void burst_into_a_file_is_exact_as_well(void **state)
{
	const char *path = fixture_path(*state, "burst.telem");
	struct proc *demo = demo_start(*state, .telem = fmt("sink=file:%s;policy=block:1s", path),
				       .args = PROC_LIST("--burst", "300000", "--wait"));
	int64_t emitted, delivered, dropped;
	json_t *json;

	read_burst(said_of(demo, 60000), &emitted, &delivered, &dropped);
	assert_int_equal(emitted, 300000);
	assert_int_equal(delivered + dropped, emitted);
	json = once(path);
	assert_int_equal(figure(named(json, "classes", "burst"), "received"), delivered);
	assert_true(figure(json, "link.balanced"));
	json_decref(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(program_does_not_notice_that_telemtop_was_killed),
		TEST(next_reader_of_a_fifo_is_greeted_behind_the_killed_ones_leftovers),
		TEST(killed_program_ended_without_goodbye_and_its_picture_stays),
		TEST(program_that_ends_says_goodbye),
		TEST(no_reconnect_leaves_on_loss_with_6),
		TEST(stopped_program_is_stale_not_zero),
		TEST(stopped_viewer_costs_nobody_else_anything_and_its_loss_is_counted),
		TEST(restarted_program_is_offered_and_followed),
		TEST(lost_tcp_connection_comes_back),
		TEST(lost_unix_connection_comes_back),
		TEST(million_events_are_delivered_or_counted_as_dropped),
		TEST(burst_into_a_file_is_exact_as_well),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
