/* test_sources.c -- every kind of source shows the real figures of a program. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/e2e.h"

#define MS 5000

static const char *const fast[] = { "--rate", "200", NULL };

/* Fails unless there are a header and so many lines, each with memory and events. */
static void assert_lines(struct said said, int code, int lines)
{
	char copy[4000], *save = NULL, *line;
	int count = 0;

	assert_code(said, code);
	assert_true(strlen(said.out) < sizeof copy);
	strcpy(copy, said.out);
	line = strtok_r(copy, "\n", &save);
	assert_non_null(line);
	assert_has(line, "time               mem   alloc/s  gc/s   gc%  tasks  ev/s   wire/s drop state  worst p99");
	for (; (line = strtok_r(NULL, "\n", &save)); count++) {
		char clock[16], memory[16], memory_unit[8], alloc[16], alloc_unit[8], gc[16], share[16], tasks[16],
			events[16];

		if (sscanf(line, "%15s %15s %7s %15s %7s %15s %15s %15s %15s", clock, memory, memory_unit, alloc,
			   alloc_unit, gc, share, tasks, events) != 9 ||
		    strlen(clock) != 8 || !(strtod(memory, NULL) > 0) || events[0] < '1' || events[0] > '9') {
			proc_printf("%s\n", line);
			proc_failed("a line without memory or events", __FILE__, __LINE__);
		}
	}
	assert_int_equal(count, lines);
	assert_has_not(said.out, "\033");
}

static void assert_three_lines(const char *target)
{
	assert_lines(telemtop("lines", "-d", "0.2", "-n", "3", target), 0, 3);
}

static void process_id(void **state)
{
	assert_three_lines(pid_of(demo_start(*state, .args = fast)));
}

static void programs_name(void **state)
{
	const char *name = fmt("e2e-%d", (int)getpid() % 100000);

	demo_start(*state, .name = name, .args = fast);
	assert_three_lines(name);
}

static void unix_socket_by_address_and_by_path(void **state)
{
	const char *path = fixture_path(*state, "own.sock");
	struct proc *demo = demo_start(*state, .telem = fmt("sink=unix:%s", path), .args = fast);

	assert_three_lines(fmt("unix:%s", path));
	assert_three_lines(path);
	assert_three_lines(demo_socket(*state, demo));
}

static void tcp(void **state)
{
	uint16_t port = fixture_free_port();

	demo_start(*state, .telem = fmt("sink=tcp:127.0.0.1:%u", port), .args = fast);
	assert_three_lines(fmt("tcp:127.0.0.1:%u", port));
	assert_three_lines(fmt("tcp://localhost:%u", port));
}

static void fifo_that_the_program_opened_first(void **state)
{
	const char *path = fixture_path(*state, "t.fifo");

	demo_start(*state, .telem = fmt("sink=fifo:%s", path), .args = fast);
	assert_three_lines(fmt("fifo:%s", path));
	/* The next reader finds the stream after what the previous reader has left in the FIFO. */
	assert_three_lines(path);
}

static void fifo_that_telemtop_opened_first(void **state)
{
	const char *path = fixture_path(*state, "t.fifo");
	struct proc *lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.2", "-n", "3",
							  fmt("fifo:%s", path)),
					.in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);

	WAIT_UNTIL(access(path, F_OK) == 0, MS);
	demo_start(*state, .telem = fmt("sink=fifo:%s", path), .args = fast);
	assert_lines(said_of(lines, 10000), 0, 3);
}

static void program_that_connects_to_a_listening_telemtop(void **state)
{
	uint16_t port = fixture_free_port();
	struct proc *lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.2", "-n", "3",
							  fmt("listen:%u", port)),
					.in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);

	demo_start(*state, .telem = fmt("sink=connect:127.0.0.1:%u", port), .args = fast);
	assert_lines(said_of(lines, 10000), 0, 3);
}

static rlim_t fds_of(pid_t pid)
{
	DIR *dir = opendir(fmt("/proc/%d/fd", (int)pid));
	rlim_t above = 0;

	assert_non_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (entry->d_name[0] != '.' && (rlim_t)atoi(entry->d_name) >= above)
			above = (rlim_t)atoi(entry->d_name) + 1;
	closedir(dir);
	return above;
}

