/* session.h -- one watched program: bytes come in, blocks are checked, messages are applied to its model, and losses on
 * the way are noticed.
 *
 * A session does not read a clock: its caller says what time it is. It does not know whether its bytes come from the
 * program or from the past. */
#ifndef TELEM_MONITOR_SESSION_SESSION_H
#define TELEM_MONITOR_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/model/model.h"
#include "monitor/session/observer.h"
#include "monitor/source/problem.h"
#include "protocol/decode.h"

struct session {
	struct parser parser;        /* own */
	struct decoder *decoder;     /* own */
	struct model *model;         /* own */
	const char *address;         /* borrowed; for messages */
	size_t lead_bytes_max;       /* before the first greeting so many bytes may be of something else */
	uint64_t last_number;        /* the number of the latest block that went to all viewers; 0: none came yet */
	bool has_number;
	bool has_greeted;            /* at least one whole block came */
	bool has_ended;              /* an END came: the next HELLO begins anew */
	uint64_t now_ns;             /* of the viewer's wall clock, when the latest bytes came; 0: they are of the past */
	struct model_transport transport;
	bool is_foreign;             /* it is not a telemetry stream, or of a version we do not know: see problem */
	struct problem problem;
	struct observer *observers;  /* borrowed, in the order in which they came */
};

/* Returns 0 or -ENOMEM. */
int session_init(struct session *session, const char *address, size_t lead_bytes_max);
void session_fini(struct session *session);

/* The session calls the observer from now on, after those that came before it, until session_unobserve(). The observer
 * is the caller's, and must live until then. */
void session_observe(struct session *session, struct observer *observer);
/* Does nothing for an observer that the session does not have. */
void session_unobserve(struct session *session, struct observer *observer);

/* Returns where the caller shall put the next bytes of the stream, and how many fit there. */
uint8_t *session_room(struct session *session, size_t *room);
/* Takes count bytes that came at now_ns of the wall clock, and applies all whole blocks. Sets the problem when this is
 * not a telemetry stream (EXIT_CONNECTION) or one of a version that we do not know (EXIT_VERSION). */
void session_filled(struct session *session, size_t count, uint64_t now_ns);
/* Takes count bytes and applies nothing: a cursor does that block by block, with session_step(). */
void session_hold(struct session *session, size_t count);
/* Applies the next block. Returns false when there is no whole one. */
bool session_step(struct session *session, uint64_t now_ns);
/* Tells the session that the connection was lost, and that the next bytes begin at this offset of the stream. */
void session_gap(struct session *session, uint64_t offset);
/* Forgets everything but the model's window, to begin anew at an offset. Returns 0, or -ENOMEM when nothing has
 * changed. */
int session_restart(struct session *session, uint64_t offset);
/* Returns EXIT_DONE, or EXIT_VERSION with the problem set when the greeting is of a version that we do not know. */
int session_check_version(const struct message_hello *hello, struct problem *problem);
/* Tells the session that no more bytes will come. When none of those that came made a stream, sets the problem, with the
 * status that the caller has for it. */
void session_end(struct session *session, int status);
/* To be called when nothing has come for so long that nothing is expected any more. Without effect when something has. */
void session_silent(struct session *session, int timeout_s);
#endif
