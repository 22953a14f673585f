/* message.h -- the kinds of message and their fields, made from the rows of kinds.def.
 *
 * On the wire a message is the msgpack array [kind, field, ...]. In the program it is a struct
 * message, whose texts and lists are borrowed: from the caller while encoding, from the decoder
 * (valid until its next call) after decoding. */
#ifndef TELEM_PROTOCOL_MESSAGE_H
#define TELEM_PROTOCOL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOCOL_MAJOR 1
#define PROTOCOL_MINOR 0

/* What a site measures. The numbers are the wire. */
enum site_kind {
	SITE_SPAN = 1, SITE_LATENCY, SITE_VALUE, SITE_COUNTER, SITE_GAUGE, SITE_ALLOC, SITE_MARK, SITE_EVENT, SITE_LOG,
	SITE_TAG, SITE_KIND_COUNT
};
/* The detail of a span: it is a pause of a garbage collector, or a frame. */
enum { SPAN_IS_PAUSE = 1, SPAN_IS_FRAME = 2 };
/* The detail of an allocation type: its frees are not told by type, but all of them together by a type of the other
 * detail, which has no allocations. */
enum { ALLOC_IS_FREED_ELSEWHERE = 1, ALLOC_IS_FREES = 2 };
/* The detail of a latency: it is how long the allocations of a type lived, estimated from those that were sampled. */
enum { LATENCY_IS_LIFETIME = 1 };
/* Numbers in a row of HELD, and in one of HOLDERS. */
enum { HELD_NUMBERS = 7, HOLDER_NUMBERS = 6 };
/* So many rows fit into one message, because a number has at most nine bytes. */
enum { HELD_ROWS = 48, HOLDER_ROWS = 64 };
/* In LIMIT: this part of the limit stays as it is. */
#define LIMIT_AS_IT_IS UINT64_MAX
/* In WATCH: which use of frames a viewer starts or ends. */
enum { WATCH_RECORDING = 0, WATCH_INSPECTION = 1, WATCH_BUDGETS = 2, WATCH_COUNT };
/* FRAME.broken is a sum of these: which parts of its budget the frame exceeded. FRAME.figures
 * begins with one count of log lines for each severity. */
enum { BROKE_TIME = 1, BROKE_HEAP = 2, BROKE_LOGS = 4, BROKE_COUNTER = 8 };
enum { SEVERITY_COUNT = 5 };
/* The name of a site's kind, "span" or "latency" for example; "?" for an unknown one. */
const char *site_kind_name(unsigned kind);
/* Sites of these kinds have a distribution: count, sum, min, max and a histogram. */
static inline bool site_kind_is_timed(unsigned kind)
{
	return kind >= SITE_SPAN && kind <= SITE_VALUE;
}

enum site_unit { UNIT_PLAIN = 0, UNIT_TIME = 1, UNIT_SIZE = 2 };

enum level { LEVEL_OFF = 0, LEVEL_SUM = 1, LEVEL_ALL = 2, LEVEL_OWN = 255 /* in SET_LEVEL: give the lease back */ };
const char *level_name(unsigned level);

/* The name of a log line's severity, "debug" to "fatal"; "?" for an unknown one. */
const char *severity_name(unsigned severity);

/* The codes of an ACK. */
enum ack_code { ACK_DONE = 0, ACK_UNKNOWN = 1, ACK_BAD = 2, ACK_DENIED = 3, ACK_LIMIT = 4, ACK_NO_SUCH = 5 };

/* Task ids in VALUES and BOOKS: the whole program, the sum of all ended tasks, and the first real task. */
enum { TASK_ALL = 0, TASK_ENDED = 1, TASK_FIRST = 2 };

struct text { const char *bytes; uint32_t length; };

enum number_type { NUMBER_UINT, NUMBER_INT /* negative */, NUMBER_DOUBLE };
struct number { uint64_t bits; enum number_type type; };

struct event { uint64_t value; uint32_t dt_ns; uint32_t site; };

struct list { const struct number *numbers; uint32_t count; };
struct texts { const struct text *texts; uint32_t count; };
struct events { const struct event *events; uint32_t count; };

#define MESSAGE_FIELD_UINT(name) uint64_t name;
#define MESSAGE_FIELD_INT(name) int64_t name;
#define MESSAGE_FIELD_TEXT(name) struct text name;
#define MESSAGE_FIELD_BIN(name) struct text name;
#define MESSAGE_FIELD_LIST(name) struct list name;
#define MESSAGE_FIELD_TEXTS(name) struct texts name;
#define MESSAGE_FIELD_EVENTS(name) struct events name;

enum kind {
#define F(type, name)
#define KIND(id, NAME, name, fields) KIND_##NAME = id,
#include "protocol/kinds.def"
#undef KIND
#undef F
};

#define F(type, name) MESSAGE_FIELD_##type(name)
#define KIND(id, NAME, name, fields) struct message_##name { fields };
#include "protocol/kinds.def"
#undef KIND
#undef F

struct message {
	enum kind kind;
	uint32_t field_count;        /* how many fields the wire had; the others are 0 or empty */
	union {
#define F(type, name)
#define KIND(id, NAME, name, fields) struct message_##name name;
#include "protocol/kinds.def"
#undef KIND
#undef F
	};
};

enum field_type { FIELD_UINT, FIELD_INT, FIELD_TEXT, FIELD_BIN, FIELD_LIST, FIELD_TEXTS, FIELD_EVENTS };
/* The bytes a field takes in its struct. Fields lie in the order of the row, without padding. */
size_t field_bytes(enum field_type type);
#ifndef PROTOCOL_GUEST
enum { PROTOCOL_IS_GUEST = 0 };
struct field_row { const char *name; enum field_type type; };
struct kind_row { uint16_t id, field_count; const char *name; const struct field_row *fields; };
#else                                   /* in libtelem: it prints no names and decodes no events */
enum { PROTOCOL_IS_GUEST = 1 };
struct field_row { uint8_t type; };
struct kind_row { uint16_t id, field_count; const struct field_row *fields; };
#endif

extern const struct kind_row kind_rows[];
extern const size_t kind_row_count;
/* The row of a kind, or NULL when the kind is unknown. */
const struct kind_row *kind_row(uint64_t id);

static inline struct text text_of(const char *string)
{
	return (struct text){ string, (uint32_t)__builtin_strlen(string) };
}
static inline struct number number_of(uint64_t value)
{
	return (struct number){ value, NUMBER_UINT };
}
#endif
