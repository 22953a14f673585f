/* test_support.c -- the promises of tests/support: proc, term and fixture.
 *
 * Tests that must fail are run by starting this very program again with the name
 * of one of the failing tests as argument. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "tests/support/fixture.h"
#include "tests/support/proc.h"
#include "tests/support/term.h"

#define MS 10000   /* far more than any of this takes */

#define SH(script) PROC_LIST("/bin/sh", "-c", script)

static bool is_gone(pid_t pid)
{
	char path[64], stat[512] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (!fgets(stat, sizeof(stat), file))
		stat[0] = '\0';
	fclose(file);
	/* A zombie (Z) or dead process (X) has ended. */
	return !stat[0] || strstr(stat, ") Z ") || strstr(stat, ") X ");
}

/* ---- proc ---- */

static void exit_code_is_returned(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("exit 7"));
	assert_int_equal(proc_wait_exit(proc, MS), 7);
	assert_true(proc_exited(proc));
	assert_int_equal(proc_exit_code(proc), 7);
	assert_int_equal(proc_state(proc), 0);
	assert_int_equal(proc_signal(proc, SIGTERM), -ESRCH);
}

static void killing_signal_is_returned_negative(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = PROC_LIST("sleep", "1000"));
	assert_false(proc_exited(proc));
	assert_int_equal(proc_signal(proc, SIGTERM), 0);
	assert_int_equal(proc_wait_exit(proc, MS), -SIGTERM);
}

static void missing_program_is_an_error_not_a_child(void **state)
{
	(void)state;
	struct proc *proc = NULL;
	struct term *term = NULL;
	const struct proc_spec missing = { .argv = PROC_LIST("/no/such/program"), .out = PROC_PIPE };
	const struct proc_spec nowhere = { .argv = SH("exit 0"), .dir = "/no/such/dir" };
	const struct term_spec missing_on_term = { .argv = PROC_LIST("/no/such/program") };
	assert_int_equal(proc_try_start(&proc, &missing), -ENOENT);
	assert_int_equal(proc_try_start(&proc, &nowhere), -ENOENT);
	assert_int_equal(term_try_start(&term, &missing_on_term), -ENOENT);
	assert_null(proc);
	assert_null(term);
}

static void stdout_and_stderr_are_captured_apart(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("echo out; echo err >&2"), .out = PROC_PIPE, .err = PROC_PIPE);
	size_t count;
	assert_int_equal(proc_wait_exit(proc, MS), 0);
	assert_string_equal(proc_bytes(proc, PROC_OUT, &count), "out\n");
	assert_int_equal(count, 4);
	assert_string_equal(proc_bytes(proc, PROC_ERR, NULL), "err\n");
	assert_int_equal(proc_byte_count(proc, PROC_ERR), 4);
}

static void line_is_whole_and_ended(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("printf 'one two\\nthree'; read x; echo; read x"),
				       .in = PROC_PIPE, .out = PROC_PIPE);
	proc_wait_text(proc, PROC_OUT, "three", MS);
	assert_true(proc_has_line(proc, PROC_OUT, "one two"));
	assert_false(proc_has_line(proc, PROC_OUT, "one"));
	assert_false(proc_has_line(proc, PROC_OUT, "three"));
	proc_write(proc, "\n", 1);
	proc_wait_line(proc, PROC_OUT, "three", MS);
}

static void mark_hides_what_was_said_before(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = PROC_LIST("cat"), .in = PROC_PIPE, .out = PROC_PIPE);
	proc_write(proc, "hello\n", 6);
	proc_wait_line(proc, PROC_OUT, "hello", MS);
	proc_mark(proc, PROC_OUT);
	assert_false(proc_has_text(proc, PROC_OUT, "hello"));
	assert_true(proc_has_bytes(proc, PROC_OUT, "hello", 5));
	proc_write(proc, "hello\n", 6);
	proc_wait_line(proc, PROC_OUT, "hello", MS);
}

static void zeros_in_output_do_not_end_it(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("printf 'a\\0b'"), .out = PROC_PIPE);
	size_t count;
	proc_wait_exit(proc, MS);
	assert_memory_equal(proc_bytes(proc, PROC_OUT, &count), "a\0b", 3);
	assert_int_equal(count, 3);
	assert_true(proc_has_text(proc, PROC_OUT, "b"));
	assert_true(proc_has_bytes(proc, PROC_OUT, "\0b", 2));
}

static void closing_stdin_lets_the_queue_out_first(void **state)
{
	(void)state;
	enum { BYTES = 3 << 20 };
	char *bytes = malloc(BYTES);
	size_t count;
	assert_non_null(bytes);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (char)(i * 31 >> 3);
	/* Much more than the pipes can hold goes in both directions at once. */
	struct proc *proc = proc_start(.argv = PROC_LIST("cat"), .in = PROC_PIPE, .out = PROC_PIPE);
	proc_write(proc, bytes, BYTES);
	proc_close_stdin(proc);
	assert_int_equal(proc_wait_exit(proc, 3 * MS), 0);
	const char *echoed = proc_bytes(proc, PROC_OUT, &count);
	assert_int_equal(count, BYTES);
	assert_memory_equal(echoed, bytes, BYTES);
	free(bytes);
}

static void writing_to_a_dead_child_is_harmless(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("exit 0"), .in = PROC_PIPE);
	proc_wait_exit(proc, MS);
	proc_write(proc, "hello", 5);
	proc_write(proc, "hello", 5);
	proc_close_stdin(proc);
}

