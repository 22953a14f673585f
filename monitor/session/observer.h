/* observer.h -- what a session calls while it hears its stream: a recorder, a timeline, the controls, a subcommand.
 *
 * An observer changes nothing in the session, but it may send requests to the program through the controls. All calls
 * come from the session, in the thread that feeds it. During a call an observer may remove itself; the controls, which
 * come first, may also remove the one that waits for an answer. */
#ifndef TELEM_MONITOR_SESSION_OBSERVER_H
#define TELEM_MONITOR_SESSION_OBSERVER_H

#include "protocol/block.h"
#include "protocol/message.h"

struct observer {
	/* Each function may be NULL. on_block() gets a whole block, with its CHECK right behind it, before its messages are
	 * applied to the model; block is NULL where the stream is cut. */
	void (*on_block)(void *arg, const struct block *block);
	/* Gets a message of the stream after it was applied to the model. The message is valid during the call. */
	void (*on_message)(void *arg, const struct message *message);
	/* Called after the whole block that ended with a SNAPSHOT was applied: all figures are those of this tick. */
	void (*on_tick)(void *arg);
	void *arg;
	struct observer *next;       /* set by the session */
};
#endif
