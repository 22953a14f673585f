#include "protocol/crc32c.h"

#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#ifdef __x86_64__
/* Which instructions the CPU has. cpuid takes microseconds in a virtual machine, so it runs once
 * and the answer is remembered. (__builtin_cpu_supports() would link 4 KiB of tables.) */
enum { NOT_ASKED, HAS_NONE, HAS_CRC, HAS_CRC_AND_PRODUCT };

static int cpu_has(void)
{
	static int answer;
	int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
	unsigned a, b, c, d;

	if (known == NOT_ASKED) {
		known = !__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_2) ? HAS_NONE :
			c & bit_PCLMUL ? HAS_CRC_AND_PRODUCT : HAS_CRC;
		__atomic_store_n(&answer, known, __ATOMIC_RELAXED);
	}
	return known;
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof word);
	return word;
}

/* The crc32 instruction takes one word a cycle but has its result after three cycles: three
 * independent lanes keep it busy.
 *
 * The CRC of a lane is moved over the n bytes that follow by a carry-less product with x^(8n - 33)
 * modulo the polynomial, its bits mirrored: crc32 itself multiplies by x^32, and a product of
 * mirrored numbers by one more x. (V. Gopal and others, Fast CRC Computation for iSCSI Polynomial
 * Using CRC32 Instruction, Intel 2011.) */
#define LANE 336
#define OVER_ONE 0xa60ce07bu
#define OVER_TWO 0xcec3662eu

__attribute__((target("sse4.2,pclmul"))) static inline uint64_t moved(uint64_t crc, uint32_t over)
{
	return (uint64_t)_mm_cvtsi128_si64(_mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)crc),
								_mm_cvtsi64_si128(over), 0));
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t crc_cpu(const uint8_t *bytes, size_t count, bool has_product)
{
	const uint8_t *end = bytes + count;
	uint64_t wide = ~0u;

	for (; has_product && end - bytes >= 3 * LANE; bytes += 3 * LANE) {
		uint64_t second = 0, third = 0, last = word_at(bytes + 3 * LANE - 8);

		for (size_t i = 0; i < LANE; i += 8) {
			wide = _mm_crc32_u64(wide, word_at(bytes + i));
			second = _mm_crc32_u64(second, word_at(bytes + LANE + i));
			if (i < LANE - 8)
				third = _mm_crc32_u64(third, word_at(bytes + 2 * LANE + i));
		}
		wide = _mm_crc32_u64(third, last ^ moved(wide, OVER_TWO) ^ moved(second, OVER_ONE));
	}
	for (; end - bytes >= 8; bytes += 8)
		wide = _mm_crc32_u64(wide, word_at(bytes));
	for (; bytes < end; bytes++)
		wide = _mm_crc32_u8((uint32_t)wide, *bytes);
	return ~(uint32_t)wide;
}
#endif

/* Half a byte at a time, for CPUs without the instruction: the table fits in one cache line. */
uint32_t crc32c_portable(const void *bytes, size_t count)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const uint8_t *at = bytes;
	uint32_t crc = ~0u;

	for (; count > 0; at++, count--) {
		crc ^= *at;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

uint32_t crc32c(const void *bytes, size_t count)
{
#ifdef __x86_64__
	int has = cpu_has();

	if (has != HAS_NONE)
		return crc_cpu(bytes, count, has == HAS_CRC_AND_PRODUCT);
#endif
	return crc32c_portable(bytes, count);
}
