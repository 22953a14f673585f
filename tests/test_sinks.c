/* test_sinks.c -- sinks: where the stream goes, how they open, and how they end. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "protocol/recording.h"
#include "tests/support/beside.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

static void several_sinks_hear_the_same(void **state)
{
	struct reader *fd, *viewer, *socket, *tcp;
	uint16_t port = fixture_free_port();
	char address[64];

	(void)state;
	start(NULL);
	snprintf(address, sizeof address, "tcp:127.0.0.1:%u", port);
	assert_true(telem_sink_add(address) >= 0);
	assert_true(telem_sink_unix(fixture_path(fixture, "own.sock")) >= 0);
	fd = attach_fd(NULL);
	viewer = attach_viewer();
	socket = reader_unix(fixture_path(fixture, "own.sock"));
	tcp = reader_tcp(port);
	wait_until_greeted(socket);
	wait_until_greeted(tcp);
	for (int i = 0; i < 5000; i++)
		TELEM_COUNT(loud, "to all", 3);
	telem_flush(5 * S);
	READ_UNTIL(fd, fd->event_count == 5000);
	READ_UNTIL(viewer, viewer->event_count == 5000);
	READ_UNTIL(socket, socket->event_count == 5000);
	READ_UNTIL(tcp, tcp->event_count == 5000);
	telem_stop();
	reader_to_end(fd);
	reader_to_end(viewer);
	reader_to_end(socket);
	reader_to_end(tcp);
	reader_check_books(fd);
	reader_check_books(viewer);
	reader_check_books(socket);
	reader_check_books(tcp);
	assert_int_equal(access(fixture_path(fixture, "own.sock"), F_OK), -1);
	assert_int_equal(access(fixture_path(fixture, "telem/%d.sock", (int)getpid()), F_OK), -1);
	reader_free(fd);
	reader_free(viewer);
	reader_free(socket);
	reader_free(tcp);
}

static void a_program_connects_to_a_reader_and_again_when_it_is_back(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	uint16_t port = fixture_free_port();
	int listener, fd, id;

	(void)state;
	address.sin_port = htons(port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	start(NULL);
	id = telem_sink_tcp_connect("127.0.0.1", port, false);
	assert_true(id >= 0);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 4), 0);
	for (int round = 0; round < 3; round++) {
		fd = accept(listener, NULL, NULL);
		assert_true(fd >= 0);
		reader = reader_new(fd);
		wait_until_greeted(reader);
		TELEM_COUNT(loud, "to a caller", 1);
		telem_flush(5 * S);
		READ_UNTIL(reader, reader_site(reader, "loud.to a caller") &&
					   site("loud.to a caller")->event_count == 1);
		reader_free(reader);
		reader = NULL;
	}
	close(listener);
	assert_int_equal(telem_sink_remove(id), 0);
}

static void a_recording_is_the_stream_with_a_clean_end(void **state)
{
	const char *path = fixture_path(fixture, "run.telem");
	uint64_t index_offset, index_count;
	size_t count;
	uint8_t *bytes;
	struct stat st;

	(void)state;
	start(NULL);
	assert_true(telem_sink_file(path) >= 0);
	telem_flush(5 * S);
	for (int i = 0; i < 20000; i++)
		TELEM_COUNT(loud, "recorded", 1);
	telem_stop();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	bytes = (uint8_t *)fixture_read(path, &count);
	reader = reader_new(-1);
	reader->at_end = true;
	reader_feed(reader, bytes, count);
	assert_int_equal(site("loud.recorded")->event_count, 20000);
	reader_check_books(reader);
	assert_true(recording_end_read(bytes + count - RECORDING_END_BYTES, &index_offset, &index_count));
	assert_int_equal(index_count, reader->kind_count[KIND_INDEX]);
	assert_int_equal(block_reader_rest(&reader->blocks), 0);
	free(bytes);
}

/* ---- opening ---- */

static mode_t rights_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 0777;
}

static void what_is_made_is_its_users_alone_whatever_the_umask(void **state)
{
	mode_t before = umask(0);

	(void)state;
	start(NULL);
	assert_true(telem_sink_unix(fixture_path(fixture, "own.sock")) >= 0);
	assert_true(telem_sink_fifo(fixture_path(fixture, "own.fifo")) >= 0);
	assert_true(telem_sink_file(fixture_path(fixture, "own.telem")) >= 0);
	umask(before);
	assert_int_equal(rights_of(fixture_path(fixture, "telem")), 0700);
	assert_int_equal(rights_of(fixture_path(fixture, "telem/%d.sock", (int)getpid())), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.sock")), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.fifo")), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.fifo.ctl")), 0600);
	assert_int_equal(rights_of(fixture_path(fixture, "own.telem")), 0600);
}

static void a_file_that_is_there_is_not_written_over(void **state)
{
	const char *path = fixture_path(fixture, "precious");

	(void)state;
	fixture_write(path, "precious", 8);
	start(NULL);
	assert_int_equal(telem_sink_file(path), -EEXIST);
	assert_int_equal(telem_sink_fifo(path), -EEXIST);
	assert_int_equal(telem_sink_unix(path), -EADDRINUSE);
}

