/* test_errors.c -- each error has its text, its advice and its exit code. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/e2e.h"
#include "tests/support/wire.h"

#define MS 5000

/* Fails unless standard output is empty, and standard error is exactly this text, or begins with it when it does not
 * end with a newline. */
#define assert_error(said, code, ...) assert_error_at((said), (code), fmt(__VA_ARGS__), __LINE__)
static void assert_error_at(struct said said, int code, const char *text, int line)
{
	size_t length = strlen(text);
	bool is_whole = length == 0 || text[length - 1] == '\n';

	if (said.code == code && !strcmp(said.out, "") &&
	    !(is_whole ? strcmp(said.err, text) : strncmp(said.err, text, length)))
		return;
	proc_printf("expected exit %d, and:\n%sgot exit %d, and:\n%s%s", code, text, said.code, said.out, said.err);
	proc_failed("assert_error", __FILE__, line);
}

/* Does the same on a terminal, where the screen must be gone and the text must be there. */
static void assert_screen_error(const char *target, int code, const char *text)
{
	struct term *term = screen_start(24, 200, "--timeout", "5", target);

	assert_int_equal(term_wait_exit(term, MS), code);
	assert_terminal_restored(term);
	if (!term_has(term, text))
		proc_failed(text, __FILE__, __LINE__);
	term_end(term);
}

/* ---- no target ---- */

static void no_monitored_program(void **state)
{
	struct fixture *fixture = *state;
	const char *text = fmt("telemtop: no monitored program found in %s/telem\n"
			       "  Start one that links libtelem (try: telem-demo), or give a PID, socket, FIFO, "
			       "tcp:HOST:PORT or recording.\n", fixture->dir);
	struct said said = telemtop("ps");
	struct term *term;

	/* Programs of this user that have no XDG_RUNTIME_DIR are found as well. */
	if (said.code == 0) {
		print_message("somebody runs a monitored program in /tmp/telem-%u\n", (unsigned)geteuid());
		skip();
	}
	assert_error(said, 3, "%s", text);
	assert_error(telemtop("list", "--all"), 3, "%s", text);
	said = telemtop("ps", "--json");
	assert_code(said, 0);
	assert_string_equal(said.out, "[]\n");
	term = screen_start(24, 200, "-d", "1");
	assert_int_equal(term_wait_exit(term, MS), 3);
	assert_true(term_has(term, fmt("telemtop: no monitored program found in %s/telem", fixture->dir)));
}

static void no_such_process(void **state)
{
	struct proc *gone = proc_start(.argv = PROC_LIST("/bin/true"));
	(void)state;

	proc_wait_exit(gone, MS);
	assert_error(telemtop("once", pid_of(gone)), 3,
		     "telemtop: PID %s: no such process\n  telemtop list shows the programs that can be monitored.\n",
		     pid_of(gone));
	assert_screen_error(pid_of(gone), 3, fmt("telemtop: PID %s: no such process", pid_of(gone)));
}

static void process_without_libtelem(void **state)
{
	struct proc *sleeper = proc_start(.argv = PROC_LIST("sleep", "100"));
	(void)state;

	assert_error(telemtop("lines", pid_of(sleeper)), 4,
		     "telemtop: PID %s (sleep): does not link libtelem\n  Link libtelem and call telem_start() to see "
		     "inside it.\n", pid_of(sleeper));
	assert_screen_error(pid_of(sleeper), 4, "(sleep): does not link libtelem");
}

static void process_with_libtelem_that_did_not_start_it(void **state)
{
	struct fixture *fixture = *state;
	struct proc *demo = demo_start(fixture, .telem = "discovery=off");

	assert_error(telemtop("once", pid_of(demo)), 4,
		     "telemtop: PID %s (telem-demo): links libtelem, but telemetry was not started\n"
		     "  It must call telem_start(). Looked for %s/telem/%s.sock.\n", pid_of(demo), fixture->dir,
		     pid_of(demo));
}