static void null_stdin_is_at_its_end(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = PROC_LIST("cat"), .in = PROC_NULL, .out = PROC_NULL);
	assert_int_equal(proc_wait_exit(proc, MS), 0);
	assert_int_equal(proc_byte_count(proc, PROC_OUT), 0);
}

static void flood_is_counted_and_others_still_get_their_turn(void **state)
{
	(void)state;
	struct proc *flood = proc_start(.argv = PROC_LIST("cat", "/dev/zero"), .out = PROC_PIPE);
	struct proc *quiet = proc_start(.argv = PROC_LIST("cat"), .in = PROC_PIPE, .out = PROC_PIPE);
	size_t count;
	proc_write(quiet, "here\n", 5);
	proc_wait_line(quiet, PROC_OUT, "here", MS);
	WAIT_UNTIL(proc_byte_count(flood, PROC_OUT) > PROC_CAPTURE_BYTES_MAX + 1000, 3 * MS);
	proc_bytes(flood, PROC_OUT, &count);
	assert_int_equal(count, PROC_CAPTURE_BYTES_MAX);
}

static void environment_is_set_replaced_and_removed(void **state)
{
	(void)state;
	setenv("SUPPORT_A", "old", 1);
	setenv("SUPPORT_B", "old", 1);
	setenv("SUPPORT_C", "old", 1);
	struct proc *proc = proc_start(.argv = SH("echo $SUPPORT_A ${SUPPORT_B-none} $SUPPORT_C $SUPPORT_D"),
				       .env = PROC_LIST("SUPPORT_A=new", "SUPPORT_B", "SUPPORT_D=first", "SUPPORT_D=x=y"),
				       .out = PROC_PIPE);
	proc_wait_line(proc, PROC_OUT, "new none old x=y", MS);
	unsetenv("SUPPORT_A");
	unsetenv("SUPPORT_B");
	unsetenv("SUPPORT_C");
}

static void child_starts_in_its_directory(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = PROC_LIST("pwd"), .dir = "/usr", .out = PROC_PIPE);
	proc_wait_line(proc, PROC_OUT, "/usr", MS);
}

static void child_has_default_signals_whatever_the_test_has(void **state)
{
	(void)state;
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	struct proc *proc = proc_start(.argv = PROC_LIST("grep", "Sig", "/proc/self/status"), .out = PROC_PIPE);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	proc_wait_exit(proc, MS);
	/* 32 and 33 are libc's own: make leaves them ignored, and nobody can change that. */
	unsigned long long ignored = ~0ull;
	size_t count;
	const char *line = strstr(proc_bytes(proc, PROC_OUT, &count), "SigIgn:");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "SigIgn:\t%llx", &ignored), 1);
	assert_int_equal(ignored & ~0x180000000ull, 0);
	assert_true(proc_has_line(proc, PROC_OUT, "SigBlk:\t0000000000000000"));
}

static void child_has_no_files_of_the_test(void **state)
{
	(void)state;
	int fd = open("/dev/null", O_RDONLY);   /* without O_CLOEXEC */
	struct proc *other = proc_start(.argv = PROC_LIST("cat"), .in = PROC_PIPE, .out = PROC_PIPE);
	/* When it answers, it has loaded its libraries and closed their files. */
	proc_write(other, "here\n", 5);
	proc_wait_line(other, PROC_OUT, "here", MS);
	assert_int_equal(proc_fd_count(other), 3);
	/* The helper process of a terminal does not hold it either: the stdin of other ends when we close it. */
	term_start(.argv = PROC_LIST("cat"));
	proc_close_stdin(other);
	assert_int_equal(proc_wait_exit(other, MS), 0);
	close(fd);
}

static void usage_is_what_the_kernel_says(void **state)
{
	(void)state;
	struct proc_usage usage;
	struct proc *busy = proc_start(.argv = SH("while :; do :; done"));
	struct proc *fat = proc_start(.argv = PROC_LIST("dd", "if=/dev/zero", "of=/dev/null", "bs=64M"),
				      .err = PROC_NULL);
	struct proc *idle = proc_start(.argv = PROC_LIST("cat"), .in = PROC_PIPE);
	WAIT_UNTIL(proc_cpu_ns(busy) >= 50000000, MS);
	WAIT_UNTIL(proc_rss_bytes(fat) >= 64u << 20, MS);
	WAIT_UNTIL(proc_state(idle) == 'S', MS);
	assert_int_equal(proc_usage_read(idle, &usage), 0);
	assert_true(usage.rss_bytes > 0);
	assert_true(usage.rss_bytes < 64u << 20);
	assert_true(usage.cpu_ns < 50000000);
	assert_int_equal(usage.thread_count, 1);
	assert_int_equal(proc_thread_count(busy), 1);
	proc_signal(busy, SIGSTOP);
	WAIT_UNTIL(proc_state(busy) == 'T', MS);
	proc_signal(busy, SIGCONT);
	WAIT_UNTIL(proc_state(busy) == 'R', MS);
	proc_signal(idle, SIGKILL);
	assert_int_equal(proc_wait_exit(idle, MS), -SIGKILL);
	assert_int_equal(proc_usage_read(idle, &usage), -ESRCH);
}

