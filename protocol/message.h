/* message.h -- the kinds of message and their fields, made from the rows of kinds.def.
 *
 * What travels: a message is the msgpack array [kind, field, ...]. Here it is a struct
 * whose texts and lists are borrowed: from the caller when encoding, from the decoder
 * (valid until its next call) when decoding. */
#ifndef TELEM_PROTOCOL_MESSAGE_H
#define TELEM_PROTOCOL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOCOL_MAJOR 1
#define PROTOCOL_MINOR 0

/* What a site is. Ids are the wire. */
enum site_kind {
	SITE_SPAN = 1, SITE_LATENCY, SITE_VALUE, SITE_COUNTER, SITE_GAUGE, SITE_ALLOC, SITE_MARK, SITE_EVENT, SITE_LOG,
	SITE_TAG, SITE_KIND_COUNT
};
/* A span's detail: it is a garbage collector's pause; a frame. */
enum { SPAN_IS_PAUSE = 1, SPAN_IS_FRAME = 2 };
/* LIMIT: that part of a limit does not change. */
#define LIMIT_AS_IT_IS UINT64_MAX
/* WATCH: what of the frames a viewer takes a reference to, or lets go of. */
enum { WATCH_RECORDING = 0, WATCH_INSPECTION = 1, WATCH_BUDGETS = 2, WATCH_COUNT };
/* FRAME.broken: which parts of its budget. FRAME.figures begins with as many counts of log
 * lines as there are severities. */
enum { BROKE_TIME = 1, BROKE_HEAP = 2, BROKE_LOGS = 4, BROKE_COUNTER = 8 };
enum { SEVERITY_COUNT = 5 };
/* "span", "latency", …; "?" for what is unknown. */
const char *site_kind_name(unsigned kind);
/* Has a distribution (count, sum, min, max, histogram). */
static inline bool site_kind_is_timed(unsigned kind)
{
	return kind >= SITE_SPAN && kind <= SITE_VALUE;
}

enum site_unit { UNIT_PLAIN = 0, UNIT_TIME = 1, UNIT_SIZE = 2 };

enum level { LEVEL_OFF = 0, LEVEL_SUM = 1, LEVEL_ALL = 2, LEVEL_OWN = 255 /* SET_LEVEL: give the lease back */ };
const char *level_name(unsigned level);

/* Severity of a log line: "debug" … "fatal". */
const char *severity_name(unsigned severity);

/* ACK codes. */
enum ack_code { ACK_DONE = 0, ACK_UNKNOWN = 1, ACK_BAD = 2, ACK_DENIED = 3, ACK_LIMIT = 4, ACK_NO_SUCH = 5 };

/* The whole program, and the tasks that ended, in VALUES and BOOKS. */
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
	uint32_t field_count;        /* how many fields came; the others are 0 or empty */
	union {
#define F(type, name)
#define KIND(id, NAME, name, fields) struct message_##name name;
#include "protocol/kinds.def"
#undef KIND
#undef F
	};
};

enum field_type { FIELD_UINT, FIELD_INT, FIELD_TEXT, FIELD_BIN, FIELD_LIST, FIELD_TEXTS, FIELD_EVENTS };
/* Bytes of a field in its struct; fields lie in the row's order without padding. */
size_t field_bytes(enum field_type type);
#ifndef PROTOCOL_GUEST
enum { PROTOCOL_IS_GUEST = 0 };
struct field_row { const char *name; enum field_type type; };
struct kind_row { uint16_t id, field_count; const char *name; const struct field_row *fields; };
#else                                   /* in libtelem: no names, and no events are read */
enum { PROTOCOL_IS_GUEST = 1 };
struct field_row { uint8_t type; };
struct kind_row { uint16_t id, field_count; const struct field_row *fields; };
#endif

extern const struct kind_row kind_rows[];
extern const size_t kind_row_count;
/* NULL for an unknown kind. */
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