/* The process is of this user, or we are root, but the kernel refuses to let us examine it. */
static void process_that_may_not_be_examined(void **state)
{
	struct fixture *fixture = *state;
	struct proc *sleeper = proc_start(.argv = PROC_LIST("sleep", "100"));

	if (geteuid() != 0 ||
	    run("setpriv", "--bounding-set=-sys_ptrace", "cat", fmt("/proc/%s/exe", pid_of(sleeper))).code == 0) {
		print_message("needs root that may see into other processes\n");
		skip();
	}
	assert_error(run("setpriv", "--bounding-set=-sys_ptrace", bin("telemtop"), "lines", pid_of(sleeper)), 5,
		     "telemtop: PID %s (sleep): may not be examined: permission denied on /proc/%s\n"
		     "  Run as its user, or as root with CAP_SYS_PTRACE. Looked for %s/telem/%s.sock.\n",
		     pid_of(sleeper), pid_of(sleeper), fixture->dir, pid_of(sleeper));
}

static void kernel_thread(void **state)
{
	char *name = access("/proc/2/comm", R_OK) == 0 ? fixture_read("/proc/2/comm", NULL) : NULL;
	bool is_one = name && !strcmp(name, "kthreadd\n");

	(void)state;
	free(name);
	if (geteuid() != 0 || !is_one) {
		print_message("needs root, and a kernel that shows its threads\n");
		skip();
	}
	assert_error(telemtop("lines", "2"), 4,
		     "telemtop: PID 2 (kthreadd): is part of the kernel: it runs no program\n"
		     "  telemtop list shows the programs that can be monitored.\n");
}

static void unknown_name(void **state)
{
	(void)state;
	assert_error(telemtop("once", "e2e-nobody"), 3,
		     "telemtop: e2e-nobody: no monitored program has this name, and there is no such file\n"
		     "  telemtop list shows the programs that can be monitored.\n");
}

static void two_programs_of_one_name(void **state)
{
	const char *name = fmt("e2e-%d", (int)getpid() % 100000);
	struct proc *one = demo_start(*state, .name = name), *two = demo_start(*state, .name = name);
	bool in_order = proc_pid(one) < proc_pid(two);

	assert_error(telemtop("once", name), 3, "telemtop: %s: 2 programs have this name: %s, %s\n  Give the PID.\n", name,
		     pid_of(in_order ? one : two), pid_of(in_order ? two : one));
}

static void program_of_another_user(void **state)
{
	struct fixture *fixture = *state;
	struct proc *demo;

	if (geteuid() != 0 || run("setpriv", "--reuid=65534", "--clear-groups", bin("telemtop"), "-V").code != 0) {
		print_message("needs root, and binaries that nobody may run\n");
		skip();
	}
	demo = demo_start(fixture);
	assert_error(run("setpriv", "--reuid=65534", "--clear-groups", bin("telemtop"), "once", pid_of(demo)), 5,
		     "telemtop: PID %s (telem-demo): permission denied on %s/telem/%s.sock\n"
		     "  It belongs to user root (0); you are nobody (65534). Run as root, or start it with "
		     "TELEM=\"sink=tcp:127.0.0.1:7070\".\n", pid_of(demo), fixture->dir, pid_of(demo));
	assert_error(run("setpriv", "--reuid=65534", "--clear-groups", bin("telemtop"), "once",
			 fmt("unix:%s", demo_socket(fixture, demo))), 5,
		     "telemtop: unix:%s: permission denied\n  Run as the program's user or as root.\n",
		     demo_socket(fixture, demo));
}

/* ---- connections ---- */

static void connection_refused(void **state)
{
	const char *port = fmt("%u", fixture_free_port()), *path = fixture_path(*state, "old.sock");

	assert_error(telemtop("once", fmt("tcp:127.0.0.1:%s", port)), 6,
		     "telemtop: tcp:127.0.0.1:%s: connection refused\n"
		     "  Nothing listens there. Is the target running, and started with "
		     "TELEM=\"sink=tcp:127.0.0.1:%s\"?\n", port, port);
	assert_screen_error(fmt("tcp:127.0.0.1:%s", port), 6, ": connection refused");
	close(serve_unix(path));
	assert_error(telemtop("once", path), 6,
		     "telemtop: %s: connection refused\n"
		     "  Nobody listens on that socket any more. telemtop list shows the programs that can be "
		     "monitored.\n", path);
	unlink(path);
	assert_error(telemtop("once", fmt("unix:%s", path)), 3,
		     "telemtop: unix:%s: no such socket\n  Start the program first; telemtop list shows those that can "
		     "be monitored.\n", path);
}