static void end_takes_stopped_children_and_grandchildren_along(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("trap '' TERM; sleep 1000 & echo $!; wait"), .out = PROC_PIPE);
	pid_t pid = proc_pid(proc);
	proc_wait_text(proc, PROC_OUT, "\n", MS);
	pid_t grandchild_pid = (pid_t)atoi(proc_bytes(proc, PROC_OUT, NULL));
	assert_true(grandchild_pid > 1);
	assert_false(is_gone(grandchild_pid));
	proc_signal(proc, SIGSTOP);
	proc_end(proc);
	assert_true(is_gone(pid));
	WAIT_UNTIL(is_gone(grandchild_pid), MS);
}

static void end_takes_grandchildren_of_a_gone_child_along(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("sleep 1000 & echo $!"), .out = PROC_PIPE);
	assert_int_equal(proc_wait_exit(proc, MS), 0);
	pid_t grandchild_pid = (pid_t)atoi(proc_bytes(proc, PROC_OUT, NULL));
	assert_false(is_gone(grandchild_pid));
	proc_end(proc);
	WAIT_UNTIL(is_gone(grandchild_pid), MS);
	proc_end(NULL);
}

static void exited_child_is_reaped_while_waiting_for_something_else(void **state)
{
	(void)state;
	struct proc *gone = proc_start(.argv = SH("exit 0"));
	pid_t pid = proc_pid(gone);
	/* No zombie is left, because other programs must see that the process has ended. */
	WAIT_UNTIL(kill(pid, 0) < 0, MS);
	assert_true(proc_exited(gone));
}

static void true_condition_passes_without_waiting(void **state)
{
	(void)state;
	int looks = 0;
	WAIT_UNTIL(++looks, 0);
	assert_int_equal(looks, 1);
	/* A condition that is true only at the last evaluation passes, too. */
	looks = 0;
	WAIT_UNTIL(++looks == 2, 0);
	HOLDS_FOR(looks == 2, 20);
}

/* ---- tests that fail, run by start_failing() ---- */

static void failing_until(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("echo some output; echo $$ > \"$PID_FILE\"; exec sleep 1000"),
				       .out = PROC_PIPE);
	struct term *term = term_start(.argv = SH("echo some screen; exec sleep 1000"), .rows = 4, .cols = 40);
	proc_wait_line(proc, PROC_OUT, "some output", MS);
	term_wait_text(term, "some screen", MS);
	WAIT_UNTIL(1 + 1 == 3, 300);
}

static void failing_text(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("printf 'bad \\033[2J byte\\n'; echo why >&2; exit 3"),
				       .out = PROC_PIPE, .err = PROC_PIPE);
	proc_wait_text(proc, PROC_OUT, "never said", 600000);
}

static void failing_exit(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = PROC_LIST("sleep", "1000"));
	proc_wait_exit(proc, 100);
}

static void failing_term_text(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("echo final words"), .rows = 4, .cols = 40);
	term_wait_text(term, "never drawn", 600000);
}

static void failing_term_gone(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("echo stays; exec sleep 1000"));
	term_wait_text(term, "stays", MS);
	term_wait_gone(term, "stays", 100);
}

static void failing_term_row(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("echo 12 ms; exec sleep 1000"));
	term_wait_row_matches(term, 0, "^[0-9]+ ms$", MS);
	term_wait_row_matches(term, 1, "^[0-9]+ ms$", 100);
}

static void failing_hold(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = SH("exit 0"));
	HOLDS_FOR(!proc_exited(proc), 600000);
}

static void failing_start(void **state)
{
	(void)state;
	proc_start(.argv = PROC_LIST("/no/such/program"));
}

static void failing_long(void **state)
{
	(void)state;
	/* seq prints more than cmocka prints in one call, but less than the report shows. */
	struct proc *proc = proc_start(.argv = PROC_LIST("seq", "1000"), .out = PROC_PIPE);
	proc_wait_line(proc, PROC_OUT, "none", MS);
}

/* Does not fail: it prints the PIDs of its children, then waits to be killed. */
static void failing_never(void **state)
{
	(void)state;
	struct proc *proc = proc_start(.argv = PROC_LIST("sleep", "1000"));
	struct term *term = term_start(.argv = PROC_LIST("sleep", "1000"));
	printf("\npids %d %d\n", (int)proc_pid(proc), (int)proc_pid(term_proc(term)));
	fflush(stdout);
	proc_watch_for(600000);
}

static const struct CMUnitTest failing_tests[] = {
	cmocka_unit_test_teardown(failing_until, proc_teardown),
	cmocka_unit_test_teardown(failing_text, proc_teardown),
	cmocka_unit_test_teardown(failing_exit, proc_teardown),
	cmocka_unit_test_teardown(failing_term_text, proc_teardown),
	cmocka_unit_test_teardown(failing_term_gone, proc_teardown),
	cmocka_unit_test_teardown(failing_term_row, proc_teardown),
	cmocka_unit_test_teardown(failing_hold, proc_teardown),
	cmocka_unit_test_teardown(failing_start, proc_teardown),
	cmocka_unit_test_teardown(failing_long, proc_teardown),
	cmocka_unit_test_teardown(failing_never, proc_teardown),
};

static struct proc *start_failing(const char *name, const char *const *env)
{
	return proc_start(.argv = PROC_LIST("/proc/self/exe", name), .env = env,
			  .out = PROC_PIPE, .err = PROC_PIPE);
}

