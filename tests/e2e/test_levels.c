/* test_levels.c -- levels that telemtop sets: acknowledged, leased, and given back in every case. */
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

static const char *const fast[] = { "--rate", "200", NULL };

static struct proc *start_set(const char *target, const char *setting)
{
	struct proc *set = proc_start(.argv = PROC_LIST(bin("telemtop"), "set", target, setting), .in = PROC_NULL,
				      .out = PROC_PIPE, .err = PROC_PIPE);

	proc_wait_line(set, PROC_OUT, fmt("%s (until this ends: ^C)", setting), MS);
	return set;
}

#define WAIT_LEVELS(target, class_name, levels) \
	ASK_UNTIL(!strcmp(levels_now((target), (class_name)), (levels)), MS)

static void kept_level_is_the_programs_own(void **state)
{
	struct proc *demo = demo_start(*state);
	struct said said = telemtop("set", pid_of(demo), "mem=all", "log=off", "--keep");
	json_t *json;

	assert_code(said, 0);
	assert_string_equal(said.out, "mem=all (kept)\nlog=off (kept)\n");
	json = once(pid_of(demo));
	assert_string_equal(text_at(named(json, "classes", "mem"), "level"), "all");
	assert_string_equal(text_at(named(json, "classes", "mem"), "own_level"), "all");
	assert_int_equal(figure(named(json, "classes", "mem"), "leases"), 0);
	assert_string_equal(text_at(named(json, "classes", "log"), "level"), "off");
	json_decref(json);
	assert_code(telemtop("set", pid_of(demo), "all", "--keep"), 0);
	assert_string_equal(levels_now(pid_of(demo), "queue"), "all/all");
	assert_code(telemtop("set", pid_of(demo), "none", "--keep"), 0);
	assert_string_equal(levels_now(pid_of(demo), "mem"), "off/off");
}

static void leased_level_ends_with_its_viewer(void **state)
{
	struct proc *demo = demo_start(*state), *set;

	set = start_set(pid_of(demo), "mem=all");
	assert_string_equal(levels_now(pid_of(demo), "mem"), "all/sum");
	proc_signal(set, SIGINT);
	assert_int_equal(proc_wait_exit(set, MS), 0);
	WAIT_LEVELS(pid_of(demo), "mem", "sum/sum");

	set = start_set(pid_of(demo), "mem=off");
	assert_string_equal(levels_now(pid_of(demo), "mem"), "off/sum");
	proc_signal(set, SIGKILL);
	WAIT_LEVELS(pid_of(demo), "mem", "sum/sum");

	assert_code(telemtop("set", pid_of(demo), "mem=all", "--for", "200ms"), 0);
	WAIT_LEVELS(pid_of(demo), "mem", "sum/sum");
}

static void screens_levels_are_gone_after_q_and_after_kill(void **state)
{
	struct proc *demo = demo_start(*state, .telem = "queue=off");
	struct term *term = screen_start(24, 80, "-d", "0.1", "-c", "mem=all,queue=sum", pid_of(demo));

	WAIT_LEVELS(pid_of(demo), "mem", "all/sum");
	WAIT_LEVELS(pid_of(demo), "queue", "sum/off");
	screen_quit(term);
	WAIT_LEVELS(pid_of(demo), "mem", "sum/sum");
	WAIT_LEVELS(pid_of(demo), "queue", "off/off");

	term = screen_start(24, 80, "-d", "0.1", pid_of(demo));
	term_wait_text(term, "LIVE", MS);
	term_keys(term, "c a");
	WAIT_LEVELS(pid_of(demo), "mem", "all/sum");
	proc_signal(term_proc(term), SIGKILL);
	WAIT_LEVELS(pid_of(demo), "mem", "sum/sum");
	assert_string_equal(levels_now(pid_of(demo), "queue"), "off/off");
}

static void a_script_limits_what_is_streamed(void **state)
{
	struct proc *demo = demo_start(*state);
	struct said said = telemtop("set", pid_of(demo), "keep=index:1/100", "limit=index:10k/s");
	json_t *json;

	assert_code(said, 0);
	assert_string_equal(said.out, "keep=index:1/100 (kept)\nlimit=index:10k/s (kept)\n");
	json = once(pid_of(demo));
	assert_int_equal(figure(named(json, "classes", "index"), "keep_one_in"), 100);
	assert_int_equal(figure(named(json, "classes", "index"), "most_per_s"), 10000);
	json_decref(json);
	assert_code(telemtop("set", pid_of(demo), "keep=index:100"), 2);
	assert_code(telemtop("set", pid_of(demo), "keep=nothing:1/100"), 2);
	assert_code(telemtop("set", pid_of(demo), "limit=index:fast"), 2);
}