/* Starts `telemtop once`, accepts its connection, sends these bytes and closes the connection. */
static struct said once_at_server(const char *path, const void *bytes, size_t count)
{
	int listen_fd = serve_unix(path), fd;
	struct proc *proc = proc_start(.argv = PROC_LIST(bin("telemtop"), "once", fmt("unix:%s", path)), .in = PROC_NULL,
				       .out = PROC_PIPE, .err = PROC_PIPE);

	fd = serve_accept(listen_fd);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
	close(listen_fd);
	unlink(path);
	return said_of(proc, MS);
}

static void something_else_listens(void **state)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
	const char *path = fixture_path(*state, "web.sock");
	int listen_fd, fd;
	struct term *term;

	assert_error(once_at_server(path, http, sizeof http - 1), 6,
		     "telemtop: unix:%s: not a telemetry stream (first bytes 48 54 54 50 2f 31 2e 31 \"HTTP/1.1\")\n"
		     "  Is it a program that uses libtelem, and the right address?", path);
	assert_error(once_at_server(path, "", 0), 6,
		     "telemtop: unix:%s: ended before it sent anything\n"
		     "  Is it a program that uses libtelem, and the right address?", path);
	listen_fd = serve_unix(path);
	term = screen_start(24, 160, fmt("unix:%s", path));
	fd = serve_accept(listen_fd);
	term_wait_text(term, "Connected. Waiting for the target's first snapshot (", MS);
	assert_int_equal(write(fd, http, sizeof http - 1), sizeof http - 1);
	close(fd);
	assert_int_equal(term_wait_exit(term, MS), 6);
	assert_terminal_restored(term);
	assert_true(term_has(term, "not a telemetry stream (first bytes 48 54 54 50 2f 31 2e 31 \"HTTP/1.1\")"));
	close(listen_fd);
}

static void somebody_listens_and_says_nothing(void **state)
{
	const char *path = fixture_path(*state, "mute.sock");
	int fd = serve_unix(path);
	struct term *term;

	assert_error(telemtop("once", "--timeout", "1", path), 6,
		     "telemtop: %s: no answer within 1 s\n"
		     "  A program listens there, but sends nothing. Is it stopped, or is it one without "
		     "libtelem?\n", path);
	term = screen_start(24, 160, "--timeout", "1", path);
	assert_int_equal(term_wait_exit(term, MS), 6);
	assert_terminal_restored(term);
	assert_true(term_has(term, "no answer within 1 s"));
	close(fd);
}

/* The connection stays open, as a web server's does that waits for a request. */
static void somebody_says_something_else_and_stays(void **state)
{
	static const char http[] = "HTTP/1.1 200 OK\r\n\r\n";
	const char *path = fixture_path(*state, "web.sock");
	int listen_fd = serve_unix(path), fd;
	struct term *term = screen_start(24, 160, "--timeout", "1", fmt("unix:%s", path));

	fd = serve_accept(listen_fd);
	assert_int_equal(write(fd, http, sizeof http - 1), sizeof http - 1);
	assert_int_equal(term_wait_exit(term, MS), 6);
	assert_terminal_restored(term);
	assert_true(term_has(term, "not a telemetry stream (first bytes 48 54 54 50 2f 31 2e 31 \"HTTP/1.1\")"));
	close(fd);
	close(listen_fd);
}