/* Runs one failing test, which must fail and print all of the texts (NULL ends them). Returns how many ms it took. */
static int64_t run_failing(const char *name, const char *const *env, const char *const *texts)
{
	int64_t begin_ms = proc_now_ms();
	struct proc *proc = start_failing(name, env);
	assert_int_equal(proc_wait_exit(proc, 3 * MS), 1);
	for (; *texts; texts++) {
		if (!proc_has_text(proc, PROC_ERR, *texts))
			proc_failed(*texts, "looking for a text in the report of a failing test, finding it", 0);
	}
	return proc_now_ms() - begin_ms;
}

static void failing_wait_reports_in_time_with_all_output(void **state)
{
	const char *pid_file = fixture_path(*state, "pid");
	char env[128];
	snprintf(env, sizeof(env), "PID_FILE=%s", pid_file);
	int64_t took_ms = run_failing("failing_until", PROC_LIST(env, "TEST_SLOW=1"), PROC_LIST(
		"WAIT_UNTIL(1 + 1 == 3)", "some output", "  0|some screen\n", "test_support.c", "alive", "of 300"));
	assert_true(took_ms >= 300);
	assert_true(took_ms < 300 + MS);
	/* Its teardown has killed the child. */
	char *pid = fixture_read(pid_file, NULL);
	assert_true(is_gone((pid_t)atoi(pid)));
	free(pid);
}

static void test_slow_extends_deadlines(void **state)
{
	const char *pid_file = fixture_path(*state, "pid");
	char env[128];
	snprintf(env, sizeof(env), "PID_FILE=%s", pid_file);
	assert_true(run_failing("failing_until", PROC_LIST(env, "TEST_SLOW=4"),
				PROC_LIST("of 1200", "TEST_SLOW is 4")) >= 1200);
	run_failing("failing_until", PROC_LIST(env, "TEST_SLOW=nonsense"), PROC_LIST("of 300"));
}

static void waits_end_early_when_the_child_has_ended(void **state)
{
	(void)state;
	assert_true(run_failing("failing_text", NULL, PROC_LIST("never said", "ended before", "exited with 3",
		"bad \\x1b[2J byte", "stderr: 4 bytes", "why")) < 60000);
	assert_true(run_failing("failing_term_text", NULL, PROC_LIST("never drawn", "the program has ended",
		"final words", "screen 40x4")) < 60000);
	assert_true(run_failing("failing_hold", NULL, PROC_LIST("HOLDS_FOR(!proc_exited(proc))")) < 60000);
}

static void each_kind_of_wait_fails_at_its_deadline(void **state)
{
	(void)state;
	run_failing("failing_exit", NULL, PROC_LIST("proc_wait_exit()", "sleep 1000: alive"));
	run_failing("failing_term_gone", NULL, PROC_LIST("term_wait_gone(\"stays\")"));
	run_failing("failing_term_row", NULL, PROC_LIST("term_wait_row_matches(\"^[0-9]+ ms$\")", "  0|12 ms"));
	run_failing("failing_start", NULL, PROC_LIST("/no/such/program", "No such file"));
}

static void long_output_is_reported_uncut(void **state)
{
	(void)state;
	run_failing("failing_long", NULL, PROC_LIST("stdout: 3893 bytes", "\n1\n2\n", "\n500\n501\n", "\n1000\n"));
}

static void nothing_survives_the_death_of_the_test(void **state)
{
	(void)state;
	int pid = 0, term_pid = 0;
	struct proc *proc = start_failing("failing_never", NULL);
	proc_wait_text(proc, PROC_OUT, "pids ", MS);
	const char *pids = strstr(proc_bytes(proc, PROC_OUT, NULL), "pids ");
	assert_int_equal(sscanf(pids, "pids %d %d", &pid, &term_pid), 2);
	assert_false(is_gone(pid));
	assert_false(is_gone(term_pid));
	proc_signal(proc, SIGKILL);
	assert_int_equal(proc_wait_exit(proc, MS), -SIGKILL);
	WAIT_UNTIL(is_gone(pid) && is_gone(term_pid), MS);
}

/* ---- term ---- */

static void program_sees_a_terminal_of_the_size_asked_for(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty size; tput cols; echo $TERM $LANG ${LC_ALL-none}; tty"),
				       .rows = 30, .cols = 100);
	assert_int_equal(term_wait_exit(term, MS), 0);
	assert_string_equal(term_row(term, 0), "30 100");
	assert_string_equal(term_row(term, 1), "100");
	assert_string_equal(term_row(term, 2), "xterm-256color C.UTF-8 none");
	assert_true(term_row_matches(term, 3, "^/dev/pts/[0-9]+$"));
	assert_int_equal(term_rows(term), 30);
	assert_int_equal(term_cols(term), 100);
}

static void screen_is_text_by_rows(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("printf 'one   \\r\\n\\033[3;5Hthree'"), .rows = 4, .cols = 20);
	term_wait_exit(term, MS);
	assert_string_equal(term_text(term), "one\n\n    three\n\n");
	assert_string_equal(term_row(term, 2), "    three");
	assert_true(term_has(term, "one"));
	assert_false(term_has(term, "two"));
	assert_int_equal(term_cursor(term).row, 2);
	assert_int_equal(term_cursor(term).col, 9);
	assert_true(term_cursor(term).visible);
}

