#include <fcntl.h>
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
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/source/address.h"
#include "monitor/source/source.h"
#include "monitor/source/discovery.h"
#include "protocol/block.h"
#include "tests/support/fixture.h"

static struct fixture fixture;
static struct address address;
static struct problem problem;

static int setup(void **state)
{
	(void)state;
	problem = (struct problem){ 0 };
	return fixture_init(&fixture);
}

static int teardown(void **state)
{
	(void)state;
	fixture_fini(&fixture);
	return 0;
}

static void good(const char *text, const struct source_kind *kind)
{
	problem = (struct problem){ 0 };
	if (address_parse(text, &address, &problem) != EXIT_DONE)
		fail_msg("%s: %s", text, problem.what);
	assert_ptr_equal(address.kind, kind);
	assert_string_equal(address.text, text);
}

/* what is how the error text continues after the address. */
static void bad(const char *text, int code, const char *what, const char *todo)
{
	char expected[600];

	problem = (struct problem){ 0 };
	assert_int_equal(address_parse(text, &address, &problem), code);
	assert_int_equal(problem.code, code);
	snprintf(expected, sizeof expected, "%s: %s", text, what);
	assert_string_equal(problem.what, expected);
	assert_string_equal(problem.todo, todo);
}

/* Returns a socket that listens at path. */
static int listener(const char *path)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(where.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&where, sizeof where), 0);
	assert_int_equal(listen(fd, 5), 0);
	return fd;
}

static void schemes_say_what_it_is_without_looking(void **state)
{
	(void)state;
	good("unix:/no/such.sock", &source_unix);
	assert_string_equal(address.path, "/no/such.sock");
	assert_int_equal(address.pid, 0);
	good("fifo:/no/such", &source_fifo);
	assert_string_equal(address.path, "/no/such");
	good("-", &source_stdin);
	good("unix:-", &source_unix);
}

static void tcp_is_host_and_port(void **state)
{
	(void)state;
	good("tcp:web2:7070", &source_tcp);
	assert_string_equal(address.host, "web2");
	assert_string_equal(address.port, "7070");
	good("tcp://10.0.0.7:1", &source_tcp);
	assert_string_equal(address.host, "10.0.0.7");
	assert_string_equal(address.port, "1");
	good("tcp:[::1]:65535", &source_tcp);
	assert_string_equal(address.host, "::1");
	assert_string_equal(address.port, "65535");
	good("listen:4712", &source_listen);
	assert_string_equal(address.host, "127.0.0.1");
	assert_string_equal(address.port, "4712");
	good("listen:0.0.0.0:4712", &source_listen);
	assert_string_equal(address.host, "0.0.0.0");
}

