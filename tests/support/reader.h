/* reader.h -- a reader of streams for tests: it decodes every message and stores the figures.
 *
 * It uses protocol/ and nothing of the monitor. Any wrong block, message, sequence number or time
 * fails the test at once. */
#ifndef TELEM_TESTS_SUPPORT_READER_H
#define TELEM_TESTS_SUPPORT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/block.h"
#include "protocol/decode.h"
#include "protocol/histogram.h"
#include "tests/support/proc.h"

struct reader_event { uint32_t task, site; uint64_t time_ns, value; };
/* A site as its definition says, its latest cumulative values for the whole program, and the events
 * that arrived. */
struct reader_site {
	char name[LIMIT_NAME_BYTES];
	uint32_t id, class_id, kind, unit, detail, level, own_level, line, field_count;
	char fields[LIMIT_FIELDS][LIMIT_NAME_BYTES];
	uint32_t every;
	uint64_t count, sum, min, max, bucket_total;
	uint64_t buckets[HISTOGRAM_BUCKETS];
	uint64_t event_count, event_sum;
};
/* What one task holds of one type under one tag, as the program estimates it. */
struct reader_holder { uint64_t type, task, tag, bytes, count, deviation; };
struct reader_class { char name[LIMIT_NAME_BYTES]; uint32_t level, own_level, leases, level_count; char by[64]; };
enum { READER_TASK_SITES = 16384 };
struct reader_task {
	char name[LIMIT_NAME_BYTES];
	uint64_t thread_id, event_count, next_seq;
	bool is_known, has_ended, has_seq;
	uint64_t *sums;                  /* [READER_TASK_SITES], by site, or NULL */
	struct { uint64_t emitted, dropped, taken; } books[LIMIT_CLASSES];
};

struct reader {
	int fd;                          /* owned */
	struct block_reader blocks;
	struct decoder *decoder;
	bool at_end, is_lossy;           /* is_lossy: gaps do not fail the test */
	bool keeps_events;
	uint64_t byte_count, block_count, kind_count[256];
	uint64_t greeting_count;         /* complete greetings, from HELLO to SINK */
	bool is_being_greeted;
	uint64_t pid, stream, control, policy, first_ns;
	char program[128];
	struct reader_class classes[LIMIT_CLASSES];
	struct reader_site *sites;       /* [site_room], by id */
	uint32_t site_room;
	struct reader_task **tasks;      /* [LIMIT_TASKS], by slot; all but TASK_ALL are NULL until they occur */
	uint32_t task_count;             /* slots from here on are NULL */
	uint64_t event_count, gap_count;
	struct reader_event *events;     /* when keeps_events is true */
	size_t event_room;
	struct message_bye bye;
	bool has_bye;
	struct message_sink sink;
	struct message_snapshot snapshot;
	uint64_t ack_request, ack_code, ack_count;
	char ack_text[128], log_text[LIMIT_TEXT_BYTES + 1];
	uint64_t log_cut, log_severity, log_folded;   /* log_folded: total of all lines */
	const char *folded_prefix;       /* texts of FOLDED that begin with it are counted in folded_count; NULL: none */
	uint64_t folded_count;
	struct message_frame frame;      /* the latest one, with its figures in frame_figures */
	uint64_t frame_figures[SEVERITY_COUNT + 2 * LIMIT_COUNTERS_A_FRAME];
	uint64_t frame_broken_count, held_task, held_count, held_next;
	struct reader_holder holders[1024];      /* of the latest tick */
	uint32_t holder_count;
	uint64_t mean_bytes;
	struct number record[LIMIT_FIELDS];
	uint32_t record_count;
	uint64_t next_request;
};

/* Takes fd and makes it non-blocking. End with reader_free(), which accepts NULL. */
struct reader *reader_new(int fd);
/* Connects to a program. Fails the test when it does not listen by the deadline. */
struct reader *reader_unix(const char *path);
struct reader *reader_tcp(uint16_t port);
void reader_free(struct reader *reader);
/* Reads and decodes what is available now. Returns false when nothing was. */
bool reader_pump(struct reader *reader);
/* Reads until the writer closes. */
void reader_to_end(struct reader *reader);
/* Decodes the bytes of a whole recording. */
void reader_feed(struct reader *reader, const uint8_t *bytes, size_t count);

/* Reads until condition is true; fails the test at the deadline. */
#define READ_UNTIL(reader, condition)                                                            \
	do {                                                                                     \
		int64_t read_until_ = proc_now_ms() + 5000 * proc_slowness();                    \
		while (!(condition)) {                                                           \
			if (!reader_pump(reader))                                                \
				reader_wait(reader);                                             \
			if (proc_now_ms() > read_until_)                                         \
				proc_failed("READ_UNTIL(" #condition ")", __FILE__, __LINE__);   \
		}                                                                                \
	} while (0)
/* Waits for bytes, at most a few ms. */
void reader_wait(struct reader *reader);

/* Finds a site by "class.name"; NULL when its definition has not arrived. */
const struct reader_site *reader_site(const struct reader *reader, const char *name);
const struct reader_class *reader_class(const struct reader *reader, const char *name);
const struct reader_task *reader_task(const struct reader *reader, const char *name);
/* reader_send() sends bytes. reader_request() sends a request with the next number, waits for its
 * ACK and returns the code. */
void reader_send(struct reader *reader, const void *bytes, size_t count);
uint64_t reader_request(struct reader *reader, struct message request);
/* Checks that the books of BYE are even, and that exactly the events arrived that were delivered. */
void reader_check_books(const struct reader *reader);
#endif