static void last_words_are_read_before_the_exit_is_told(void **state)
{
	(void)state;
	/* The program writes more than the kernel holds for a terminal, and ends at once. */
	for (int i = 0; i < 20; i++) {
		struct term *term = term_start(.argv = SH("seq 3000; printf the-end"), .rows = 4, .cols = 20);
		assert_int_equal(term_wait_exit(term, MS), 0);
		assert_string_equal(term_text(term), "2998\n2999\n3000\nthe-end\n");
		assert_int_equal(term_byte_count(term), 13893 + 3000 + 7);   /* \n becomes \r\n */
		term_end(term);
	}
}

static void characters_keep_their_width_and_their_place(void **state)
{
	(void)state;
	int row, col;
	struct term *term = term_start(.argv = SH("printf '│\\303\\251漢字e\\314\\201x▁█'"), .rows = 2, .cols = 20);
	term_wait_exit(term, MS);
	assert_string_equal(term_row(term, 0), "│\303\251漢字e\314\201x▁█");
	assert_true(term_find(term, "x▁", &row, &col));
	assert_int_equal(row, 0);
	assert_int_equal(col, 7);
	assert_string_equal(term_cell(term, 0, 2).text, "漢");
	assert_int_equal(term_cell(term, 0, 2).width, 2);
	assert_string_equal(term_cell(term, 0, 3).text, "");
	assert_string_equal(term_cell(term, 0, 4).text, "字");
	assert_string_equal(term_cell(term, 0, 6).text, "e\314\201");
	assert_false(term_find(term, "y", NULL, NULL));
}

static void characters_in_pieces_are_put_together(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty -echo; printf '<\\342'; read x; printf '\\226\\210>'; read x"),
				       .rows = 2, .cols = 20);
	term_wait_text(term, "<", MS);
	term_keys(term, "enter");
	term_wait_text(term, "<█>", MS);
}

static void modes_set_together_and_in_pieces_are_all_set(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty -echo; printf '\\033[?25l<\\033[?10'; read x;"
						  "printf '49;25hE\\342'"), .rows = 2, .cols = 20);
	term_wait_text(term, "<", MS);
	assert_false(term_cursor(term).visible);
	term_keys(term, "enter");
	term_wait_exit(term, MS);
	assert_true(term_on_alternate_screen(term));
	assert_true(term_cursor(term).visible);
	assert_true(term_has(term, "E"));
	/* The bytes are stored unchanged. */
	assert_true(term_raw_has(term, "\033[?1049;25hE\342", 13));
}

static void damaged_characters_leave_the_others_whole(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("printf '\\342A\\342█\\342\\226\\033[1mB\\033\\033[?25lC\\377D'"),
				       .rows = 2, .cols = 20);
	term_wait_exit(term, MS);
	assert_true(term_row_matches(term, 0, "A.*█.*B.*C.*D"));
	assert_false(term_cursor(term).visible);
}

static void attributes_are_known_by_cell(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("printf '\\033[1mB\\033[0m\\033[7mR\\033[0m\\033[31mF\\033[0m"
		"\\033[48;5;200mG\\033[0m\\033[38;2;1;2;3mT\\033[0m\\033[4;5;3mU\\033[0mN'"), .rows = 2, .cols = 20);
	term_wait_exit(term, MS);
	assert_true(term_cell(term, 0, 0).bold);
	assert_false(term_cell(term, 0, 0).reverse);
	assert_int_equal(term_cell(term, 0, 0).fg, TERM_COLOR_DEFAULT);
	assert_true(term_cell(term, 0, 1).reverse);
	assert_false(term_cell(term, 0, 1).bold);
	assert_int_equal(term_cell(term, 0, 2).fg, 1);
	assert_int_equal(term_cell(term, 0, 2).bg, TERM_COLOR_DEFAULT);
	assert_int_equal(term_cell(term, 0, 3).bg, 200);
	assert_int_equal(term_cell(term, 0, 4).fg, TERM_COLOR_RGB | 0x010203);
	assert_true(term_cell(term, 0, 5).underline);
	assert_true(term_cell(term, 0, 5).blink);
	assert_true(term_cell(term, 0, 5).italic);
	struct term_cell plain = term_cell(term, 0, 6);
	assert_false(plain.bold || plain.reverse || plain.underline || plain.blink || plain.italic);
	assert_int_equal(plain.fg, TERM_COLOR_DEFAULT);
	assert_string_equal(plain.text, "N");
	assert_string_equal(term_cell(term, 1, 19).text, " ");
}

static void alternate_screen_and_cursor_are_seen_on_and_restored(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("echo before; tput smcup; tput civis; tput clear; echo inside; read x;"
						  "tput cnorm; tput rmcup; stty echo"));
	term_wait_text(term, "inside", MS);
	assert_true(term_on_alternate_screen(term));
	assert_false(term_cursor(term).visible);
	assert_false(term_has(term, "before"));
	term_keys(term, "enter");
	assert_int_equal(term_wait_exit(term, MS), 0);
	assert_false(term_on_alternate_screen(term));
	assert_true(term_cursor(term).visible);
	assert_true(term_has(term, "before"));
	assert_false(term_has(term, "inside"));
}

static void terminal_left_on_the_alternate_screen_is_noticed(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("tput smcup; tput civis; stty raw -echo; kill -9 $$"));
	assert_int_equal(term_wait_exit(term, MS), -SIGKILL);
	assert_true(term_on_alternate_screen(term));
	assert_false(term_cursor(term).visible);
	assert_false(term_is_cooked(term));
}

