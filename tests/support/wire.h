/* wire.h -- the wire for tests: streams made by the real encoder, bytes read from hex,
 * messages shown as text, and answers put together so that they can be compared.
 *
 * Everything is deterministic; randomness comes from a seed that the test prints. */
#ifndef TELEM_TESTS_SUPPORT_WIRE_H
#define TELEM_TESTS_SUPPORT_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "protocol/block.h"
#include "protocol/encode.h"
#include "protocol/message.h"

/* A stream in memory. */
struct wire {
	uint8_t *bytes;                  /* own; blocks that are closed */
	size_t count;
	uint8_t marker[MARKER_BYTES];
	uint64_t stream, number;         /* number: of the last closed block */
	uint8_t block[LIMIT_BLOCK_BYTES];
	struct encoder encoder;          /* into block */
};

/* Stream id and marker follow from stream. End with wire_fini(). */
void wire_init(struct wire *wire, uint64_t stream);
void wire_fini(struct wire *wire);
/* Closes the block first when the message does not fit; fails the test when it never will. */
void wire_message(struct wire *wire, const struct message *message);
/* The same, made of the kind's own struct: wire_add(&wire, PING, ping, .request = 1). */
#define wire_add(wire, KIND, kind_, ...) \
	wire_message((wire), &(struct message){ .kind = KIND_##KIND, .kind_ = { __VA_ARGS__ } })
/* Opens a block with it. */
void wire_hello(struct wire *wire);
struct message_hello wire_hello_fields(const struct wire *wire);
/* A log line of any bytes. */
void wire_log(struct wire *wire, const void *text, uint32_t length);
/* Closes the block, if it holds anything. */
void wire_close(struct wire *wire);
/* Bytes between blocks. */
void wire_raw(struct wire *wire, const void *bytes, size_t count);

/* Hex digits to bytes; blanks and '-' between them do not count, nor does '#' to the end
 * of its line. Fails the test when they do not fit or are none. Returns how many. */
size_t hex_read(const char *hex, uint8_t *out, size_t room);
/* A file of commented hex; free() it. */
uint8_t *hex_file(const char *path, size_t *count);

/* One line without its end: "ack request=7 code=0 text="done"". */
void message_show(FILE *out, const struct message *message);
/* Compares all fields, through texts and lists. */
int message_equal(const struct message *a, const struct message *b);

/* Answers in a row, for comparing two ways of asking. */
struct digest { uint64_t hash, count; };
void digest_add(struct digest *digest, const void *bytes, size_t count);
void digest_number(struct digest *digest, uint64_t number);

/* splitmix64 */
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t limit);
/* Seed from the environment variable SEED, else fallback; printed. */
uint64_t random_seed(uint64_t fallback);
#endif
