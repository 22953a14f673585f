/* bench_decode.c -- decodes the same bytes with our reader and with msgpack-c's own API, in one
 * run.
 *
 * Each decoder must find as many events, and the same sums of values and of times, as the stream
 * was made with; otherwise the run does not count. Time is the CPU time of the only thread, so that
 * other programs on the machine are not included. */
#include <msgpack.h>

#include "bench/harness.h"
#include "bench/wire.h"
#include "monitor/model/model.h"
#include "protocol/block.h"
#include "protocol/decode.h"

enum { EVENTS = 300000, PIECE = 1 << 16 };

/* The sums over all decoded events. */
struct sums { uint64_t events, values, dts, by_site[256]; };

static inline void sums_add(struct sums *sums, uint32_t site, uint64_t dt, uint64_t value)
{
	sums->events++;
	sums->values += value;
	sums->dts += dt;
	sums->by_site[site & 255]++;
}

struct job {
	const struct stream_bytes *stream;
	void (*decode)(const struct stream_bytes *stream, struct sums *sums);
	void (*base)(const struct stream_bytes *stream, struct sums *sums);
	struct figure *figure;
	bool only_bytes;             /* nothing is decoded, and the unit is GB/s */
};

/* ---- ours ---- */

static void sums_message(struct sums *sums, const struct message *message)
{
	const struct events *events = &message->batch.events;

	if (message->kind == KIND_BATCH)
		for (uint32_t i = 0; i < events->count; i++)
			sums_add(sums, events->events[i].site, events->events[i].dt_ns, events->events[i].value);
}

static void by_decoder(const struct stream_bytes *stream, struct sums *sums)
{
	struct decoder *decoder = decoder_new();
	const uint8_t *bytes = stream->bytes;
	size_t count = stream->count;
	struct message message;

	wire_check(decoder != NULL, "no memory");
	while (count > 0)
		if (decode_next(decoder, &bytes, &count, &message) == DECODE_MESSAGE)
			sums_message(sums, &message);
	decoder_free(decoder);
}

static struct block_reader reader;

/* Feeds the stream to the block reader in pieces, as they arrive from a socket. Without a decoder,
 * blocks are found and checked only. With a model, messages are applied to it. */
static void by_blocks(const struct stream_bytes *stream, struct decoder *decoder, struct sums *sums, struct model *model)
{
	struct block block;
	struct message message;

	block_reader_init(&reader);
	for (size_t at = 0; at < stream->count;) {
		size_t room, piece = stream->count - at;
		uint8_t *to = block_reader_room(&reader, &room);

		piece = piece < room ? piece : room;
		piece = piece < PIECE ? piece : PIECE;
		memcpy(to, stream->bytes + at, piece);
		block_reader_filled(&reader, piece);
		at += piece;
		while (block_reader_next(&reader, &block) == BLOCK_WHOLE) {
			const uint8_t *bytes = block.bytes;
			size_t count = block.byte_count;

			sums->by_site[0] += block.byte_count + CHECK_BYTES;
			while (decoder && count > 0) {
				size_t before = count;

				if (decode_next(decoder, &bytes, &count, &message) != DECODE_MESSAGE)
					continue;
				if (model)
					model_apply(model, &message, (uint32_t)(before - count));
				else
					sums_message(sums, &message);
			}
		}
	}
}

static void by_block_reader(const struct stream_bytes *stream, struct sums *sums)
{
	by_blocks(stream, NULL, sums, NULL);
}

static void by_road(const struct stream_bytes *stream, struct sums *sums)
{
	struct decoder *decoder = decoder_new();

	wire_check(decoder != NULL, "no memory");
	by_blocks(stream, decoder, sums, NULL);
	decoder_free(decoder);
}

static struct model *model;
static struct decoder *model_decoder;

static void by_model(const struct stream_bytes *stream, struct sums *sums)
{
	uint64_t before = model_link(model)->events;

	by_blocks(stream, model_decoder, sums, model);
	/* The model has no sums of single values to compare. */
	sums->events = model_link(model)->events - before;
	sums->values = stream->value_sum;
	sums->dts = stream->dt_sum;
}

/* ---- msgpack-c ---- */

static void sums_object(struct sums *sums, const msgpack_object *object)
{
	const msgpack_object *items = object->via.array.ptr, *fields;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size < 5 || items[0].via.u64 != KIND_BATCH ||
	    items[4].type != MSGPACK_OBJECT_ARRAY)
		return;
	fields = items[4].via.array.ptr;
	for (uint32_t i = 0; i + 3 <= items[4].via.array.size; i += 3)
		sums_add(sums, (uint32_t)fields[i].via.u64, fields[i + 1].via.u64, fields[i + 2].via.u64);
}