static void cooked_terminal_is_known(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty raw -echo; printf raw; head -c 1 >/dev/null; stty sane"));
	assert_true(term_is_cooked(term) || !term_has(term, "raw"));
	term_wait_text(term, "raw", MS);
	assert_false(term_is_cooked(term));
	term_type(term, "x");
	term_wait_exit(term, MS);
	assert_true(term_is_cooked(term));
}

static void keys_send_what_xterm_sends(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty raw -echo; printf ready; exec cat -v"), .cols = 120);
	term_wait_text(term, "ready", MS);
	term_keys(term, "up shift-up pgup pgdn home end ins del F1 F5 F12 tab shift-tab");
	term_wait_text(term, "ready^[[A^[[1;2A^[[5~^[[6~^[[H^[[F^[[2~^[[3~^[OP^[[15~^[[24~", MS);
	term_wait_row_matches(term, 0, "~ +\\^\\[\\[Z$", MS);
	term_keys(term, "enter esc backspace space ctrl-c ctrl-z alt-x abc q");
	term_wait_text(term, "^M^[^? ^C^Z^[xabcq", MS);
	term_type(term, "é ü");
	term_wait_text(term, "M-CM-) M-CM-<", MS);
}

static void keys_follow_the_mode_the_program_asks_for(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty raw -echo; tput smkx; printf ready; exec cat -v"));
	term_wait_text(term, "ready", MS);
	term_keys(term, "up home");
	term_wait_text(term, "ready^[OA^[OH", MS);
}

static void keys_match_terminfo(void **state)
{
	(void)state;
	/* These are the sequences that ncurses knows. */
	static const char *const pairs[][2] = {
		{ "up", "kcuu1" }, { "down", "kcud1" }, { "left", "kcub1" }, { "right", "kcuf1" }, { "home", "khome" },
		{ "end", "kend" }, { "pgup", "kpp" }, { "pgdn", "knp" }, { "ins", "kich1" }, { "del", "kdch1" },
		{ "F1", "kf1" }, { "F4", "kf4" }, { "F5", "kf5" }, { "F10", "kf10" }, { "F12", "kf12" },
		{ "shift-tab", "kcbt" }, { "shift-left", "kLFT" }, { "backspace", "kbs" },
	};
	struct term *term = term_start(.argv = SH("stty -echo -icanon min 1; tput smkx; echo ready;"
		"for k in kcuu1 kcud1 kcub1 kcuf1 khome kend kpp knp kich1 kdch1 kf1 kf4 kf5 kf10 kf12 kcbt kLFT kbs; do"
		"  want=$(tput $k | od -An -tx1 | tr -d ' \\n'); n=$((${#want} / 2));"
		"  got=$(head -c $n | od -An -tx1 | tr -d ' \\n');"
		"  if [ $got = $want ]; then echo $k right; else echo $k wrong, $got, not $want; fi; done"), .rows = 30);
	term_wait_text(term, "ready", MS);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char text[32];
		snprintf(text, sizeof(text), "%s right", pairs[i][1]);
		term_keys(term, pairs[i][0]);
		term_wait_text(term, text, MS);
	}
}

static void control_keys_reach_the_foreground_program(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = PROC_LIST("sleep", "1000"));
	term_keys(term, "ctrl-z");
	WAIT_UNTIL(proc_state(term_proc(term)) == 'T', MS);
	assert_int_equal(proc_signal(term_proc(term), SIGCONT), 0);
	WAIT_UNTIL(proc_state(term_proc(term)) == 'S', MS);
	term_keys(term, "ctrl-c");
	assert_int_equal(term_wait_exit(term, MS), -SIGINT);
}

static void resize_is_signalled_and_seen(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("trap 'stty size' WINCH; echo ready; while :; do sleep 0.01; done"));
	term_wait_text(term, "ready", MS);
	term_resize(term, 40, 132);
	term_wait_text(term, "40 132", MS);
	assert_int_equal(term_rows(term), 40);
	assert_int_equal(term_cols(term), 132);
	term_resize(term, 5, 20);
	term_wait_text(term, "5 20", MS);
	assert_true(strlen(term_text(term)) <= 5 * 21);
}

static void any_size_is_survived(void **state)
{
	(void)state;
	static const int sizes[][2] = { { 1, 1 }, { 3, 10 }, { 50, 200 }, { 1, 300 }, { 120, 1 }, { 12, 60 }, { 2, 2 } };
	struct term *term = term_start(.argv = SH("tput smcup; while :; do seq -s ' 漢字 ' 200; tput home; done"));
	for (int i = 0; i < 5; i++)
		for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
			uint64_t byte_count = term_byte_count(term);
			term_resize(term, sizes[size][0], sizes[size][1]);
			WAIT_UNTIL(term_byte_count(term) > byte_count + 1000, MS);
			term_text(term);
			assert_true(term_cursor(term).row < sizes[size][0]);
		}
}

static void text_that_goes_is_waited_for(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("printf 'loading...'; read x; tput clear; printf done; read x"));
	term_wait_text(term, "loading...", MS);
	term_keys(term, "enter");
	term_wait_gone(term, "loading...", MS);
	term_wait_row_matches(term, -1, "^do.e$", MS);
	term_wait_quiet(term, 20, MS);
}

