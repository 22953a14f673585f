/* ask_held.h -- asks a program for its live sampled allocations, page by page. */
#ifndef TELEM_MONITOR_SESSION_ASK_HELD_H
#define TELEM_MONITOR_SESSION_ASK_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/model/held.h"
#include "monitor/session/controls.h"
#include "monitor/session/observer.h"

/* Zero is a held that has not asked yet. */
struct held {
	struct held_sample *samples;         /* of the latest complete answer; own */
	uint32_t count;
	/* Private. */
	struct held_sample *coming;          /* of the answer that is not complete yet; own */
	uint32_t coming_count, coming_room;
	uint64_t request;                    /* the one whose rows are awaited */
	struct controls *controls;
	struct observer observer;
	uint64_t from;
	uint32_t page_count;
	bool is_asking;
	controls_answered *done;
	void *arg;
};

/* Asks for all samples, which replace those that are here when the answer is complete. done is called once, with the last
 * answer, whose code is ACK_DONE when the samples are here, sorted as held_sort() does. Returns 0, or what
 * controls_request() returns. */
int held_ask(struct held *held, struct controls *controls, controls_answered *done, void *arg);
/* Stops asking, and frees the samples. */
void held_fini(struct held *held);
#endif
