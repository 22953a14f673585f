/* crc32c.h -- CRC-32C (Castagnoli, RFC 3720 appendix B.4), with the CPU's instruction where it has
 * one. Any thread may call. */
#ifndef TELEM_PROTOCOL_CRC32C_H
#define TELEM_PROTOCOL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *bytes, size_t count);
/* The same value without the CPU's instruction, for tests and for other CPUs. */
uint32_t crc32c_portable(const void *bytes, size_t count);
#endif