static void raw_bytes_are_kept_and_counted(void **state)
{
	(void)state;
	size_t count;
	struct term *term = term_start(.argv = SH("printf 'a\\033[31mb\\007\\033]2;a title\\007'"));
	term_wait_exit(term, MS);
	assert_true(term_raw_has(term, "a\033[31mb", 7));
	assert_false(term_raw_has(term, "\033[32m", 5));
	term_raw(term, &count);
	assert_int_equal(count, 8 + 4 + 7 + 1);
	assert_int_equal(term_byte_count(term), count);
	assert_string_equal(term_row(term, 0), "ab");
	assert_int_equal(term_bell_count(term), 1);
	assert_string_equal(term_title(term), "a title");
}

static void mouse_is_sent_only_when_asked_for(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty raw -echo; printf ready; head -c 1;"
						  "printf '\\033[?1006;1000hmouse'; exec cat -v"));
	term_wait_text(term, "ready", MS);
	assert_false(term_wants_mouse(term));
	term_click(term, 4, 9, 1);
	term_keys(term, "x");
	term_wait_text(term, "readyxmouse", MS);
	assert_true(term_wants_mouse(term));
	term_click(term, 4, 9, 1);
	term_wait_text(term, "mouse^[[<0;10;5M^[[<0;10;5m", MS);
	term_click(term, 0, 0, 4);
	term_wait_text(term, "^[[<64;1;1M", MS);
}

static void terminal_answers_questions(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("stty raw -echo; printf '\\033[3;4H\\033[6n'; exec cat -v"));
	term_wait_text(term, "^[[3;4R", MS);
}

static void streams_may_bypass_the_terminal(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("tty; echo to stderr >&2; [ -t 1 ] || echo piped"),
				       .out = PROC_PIPE, .err = PROC_PIPE);
	assert_int_equal(term_wait_exit(term, MS), 0);
	assert_true(proc_has_text(term_proc(term), PROC_OUT, "/dev/pts/"));
	assert_true(proc_has_line(term_proc(term), PROC_OUT, "piped"));
	assert_true(proc_has_line(term_proc(term), PROC_ERR, "to stderr"));
	assert_int_equal(term_byte_count(term), 0);
}

static void environment_of_the_spec_beats_the_terminals(void **state)
{
	(void)state;
	setenv("NO_COLOR", "1", 1);
	struct term *term = term_start(.argv = SH("echo $TERM ${NO_COLOR-unset}"), .env = PROC_LIST("TERM=vt100"));
	term_wait_text(term, "vt100 unset", MS);
	unsetenv("NO_COLOR");
}

static void closed_terminal_hangs_up_and_ends(void **state)
{
	(void)state;
	struct term *term = term_start(.argv = SH("trap '' HUP TERM INT; echo ready; while :; do sleep 0.01; done"));
	pid_t pid = proc_pid(term_proc(term));
	term_wait_text(term, "ready", MS);
	term_end(term);
	term_end(NULL);
	assert_true(is_gone(pid));
}

/* ---- fixture ---- */