/* The call waits in the kernel, and the loop would be told of it without end. */
static void listening_telemtop_without_a_free_descriptor_says_so_and_waits(void **state)
{
	uint16_t port = fixture_free_port();
	struct proc *lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "-d", "0.2", "-n", "3",
							  fmt("listen:%u", port)),
					.in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	struct rlimit enough, none;
	struct proc_usage before, after;

	proc_wait_text(lines, PROC_ERR, "waiting for a program", MS);
	none.rlim_cur = fds_of(proc_pid(lines));
	assert_int_equal(prlimit(proc_pid(lines), RLIMIT_NOFILE, NULL, &enough), 0);
	none.rlim_max = enough.rlim_max;
	assert_int_equal(prlimit(proc_pid(lines), RLIMIT_NOFILE, &none, NULL), 0);
	demo_start(*state, .telem = fmt("sink=connect:127.0.0.1:%u", port), .args = fast);
	proc_wait_text(lines, PROC_ERR, "a program calls, but cannot be answered: no file descriptor is free", MS);
	proc_usage_read(lines, &before);
	HOLDS_FOR(!proc_exited(lines), 1500);
	proc_usage_read(lines, &after);
	assert_true(after.cpu_ns - before.cpu_ns < 500000000);
	assert_int_equal(prlimit(proc_pid(lines), RLIMIT_NOFILE, &enough, NULL), 0);
	proc_wait_exit(lines, 10000);
	assert_int_equal(proc_exit_code(lines), 0);
}

