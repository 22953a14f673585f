#include "protocol/recording.h"

#include <string.h>

#include "protocol/crc32c.h"

bool recording_is_due(const struct recording *recording, uint64_t gap_bytes, uint64_t now_ns)
{
	return recording->index_count == 0 || recording->offset - recording->index_offset >= gap_bytes ||
	       now_ns - recording->index_ns >= LIMIT_INDEX_NS;
}

void recording_index(struct recording *recording, uint64_t now_ns, struct message *out)
{
	*out = (struct message){ .kind = KIND_INDEX,
				 .index = { recording->offset, recording->first_ns, recording->last_ns,
					    recording->events, recording->index_offset } };
	recording->index_offset = recording->offset;
	recording->index_ns = now_ns;
	recording->index_count++;
	recording->first_ns = recording->last_ns = now_ns;
	recording->events = 0;
}

/* On the wire: 94 11, c4 08 magic, cf index_offset, cf index_count, then CHECK. */
void recording_end(const struct recording *recording, uint8_t out[RECORDING_END_BYTES],
		   const uint8_t marker[MARKER_BYTES], uint64_t number)
{
	uint8_t *at = out;

	*at++ = 0x94;
	*at++ = KIND_END;
	at = put_bin(at, end_magic, sizeof end_magic);
	at = put_u64(at, recording->index_offset);
	at = put_u64(at, recording->index_count);
	block_seal(out, (uint32_t)(at - out), marker, number);
}

static uint64_t load_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return __builtin_bswap64(value);
}

bool recording_end_read(const uint8_t bytes[RECORDING_END_BYTES], uint64_t *index_offset, uint64_t *index_count)
{
	uint32_t crc;

	memcpy(&crc, bytes + RECORDING_END_BYTES - 4, sizeof crc);
	if (bytes[0] != 0x94 || bytes[1] != KIND_END || memcmp(bytes + 4, end_magic, sizeof end_magic) ||
	    bytes[12] != 0xcf || bytes[21] != 0xcf ||
	    __builtin_bswap32(crc) != crc32c(bytes, RECORDING_END_BYTES - 5))
		return false;
	*index_offset = load_u64(bytes + 13);
	*index_count = load_u64(bytes + 22);
	return true;
}