static void a_sink_that_cannot_be_opened_says_why_in_words(void **state)
{
	static const struct { const char *address; int err; const char *why; } bad[] = {
		{ "tcp:0.0.0.0:7070", -EACCES, "listens on loopback only: 127.0.0.1, [::1] or localhost" },
		{ "tcp:0.0.0.0:7070,control", -EACCES, "listens on loopback only: 127.0.0.1, [::1] or localhost" },
		{ "connect:192.0.2.1:70,control", -EACCES,
		  "levels are set from this machine only: leave ,control out" },
		{ "tcp:web:70", -EINVAL, "names are not looked up: give the host's number, or localhost" },
		{ "connect:web:70", -EINVAL, "names are not looked up: give the host's number, or localhost" },
		{ "tcp:127.0.0.1", -EINVAL, "give HOST:PORT" },
		{ "tcp:localhost:99999", -EINVAL, "the port is no number up to 65535" },
		{ "tcp:localhost:70,contro", -EINVAL, "the only option is ,control" },
		{ "fifo:/etc/passwd", -EEXIST, "is not a FIFO" },
		{ "fifo:/tmp/a,control", -EINVAL, "only tcp: and connect: take an option behind a comma" },
		{ "unix:", -EINVAL, "nothing follows the colon" },
		{ "fd:x", -EINVAL, "give the number of an open file" },
		{ "file:/no/such/dir/f", -ENOENT, "No such file or directory" },
	};
	char text[200];

	(void)state;
	start(NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(telem_sink_add(bad[i].address), bad[i].err);
		snprintf(text, sizeof text, "sink %s: %s", bad[i].address, bad[i].why);
		assert_string_equal(telem_error(), text);
	}
	/* A sink that opens leaves the previous error text in place. */
	assert_true(telem_sink_tcp_listen("127.0.0.1", 0, false) >= 0);
	assert_string_equal(telem_error(), text);
}

static void sinks_need_a_start(void **state)
{
	(void)state;
	assert_int_equal(telem_sink_fd(1), -ENOTCONN);
	assert_int_equal(telem_sink_remove(0), -ENOENT);
	assert_int_equal(telem_flush(S), -ENOTCONN);
	telem_sync();
}

static void more_sinks_than_the_limit_are_refused(void **state)
{
	int ids[LIMIT_SINKS], count = 0, id;

	(void)state;
	start(NULL);
	while ((id = telem_sink_fifo(fixture_path(fixture, "f%d", count))) >= 0)
		ids[count++] = id;
	assert_int_equal(id, -ENOSPC);
	assert_int_equal(count, LIMIT_SINKS - 1);        /* the discovery socket is a sink, too */
	assert_int_equal(telem_sink_remove(ids[5]), 0);
	assert_true(telem_sink_fifo(fixture_path(fixture, "again")) >= 0);
}

/* ---- removing and redirecting ---- */

static void a_removed_sink_is_told_goodbye_with_even_books(void **state)
{
	int id;

	(void)state;
	start(NULL);
	reader = attach_fd(&id);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "before removal", 1);
	assert_int_equal(telem_sink_remove(id), 0);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "before removal", 1);
	reader_to_end(reader);
	assert_int_equal(site("loud.before removal")->event_count, 1000);
	reader_check_books(reader);
	assert_int_equal(telem_sink_remove(id), -ENOENT);
	assert_int_equal(telem_sink_remove(-1), -ENOENT);
	assert_int_equal(telem_sink_remove(100000), -ENOENT);
}

static void with_a_listening_sink_go_those_it_let_in(void **state)
{
	const char *path = fixture_path(fixture, "own.sock");
	int id;

	(void)state;
	start(NULL);
	id = telem_sink_unix(path);
	reader = reader_unix(path);
	wait_until_greeted(reader);
	assert_int_equal(telem_sink_remove(id), 0);
	reader_to_end(reader);
	assert_true(reader->has_bye);
}

static void a_redirected_sink_leaves_no_gap_between_the_two(void **state)
{
	struct reader *first;
	uint64_t last_of_first, first_of_second = UINT64_MAX;
	int id, ends[2];
	char address[32];

	(void)state;
	start(NULL);
	first = attach_fd(&id);
	first->keeps_events = true;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	snprintf(address, sizeof address, "fd:%d", ends[1]);
	for (uint64_t i = 0; i < 2000; i++) {
		TELEM_MARK(loud, "numbered", i);
		if (i == 1000)
			assert_true(telem_sink_redirect(id, address) >= 0);
	}
	reader = reader_new(ends[0]);
	reader->keeps_events = true;
	telem_stop();
	reader_to_end(first);
	reader_to_end(reader);
	last_of_first = first->events[first->event_count - 1].value;
	for (uint64_t i = 0; i < reader->event_count; i++)
		if (reader->events[i].value < first_of_second)
			first_of_second = reader->events[i].value;
	assert_true(last_of_first >= 1000);
	assert_true(first_of_second <= last_of_first + 1);
	assert_int_equal(reader->events[reader->event_count - 1].value, 1999);
	reader_check_books(first);
	reader_check_books(reader);
	reader_free(first);
	assert_true(telem_sink_redirect(0, "nowhere:") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(several_sinks_hear_the_same),
		BESIDE_TEST(a_program_connects_to_a_reader_and_again_when_it_is_back),
		BESIDE_TEST(a_recording_is_the_stream_with_a_clean_end),
		BESIDE_TEST(what_is_made_is_its_users_alone_whatever_the_umask),
		BESIDE_TEST(a_file_that_is_there_is_not_written_over),
		BESIDE_TEST(a_sink_that_cannot_be_opened_says_why_in_words),
		BESIDE_TEST(a_removed_sink_is_told_goodbye_with_even_books),
		BESIDE_TEST(with_a_listening_sink_go_those_it_let_in),
		BESIDE_TEST(a_redirected_sink_leaves_no_gap_between_the_two),
		BESIDE_TEST(sinks_need_a_start),
		BESIDE_TEST(more_sinks_than_the_limit_are_refused),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("sinks", tests, NULL, NULL);
}
