/* test_hostile.c -- a hostile stream: no text of it reaches the terminal, standard output or standard error without
 * being cleaned. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/e2e.h"
#include "tests/support/wire.h"

#define MS 5000

/* C0 sequences that set the title and colour and clear the screen; CSI as a C1 character, and as a single byte;
 * characters that set the writing direction; line breaks, a bell, DEL, and bytes that are not UTF-8. */
#define HARM "\033]0;PWNED\007\033[31mRED\033[2J\xc2\x9b" "31m\x9b" "5m\xe2\x80\xaertl" \
	"\xe2\x81\xa6iso\xe2\x80\xa8ls\r\nCRLF\b\t\x7f\xff\xfe\xc0\x80"

static const char *const raw_harm[] = {
	"\033]0;PWNED", "\033[31mRED", "RED\033[2J", "\007", "\xc2\x9b", ("\x9b" "5m"), "\xe2\x80\xae", "\xe2\x81\xa6",
	"\xe2\x80\xa8", "\r\nCRLF", "CRLF\b", "\x7f", "\xff", "\xfe", "\xc0\x80",
};

static void tell(struct wire *wire, uint64_t tick)
{
	uint64_t time_ns = (6 + tick) * 1000000000;
	struct number books[] = { number_of(0), number_of(tick * 2), number_of(0), number_of(tick * 2) };

	for (uint64_t site = 1; site <= 5; site++) {
		struct number row[] = { number_of(site), number_of(tick * 100), number_of(tick * 100000), number_of(1000),
					number_of(90000) };
		struct number pairs[] = { number_of(100), number_of(tick * 100) };

		for (uint64_t task = 0; task <= 2; task += 2) {
			wire_add(wire, VALUES, values, .tick = tick, .task = task, .rows = { row, 5 });
			if (site <= 2)
				wire_add(wire, BUCKETS, buckets, .tick = tick, .task = task, .site = site,
					 .pairs = { pairs, 2 });
		}
	}
	wire_log(wire, HARM, sizeof HARM - 1);
	wire_add(wire, LOG, log, .task = 2, .site = 6, .time_ns = time_ns, .severity = 4, .text = text_of(HARM));
	wire_add(wire, LEVEL, level, .time_ns = time_ns, .class_id = 0, .level = LEVEL_ALL, .own_level = LEVEL_SUM,
		 .leases = 1, .by = text_of(HARM));
	wire_add(wire, BOOKS, books, .tick = tick, .task = 0, .rows = { books, 4 });
	wire_add(wire, SNAPSHOT, snapshot, .tick = tick, .time_ns = time_ns,
		 .real_ns = 1700000000000000000 + tick * 1000000000,
		 .interval_ns = tick > 1 ? 1000000000 : 0, .rss_bytes = 1 << 20, .thread_count = 1);
	wire_close(wire);
}

static void make_stream(struct wire *wire)
{
	struct message hello = { .kind = KIND_HELLO };
	struct text fields[] = { text_of(HARM), text_of("f" HARM) };

	wire_init(wire, 7);
	hello.hello = wire_hello_fields(wire);
	hello.hello.name = text_of("n" HARM);
	hello.hello.host = text_of("h" HARM);
	hello.hello.version = text_of("v" HARM);
	hello.hello.control = 1;
	wire_message(wire, &hello);
	wire_add(wire, CLASS, class, .id = 0, .name = text_of("c" HARM), .help = text_of(HARM), .level = LEVEL_ALL,
		 .own_level = LEVEL_SUM);
	wire_add(wire, CLASS, class, .id = 1, .name = text_of("log"), .help = text_of(HARM), .level = LEVEL_ALL,
		 .own_level = LEVEL_ALL);
	for (uint64_t site = 1; site <= 6; site++) {
		static const uint64_t kinds[] = { 0, SITE_SPAN, SITE_VALUE, SITE_COUNTER, SITE_GAUGE, SITE_ALLOC, SITE_LOG };

		wire_add(wire, SITE, site, .id = site, .class_id = site == 6, .kind = kinds[site], .unit = site == 1,
			 .level = LEVEL_ALL,
			 .own_level = LEVEL_OWN, .name = text_of("s" HARM), .file = text_of("/src/" HARM), .line = 1,
			 .fields = { fields, 2 });
	}
	wire_add(wire, TASK, task, .id = 2, .name = text_of("t" HARM), .thread_id = 1);
	for (uint64_t tick = 1; tick <= 4; tick++)
		tell(wire, tick);
}