static void a_dump_is_written_for_a_script_and_for_the_screen(void **state)
{
	struct proc *demo = demo_start(*state, .telem = fmt("index=all;dump=%s", fixture_path(*state, ".")), .args = fast);
	struct said said = telemtop("set", pid_of(demo), "dump=it is slow");
	char path[256];
	json_t *json;
	struct term *term;

	assert_code(said, 0);
	assert_int_equal(sscanf(said.out, "%255[^\n]", path), 1);
	json = once(path);
	assert_int_equal(figure(json, "link.balanced"), 1);
	assert_true(figure(json, "link.events") > 0);
	json_decref(json);
	said = telemtop("set", pid_of(demo), "dump=again");
	assert_code(said, 10);
	assert_has(said.err, "refused: there was one within these 5 s");
	demo = demo_start(*state, .telem = fmt("index=all;dump=%s", fixture_path(*state, ".")));
	term = screen_start(24, 100, "-d", "0.1", pid_of(demo));
	term_wait_text(term, "LIVE", MS);
	term_keys(term, "D");
	term_wait_text(term, "The target has written ", MS);
	screen_quit(term);
}

static void what_a_task_holds_is_listed(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *term;
	struct said said;
	json_t *list;

	ASK_UNTIL((said = telemtop("held", "--json", pid_of(demo), "indexing"), said.code == 0 && said.out[0] == '[' &&
		   said.out[1] == '{'), MS);
	list = json_loads(said.out, 0, NULL);
	assert_true(json_is_array(list));
	assert_true(json_integer_value(json_object_get(json_array_get(list, 0), "live_bytes")) > 0);
	assert_true(json_integer_value(json_object_get(json_array_get(list, 0), "oldest_ns")) > 0);
	assert_true(strlen(json_string_value(json_object_get(json_array_get(list, 0), "type"))) > 0);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "task")), "indexing");
	json_decref(list);
	said = telemtop("held", pid_of(demo));
	assert_code(said, 0);
	assert_has(said.out, "indexing");
	assert_has(said.out, "Estimated from samples: one byte in ");
	said = telemtop("held", "--addresses", pid_of(demo));
	assert_code(said, 0);
	assert_has(said.out, " 0x");
	term = screen_start(24, 100, "-d", "0.1", "-p", "1", pid_of(demo));
	term_wait_text(term, "indexing", MS);
	term_keys(term, "enter");
	term_wait_text(term, "median", MS);
	term_wait_text(term, " ms ", MS);        /* an age has come */
	screen_quit(term);
	said = telemtop("held", pid_of(demo), "nobody");
	assert_code(said, 2);
	assert_has(said.err, "task \"nobody\": the target has no such task now");
	assert_code(telemtop("held", pid_of(demo), "indexing", "more"), 2);
	assert_code(telemtop("held", "--read-only", pid_of(demo)), 5);
}

static void keep_in_the_screen_leaves_the_level_behind(void **state)
{
	struct proc *demo = demo_start(*state);
	struct term *term = screen_start(24, 80, "-d", "0.1", "--keep", "-c", "mem=all", pid_of(demo));

	WAIT_LEVELS(pid_of(demo), "mem", "all/all");
	screen_quit(term);
	assert_string_equal(levels_now(pid_of(demo), "mem"), "all/all");
}

static void unknown_class_sets_nothing_and_lists_what_there_is(void **state)
{
	struct proc *demo = demo_start(*state);
	struct said said = telemtop("set", pid_of(demo), "mem=all", "gx=all", "--keep");

	assert_code(said, 2);
	assert_string_equal(said.out, "");
	assert_has(said.err, "telemtop: class \"gx\": the target has no such class\n  It has: mem gc task frame log ");
	assert_has(said.err, " queue");
	assert_string_equal(levels_now(pid_of(demo), "mem"), "sum/sum");
	said = telemtop("set", pid_of(demo), "mem=loud");
	assert_code(said, 2);
	assert_has(said.err, "telemtop: bad level: \"mem=loud\"\n  Give CLASS=off, sum");
}

/* Reads what the program counts as emitted of a class, and how many events telemtop received. */
static void read_class(const char *target, const char *name, int64_t *emitted, int64_t *received)
{
	json_t *json = once(target);

	*emitted = figure(named(json, "classes", name), "emitted");
	*received = figure(named(json, "classes", name), "received");
	json_decref(json);
}