static void wrong_hosts_and_ports_are_refused(void **state)
{
	static const char *const wrong[] = {
		"tcp:", "tcp:7070", "tcp::7070", "tcp:web2", "tcp:web2:", "tcp:web2:x", "tcp:web2:65536", "tcp:web2:-1",
		"tcp:web2:0",
		"tcp:web2:000007070", "tcp://:7070", "listen:", "listen:x", "listen:host:", "listen:99999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		bad(wrong[i], EXIT_USAGE, "not HOST:PORT", "For example: tcp:127.0.0.1:4711 or listen:4712");
}

static void paths_have_an_end(void **state)
{
	char text[400];

	(void)state;
	bad("unix:", EXIT_USAGE, "a path is missing", "For example: fifo:/tmp/app.telem or unix:/tmp/app.sock");
	bad("fifo:", EXIT_USAGE, "a path is missing", "For example: fifo:/tmp/app.telem or unix:/tmp/app.sock");
	memset(text, 'x', sizeof text);
	memcpy(text, "unix:/", 6);
	text[5 + 107] = '\0';
	good(text, &source_unix);
	text[5 + 107] = 'x';
	text[5 + 108] = '\0';
	bad(text, EXIT_USAGE, "the path is longer than the 107 bytes of a Unix socket",
	    "Use a shorter path, or a relative one.");
	text[5 + 108] = 'x';
	text[299] = '\0';
	memcpy(text, "fifo:/", 6);
	good(text, &source_fifo);
	text[299] = 'x';
	text[300] = '\0';
	assert_int_equal(address_parse(text, &address, &problem), EXIT_USAGE);
	assert_non_null(strstr(problem.what, "\xe2\x80\xa6: the address is too long"));
}

static void a_path_is_looked_at(void **state)
{
	const char *path = fixture_path(&fixture, "a.sock");
	uint8_t bytes[6 + sizeof hello_magic] = { 0 };
	int fd = listener(path);

	(void)state;
	good(path, &source_unix);
	assert_string_equal(address.path, path);
	close(fd);
	path = fixture_path(&fixture, "a.fifo");
	assert_int_equal(mkfifo(path, 0600), 0);
	good(path, &source_fifo);
	path = fixture_path(&fixture, "a.telem");
	memcpy(bytes + 6, hello_magic, sizeof hello_magic);
	fixture_write(path, (char *)bytes, sizeof bytes);
	good(path, &source_file);
}

static void a_file_that_is_no_recording_says_how_it_starts(void **state)
{
	static const char recordings[] =
		"Recordings are made by telemtop record, R in the screen, or TELEM=\"sink=file:PATH\".";
	const char *path = fixture_path(&fixture, "notes.txt");

	(void)state;
	fixture_write(path, "# Notes about this and that", 27);
	bad(path, EXIT_RECORDING, "not a telemtop recording (starts with \"# Notes abou\")", recordings);
	fixture_write(path, "\x1b[2Jx", 5);
	bad(path, EXIT_RECORDING, "not a telemtop recording (starts with \"\xc2\xb7[2Jx\")", recordings);
	fixture_write(path, "", 0);
	bad(path, EXIT_RECORDING, "the file is empty", "A recording begins to be readable when its program has started.");
	bad(fixture.dir, EXIT_RECORDING, "is a directory", "Give a PID, a program's name, a socket, a FIFO or a recording.");
	if (geteuid() != 0) {
		fixture_write(path, "x", 1);
		chmod(path, 0);
		bad(path, EXIT_PERMISSION, "permission denied",
		    "Give a PID, a program's name, a socket, a FIFO or a recording.");
	}
}

static void a_path_that_is_not_there_is_said_so(void **state)
{
	(void)state;
	bad(fixture_path(&fixture, "no"), EXIT_NO_TARGET, "no such file",
	    "Give a PID, a program's name, a socket, a FIFO or a recording.");
}

static void digits_are_a_process(void **state)
{
	char pid[16], path[108];
	int fd;

	(void)state;
	assert_int_equal(address_parse("999999999", &address, &problem), EXIT_NO_TARGET);
	assert_string_equal(problem.what, "PID 999999999: no such process");
	assert_string_equal(problem.todo, "telemtop list shows the programs that can be monitored.");
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	assert_int_equal(mkdir(fixture_path(&fixture, "telem"), 0700), 0);
	snprintf(path, sizeof path, "%s/telem/%s.sock", fixture.dir, pid);
	fd = listener(path);
	good(pid, &source_unix);
	assert_int_equal(address.pid, getpid());
	assert_string_equal(address.path, path);
	close(fd);
	/* A program that was killed leaves its socket file behind, on which no process listens. */
	assert_int_equal(address_parse(pid, &address, &problem), EXIT_NOT_LINKED);
}

static void anything_else_is_a_programs_name(void **state)
{
	char path[108], other[108];
	int fd, other_fd;

	(void)state;
	assert_int_equal(address_parse("no-such-program", &address, &problem), EXIT_NO_TARGET);
	assert_non_null(strstr(problem.what, "no-such-program"));
	assert_int_equal(mkdir(fixture_path(&fixture, "telem"), 0700), 0);
	snprintf(path, sizeof path, "%s/telem/%d.sock", fixture.dir, (int)getpid());
	fd = listener(path);
	good("test_address", &source_unix);
	assert_int_equal(address.pid, getpid());
	assert_string_equal(address.program, "test_address");
	assert_string_equal(address.path, path);
	assert_int_equal(address_parse("test_addres", &address, &problem), EXIT_NO_TARGET);
	/* Two programs have the name when a process has two sockets, as with two copies of libtelem. */
	snprintf(other, sizeof other, "%s/telem/%d-77.sock", fixture.dir, (int)getpid());
	other_fd = listener(other);
	assert_int_not_equal(address_parse("test_address", &address, &problem), EXIT_DONE);
	assert_non_null(strstr(problem.what, "test_address: 2 programs have this name: "));
	assert_string_equal(problem.todo, "Give the PID.");
	close(other_fd);
	close(fd);
}

static void a_program_that_runs_is_meant_before_a_file(void **state)
{
	uint8_t bytes[6 + sizeof hello_magic] = { 0 };
	int fd, here = open(".", O_PATH | O_CLOEXEC);
	char path[108];

	(void)state;
	assert_int_equal(mkdir(fixture_path(&fixture, "telem"), 0700), 0);
	snprintf(path, sizeof path, "%s/telem/%d.sock", fixture.dir, (int)getpid());
	fd = listener(path);
	assert_int_equal(symlink("imgsrv", fixture_path(&fixture, "telem/%d.sock.name", (int)getpid())), 0);
	memcpy(bytes + 6, hello_magic, sizeof hello_magic);
	fixture_write(fixture_path(&fixture, "imgsrv"), (char *)bytes, sizeof bytes);
	assert_int_equal(chdir(fixture.dir), 0);
	good("imgsrv", &source_unix);
	assert_int_equal(address.pid, getpid());
	good("test_address", &source_unix);      /* the kernel's name for it means it, too */
	good("./imgsrv", &source_file);
	close(fd);
	good("imgsrv", &source_file);            /* the program has ended */
	assert_int_equal(fchdir(here), 0);
	close(here);
}

static void the_parent_is_meant_when_its_children_have_its_name(void **state)
{
	int fd, child_fd, status;
	char path[108];
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(mkdir(fixture_path(&fixture, "telem"), 0700), 0);
	snprintf(path, sizeof path, "%s/telem/%d.sock", fixture.dir, (int)getpid());
	fd = listener(path);
	snprintf(path, sizeof path, "%s/telem/%d.sock", fixture.dir, (int)child);
	child_fd = listener(path);
	good("test_address", &source_unix);
	assert_int_equal(address.pid, getpid());
	assert_non_null(strstr(address.note, "the others of this name are its children (1)."));
	close(fd);
	good("test_address", &source_unix);
	assert_int_equal(address.pid, child);
	assert_string_equal(address.note, "");
	close(child_fd);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* Programs found in this test's directory; /tmp/telem-UID may have others. */
static int listed(void)
{
	struct found found[64];
	int count = discovery_list(found, 64, false), ours = 0;

	for (int i = 0; i < count; i++)
		ours += !strncmp(found[i].path, fixture.dir, strlen(fixture.dir));
	return ours;
}

static void only_names_of_processes_are_listed(void **state)
{
	static const char *const names[] = {
		"1-\x1b[31m.sock", "1\x1b[31m.sock", "1x.sock", "x.sock", ".sock", "-1.sock", "+1.sock", " 1.sock", "0.sock",
		"1-2-3.sock", "1-2x.sock", "1.sock.sock", "1.socket", "1", "1.", "12345678901.sock",
	};
	int fds[sizeof names / sizeof *names], own, copy;

	(void)state;
	assert_int_equal(mkdir(fixture_path(&fixture, "telem"), 0700), 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		fds[i] = listener(fixture_path(&fixture, "telem/%s", names[i]));
		if (listed() != 0)
			fail_msg("listed: name %d", (int)i);
	}
	own = listener(fixture_path(&fixture, "telem/%d.sock", (int)getpid()));
	copy = listener(fixture_path(&fixture, "telem/%d-77.sock", (int)getpid()));
	assert_int_equal(listed(), 2);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		close(fds[i]);
	close(own);
	close(copy);
}

static void a_directory_others_could_have_filled_is_not_listed(void **state)
{
	static const mode_t open_to_others[] = { 0755, 0750, 0711, 0770, 0701 };
	const char *directory = fixture_path(&fixture, "telem");
	char pid[16];
	int fd;

	(void)state;
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	assert_int_equal(mkdir(directory, 0700), 0);
	fd = listener(fixture_path(&fixture, "telem/%s.sock", pid));
	assert_int_equal(listed(), 1);
	for (size_t i = 0; i < sizeof open_to_others / sizeof *open_to_others; i++) {
		assert_int_equal(chmod(directory, open_to_others[i]), 0);
		assert_int_equal(listed(), 0);
		assert_int_not_equal(address_parse(pid, &address, &problem), EXIT_DONE);
	}
	assert_int_equal(chmod(directory, 0700), 0);
	good(pid, &source_unix);
	if (geteuid() == 0) {            /* only root can change the owner */
		assert_int_equal(chown(directory, 65534, 65534), 0);
		assert_int_equal(listed(), 0);
		assert_int_not_equal(address_parse(pid, &address, &problem), EXIT_DONE);
		assert_int_equal(chown(directory, 0, 0), 0);
	}
	close(fd);
}

static void waiting_for_what_will_never_be_right_does_not_wait(void **state)
{
	(void)state;
	assert_int_equal(address_wait("tcp:x", 0, &address, &problem), EXIT_USAGE);
	problem.code = EXIT_DONE;
	assert_int_equal(address_wait("no-such-program", -1, &address, &problem), EXIT_NO_TARGET);
	problem.code = EXIT_NO_TARGET;
	assert_int_equal(address_wait("unix:/x", 0, &address, &problem), EXIT_DONE);
	assert_int_equal(problem.code, EXIT_DONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(schemes_say_what_it_is_without_looking), TEST(tcp_is_host_and_port),
		TEST(wrong_hosts_and_ports_are_refused),
		TEST(paths_have_an_end), TEST(a_path_is_looked_at), TEST(a_file_that_is_no_recording_says_how_it_starts),
		TEST(a_path_that_is_not_there_is_said_so), TEST(digits_are_a_process),
		TEST(anything_else_is_a_programs_name), TEST(a_program_that_runs_is_meant_before_a_file),
		TEST(the_parent_is_meant_when_its_children_have_its_name),
		TEST(only_names_of_processes_are_listed), TEST(a_directory_others_could_have_filled_is_not_listed),
		TEST(waiting_for_what_will_never_be_right_does_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