static const char *write_stream(struct fixture *fixture)
{
	const char *path = fixture_path(fixture, "hostile.telem");
	struct wire wire;

	make_stream(&wire);
	fixture_write(path, (const char *)wire.bytes, wire.count);
	wire_fini(&wire);
	return path;
}

/* Fails unless the bytes are only text and newlines, without any of HARM. */
static void assert_harmless(const char *what, const char *bytes)
{
	for (size_t i = 0; i < sizeof raw_harm / sizeof *raw_harm; i++)
		assert_has_not(bytes, raw_harm[i]);
	for (; *bytes; bytes++)
		if (((unsigned char)*bytes < ' ' && *bytes != '\n') || *bytes == 0x7f) {
			proc_printf("%s: byte 0x%02x\n", what, (unsigned char)*bytes);
			proc_failed("assert_harmless", __FILE__, __LINE__);
		}
}

static void assert_said_harmless(struct said said)
{
	assert_harmless("stdout", said.out);
	assert_harmless("stderr", said.err);
}

static void pipes_get_no_harm(void **state)
{
	const char *path = write_stream(*state);
	struct said said = telemtop("lines", path);

	assert_has(said.out, "PWNED");
	assert_said_harmless(said);
	said = telemtop("once", path);
	assert_has(said.out, "PWNED");
	assert_said_harmless(said);
	said = telemtop("record", "-o", fixture_path(*state, "copy.telem"), path);
	assert_said_harmless(said);
}

/* The JSON has the text that arrived, in escaped form. */
static void json_holds_what_came_without_control_bytes(void **state)
{
	struct said said = telemtop("once", "--json", write_stream(*state));
	json_t *json = json_loads(said.out, 0, NULL);

	assert_non_null(json);
	assert_has(text_at(json, "target.name"), "n\033]0;PWNED\007\033[31mRED");
	json_decref(json);
	for (const char *at = said.out; *at; at++)
		assert_true(*at == '\n' || ((unsigned char)*at >= ' ' && (unsigned char)*at <= 0x7f));
}

static void assert_screen_harmless(struct term *term)
{
	assert_string_equal(term_title(term), "");
	assert_int_equal(term_bell_count(term), 0);
	for (size_t i = 0; i < sizeof raw_harm / sizeof *raw_harm; i++)
		if (term_raw_has(term, raw_harm[i], strlen(raw_harm[i]))) {
			proc_printf("harm %zu reached the terminal\n", i);
			proc_failed("assert_screen_harmless", __FILE__, __LINE__);
		}
}

static void look_everywhere(const char *path, const char *const *env)
{
	static const char *const panels[] = { "0", "1", "2", "3", "8" };
	struct term *term = term_start(.argv = PROC_LIST(bin("telemtop"), "replay", "--speed", "100", path), .env = env,
				       .rows = 50, .cols = 200);

	term_wait_row_matches(term, 0, "PWNED", MS);
	term_wait_row_matches(term, 0, "at its end", MS);
	for (size_t i = 0; i < sizeof panels / sizeof *panels; i++) {
		static const char *const widths[] = { "", "enter", "v", "v" };

		term_keys(term, panels[i]);
		term_keys(term, "home down");
		for (size_t j = 0; j < sizeof widths / sizeof *widths; j++) {
			term_keys(term, widths[j]);
			term_wait_quiet(term, 60, MS);
		}
		term_keys(term, "esc esc ?");
		term_wait_quiet(term, 60, MS);
		term_keys(term, "esc");
		term_resize(term, 24, 80);
		term_wait_quiet(term, 60, MS);
		term_resize(term, 8, 38);
		term_wait_quiet(term, 60, MS);
		term_resize(term, 50, 200);
		term_wait_quiet(term, 60, MS);
	}
	assert_screen_harmless(term);
	screen_quit(term);
}

static void terminal_gets_no_harm(void **state)
{
	look_everywhere(write_stream(*state), NULL);
}

static void ascii_terminal_gets_no_harm(void **state)
{
	look_everywhere(write_stream(*state), PROC_LIST("LANG=C"));
}

