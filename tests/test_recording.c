#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/limits.h"
#include "protocol/recording.h"

static struct recording recording;
static const uint8_t marker[MARKER_BYTES] = "1234567812345678";

static int setup(void **state)
{
	(void)state;
	recording = (struct recording){ 0 };
	return 0;
}

static void a_point_is_due_at_the_start_and_after_bytes_or_time(void **state)
{
	struct message message;

	(void)state;
	assert_true(recording_is_due(&recording, LIMIT_INDEX_BYTES, 1000));
	recording_index(&recording, 1000, &message);
	assert_false(recording_is_due(&recording, LIMIT_INDEX_BYTES, 1000));
	assert_false(recording_is_due(&recording, LIMIT_INDEX_BYTES, 1000 + LIMIT_INDEX_NS - 1));
	assert_true(recording_is_due(&recording, LIMIT_INDEX_BYTES, 1000 + LIMIT_INDEX_NS));
	recording.offset = LIMIT_INDEX_BYTES - 1;
	assert_false(recording_is_due(&recording, LIMIT_INDEX_BYTES, 1000));
	recording.offset = LIMIT_INDEX_BYTES;
	assert_true(recording_is_due(&recording, LIMIT_INDEX_BYTES, 1000));
}

static void each_point_tells_of_the_part_before_it_and_where_that_began(void **state)
{
	struct message message;

	(void)state;
	recording_index(&recording, 1000, &message);
	assert_int_equal(message.kind, KIND_INDEX);
	assert_int_equal(message.index.offset, 0);
	assert_int_equal(message.index.previous, 0);
	recording.offset = 5000;
	recording.last_ns = 1800;
	recording.events = 7;
	recording_index(&recording, 2000, &message);
	assert_int_equal(message.index.offset, 5000);
	assert_int_equal(message.index.first_ns, 1000);
	assert_int_equal(message.index.last_ns, 1800);
	assert_int_equal(message.index.events, 7);
	assert_int_equal(message.index.previous, 0);
	recording.offset = 9000;
	recording_index(&recording, 3000, &message);
	assert_int_equal(message.index.previous, 5000);
	assert_int_equal(message.index.events, 0);
}

static void the_end_says_where_the_last_point_is(void **state)
{
	uint8_t end[RECORDING_END_BYTES];
	uint64_t index_offset = 0, index_count = 0;
	struct message message;

	(void)state;
	recording_index(&recording, 1000, &message);
	recording.offset = 1ull << 40;
	recording_index(&recording, 2000, &message);
	recording_end(&recording, end, marker, 99);
	assert_true(recording_end_read(end, &index_offset, &index_count));
	assert_int_equal(index_offset, 1ull << 40);
	assert_int_equal(index_count, 2);
}

static void a_damaged_end_is_none(void **state)
{
	uint8_t end[RECORDING_END_BYTES];
	uint64_t index_offset = 0, index_count = 0;

	(void)state;
	recording_end(&recording, end, marker, 99);
	for (size_t bit = 0; bit < sizeof end * 8; bit++) {
		end[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (bit / 8 != sizeof end - 5)          /* the type byte of the CRC is not checked */
			assert_false(recording_end_read(end, &index_offset, &index_count));
		end[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(recording_end_read(end, &index_offset, &index_count));
	memset(end, 0, sizeof end);
	assert_false(recording_end_read(end, &index_offset, &index_count));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_point_is_due_at_the_start_and_after_bytes_or_time, setup),
		cmocka_unit_test_setup(each_point_tells_of_the_part_before_it_and_where_that_began, setup),
		cmocka_unit_test_setup(the_end_says_where_the_last_point_is, setup),
		cmocka_unit_test_setup(a_damaged_end_is_none, setup),
	};

	return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
