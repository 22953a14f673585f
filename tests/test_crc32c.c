/* The vectors of RFC 3720, appendix B.4, by both ways of computing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/crc32c.h"
#include "tests/support/wire.h"

static const struct { const char *hex; uint32_t crc; } vectors[] = {
	{ "0000000000000000000000000000000000000000000000000000000000000000", 0x8a9136aa },
	{ "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", 0x62a8ab43 },
	{ "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 0x46dd794e },
	{ "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100", 0x113fdb5c },
	{ "01c000000000000000000000000000001400000000000400000000140000001828000000000000000200000000000000", 0xd9963a56 },
	{ "313233343536373839", 0xe3069283 },       /* the usual check value, "123456789" */
	{ "", 0 },
};

static void the_rfcs_vectors_come_out(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		size_t count = hex_read(vectors[i].hex, bytes, sizeof bytes);

		assert_int_equal(crc32c(bytes, count), vectors[i].crc);
		assert_int_equal(crc32c_portable(bytes, count), vectors[i].crc);
	}
}

static void both_ways_agree_at_every_length_and_alignment(void **state)
{
	static uint8_t bytes[4200];
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)random_next(&random);
	for (size_t start = 0; start < 16; start++)
		for (size_t count = 0; count <= 300; count++)
			assert_int_equal(crc32c(bytes + start, count), crc32c_portable(bytes + start, count));
	/* Long inputs are computed in lanes. */
	for (size_t count = 900; count <= 4100; count++)
		assert_int_equal(crc32c(bytes + count % 16, count), crc32c_portable(bytes + count % 16, count));
}

static void every_flipped_bit_shows(void **state)
{
	uint8_t bytes[64] = { 0xc1 };
	uint32_t whole = crc32c(bytes, sizeof bytes);

	(void)state;
	for (size_t bit = 0; bit < sizeof bytes * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_not_equal(crc32c(bytes, sizeof bytes), whole);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rfcs_vectors_come_out),
		cmocka_unit_test(both_ways_agree_at_every_length_and_alignment),
		cmocka_unit_test(every_flipped_bit_shows),
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
