/* observer.h -- somebody who looks on while a session hears its stream: a recorder, a
 * subcommand, the owner of the session.
 *
 * An observer changes nothing in the session. All calls come from the session, in the
 * thread that feeds it; an observer may remove itself, and no other, from within a call. */
#ifndef TELEM_MONITOR_SESSION_OBSERVER_H
#define TELEM_MONITOR_SESSION_OBSERVER_H

#include "protocol/block.h"
#include "protocol/message.h"

struct observer {
	/* Each call may be NULL. A whole block with its CHECK right behind it, before its messages are
	 * applied to the model; block is NULL where the stream is cut. */
	void (*on_block)(void *arg, const struct block *block);
	/* A message of the stream, after it was applied to the model. Valid during the call. */
	void (*on_message)(void *arg, const struct message *message);
	/* A tick has come, and the block that closed it is applied: all figures are those of its SNAPSHOT. */
	void (*on_tick)(void *arg);
	void *arg;
	struct observer *next;       /* the session's */
};
#endif
