/* session.h -- one watched program: bytes in, blocks checked, messages applied, requests
 * answered, and what was lost on the way noticed.
 *
 * Knows no clock: whoever has one says what time it is. */
#ifndef TELEM_MONITOR_SESSION_SESSION_H
#define TELEM_MONITOR_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/model/model.h"
#include "monitor/session/observer.h"
#include "monitor/source/problem.h"
#include "protocol/block.h"
#include "protocol/decode.h"

#define SESSION_REQUESTS 128         /* waiting for their ACK at once; older ones are forgotten */

struct request {
	uint32_t id;                 /* 0: free */
	enum kind kind;
	uint32_t class_id, site;
	uint8_t level;
	bool is_answered;
	uint64_t sent_ns;            /* of the viewer's clock */
	uint32_t code;
	char text[LIMIT_PATH_BYTES];
};

struct session {
	struct block_reader *reader; /* own */
	struct decoder *decoder;     /* own */
	struct model *model;         /* own */
	const char *what;            /* borrowed: its address, for messages */
	size_t lead_bytes_max;       /* before a first HELLO it may be something else */
	uint64_t last_number;        /* of shared blocks; 0: none yet */
	bool has_number;
	bool has_ended;              /* an END came: the next HELLO begins anew */
	uint64_t now_ns;             /* of the viewer's clock, as last told */
	struct request requests[SESSION_REQUESTS];
	uint32_t next_request, answer_count;
	bool is_foreign;             /* no telemetry stream: problem says so */
	struct problem problem;
	struct observer *observers;  /* borrowed, in the order in which they came */
	/* Each HELD; may be NULL. */
	void (*held)(void *arg, const struct message_held *held);
	void *held_arg;
};

/* 0 or -ENOMEM. */
int session_init(struct session *session, const char *what, size_t lead_bytes_max);
void session_fini(struct session *session);

/* The session calls the observer from now on, after those that came before it, until
 * session_ignore(). The observer is the caller's, and must live until then. */
void session_observe(struct session *session, struct observer *observer);
/* Does nothing for an observer that the session does not have. */
void session_ignore(struct session *session, struct observer *observer);

/* Where bytes go, and that they came. After filled: session.problem is set when this is no
 * stream (EXIT_CONNECTION or EXIT_RECORDING as given by bad_code) or of a version we do not
 * know (EXIT_VERSION). */
uint8_t *session_room(struct session *session, size_t *room);
void session_filled(struct session *session, size_t count, uint64_t now_ns);
/* For replay: the bytes are there, but only one block is applied; false: none whole. */
void session_hold(struct session *session, size_t count);
bool session_step(struct session *session, uint64_t now_ns);
/* The connection was lost, or the file is read from elsewhere. */
void session_gap(struct session *session, uint64_t offset);
/* Forgets everything: a replay that starts again. */
int session_restart(struct session *session, uint64_t offset);
/* Is it of a version we know? Else the session is foreign, and problem says why. */
void session_check_version(struct session *session, const struct message_hello *hello);
/* No more bytes will come: sets problem when none of them made a stream. */
void session_end(struct session *session, int bad_code);

/* A request ready to be sent; remembers it. Returns its bytes in out. */
size_t session_request(struct session *session, const struct message *message, uint8_t out[LIMIT_REQUEST_BYTES],
		       uint32_t *id);
const struct request *session_request_of(const struct session *session, uint32_t id);
#endif