static int count_lines(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static const char *make_recording(struct fixture *fixture)
{
	const char *path = fixture_path(fixture, "r.telem");
	struct proc *demo = demo_start(fixture, .args = fast);
	struct proc *record = proc_start(.argv = PROC_LIST(bin("telemtop"), "record", "-d", "0.1", "-o", path, pid_of(demo)),
					 .in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);

	proc_wait_text(record, PROC_ERR, "recording into", MS);
	ASK_UNTIL(count_lines(telemtop("lines", path).out) >= 6, MS);
	proc_signal(record, SIGINT);
	assert_int_equal(proc_wait_exit(record, MS), 0);
	proc_end(demo);
	return path;
}

static void recording_and_the_same_bytes_on_standard_input(void **state)
{
	const char *path = make_recording(*state);
	struct said file = telemtop("lines", path);
	int lines = count_lines(file.out) - 1;
	struct said cat, redirected;

	assert_true(lines >= 3);
	assert_lines(file, 0, lines);
	assert_lines(telemtop("lines", "-n", "3", path), 0, 3);
	cat = run("/bin/sh", "-c", fmt("cat %s | %s lines -", path, bin("telemtop")));
	assert_lines(cat, 0, lines);
	redirected = run("/bin/sh", "-c", fmt("%s lines -n 3 - <%s", bin("telemtop"), path));
	assert_lines(redirected, 0, 3);
	assert_string_equal(redirected.err, "");
}

static void waiting_telemtop_greets_a_program_that_starts_later(void **state)
{
	const char *name = fmt("e2e-%d", (int)getpid() % 100000);
	struct proc *lines = proc_start(.argv = PROC_LIST(bin("telemtop"), "lines", "--wait=20", "-d", "0.2", "-n", "3",
							  name),
					.in = PROC_NULL, .out = PROC_PIPE, .err = PROC_PIPE);
	struct said said;

	demo_start(*state, .name = name, .args = fast);
	assert_lines(said_of(lines, 10000), 0, 3);
	said = telemtop("lines", "--wait=1", fmt("%s-not", name));
	assert_code(said, 3);
	assert_ptr_equal(strstr(said.err, fmt("telemtop: waiting for %s-not\n", name)), said.err);
}

static void waiting_screen_says_for_what_and_can_be_left(void **state)
{
	const char *name = fmt("e2e-%d", (int)getpid() % 100000);
	struct term *term = screen_start(24, 80, "--wait", name);

	term_wait_text(term, fmt("Waiting for %s to start (", name), MS);
	screen_quit(term);
	term = screen_start(24, 80, "--wait", name);
	term_wait_text(term, fmt("Waiting for %s to start (1 s)", name), MS);
	demo_start(*state, .name = name, .args = fast);
	term_wait_row_matches(term, 0, "LIVE", MS);
	screen_quit(term);
	term = screen_start(24, 120, "--wait=1", fmt("%s-not", name));
	assert_int_equal(term_wait_exit(term, MS), 3);
	assert_terminal_restored(term);
	assert_true(term_has(term, fmt("telemtop: %s-not: no monitored program has this name", name)));
}

static void waiting_telemtop_meets_a_program_that_is_starting(void **state)
{
	proc_end(demo_start(*state, .args = fast));      /* makes the files to read */
	for (int i = 0; i < 8; i++) {
		struct proc *demo = proc_start(.argv = PROC_LIST(bin("telem-demo"), "--rate", "200",
								 fixture_path(*state, "tree")),
					       .in = PROC_NULL, .out = PROC_NULL, .err = PROC_NULL);

		assert_lines(telemtop("lines", "--wait=10", "-d", "0.1", "-n", "1", fmt("%d", (int)proc_pid(demo))), 0, 1);
		proc_end(demo);
	}
	assert_code(telemtop("lines", "--wait=1", fmt("%d", (int)getpid())), 4);
}

static void programs_are_listed(void **state)
{
	const char *name = fmt("e2e-%d", (int)getpid() % 100000);
	struct proc *first = demo_start(*state, .name = name), *second = demo_start(*state, .name = name);
	struct said said = telemtop("list");
	json_t *json;
	size_t index, ours = 0;
	json_t *one;

	assert_code(said, 0);
	assert_has(said.out, "    PID  user     program                uptime  socket\n");
	assert_has(said.out, fmt("%7s  ", pid_of(first)));
	assert_has(said.out, demo_socket(*state, second));
	said = telemtop("ps", "--json");
	assert_code(said, 0);
	json = json_loads(said.out, 0, NULL);
	assert_true(json_is_array(json));
	json_array_foreach(json, index, one)
		ours += !strcmp(json_string_value(json_object_get(one, "program")), "telem-demo") &&
			!strcmp(json_string_value(json_object_get(one, "executable")), name) &&
			json_is_true(json_object_get(one, "permitted"));
	assert_int_equal(ours, 2);
	json_decref(json);
}

static void once_tells_everything_as_json(void **state)
{
	static const char *const keys[] = { "schema", "target", "time_ns", "state", "lost", "memory", "spans", "pairs",
					    "tasks", "gc", "frames", "counters", "classes", "link" };
	struct proc *demo = demo_start(*state, .args = fast);
	json_t *json;
	const json_t *span;
	struct said said = telemtop("once", "-d", "0.2", pid_of(demo));

	assert_lines(said, 0, 1);
	json = once(pid_of(demo));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		assert_non_null(json_object_get(json, keys[i]));
	assert_int_equal(figure(json, "schema"), 1);
	assert_int_equal(figure(json, "target.pid"), proc_pid(demo));
	assert_string_equal(text_at(json, "target.name"), "telem-demo");
	assert_string_equal(text_at(json, "state"), "live");
	assert_true(figure(json, "memory.live_bytes") > 0);
	assert_true(figure(json, "memory.rss_bytes") > 1 << 20);
	assert_true(figure(named(json, "memory.types", "string"), "allocations") > 0);
	span = named(json, "spans", "read file");
	assert_true(figure(span, "count") > 0);
	assert_true(figure(span, "max") >= figure(span, "min"));
	assert_true(figure(span, "window.p99") >= figure(span, "window.p50"));
	assert_true(figure(named(json, "counters", "bytes read"), "count") > 0);
	assert_true(figure(json, "link.balanced"));
	json_decref(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(process_id),
		TEST(programs_name),
		TEST(unix_socket_by_address_and_by_path),
		TEST(tcp),
		TEST(fifo_that_the_program_opened_first),
		TEST(fifo_that_telemtop_opened_first),
		TEST(program_that_connects_to_a_listening_telemtop),
		TEST(listening_telemtop_without_a_free_descriptor_says_so_and_waits),
		TEST(recording_and_the_same_bytes_on_standard_input),
		TEST(waiting_telemtop_greets_a_program_that_starts_later),
		TEST(waiting_screen_says_for_what_and_can_be_left),
		TEST(waiting_telemtop_meets_a_program_that_is_starting),
		TEST(programs_are_listed),
		TEST(once_tells_everything_as_json),
	};

	return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
