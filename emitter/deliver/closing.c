#include "emitter/deliver/closing.h"

#include <assert.h>
#include <stdbool.h>
#include <unistd.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/deliver/greet.h"
#include "emitter/deliver/lease.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/snapshot.h"
#include "emitter/deliver/stream.h"

static_assert(LIMIT_SINKS <= 64, "a sink is a bit");

uint64_t closing_asked(void)
{
	uint64_t asked = 0;

	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (!sink_is_flushers(sink) || sink_is_leaving(sink))
			continue;
		if (!sink->close_by_ns && sink->parent >= 0)
			sink_close_by(sink, sinks[sink->parent].close_by_ns);
		if (sink->close_by_ns)
			asked |= 1ull << i;
	}
	return asked;
}

/* The books of a sink are closed when it begins to leave, because the stream goes on to take events for the other sinks
 * while this one's queue is sent. Call with the lock held. */
static void leave(struct sink *sink, uint64_t tick, uint64_t now_ns)
{
	uint64_t emitted, dropped;

	/* A reader that is behind has not received the last figures. They are queued now, because later ones would count
	 * events that it does not get. */
	if (sink_state(sink) == SINK_BEHIND)
		greet(sink, tick, now_ns);
	if (sink_is_greeted(sink)) {
		assert(sink->before + sink->taken == stream.taken);
		snapshot_totals(&emitted, &dropped);
		/* While telemetry goes on, events that are still in the rings do not count for this sink; at the stop
		 * they are lost. */
		sink->lost = settings.is_running ? dropped : emitted - stream.taken;
	}
	sink_leaves(sink);
}

void closing_leave(uint64_t asked, uint64_t tick, uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (asked & 1ull << i)
			leave(&sinks[i], tick, now_ns);
}

void closing_all(uint64_t by_ns, uint64_t tick, uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_flushers(&sinks[i])) {
			sink_close_by(&sinks[i], by_ns);
			leave(&sinks[i], tick, now_ns);
		}
}

static bool has_to_wait(const struct sink *sink, uint64_t now_ns)
{
	return sink_has_reader(sink) && sink->queue_count > 0 && !sink->is_regular && now_ns < sink->close_by_ns;
}

static void end_recording(struct sink *sink)
{
	uint8_t end[RECORDING_END_BYTES];

	if (!sink_has(sink, sink->fd))
		return;
	recording_end(&sink->recording, end, stream.marker, stream.number);
	if (write(sink->fd, end, sizeof end) != (ssize_t)sizeof end &&
	    ftruncate(sink->fd, (off_t)sink->recording.offset) < 0) {
		/* The recording then has no clean end, which telemtop reports. */
	}
}

/* When the queue is empty, the goodbye follows, which says how much was delivered; then the sink ends. Call with
 * the lock held; it is released in between. */
static void step(struct sink *sink, uint64_t tick, uint64_t now_ns)
{
	for (;;) {
		lock_release();
		if (sink_has_reader(sink))
			sink_write(sink, now_ns);
		lock_take();
		if (has_to_wait(sink, now_ns))
			return;
		if (sink_state(sink) == SINK_SAID_BYE || !sink_has_reader(sink) || sink->queue_count > 0)
			break;
		goodbye(sink, tick, now_ns);
		sink_said_bye(sink);
	}
	if (sink->is_regular && sink_state(sink) == SINK_SAID_BYE && sink->queue_count == 0)
		end_recording(sink);
	leases_drop(sink);
	sink_free(sink);
	pool_trim();
	lock_flushed();
}

uint32_t closing_step(uint64_t tick)
{
	uint32_t left = 0;

	lock_take();
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (sink_is_leaving(&sinks[i])) {
			step(&sinks[i], tick, clock_ns());
			left += sink_is_leaving(&sinks[i]);
		}
	lock_release();
	return left;
}
