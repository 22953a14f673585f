/* test_fifo.c -- the FIFO sink and its control FIFO, the way back to the program. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/beside.h"

TELEM_CLASS(net, "at sum", TELEM_SUM);
TELEM_CLASS(quiet, "off", TELEM_OFF);

static void a_fifo_has_a_way_back(void **state)
{
	const char *path = fixture_path(fixture, "app.fifo");
	struct stat st;
	int control;

	(void)state;
	start(NULL);
	assert_true(telem_sink_fifo(path) >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	reader = reader_new(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	READ_UNTIL(reader, (reader->at_end = false, reader->kind_count[KIND_SINK] > 0));
	control = open(fixture_path(fixture, "app.fifo.ctl"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(control >= 0);
	assert_int_equal(write(control, "\x92\x48\x07", 3), 3);          /* PING 7 */
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_request, 7);
	assert_int_equal(write(control, "\xc1\xc1\xc1", 3), 3);          /* wrong bytes are dropped */
	assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
	READ_UNTIL(reader, (write(control, "\x92\x48\x08", 3), reader->ack_request == 8));
	close(control);
	telem_stop();
	assert_int_equal(access(fixture_path(fixture, "app.fifo.ctl"), F_OK), -1);
}

/* Waits until the emitter has read what was written to the control FIFO and has acted upon it. */
static void wait_until_taken(int control)
{
	int count;

	WAIT_UNTIL(ioctl(control, FIONREAD, &count) == 0 && count == 0, 5000);
	assert_int_equal(telem_flush(5 * S * (uint64_t)proc_slowness()), 0);
}

static void a_fifo_nobody_reads_takes_no_requests(void **state)
{
	const char *path = fixture_path(fixture, "app.fifo");
	struct message request = { .kind = KIND_SET_LEVEL };
	uint8_t bytes[64];
	struct encoder encoder;
	int control;

	(void)state;
	start(NULL);
	assert_true(telem_sink_fifo(path) >= 0);
	control = open(fixture_path(fixture, "app.fifo.ctl"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	/* Round 0 writes before the first reader; the others after a reader has gone. */
	for (int round = 0; round < 3; round++) {
		encoder_init(&encoder, bytes, sizeof bytes);
		request.set_level = (struct message_set_level){ .request = 7, .level = LEVEL_ALL,
								.persist = round == 1 };
		while (round && strcmp(reader->classes[request.set_level.class_id].name, "quiet"))
			request.set_level.class_id++;
		assert_true(encode_message(&encoder, &request));
		if (round) {
			reader_free(reader);
			reader = NULL;
			WAIT_UNTIL(statistics().sinks == 0, 5000);
		}
		assert_int_equal(write(control, bytes, encoder.used), encoder.used);
		wait_until_taken(control);
		assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
		assert_int_equal(telem_level_get("net"), TELEM_SUM);
		reader = attach_fifo(path);
		assert_int_equal(telem_level_get("quiet"), TELEM_OFF);
	}
	/* While a reader is there, the same request is done. */
	assert_int_equal(write(control, bytes, encoder.used), encoder.used);
	READ_UNTIL(reader, reader->ack_count == 1);
	assert_int_equal(reader->ack_code, ACK_DONE);
	assert_int_equal(telem_level_get("quiet"), TELEM_ALL);
	close(control);
}

static void a_fifo_way_back_that_others_can_write_to_is_not_used(void **state)
{
	const char *path = fixture_path(fixture, "app.fifo");
	int control;

	(void)state;
	assert_int_equal(mkfifo(fixture_path(fixture, "app.fifo.ctl"), 0600), 0);
	assert_int_equal(chmod(fixture_path(fixture, "app.fifo.ctl"), 0622), 0);
	start(NULL);
	assert_true(telem_sink_fifo(path) >= 0);
	control = open(fixture_path(fixture, "app.fifo.ctl"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(control, -1);   /* the emitter does not read it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BESIDE_TEST(a_fifo_has_a_way_back),
		BESIDE_TEST(a_fifo_nobody_reads_takes_no_requests),
		BESIDE_TEST(a_fifo_way_back_that_others_can_write_to_is_not_used),
	};

	beside_take_filter();
	return cmocka_run_group_tests_name("fifo", tests, NULL, NULL);
}