static void other_protocol(void **state)
{
	const char *path = fixture_path(*state, "new.sock"), *file = fixture_path(*state, "new.telem");
	struct message message = { .kind = KIND_HELLO };
	struct wire wire;

	wire_init(&wire, 1);
	message.hello = wire_hello_fields(&wire);
	message.hello.major = 99;
	message.hello.name = text_of("imgsrv");
	wire_message(&wire, &message);
	wire_close(&wire);
	assert_error(once_at_server(path, wire.bytes, wire.count), 7,
		     "telemtop: PID 4711 (imgsrv): speaks protocol 99, this telemtop understands 1\n"
		     "  Upgrade the older of the two. Nothing was changed in the target.\n");
	fixture_write(file, (const char *)wire.bytes, wire.count);
	assert_true(telemtop("once", file).code == 7 || telemtop("once", file).code == 8);
	wire_fini(&wire);
}

/* ---- files ---- */

static void files_that_are_no_recordings(void **state)
{
	struct fixture *fixture = *state;
	const char *notes = fixture_path(fixture, "notes.txt"), *empty = fixture_path(fixture, "empty.telem");
	const char *missing = fixture_path(fixture, "missing.telem"), *none = fixture_path(fixture, "cut.telem");
	struct wire wire;

	fixture_write(notes, "# Notes\nbuy milk\n", 17);
	fixture_write(empty, "", 0);
	assert_error(telemtop("lines", notes), 8,
		     "telemtop: %s: not a telemtop recording (starts with \"# Notes·buy \")\n"
		     "  Recordings are made by telemtop record, R in the screen, or TELEM=\"sink=file:PATH\".\n", notes);
	assert_screen_error(notes, 8, "not a telemtop recording (starts with \"# Notes·buy \")");
	assert_error(telemtop("once", empty), 8,
		     "telemtop: %s: the file is empty\n  A recording begins to be readable when its program has "
		     "started.\n", empty);
	assert_error(telemtop("once", fixture->dir), 8,
		     "telemtop: %s: is a directory\n  Give a PID, a program's name, a socket, a FIFO or a recording.\n",
		     fixture->dir);
	assert_error(telemtop("once", missing), 3,
		     "telemtop: %s: no such file\n  Give a PID, a program's name, a socket, a FIFO or a recording.\n",
		     missing);
	wire_init(&wire, 1);
	wire_hello(&wire);
	wire_close(&wire);
	fixture_write(none, (const char *)wire.bytes, wire.count);
	wire_fini(&wire);
	assert_error(telemtop("once", none), 8,
		     "telemtop: %s: holds no whole tick of a recording\n  It was cut right at its beginning, or is "
		     "not a recording.\n", none);
	assert_code(run("/bin/sh", "-c", fmt("%s lines - <%s", bin("telemtop"), notes)), 8);
	assert_code(run("/bin/sh", "-c", fmt("%s lines - </dev/null", bin("telemtop"))), 8);
}

/* A program is refused, whether it runs or not, and --wait does not wait for one. */
static void only_a_recording_is_replayed(void **state)
{
	struct fixture *fixture = *state;
	struct proc *demo = demo_start(fixture), *gone = proc_start(.argv = PROC_LIST("/bin/true"));
	const char *fifo = fixture_path(fixture, "app.telem");
	const char *live[] = {
		pid_of(demo), pid_of(gone), demo_socket(fixture, demo), "tcp:127.0.0.1:1", "listen:4712", fifo
	};

	proc_wait_exit(gone, MS);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	for (size_t i = 0; i < sizeof live / sizeof *live; i++) {
		const char *text = fmt("telemtop: %s: is not a recording\n  Give the file of a recording. A running program "
				       "is watched with: telemtop %s\n", live[i], live[i]);
		struct term *term = screen_start(24, 200, "replay", live[i]);

		assert_error(telemtop("replay", live[i]), 2, "%s", text);
		assert_error(telemtop("replay", "--wait", live[i]), 2, "%s", text);
		assert_int_equal(term_wait_exit(term, MS), 2);
		assert_true(term_has(term, fmt("telemtop: %s: is not a recording", live[i])));
		term_end(term);
	}
	assert_error(telemtop("replay"), 2, "telemtop: replay: a recording is missing\n"
		     "  Usage: telemtop replay [--at TIME] [--speed X] FILE\n");
	assert_error(telemtop("replay", fixture_path(fixture, "missing.telem")), 3,
		     "telemtop: %s: no such file", fixture_path(fixture, "missing.telem"));
}

