#include "monitor/session/target.h"

#include <errno.h>

#include "monitor/session/clock.h"

/* ---- a live stream ---- */

static void on_tick(void *arg)
{
	struct target *target = arg;
	const char *missing;

	/* The tick is behind the greeting, so the names of classes are known. */
	if (!target->is_attached) {
		target->is_attached = true;
		if (!controls_attach(&target->controls, &missing))
			controls_no_such_class(&target->controls, missing, &target->notice);
	}
	target->on_change(target->arg, true);
}

static uint8_t *room(void *arg, size_t *count)
{
	struct target *target = arg;

	return session_room(&target->session, count);
}

static void filled(void *arg, size_t count)
{
	struct target *target = arg;
	uint32_t answers = target->controls.answer_count;

	target->last_bytes_ns = target->controls.now_ns = clock_mono_ns();
	session_filled(&target->session, count, clock_real_ns());
	if (target->session.is_foreign) {
		target->problem = target->session.problem;
		source_lost(&target->source, true);
		return;
	}
	target->source.has_greeted = target->session.has_greeted;
	/* Another program may use the address again; the number of a process is not used again so soon. */
	target->source.said_goodbye = model_link(target->session.model)->has_bye &&
				      (target->address.pid || !target->config.awaits_next);
	/* What is shown changes with ticks and answers, not with every byte. */
	if (target->controls.answer_count != answers)
		target->on_change(target->arg, false);
}

/* A program does not notice that another reader has opened its FIFO, unless it wrote while there was none: so it is asked
 * for its greeting. */
static void ask_for_greeting(struct target *target)
{
	struct message sync = { .kind = KIND_SYNC };

	if (target->source.kind->joins_midway)
		controls_request(&target->controls, &sync, NULL, NULL);
}

static void lost(struct target *target, enum source_state state)
{
	target->lost_ns = clock_mono_ns();
	controls_lost(&target->controls);
	if (state == SOURCE_ENDED)
		session_end(&target->session, target->source.kind->ends ? EXIT_RECORDING : EXIT_CONNECTION);
	else
		session_gap(&target->session, target->session.parser.offset);
	if (target->session.is_foreign)
		target->problem = target->session.problem;
}

static void changed(void *arg, enum source_state state)
{
	struct target *target = arg;
	bool was_open = target->is_open;

	target->is_open = state == SOURCE_OPEN;
	if (target->is_open) {
		target->problem.code = EXIT_DONE;
		target->is_attached = false;
		target->opened_ns = target->last_bytes_ns = target->controls.now_ns = clock_mono_ns();
		ask_for_greeting(target);
	} else if (was_open) {
		lost(target, state);
	}
	if (target->source.problem.code && !target->source.was_open)
		target->problem = target->source.problem;
	target->on_change(target->arg, false);
}

/* ---- life ---- */

/* How much may come before the first greeting. A FIFO holds the rest of an earlier stream, and without asking for it, the
 * greeting may be LIMIT_SYNC_NS away. */
static size_t lead_bytes_max(const struct target *target)
{
	if (!target->address.kind->joins_midway)
		return LIMIT_LEAD_BYTES;
	return target->config.is_read_only ? SIZE_MAX : 4 * LIMIT_LEFTOVER_BYTES;
}

static int open_source(struct target *target, struct event_base *base)
{
	struct source_user user = { room, filled, changed, target };
	bool is_live = !target->address.kind->read_at;
	int err;

	if (is_live) {
		target->observer = (struct observer){ .on_tick = on_tick, .arg = target };
		session_observe(&target->session, &target->observer);
	}
	/* Without memory for the past, the program is watched all the same. */
	if (is_live && target->config.past_bytes)
		timeline_keep(&target->timeline, &target->session, target->config.past_bytes);
	err = source_open(&target->source, base, &target->address, target->config.reconnects, target->config.timeout_s,
			  &user, &target->problem);
	if (err != EXIT_DONE || is_live)
		return err;
	err = timeline_open(&target->timeline, &target->source, &target->problem, &target->warning);
	if (err == EXIT_DONE)
		cursor_open(&target->cursor, &target->timeline, &target->session);
	return err;
}

int target_open(struct target *target, struct event_base *base, const struct target_config *config,
		const struct address *address, void (*on_change)(void *arg, bool tick), void *arg)
{
	int err;

	*target = (struct target){ .config = *config, .address = *address, .on_change = on_change, .arg = arg };
	if (session_init(&target->session, target->address.text, lead_bytes_max(target)) < 0)
		return problem_set(&target->problem, EXIT_INTERNAL, "out of memory");
	target->has_session = true;
	controls_init(&target->controls, &target->session, &target->source);
	target->controls.is_read_only = config->is_read_only;
	target->controls.persist = config->persist;
	target->controls.interval_ns = config->interval_ns;
	target->opened_ns = target->last_bytes_ns = target->controls.now_ns = clock_mono_ns();
	err = config->levels ? controls_wish(&target->controls, config->levels, &target->problem) : EXIT_DONE;
	if (err == EXIT_DONE)
		err = open_source(target, base);
	if (err != EXIT_DONE)
		target_close(target);
	return err;
}

void target_close(struct target *target)
{
	if (!target->has_session)
		return;
	target->has_session = false;
	target_unfreeze(target);
	cursor_close(&target->cursor);
	timeline_close(&target->timeline);
	source_close(&target->source);
	controls_fini(&target->controls);
	session_fini(&target->session);
}

void target_clock(struct target *target)
{
	const struct source_kind *kind = target->address.kind;
	uint64_t now_ns = clock_mono_ns(), timeout_ns = (uint64_t)target->config.timeout_s * 1000000000u;

	controls_clock(&target->controls, now_ns);
	if (!target->is_open || target->session.has_greeted || kind->waits || kind->ends ||
	    now_ns - target->opened_ns + TARGET_CLOCK_MS * 500000u < timeout_ns)
		return;
	session_silent(&target->session, target->config.timeout_s);
	source_lost(&target->source, true);
}

/* ---- where the user looks ---- */

bool target_is_recording(const struct target *target)
{
	return target->timeline.file != NULL;
}

bool target_is_frozen(const struct target *target)
{
	return target->cursor.timeline && !target_is_recording(target);
}

struct model *target_model(const struct target *target)
{
	return target_is_frozen(target) ? target->past.model : target->session.model;
}

int target_freeze(struct target *target)
{
	struct model *model = model_copy(target->session.model);

	if (!model || session_init(&target->past, target->address.text, SIZE_MAX) < 0) {
		model_free(model);
		return -ENOMEM;
	}
	model_free(target->past.model);
	target->past.model = model;
	target->frozen_ticks = model_ticks(model);
	cursor_open_at(&target->cursor, &target->timeline, &target->past);
	return 0;
}

void target_unfreeze(struct target *target)
{
	if (!target_is_frozen(target))
		return;
	cursor_close(&target->cursor);
	session_fini(&target->past);
}