static void by_unpack_next(const struct stream_bytes *stream, struct sums *sums)
{
	msgpack_unpacked unpacked;
	size_t at = 0;

	msgpack_unpacked_init(&unpacked);
	while (msgpack_unpack_next(&unpacked, (const char *)stream->bytes, stream->count, &at) == MSGPACK_UNPACK_SUCCESS)
		sums_object(sums, &unpacked.data);
	msgpack_unpacked_destroy(&unpacked);
}

static void by_unpacker(const struct stream_bytes *stream, struct sums *sums)
{
	msgpack_unpacked unpacked;
	msgpack_unpacker unpacker;

	wire_check(msgpack_unpacker_init(&unpacker, 2 * PIECE), "no memory");
	msgpack_unpacked_init(&unpacked);
	for (size_t at = 0; at < stream->count;) {
		size_t piece = stream->count - at < PIECE ? stream->count - at : PIECE;

		if (msgpack_unpacker_buffer_capacity(&unpacker) < piece)
			wire_check(msgpack_unpacker_reserve_buffer(&unpacker, piece), "no memory");
		memcpy(msgpack_unpacker_buffer(&unpacker), stream->bytes + at, piece);
		msgpack_unpacker_buffer_consumed(&unpacker, piece);
		at += piece;
		while (msgpack_unpacker_next(&unpacker, &unpacked) == MSGPACK_UNPACK_SUCCESS)
			sums_object(sums, &unpacked.data);
	}
	msgpack_unpacked_destroy(&unpacked);
	msgpack_unpacker_destroy(&unpacker);
}

/* Copies the same pieces to the same kind of buffer. */
static void by_memcpy(const struct stream_bytes *stream, struct sums *sums)
{
	for (size_t at = 0; at < stream->count; at += PIECE) {
		size_t piece = stream->count - at < PIECE ? stream->count - at : PIECE;

		memcpy(reader.bytes, stream->bytes + at, piece);
		BARRIER();
	}
	sums->by_site[0] = stream->count;
}

/* ---- running ---- */

static bool run_one(const struct job *job, void (*decode)(const struct stream_bytes *, struct sums *), double *rate)
{
	struct sums sums = { .events = 0 };
	uint64_t start = thread_cpu_ns(), took;

	decode(job->stream, &sums);
	took = thread_cpu_ns() - start;
	if (job->only_bytes) {
		*rate = (double)job->stream->count / (double)took;
		return sums.by_site[0] == job->stream->count;
	}
	*rate = (double)job->stream->events * 1000 / (double)took;
	return sums.events == job->stream->events && sums.values == job->stream->value_sum &&
	       sums.dts == job->stream->dt_sum;
}

static bool run_job(void *arg, double *value, double *base)
{
	struct job *job = arg;

	*base = 0;
	if (!run_one(job, job->decode, value) || (job->base && !run_one(job, job->base, base))) {
		snprintf(job->figure->note, sizeof job->figure->note, "wrong sums");
		return false;
	}
	return true;
}

static void measure(const char *row, const struct job *what, const char *of, double target)
{
	struct figure figure = { .row = row, .unit = what->only_bytes ? "GB/s" : "M events/s", .of = of,
				 .value_at_least = target };
	struct job job = *what;

	job.figure = &figure;
	figure_run(&figure, run_job, &job);
	figure_print(&figure);
}

static void measure_width(const char *name, enum width width, double target)
{
	struct stream_bytes stream = wire_stream(width, EVENTS);
	char row[64];

#define MEASURE(what_, decode_, base_, of_, target_)                                             \
	snprintf(row, sizeof row, "%s: " what_, name);                                           \
	measure(row, &(struct job){ .stream = &stream, .decode = decode_, .base = base_ }, of_, target_)

	MEASURE("msgpack_unpack_next", by_unpack_next, NULL, "", 0);
	MEASURE("msgpack_unpacker", by_unpacker, by_unpack_next, "unpack_next", 0);
	MEASURE("decoder", by_decoder, by_unpack_next, "unpack_next", target);
	MEASURE("blocks, decoder", by_road, by_unpacker, "unpacker", target);
	MEASURE("blocks, decoder, model", by_model, by_unpacker, "unpacker", 0);
	if (width == WIDTH_NARROW) {
		measure("blocks found and checked, no decoder",
			&(struct job){ .stream = &stream, .decode = by_block_reader, .base = by_memcpy, .only_bytes = true },
			"memcpy", 0);
		measure("memcpy", &(struct job){ .stream = &stream, .decode = by_memcpy, .only_bytes = true }, "", 0);
	}
	free(stream.bytes);
}

int main(void)
{
	cpus_find();
	pin(cpu_last());
	model = model_new();
	model_decoder = decoder_new();
	wire_check(model && model_decoder, "no memory");
	measure_width("decode 13-byte events", WIDTH_NARROW, 150);
	measure_width("decode 17-byte events", WIDTH_WIDE, 150);
	measure_width("decode shortest form", WIDTH_SHORTEST, 60);
	decoder_free(model_decoder);
	model_free(model);
	return 0;
}