static void file_that_may_not_be_read(void **state)
{
	struct fixture *fixture = *state;
	const char *path = fixture_path(fixture, "secret.telem");

	if (geteuid() != 0 || run("setpriv", "--reuid=65534", "--clear-groups", bin("telemtop"), "-V").code != 0) {
		print_message("needs root, and binaries that nobody may run\n");
		skip();
	}
	fixture_write(path, "x", 1);
	chmod(fixture->dir, 0755);
	chmod(path, 0600);
	assert_error(run("setpriv", "--reuid=65534", "--clear-groups", bin("telemtop"), "once", path), 5,
		     "telemtop: %s: permission denied\n  Give a PID, a program's name, a socket, a FIFO or a "
		     "recording.\n", path);
}

/* ---- the command line ---- */

static void wrong_options(void **state)
{
	(void)state;
	assert_error(telemtop("--bogus"), 2, "telemtop: unknown option: \"--bogus\"\n  telemtop --help lists them.\n");
	assert_error(telemtop("-d"), 2, "telemtop: option needs a value: \"-d\"\n  telemtop --help lists them.\n");
	assert_error(telemtop("lines", "-d", "0", "x"), 2,
		     "telemtop: bad interval: \"0\"\n  Give 0.1 to 60 seconds, for example -d 0.5\n");
	assert_error(telemtop("lines", "-d", "61", "x"), 2,
		     "telemtop: bad interval: \"61\"\n  Give 0.1 to 60 seconds, for example -d 0.5\n");
	assert_error(telemtop("lines", "-n", "0", "x"), 2, "telemtop: bad number of lines: \"0\"\n  Give 1 or more.\n");
	assert_error(telemtop("--color", "red", "x"), 2, "telemtop: bad color: \"red\"\n  Give auto, always or never.\n");
	assert_error(telemtop("record", "--size", "-1", "x"), 2, "telemtop: bad size: \"-1\"\n  Give bytes: 500M, 2G\n");
	assert_error(telemtop("lines"), 2,
		     "telemtop: a target is missing\n  Give a PID, a name, an address or a recording; telemtop ps lists "
		     "programs.\n");
	assert_error(telemtop("lines", "a", "b"), 2,
		     "telemtop: unexpected argument: \"b\"\n"
		     "  telemtop --help shows the arguments of each subcommand.\n");
	assert_error(telemtop("set", "1"), 2, "telemtop: set: a level is missing\n  For example: telemtop set 1 mem=all\n");
	assert_error(telemtop("once", "tcp:nohost"), 2,
		     "telemtop: tcp:nohost: not HOST:PORT\n  For example: tcp:127.0.0.1:4711 or listen:4712\n");
	assert_error(telemtop("once", "tcp:h:99999"), 2,
		     "telemtop: tcp:h:99999: not HOST:PORT\n  For example: tcp:127.0.0.1:4711 or listen:4712\n");
	assert_error(telemtop("once", "unix:"), 2,
		     "telemtop: unix:: a path is missing\n  For example: fifo:/tmp/app.telem or unix:/tmp/app.sock\n");
}

/* ---- what is printed ---- */

/* The byte that begins an escape sequence must not reach a terminal, from whatever name it comes. */
static void names_are_made_harmless(void **state)
{
	struct fixture *fixture = *state;
	struct proc *demo = demo_start(fixture);
	const char *path = fixture_path(fixture, "odd\033[31m.telem");
	struct said said;

	assert_error(telemtop("once", "odd\033[31m"), 3, "telemtop: odd\xc2\xb7[31m: no monitored program has this name");
	assert_error(telemtop("--odd\033[31m"), 2,
		     "telemtop: unknown option: \"--odd\xc2\xb7[31m\"\n  telemtop --help lists them.\n");
	said = telemtop("record", "-d", "0.1", "--for", "500ms", "-o", path, pid_of(demo));
	assert_error(said, 0, "telemtop: recording into %s/odd\xc2\xb7[31m.telem; ^C ends it\n", fixture->dir);
	said = telemtop("set", "--keep", pid_of(demo), "odd\033[31m=all");
	assert_int_equal(said.code, 2);
	assert_null(strchr(said.err, '\033'));
	assert_int_equal(access(path, F_OK), 0);
}

