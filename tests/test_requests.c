/* test_requests.c -- requests of a viewer: each is answered, and only those it may make are done. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(loud, "at all", TELEM_ALL);

static void every_request_has_a_numbered_answer(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
	assert_int_equal(ASK(ATTACH, attach, { "me", 2 }), ACK_DONE);
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	assert_int_equal(ASK(TICK, tick, 100 * MS - 1), ACK_LIMIT);
	assert_int_equal(ASK(RING, ring, 128 << 10), ACK_DONE);
	assert_int_equal(ASK(RING, ring, 1), ACK_LIMIT);
	assert_int_equal(ASK(INTERVAL, interval, 20 * MS), ACK_DONE);
	assert_int_equal(ASK(INTERVAL, interval, 60 * S), ACK_LIMIT);
	assert_int_equal(ASK(POLICY, policy, TELEM_OVERWRITE, 0), ACK_DONE);
	assert_int_equal(ASK(POLICY, policy, TELEM_BLOCK, 0), ACK_DENIED);
	assert_int_equal(ASK(POLICY, policy, 9, 0), ACK_LIMIT);
	assert_int_equal(ASK(FLUSH, flush, ), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DONE);
	assert_int_equal(ASK(SET_LEVEL, set_level, 63, 0, LEVEL_ALL, 0), ACK_NO_SUCH);
	assert_int_equal(ASK(SET_LEVEL, set_level, 0, 60000, LEVEL_ALL, 0), ACK_NO_SUCH);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, 3, 0), ACK_BAD);
	assert_int_equal(ASK(ENABLE_ALL, enable_all, 17, 0), ACK_BAD);
}

static void an_unknown_request_is_answered_with_its_number(void **state)
{
	(void)state;
	start(NULL);
	reader = attach_viewer();
	reader_send(reader, "\x93\x7f\x2a\xa1x", 5);     /* [127, 42, "x"] */
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_request, 42);
	assert_int_equal(reader->ack_code, ACK_UNKNOWN);
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
}

static void nonsense_closes_the_connection(void **state)
{
	static const struct { const char *bytes; size_t count; } nonsense[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 18 }, { "\xc1", 1 }, { "\x16\x03\x01\x02", 4 }, { "\x90", 1 },
		{ "\xdd\xff\xff\xff\xff", 5 }, { "\x92\x40\xa1x", 4 }, { "\x91\x01", 2 },
	};

	(void)state;
	start(NULL);
	for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
		struct reader *who = attach_viewer();

		reader_send(who, nonsense[i].bytes, nonsense[i].count);
		reader_to_end(who);
		reader_free(who);
	}
	reader = attach_viewer();
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
}

static void a_request_in_pieces_is_one_request(void **state)
{
	static const uint8_t ping[] = { 0x92, 0xcd, 0x00, 0x48, 0xce, 0x00, 0x00, 0x00, 0x63 };

	(void)state;
	start(NULL);
	reader = attach_viewer();
	for (size_t i = 0; i < sizeof ping; i++) {
		assert_int_equal(reader->ack_count, 0);
		reader_send(reader, ping + i, 1);
		telem_flush(5 * S);
		reader_pump(reader);
	}
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_request, 99);
}

static void a_sync_tells_everything_again_and_loses_nothing(void **state)
{
	uint64_t hellos;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	hellos = reader->kind_count[KIND_HELLO];
	for (int i = 0; i < 20; i++) {
		for (int event = 0; event < 100; event++)
			TELEM_COUNT(loud, "around syncs", 1);
		assert_int_equal(ASK(SYNC, sync, ), ACK_DONE);
	}
	READ_UNTIL(reader, reader->kind_count[KIND_HELLO] > hellos);
	stop_and_read(reader);
	assert_int_equal(site("loud.around syncs")->event_count, 2000);
	assert_int_equal(reader->bye.dropped, reader->bye.emitted - reader->bye.before - reader->event_count);
	reader_check_books(reader);
}

static void a_tick_of_ones_own_is_kept_to(void **state)
{
	uint64_t ticks;

	(void)state;
	start(NULL);
	reader = attach_viewer();
	assert_int_equal(ASK(TICK, tick, 100 * MS), ACK_DONE);
	ticks = reader->kind_count[KIND_SNAPSHOT];
	READ_UNTIL(reader, reader->kind_count[KIND_SNAPSHOT] >= ticks + 3);
	assert_in_range(reader->snapshot.interval_ns, 50 * MS, 2 * S);
	assert_true(reader->snapshot.rss_bytes > 1 << 20);
}