static void class_switched_off_in_the_screen_is_not_sent_any_more(void **state)
{
	struct proc *demo = demo_start(*state, .telem = "index=all", .args = fast);
	struct term *term = screen_start(24, 80, "-d", "0.1", "-p", "3", pid_of(demo));
	int64_t emitted, later, received;

	term_wait_row_matches(term, -1, " index +all +all +[1-9]", MS);
	read_class(pid_of(demo), "index", &emitted, &received);
	assert_true(received > 0);
	/* Each key press sets the next level: all, then off. */
	term_keys(term, "c");
	term_wait_text(term, "index[i]:all", MS);
	term_keys(term, "i");
	term_wait_row_matches(term, 22, "index: level off, acknowledged", MS);
	read_class(pid_of(demo), "index", &emitted, &received);
	read_class(pid_of(demo), "index", &later, &received);
	assert_int_equal(later, emitted);
	assert_int_equal(received, 0);
	/* The other classes go on. */
	read_class(pid_of(demo), "mem", &emitted, &received);
	screen_quit(term);
	/* The class has the program's own level again, and goes on counting. */
	WAIT_LEVELS(pid_of(demo), "index", "all/all");
	read_class(pid_of(demo), "index", &later, &received);
	assert_true(later > emitted);
}

static void read_only_sends_nothing(void **state)
{
	struct proc *demo = demo_start(*state);
	struct term *term = screen_start(24, 80, "--read-only", pid_of(demo));
	struct said said;

	term_wait_text(term, "LIVE", MS);
	term_keys(term, "c l");
	term_wait_row_matches(term, 22, "telemtop was started with --read-only: nothing is sent to the target\\.", MS);
	assert_string_equal(levels_now(pid_of(demo), "log"), "sum/sum");
	screen_quit(term);
	said = telemtop("set", "--read-only", pid_of(demo), "mem=all");
	assert_code(said, 2);
	assert_has(said.err, "telemtop: set: --read-only never sends the target anything\n");
	assert_string_equal(said.out, "");
	assert_string_equal(levels_now(pid_of(demo), "mem"), "sum/sum");
}

static void tcp_is_for_looking_unless_the_program_says_control(void **state)
{
	uint16_t port = fixture_free_port(), controlled = fixture_free_port();
	const char *target = fmt("tcp:127.0.0.1:%u", port), *open = fmt("tcp:127.0.0.1:%u", controlled);
	struct proc *demo = demo_start(*state, .telem = fmt("sink=%s;sink=%s,control", target, open));
	struct said said = telemtop("set", target, "mem=all", "--keep");
	struct term *term;

	assert_code(said, 5);
	assert_string_equal(said.out, "");
	assert_has(said.err, fmt("telemtop: %s: it takes no requests on this way\n  Use the program's Unix socket, or start "
				 "it with ,control behind the address.\n", target));
	assert_code(telemtop("held", target), 5);
	assert_string_equal(levels_now(pid_of(demo), "mem"), "sum/sum");
	term = screen_start(24, 120, target);
	term_wait_text(term, "LIVE", MS);
	term_keys(term, "c l");
	term_wait_row_matches(term, 22, "it takes no requests on this way: levels cannot be set", MS);
	screen_quit(term);
	assert_code(telemtop("set", open, "mem=all", "--keep"), 0);
	assert_string_equal(levels_now(target, "mem"), "all/all");
}

static void a_mistake_in_the_settings_is_seen(void **state)
{
	struct proc *demo = demo_start(*state, .telem = "mem=loud;index=all");
	struct said said = telemtop("ps");
	struct term *term;
	json_t *json;

	assert_code(said, 0);
	assert_has(said.out, "TELEM: bad setting \"mem=loud\" ignored");
	json = once(pid_of(demo));
	assert_has(json_string_value(json_object_get(json_object_get(json, "target"), "problem")), "mem=loud");
	json_decref(json);
	term = screen_start(24, 120, pid_of(demo));
	term_wait_row_matches(term, 22, "The target says: TELEM: bad setting \"mem=loud\"", MS);
	screen_quit(term);
	/* The other settings hold, and nothing is printed unless that is asked for. */
	assert_string_equal(levels_now(pid_of(demo), "index"), "all/all");
	said = run("env", "TELEM=mem=loud", bin("telem-demo"), "--help");
	assert_string_equal(said.err, "");
}

static bool is_span_at(const char *target, const char *name, const char *level)
{
	json_t *json = once(target);
	bool is_at = !strcmp(json_string_value(json_object_get(named(json, "spans", name), "level")), level);

	json_decref(json);
	return is_at;
}