static void full_disk_under_standard_output(void **state)
{
	const char *target = pid_of(demo_start(*state)), *program = bin("telemtop");
	const char *lines[] = {
		fmt("once %s", target), fmt("once --json %s", target), fmt("lines -d 0.1 %s", target),
		fmt("held %s", target), fmt("set --keep %s mem=all", target), "ps", "ps --json", "--help", "--version"
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_error(run("/bin/sh", "-c", fmt("exec %s %s >/dev/full", program, lines[i])), 10,
			     "telemtop: standard output: cannot be written: No space left on device\n  Is the disk full?\n");
	/* A reader may close the pipe before the end. That is not an error. */
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_error(run("/bin/sh", "-c", fmt("{ %s %s; echo $? >&2; } | :", program, lines[i])), 0, "0\n");
}

static void help_and_version(void **state)
{
	struct said said = telemtop("--help");
	(void)state;

	assert_code(said, 0);
	assert_int_equal(strncmp(said.out, "telemtop: see inside running programs", 37), 0);
	assert_string_equal(said.err, "");
	said = telemtop("-V");
	assert_code(said, 0);
	assert_int_equal(strncmp(said.out, "telemtop 0.", 11), 0);
	assert_has(said.out, ", protocol 1.");
	assert_has(said.out, ", ncurses 6");
	said = run(bin("telem-demo"), "--help");
	assert_code(said, 0);
	assert_has(said.out, "--burst N");
}

static void demo_says_what_is_wrong_with_its_command_line(void **state)
{
	struct fixture *fixture = *state;

	assert_error(run(bin("telem-demo")), 2,
		     "telem-demo: name files or folders to index, e.g. /usr/include; see telem-demo --help\n");
	assert_error(run(bin("telem-demo"), "--threads", "0", "/"), 2,
		     "telem-demo: --threads wants a number from 1 to 64, not '0'; see telem-demo --help\n");
	assert_error(run(bin("telem-demo"), "--bogus"), 2,
		     "telem-demo: --bogus is not an option, or not in this form; see telem-demo --help\n");
	assert_error(run(bin("telem-demo"), fixture_path(fixture, "none")), 1,
		     "telem-demo: %s/none: No such file or directory\n"
		     "telem-demo: no files found; name files or folders that have some, e.g. /usr/include\n", fixture->dir);
}

static void burst_without_its_sink_is_no_burst(void **state)
{
	(void)state;
	assert_error(run(bin("telem-demo"), "--burst", "10", "--sink", "tcp:0.0.0.0:7070"), 2,
		     "telem-demo: telemetry: sink tcp:0.0.0.0:7070: "
		     "listens on loopback only: 127.0.0.1, [::1] or localhost\n");
	assert_error(run(bin("telem-demo"), "--burst", "10", "--sink", "nowhere"), 2,
		     "telem-demo: telemetry: sink nowhere: no such kind of address");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_monitored_program),
		TEST(no_such_process),
		TEST(process_without_libtelem),
		TEST(process_with_libtelem_that_did_not_start_it),
		TEST(process_that_may_not_be_examined),
		TEST(kernel_thread),
		TEST(unknown_name),
		TEST(two_programs_of_one_name),
		TEST(program_of_another_user),
		TEST(connection_refused),
		TEST(something_else_listens),
		TEST(somebody_listens_and_says_nothing),
		TEST(somebody_says_something_else_and_stays),
		TEST(other_protocol),
		TEST(files_that_are_no_recordings),
		TEST(only_a_recording_is_replayed),
		TEST(file_that_may_not_be_read),
		TEST(wrong_options),
		TEST(names_are_made_harmless),
		TEST(full_disk_under_standard_output),
		TEST(help_and_version),
		TEST(demo_says_what_is_wrong_with_its_command_line),
		TEST(burst_without_its_sink_is_no_burst),
	};

	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
