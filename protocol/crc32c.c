#include "protocol/crc32c.h"

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#ifdef __x86_64__
/* Asked once: cpuid takes microseconds in a virtual machine. (__builtin_cpu_supports()
 * brings 4 KiB of tables.) */
static int cpu_has_crc(void)
{
	static int answer;           /* 1: no, 2: yes */
	int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
	unsigned a, b, c, d;

	if (!known) {
		known = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) ? 2 : 1;
		__atomic_store_n(&answer, known, __ATOMIC_RELAXED);
	}
	return known == 2;
}

__attribute__((target("sse4.2"))) static uint32_t crc_cpu(uint32_t crc, const uint8_t *bytes, size_t count)
{
	uint64_t wide = crc;

	for (; count >= 8; bytes += 8, count -= 8) {
		uint64_t word;

		memcpy(&word, bytes, sizeof word);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	for (; count > 0; bytes++, count--)
		crc = __builtin_ia32_crc32qi(crc, *bytes);
	return crc;
}
#endif

/* Half a byte at a time: a table that fits in a line, for CPUs without the instruction. */
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
	if (cpu_has_crc())
		return ~crc_cpu(~0u, bytes, count);
#endif
	return crc32c_portable(bytes, count);
}
