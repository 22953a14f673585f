/* wire.h -- the wire in tests: streams made by the real encoder, bytes read from hex, messages
 * shown as text, and results combined into a digest so that they can be compared.
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
	uint8_t *bytes;                  /* owned; the closed blocks */
	size_t count;
	uint8_t marker[MARKER_BYTES];
	uint64_t stream, number;         /* number: that of the last closed block */
	uint8_t block[LIMIT_BLOCK_BYTES];
	struct encoder encoder;          /* writes into block */
};

/* Starts a stream with this id; the marker follows from it. End with wire_fini(). */
void wire_init(struct wire *wire, uint64_t stream);
void wire_fini(struct wire *wire);
/* Adds a message; closes the block first when the message does not fit. Fails the test when it fits
 * in no block. */
void wire_message(struct wire *wire, const struct message *message);
/* Adds a message from the fields of its kind: wire_add(&wire, PING, ping, .request = 1). */
#define wire_add(wire, KIND, kind_, ...) \
	wire_message((wire), &(struct message){ .kind = KIND_##KIND, .kind_ = { __VA_ARGS__ } })
/* Opens a block with HELLO. */
void wire_hello(struct wire *wire);
struct message_hello wire_hello_fields(const struct wire *wire);
/* Adds a log line of any bytes. */
void wire_log(struct wire *wire, const void *text, uint32_t length);
/* Closes the block if it has any message. */
void wire_close(struct wire *wire);
/* Adds bytes between two blocks. */
void wire_raw(struct wire *wire, const void *bytes, size_t count);

/* Converts hex digits to bytes. Blanks and '-' between them are ignored, and so is everything from
 * '#' to the end of its line. Fails the test when the bytes do not fit or are not hex. Returns how
 * many there are. */
size_t hex_read(const char *hex, uint8_t *out, size_t room);
/* Reads a file of commented hex; the caller frees the bytes. */
uint8_t *hex_file(const char *path, size_t *count);

/* Prints a message as one line without its newline: "ack request=7 code=0 text="done"". */
void message_show(FILE *out, const struct message *message);
/* Compares all fields, including the contents of texts and lists. Returns 1 when they are equal. */
int message_equal(const struct message *a, const struct message *b);

/* A digest of a sequence of results, to compare two ways of computing them. */
struct digest { uint64_t hash, count; };
void digest_add(struct digest *digest, const void *bytes, size_t count);
void digest_number(struct digest *digest, uint64_t number);

/* splitmix64 */
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t limit);
/* Returns the seed from the environment variable SEED, or else fallback, and prints it. */
uint64_t random_seed(uint64_t fallback);
#endif