static void restore_gives_back_levels_of_sites_too(void **state)
{
	struct proc *demo = demo_start(*state);
	struct term *term = screen_start(24, 120, "-d", "0.1", "-p", "2", pid_of(demo));

	term_wait_text(term, "LIVE", MS);
	term_wait_text(term, "read file", MS);
	term_keys(term, "/");
	term_type(term, "read file");
	term_keys(term, "enter down X");
	term_wait_row_matches(term, 22, "index.read file: level off, acknowledged", MS);
	term_wait_text(term, "off", MS);
	term_keys(term, "c r");
	term_wait_row_matches(term, 22, "level own", MS);
	ASK_UNTIL(is_span_at(pid_of(demo), "read file", "sum"), MS);
	screen_quit(term);
}

static void fifo_carries_requests_beside_the_stream(void **state)
{
	const char *path = fixture_path(*state, "t.fifo");
	struct proc *demo = demo_start(*state, .telem = fmt("sink=fifo:%s", path));

	WAIT_UNTIL(access(fmt("%s.ctl", path), F_OK) == 0, MS);
	assert_code(telemtop("set", fmt("fifo:%s", path), "mem=all", "--keep"), 0);
	assert_string_equal(levels_now(pid_of(demo), "mem"), "all/all");
}

static void latest_of_two_viewers_holds_then_the_other_then_the_program(void **state)
{
	struct proc *demo = demo_start(*state);
	struct proc *first = start_set(pid_of(demo), "mem=all"), *second = start_set(pid_of(demo), "mem=off");
	json_t *json = once(pid_of(demo));

	assert_string_equal(text_at(named(json, "classes", "mem"), "level"), "off");
	assert_int_equal(figure(named(json, "classes", "mem"), "leases"), 2);
	json_decref(json);
	proc_signal(second, SIGKILL);
	WAIT_LEVELS(pid_of(demo), "mem", "all/sum");
	proc_signal(first, SIGKILL);
	WAIT_LEVELS(pid_of(demo), "mem", "sum/sum");
}

static void both_viewers_see_the_level_that_one_has_set(void **state)
{
	struct proc *demo = demo_start(*state, .args = fast);
	struct term *one = screen_start(24, 80, "-d", "0.1", "-p", "3", pid_of(demo));
	struct term *other = screen_start(24, 80, "-d", "0.1", "-p", "3", pid_of(demo));

	term_wait_row_matches(one, 0, "LIVE", MS);
	term_wait_row_matches(other, 0, "LIVE", MS);
	term_keys(one, "down x");
	term_wait_row_matches(one, -1, " mem +all +sum ", MS);
	term_wait_row_matches(other, -1, " mem +all +sum ", MS);
	screen_quit(one);
	term_wait_row_matches(other, -1, " mem +sum +sum ", MS);
	screen_quit(other);
}

static void flush_ring_and_policy_are_set_or_refused_with_words(void **state)
{
	struct proc *demo = demo_start(*state);
	struct said said = telemtop("set", pid_of(demo), "flush=50ms", "policy=overwrite", "ring=2M");

	assert_code(said, 0);
	said = telemtop("set", pid_of(demo), "flush=1h", "mem=all");
	assert_code(said, 2);
	assert_string_equal(said.out, "");
	assert_string_equal(said.err, fmt("telemtop: %s: refused: the flush interval is 1 ms to 10 s\n"
					  "  For example: flush=50ms ring=1M policy=overwrite\n", pid_of(demo)));
	said = telemtop("set", pid_of(demo), "ring=1");
	assert_code(said, 2);
	assert_has(said.err, "refused: a ring has 64 KiB to 64 MiB\n  For example: ");
	said = telemtop("set", pid_of(demo), "policy=block");
	assert_code(said, 2);
	assert_has(said.err, "telemtop: bad setting: \"policy=block\"\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kept_level_is_the_programs_own),
		TEST(leased_level_ends_with_its_viewer),
		TEST(screens_levels_are_gone_after_q_and_after_kill),
		TEST(a_script_limits_what_is_streamed),
		TEST(what_a_task_holds_is_listed),
		TEST(a_dump_is_written_for_a_script_and_for_the_screen),
		TEST(keep_in_the_screen_leaves_the_level_behind),
		TEST(unknown_class_sets_nothing_and_lists_what_there_is),
		TEST(class_switched_off_in_the_screen_is_not_sent_any_more),
		TEST(read_only_sends_nothing),
		TEST(tcp_is_for_looking_unless_the_program_says_control),
		TEST(a_mistake_in_the_settings_is_seen),
		TEST(restore_gives_back_levels_of_sites_too),
		TEST(fifo_carries_requests_beside_the_stream),
		TEST(latest_of_two_viewers_holds_then_the_other_then_the_program),
		TEST(both_viewers_see_the_level_that_one_has_set),
		TEST(flush_ring_and_policy_are_set_or_refused_with_words),
	};

	return cmocka_run_group_tests_name("levels", tests, NULL, NULL);
}