static void a_flood_of_requests_is_slowed(void **state)
{
	uint8_t ping[3] = { 0x92, KIND_PING, 1 };
	int64_t begin = proc_now_ms();

	(void)state;
	start(NULL);
	reader = attach_viewer();
	for (int i = 0; i < 150; i++) {
		reader_send(reader, ping, sizeof ping);
		READ_UNTIL(reader, reader->ack_count == (uint64_t)i + 1);
	}
	assert_true(proc_now_ms() - begin > 500);
}

/* The end of what it sends is seen when all before it has been answered. */
static void a_flood_is_slowed_also_when_nothing_follows_it(void **state)
{
	uint8_t pings[3 * LIMIT_REQUESTS_PER_S][3];
	int64_t begin = proc_now_ms();

	(void)state;
	for (int i = 0; i < 3 * LIMIT_REQUESTS_PER_S; i++)
		memcpy(pings[i], (uint8_t[3]){ 0x92, KIND_PING, 1 }, 3);
	start(NULL);
	reader = attach_viewer();
	reader_send(reader, pings, sizeof pings);
	assert_int_equal(shutdown(reader->fd, SHUT_WR), 0);
	reader_to_end(reader);
	assert_int_equal(reader->ack_count, 3 * LIMIT_REQUESTS_PER_S);
	/* Two seconds begin between the first and the last. */
	assert_true(proc_now_ms() - begin > 1500);
}

/* ---- over TCP ---- */

static void whoever_comes_by_tcp_may_look_but_not_touch(void **state)
{
	uint16_t port = fixture_free_port();

	(void)state;
	start(NULL);
	assert_true(telem_sink_tcp_listen("127.0.0.1", port, false) >= 0);
	reader = reader_tcp(port);
	wait_until_greeted(reader);
	assert_int_equal(reader->control, 0);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DENIED);
	assert_int_equal(ASK(ENABLE_ALL, enable_all, LEVEL_ALL, 1), ACK_DENIED);
	assert_int_equal(ASK(RING, ring, 1 << 20), ACK_DENIED);
	assert_int_equal(ASK(POLICY, policy, 0, 0), ACK_DENIED);
	assert_int_equal(ASK(INTERVAL, interval, 20 * MS), ACK_DENIED);
	assert_int_equal(telem_level_get("net"), TELEM_SUM);
	assert_int_equal(ASK(PING, ping, ), ACK_DONE);
	assert_int_equal(ASK(SYNC, sync, ), ACK_DONE);
	assert_int_equal(ASK(TICK, tick, S), ACK_DONE);
}

static void with_control_tcp_may_set_levels(void **state)
{
	uint16_t port = fixture_free_port();

	(void)state;
	start(NULL);
	assert_true(telem_sink_tcp_listen("localhost", port, true) >= 0);
	reader = reader_tcp(port);
	wait_until_greeted(reader);
	assert_int_equal(reader->control, 1);
	assert_int_equal(ASK(SET_LEVEL, set_level, class_id("net"), 0, LEVEL_ALL, 0), ACK_DONE);
}

static void only_this_machine_may_come_by_tcp(void **state)
{
	(void)state;
	start(NULL);
	assert_int_equal(telem_sink_tcp_listen("0.0.0.0", 0, false), -EACCES);
	assert_int_equal(telem_sink_tcp_listen("192.0.2.1", 0, false), -EACCES);
	assert_int_equal(telem_sink_tcp_listen("[::]", 0, false), -EACCES);
	assert_int_equal(telem_sink_tcp_connect("192.0.2.1", 9, true), -EACCES);
	assert_int_equal(telem_sink_tcp_listen("example.org", 0, false), -EINVAL);
	assert_true(telem_sink_tcp_listen("127.0.0.1", 0, false) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(every_request_has_a_numbered_answer),
		BESIDE_TEST(an_unknown_request_is_answered_with_its_number),
		BESIDE_TEST(nonsense_closes_the_connection),
		BESIDE_TEST(a_request_in_pieces_is_one_request),
		BESIDE_TEST(a_sync_tells_everything_again_and_loses_nothing),
		BESIDE_TEST(a_tick_of_ones_own_is_kept_to),
		BESIDE_TEST(whoever_comes_by_tcp_may_look_but_not_touch),
		BESIDE_TEST(with_control_tcp_may_set_levels),
		BESIDE_TEST(only_this_machine_may_come_by_tcp),
		BESIDE_TEST(a_flood_of_requests_is_slowed), BESIDE_TEST(a_flood_is_slowed_also_when_nothing_follows_it),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
