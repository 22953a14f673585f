#include "monitor/session/ask_held.h"

#include <math.h>
#include <stdlib.h>

enum { PAGE = 1024 };                /* samples that one request asks for */

static void add(struct held *held, const struct number *row)
{
	if (held->coming_count == held->coming_room) {
		uint32_t room = held->coming_room ? 2 * held->coming_room : PAGE;
		struct held_sample *samples = NULL;

		if (room <= LIMIT_SAMPLES_MAX)
			samples = realloc(held->coming, room * sizeof *samples);
		if (!samples)
			return;
		held->coming = samples;
		held->coming_room = room;
	}
	held->coming[held->coming_count++] = (struct held_sample){
		.type = (uint32_t)row[0].bits, .bytes = row[1].bits, .born_ns = row[2].bits, .address = row[3].bits,
		.task = (uint32_t)row[4].bits, .tag = (uint32_t)row[5].bits,
		/* The chance of a sample, see emitter/record/sample.h. */
		.weight = row[6].bits && row[1].bits ? -1 / expm1(-(double)row[1].bits / (double)row[6].bits) : 1,
	};
}

static void on_message(void *arg, const struct message *any)
{
	const struct message_held *message = &any->held;
	struct held *held = arg;
	uint32_t count = message->rows.count / HELD_NUMBERS;

	if (any->kind != KIND_HELD || message->request != held->request)
		return;
	for (uint32_t i = 0; i < count; i++)
		add(held, message->rows.numbers + HELD_NUMBERS * i);
	held->page_count += count;
	held->from = message->next;
}

static int ask(struct held *held);

/* The rows of a page come before its answer. */
static void answered(void *arg, const struct request *request)
{
	struct held *held = arg;

	if (!held->is_asking)
		return;
	if (request->code == ACK_DONE && held->page_count >= PAGE && held->coming_count < LIMIT_SAMPLES_MAX &&
	    ask(held) == 0)
		return;
	held->is_asking = false;
	if (request->code == ACK_DONE) {
		free(held->samples);
		held->samples = held->coming;
		held->count = held->coming_count;
		held->coming = NULL;
		held->coming_room = 0;
		held_sort(held->samples, held->count);
	}
	session_unobserve(held->controls->session, &held->observer);
	held->done(held->arg, request);
}

static int ask(struct held *held)
{
	struct message message = { .kind = KIND_ASK_HELD, .ask_held = { .from = held->from, .most = PAGE } };

	held->page_count = 0;
	held->request = held->controls->next_request;
	return controls_request(held->controls, &message, answered, held);
}

int held_ask(struct held *held, struct controls *controls, controls_answered *done, void *arg)
{
	int err;

	held->controls = controls;
	held->done = done;
	held->arg = arg;
	held->from = held->coming_count = 0;
	err = ask(held);
	if (err < 0)
		return err;
	held->is_asking = true;
	held->observer = (struct observer){ .on_message = on_message, .arg = held };
	session_observe(controls->session, &held->observer);
	return 0;
}

void held_fini(struct held *held)
{
	if (held->is_asking)
		session_unobserve(held->controls->session, &held->observer);
	held->is_asking = false;
	free(held->samples);
	free(held->coming);
	held->samples = held->coming = NULL;
	held->count = held->coming_room = 0;
}
