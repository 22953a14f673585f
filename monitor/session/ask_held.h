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
	struct held_sample *samples;         /* own */
	uint32_t count, room;
	/* Private. */
	struct controls *controls;
	struct observer observer;
	uint64_t from;
	uint32_t page_count;
	bool is_asking;
	controls_answered *done;
	void *arg;
};

/* Asks for all samples. done is called once, with the last answer, whose code is ACK_DONE when the samples are here,
 * sorted as held_sort() does.
 * Returns 0, or what controls_request() returns. */
int held_ask(struct held *held, struct controls *controls, controls_answered *done, void *arg);
/* Stops asking, and frees the samples. */
void held_fini(struct held *held);
#endif