/* The other side may have closed the connection already. */
static void say(int fd, const struct wire *wire)
{
	assert_true(send(fd, wire->bytes, wire->count, MSG_NOSIGNAL) > 0);
}

/* Answers of a program, and texts that an error message quotes, are cleaned. */
static void answers_do_no_harm(void **state)
{
	const char *path = fixture_path(*state, "h.sock");
	int listen_fd = serve_unix(path), fd;
	struct wire wire;
	struct proc *set;
	struct term *term;
	struct said said;

	/* The error lists the classes of the program. */
	make_stream(&wire);
	set = proc_start(.argv = PROC_LIST(bin("telemtop"), "set", path, "nope=all"), .in = PROC_NULL, .out = PROC_PIPE,
			 .err = PROC_PIPE);
	fd = serve_accept(listen_fd);
	say(fd, &wire);
	tell(&wire, 5);
	said = said_of(set, MS);
	close(fd);
	assert_code(said, 2);
	assert_has(said.err, "It has: c");
	assert_said_harmless(said);

	/* The program refuses with a text of its own. */
	for (uint64_t request = 1; request <= 8; request++)
		wire_add(&wire, ACK, ack, .request = request, .code = ACK_DENIED, .text = text_of(HARM));
	wire_close(&wire);
	set = proc_start(.argv = PROC_LIST(bin("telemtop"), "set", path, "log=off"), .in = PROC_NULL, .out = PROC_PIPE,
			 .err = PROC_PIPE);
	fd = serve_accept(listen_fd);
	say(fd, &wire);
	said = said_of(set, MS);
	close(fd);
	assert_code(said, 5);
	assert_has(said.err, "refused: ");
	assert_said_harmless(said);

	term = screen_start(30, 160, "-p", "3", path);
	fd = serve_accept(listen_fd);
	say(fd, &wire);
	term_wait_row_matches(term, 0, "PWNED", MS);
	term_keys(term, "c");
	term_wait_text(term, "[r]estore", MS);
	term_keys(term, "a");
	term_wait_text(term, "asked for level all", MS);
	for (uint64_t request = 1; request <= 12; request++)
		wire_add(&wire, ACK, ack, .request = request, .code = ACK_DENIED, .text = text_of(HARM));
	wire_close(&wire);
	say(fd, &wire);
	term_wait_row_matches(term, 28, "refused: ", MS);
	close(fd);
	term_wait_row_matches(term, 0, "LOST|ENDED", MS);
	assert_screen_harmless(term);
	screen_quit(term);
	close(listen_fd);
	wire_fini(&wire);
}

static void what_the_user_typed_does_no_harm(void **state)
{
	struct fixture *fixture = *state;
	const char *name = "e\033[31mRED\x9b" "5m\xe2\x80\xae";
	const char *file = fixture_path(fixture, "%s", "f\033]0;PWNED\007");
	struct proc *demo;
	struct term *term;
	struct said said = telemtop("once", HARM);

	assert_code(said, 3);
	assert_said_harmless(said);
	assert_said_harmless(telemtop(HARM));
	assert_said_harmless(telemtop("--" HARM));
	assert_said_harmless(telemtop("once", "tcp:" HARM));
	assert_said_harmless(telemtop("lines", "-d", HARM, "x"));
	fixture_write(file, HARM, sizeof HARM - 1);
	said = telemtop("once", file);
	assert_code(said, 8);
	assert_said_harmless(said);
	/* The file of a program may have any name, and `telemtop ps` shows it. */
	demo = demo_start(fixture, .name = name);
	said = telemtop("ps");
	assert_has(said.out, pid_of(demo));
	assert_said_harmless(said);
	said = telemtop("ps", "--json");
	assert_has_not(said.out, "\033");
	demo_start(fixture, .name = name);
	assert_said_harmless(telemtop("once", name));
	term = screen_start(24, 120, "-d", "1");
	term_wait_text(term, pid_of(demo), MS);
	assert_screen_harmless(term);
	screen_quit(term);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pipes_get_no_harm),
		TEST(json_holds_what_came_without_control_bytes),
		TEST(terminal_gets_no_harm),
		TEST(ascii_terminal_gets_no_harm),
		TEST(answers_do_no_harm),
		TEST(what_the_user_typed_does_no_harm),
	};

	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
