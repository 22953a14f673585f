/* wire.h -- streams for benches: events in blocks, made by the real encoder. */
#ifndef TELEM_BENCH_WIRE_H
#define TELEM_BENCH_WIRE_H

#include <msgpack.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/block.h"
#include "protocol/encode.h"

#define WIRE_SITES 40

enum width { WIDTH_NARROW, WIDTH_WIDE, WIDTH_SHORTEST };

struct stream_bytes {
	uint8_t *bytes;              /* owned */
	size_t count;                /* all bytes; the first first_count of them are the block of the greeting */
	size_t first_count;
	uint64_t events, value_sum, dt_sum;
};

static inline uint64_t wire_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Makes an event. Narrow values have up to 32 bits, other values up to 48; how many is random too. */
static inline struct event wire_event(uint64_t *state, enum width width)
{
	uint64_t random = wire_random(state), bits = wire_random(state);

	return (struct event){ .site = 1 + (uint32_t)(random % WIRE_SITES), .dt_ns = 0,
			       .value = width == WIDTH_NARROW ? (uint32_t)bits >> (random >> 59)
							      : (bits & 0xffffffffffff) >> (random >> 58) % 48 };
}

static inline void wire_seal(struct stream_bytes *stream, uint32_t used, const uint8_t *marker, uint64_t *number)
{
	stream->count += block_seal(stream->bytes + stream->count, used, marker, ++*number);
}

static inline void wire_check(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* Writes HELLO, one class and its sites. */
static inline void wire_greet(struct stream_bytes *stream, const uint8_t *marker, uint64_t *number)
{
	struct encoder encoder;
	struct message hello = { .kind = KIND_HELLO, .hello = {
		.major = PROTOCOL_MAJOR, .minor = PROTOCOL_MINOR, .stream = 1, .pid = 1, .mono_ns = 1000000000,
		.real_ns = 1700000000000000000, .marker = { (const char *)marker, MARKER_BYTES }, .name = text_of("bench"),
		.host = text_of("here"), .version = text_of("0"), .resolution_ns = 1, .tick_ns = LIMIT_TICK_NS_DEFAULT,
		.flush_ns = LIMIT_FLUSH_NS_DEFAULT, .ring_bytes = LIMIT_RING_BYTES_DEFAULT } };
	struct message class = { .kind = KIND_CLASS, .class = { .id = 5, .name = text_of("bench"), .help = text_of(""),
								 .level = LEVEL_ALL, .own_level = LEVEL_ALL } };
	struct message task = { .kind = KIND_TASK, .task = { .id = TASK_FIRST, .name = text_of("main"), .thread_id = 1 } };
	bool fits;

	encoder_init(&encoder, stream->bytes, BLOCK_ROOM);
	fits = encode_message(&encoder, &hello) && encode_message(&encoder, &class) && encode_message(&encoder, &task);
	for (uint32_t i = 1; i <= WIRE_SITES; i++) {
		char name[16];
		struct message site = { .kind = KIND_SITE, .site = { .id = i, .class_id = 5, .kind = SITE_MARK,
								      .level = LEVEL_ALL, .own_level = LEVEL_OWN } };

		snprintf(name, sizeof name, "site %u", i);
		site.site.name = text_of(name);
		site.site.file = text_of("x.c");
		fits = fits && encode_message(&encoder, &site);
	}
	wire_check(fits, "the greeting does not fit in a block");
	wire_seal(stream, encoder.used, marker, number);
	stream->first_count = stream->count;
}

/* Writes one block of events in fixed widths. */
static inline void wire_fixed(struct stream_bytes *stream, struct encoder *encoder, uint64_t *state, enum width width,
			      uint64_t *time_ns, uint64_t event_count)
{
	struct batch_encoder batch;
	uint64_t base_ns = *time_ns;

	wire_check(batch_begin(&batch, encoder, TASK_FIRST, stream->events, base_ns, width == WIDTH_WIDE), "no room");
	while (stream->events < event_count) {
		uint64_t before = *state;
		struct event event = wire_event(state, width);

		if (!batch_add(&batch, event.site, *time_ns, event.value)) {
			*state = before;
			break;
		}
		stream->value_sum += event.value;
		stream->dt_sum += *time_ns - base_ns;
		stream->events++;
		*time_ns += 20 + (*state & 63);
	}
	batch_end(&batch);
}

/* Writes the same with each number in its shortest form, as msgpack-c itself packs it. */
static inline void wire_shortest(struct stream_bytes *stream, struct encoder *encoder, uint64_t *state,
				 uint64_t *time_ns, uint64_t event_count)
{
	msgpack_sbuffer buffer;
	msgpack_packer packer;
	uint64_t base_ns = *time_ns, left = event_count - stream->events;
	/* An event takes at most 14 bytes. */
	uint32_t count = left < BLOCK_ROOM / 15 ? (uint32_t)left : BLOCK_ROOM / 15;

	msgpack_sbuffer_init(&buffer);
	msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
	msgpack_pack_array(&packer, 5);
	msgpack_pack_uint64(&packer, KIND_BATCH);
	msgpack_pack_uint64(&packer, TASK_FIRST);
	msgpack_pack_uint64(&packer, stream->events);
	msgpack_pack_uint64(&packer, base_ns);
	msgpack_pack_array(&packer, count * 3);
	for (uint32_t i = 0; i < count; i++) {
		struct event event = wire_event(state, WIDTH_SHORTEST);

		msgpack_pack_uint64(&packer, event.site);
		msgpack_pack_uint64(&packer, *time_ns - base_ns);
		msgpack_pack_uint64(&packer, event.value);
		stream->value_sum += event.value;
		stream->dt_sum += *time_ns - base_ns;
		stream->events++;
		*time_ns += 20 + (*state & 63);
	}
	wire_check(buffer.size <= BLOCK_ROOM, "no room");
	memcpy(encoder->bytes, buffer.data, buffer.size);
	encoder->used = (uint32_t)buffer.size;
	msgpack_sbuffer_destroy(&buffer);
}

static inline struct stream_bytes wire_stream(enum width width, uint64_t event_count)
{
	/* The most: 17 bytes for an event, and its share of CHECK and BATCH. */
	struct stream_bytes stream = { .bytes = malloc(event_count * 18 + 64 * LIMIT_BLOCK_BYTES) };
	uint8_t marker[MARKER_BYTES];
	uint64_t number = 0, state = 88172645463325252ull, time_ns = 2000000000;

	wire_check(stream.bytes != NULL, "no memory");
	marker_make(marker, (const uint8_t *)"benchmrk");
	wire_greet(&stream, marker, &number);
	while (stream.events < event_count) {
		struct encoder encoder;

		encoder_init(&encoder, stream.bytes + stream.count, BLOCK_ROOM);
		if (width == WIDTH_SHORTEST)
			wire_shortest(&stream, &encoder, &state, &time_ns, event_count);
		else
			wire_fixed(&stream, &encoder, &state, width, &time_ns, event_count);
		wire_seal(&stream, encoder.used, marker, &number);
	}
	return stream;
}
#endif