static void directory_is_private_and_the_runtime_dir_of_children(void **state)
{
	struct fixture *fixture = *state;
	struct stat info;
	char line[64];
	assert_int_equal(stat(fixture->dir, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	struct proc *proc = proc_start(.argv = SH("echo $XDG_RUNTIME_DIR ${TELEM-none}"), .out = PROC_PIPE);
	snprintf(line, sizeof(line), "%s none", fixture->dir);
	proc_wait_line(proc, PROC_OUT, line, MS);
	assert_string_equal(fixture_path(fixture, "telem/%d.sock", 12) + strlen(fixture->dir), "/telem/12.sock");
}

static void directory_and_environment_are_gone_afterwards(void **state)
{
	(void)state;
	struct fixture fixture;
	char dir[64], outside[] = "/tmp/telem-outside-XXXXXX";
	int fd = mkstemp(outside);
	close(fd);
	setenv("TELEM", "mine", 1);
	const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
	char *old_runtime_dir = runtime_dir ? strdup(runtime_dir) : NULL;
	assert_int_equal(fixture_init(&fixture), 0);
	assert_null(getenv("TELEM"));
	snprintf(dir, sizeof(dir), "%s", fixture.dir);
	struct proc *proc = proc_start(.argv = SH("mkdir -p deep/er/dir locked; mkfifo fifo; touch locked/file .hidden;"
		"ln -s / deep/root; ln -s \"$OUTSIDE\" link; ln -s nowhere dangling; chmod 0 locked; echo made; sleep 1000"),
		.dir = fixture.dir, .env = (const char *const[]){ "OUTSIDE=/tmp", NULL }, .out = PROC_PIPE);
	pid_t pid = proc_pid(proc);
	proc_wait_line(proc, PROC_OUT, "made", MS);
	assert_int_equal(symlink(outside, fixture_path(&fixture, "outside")), 0);
	fixture_fini(&fixture);
	assert_true(is_gone(pid));
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(access(outside, F_OK), 0);
	assert_string_equal(getenv("TELEM"), "mine");
	if (old_runtime_dir)
		assert_string_equal(getenv("XDG_RUNTIME_DIR"), old_runtime_dir);
	else
		assert_null(getenv("XDG_RUNTIME_DIR"));
	free(old_runtime_dir);
	unsetenv("TELEM");
	unlink(outside);
}

static void fixtures_do_not_share_a_directory(void **state)
{
	struct fixture *outer = *state;
	struct fixture inner;
	assert_int_equal(fixture_init(&inner), 0);
	assert_string_not_equal(inner.dir, outer->dir);
	fixture_fini(&inner);
	assert_string_equal(getenv("XDG_RUNTIME_DIR"), outer->dir);
}

static void free_port_can_be_listened_on(void **state)
{
	(void)state;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint16_t port = fixture_free_port();
	assert_true(port >= 1024);
	address.sin_port = htons(port);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_not_equal(fixture_free_port(), port);
	close(fd);
}

static void text_tree_is_the_same_for_the_same_seed(void **state)
{
	struct fixture *fixture = *state;
	size_t a_count, b_count, c_count;
	fixture_text_tree(fixture_path(fixture, "a"), 130, 5000, 1);
	fixture_text_tree(fixture_path(fixture, "b"), 130, 5000, 1);
	fixture_text_tree(fixture_path(fixture, "c"), 3, 5000, 2);
	struct proc *proc = proc_start(.argv = SH("diff -r a b && find a -type f -size 5000c | wc -l; ls a"),
				       .dir = fixture->dir, .out = PROC_PIPE);
	assert_int_equal(proc_wait_exit(proc, MS), 0);
	assert_string_equal(proc_bytes(proc, PROC_OUT, NULL), "130\nd000\nd001\nd002\n");
	char *a = fixture_read(fixture_path(fixture, "a/d000/f00000.txt"), &a_count);
	char *b = fixture_read(fixture_path(fixture, "a/d000/f00001.txt"), &b_count);
	char *c = fixture_read(fixture_path(fixture, "c/d000/f00000.txt"), &c_count);
	assert_int_equal(a_count, 5000);
	assert_int_equal(c_count, 5000);
	assert_string_not_equal(a, b);
	assert_string_not_equal(a, c);
	assert_int_equal(strspn(a, "abcdefghijklmnopqrstuvwxyz \n"), 5000);
	assert_int_equal(a[4999], '\n');
	free(a);
	free(b);
	free(c);
}

static void file_written_is_file_read(void **state)
{
	const char *path = fixture_path(*state, "file");
	size_t count;
	fixture_write(path, "a\0b", 3);
	char *bytes = fixture_read(path, &count);
	assert_int_equal(count, 3);
	assert_memory_equal(bytes, "a\0b", 4);
	free(bytes);
	assert_int_equal(fixture_remove(path), 0);
	assert_int_equal(fixture_remove(path), 0);
}

#define T(name) cmocka_unit_test_teardown(name, proc_teardown)
#define F(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static int run_one_failing(const char *name)
{
	cmocka_set_test_filter(name);
	return cmocka_run_group_tests(failing_tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(exit_code_is_returned),
		T(killing_signal_is_returned_negative),
		T(missing_program_is_an_error_not_a_child),
		T(stdout_and_stderr_are_captured_apart),
		T(line_is_whole_and_ended),
		T(mark_hides_what_was_said_before),
		T(zeros_in_output_do_not_end_it),
		T(closing_stdin_lets_the_queue_out_first),
		T(writing_to_a_dead_child_is_harmless),
		T(null_stdin_is_at_its_end),
		T(flood_is_counted_and_others_still_get_their_turn),
		T(environment_is_set_replaced_and_removed),
		T(child_starts_in_its_directory),
		T(child_has_default_signals_whatever_the_test_has),
		T(child_has_no_files_of_the_test),
		T(usage_is_what_the_kernel_says),
		T(end_takes_stopped_children_and_grandchildren_along),
		T(end_takes_grandchildren_of_a_gone_child_along),
		T(exited_child_is_reaped_while_waiting_for_something_else),
		T(true_condition_passes_without_waiting),
		F(failing_wait_reports_in_time_with_all_output),
		F(test_slow_extends_deadlines),
		T(waits_end_early_when_the_child_has_ended),
		T(each_kind_of_wait_fails_at_its_deadline),
		T(long_output_is_reported_uncut),
		T(nothing_survives_the_death_of_the_test),
		T(program_sees_a_terminal_of_the_size_asked_for),
		T(screen_is_text_by_rows),
		T(last_words_are_read_before_the_exit_is_told),
		T(characters_keep_their_width_and_their_place),
		T(characters_in_pieces_are_put_together),
		T(modes_set_together_and_in_pieces_are_all_set),
		T(damaged_characters_leave_the_others_whole),
		T(attributes_are_known_by_cell),
		T(alternate_screen_and_cursor_are_seen_on_and_restored),
		T(terminal_left_on_the_alternate_screen_is_noticed),
		T(cooked_terminal_is_known),
		T(keys_send_what_xterm_sends),
		T(keys_follow_the_mode_the_program_asks_for),
		T(keys_match_terminfo),
		T(control_keys_reach_the_foreground_program),
		T(resize_is_signalled_and_seen),
		T(any_size_is_survived),
		T(text_that_goes_is_waited_for),
		T(raw_bytes_are_kept_and_counted),
		T(mouse_is_sent_only_when_asked_for),
		T(terminal_answers_questions),
		T(streams_may_bypass_the_terminal),
		T(environment_of_the_spec_beats_the_terminals),
		T(closed_terminal_hangs_up_and_ends),
		F(directory_is_private_and_the_runtime_dir_of_children),
		T(directory_and_environment_are_gone_afterwards),
		F(fixtures_do_not_share_a_directory),
		T(free_port_can_be_listened_on),
		F(text_tree_is_the_same_for_the_same_seed),
		F(file_written_is_file_read),
	};

	if (argc == 2)
		return run_one_failing(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
