/* statistics.c -- what the program may ask about its own telemetry. */
#include "emitter/core/api.h"

#include <errno.h>
#include <string.h>

#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/deliver/cost.h"
#include "emitter/deliver/flusher_thread.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/snapshot.h"
#include "emitter/deliver/stream.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

void telem_stats(struct telem_statistics *out)
{
	int saved = errno;
	uint64_t emitted, dropped;

	memset(out, 0, sizeof *out);
	fork_restart();
	lock_take();
	snapshot_totals(&emitted, &dropped);
	out->delivered = __atomic_load_n(&stream.delivered, __ATOMIC_RELAXED);
	out->dropped = dropped + __atomic_load_n(&stream.dropped, __ATOMIC_RELAXED);
	out->emitted = emitted;
	out->queued = emitted - out->delivered - out->dropped;
	out->bytes_sent = __atomic_load_n(&stream.bytes_sent, __ATOMIC_RELAXED);
	out->memory_bytes = memory_mapped_bytes();
	out->flusher_cpu_ns = flusher_thread_cpu_ns();
	out->sinks = sinks_attended;
	out->sites = site_table.count ? site_table.count - 1 : 0;
	out->classes = class_table.count;
	out->tasks = task_table.count;
	out->threads = thread_table.count;
	lock_release();
	errno = saved;
}

uint32_t telem_class_stats(struct telem_class_statistics *out, uint32_t room)
{
	static struct tally all[LIMIT_CLASSES];
	int saved = errno;
	uint32_t count;

	fork_restart();
	if (settings_is_running() && !thread_is_inside)
		cost_measure();
	lock_take();
	count = class_table.count < room ? class_table.count : room;
	snapshot_tallies(all);
	for (uint32_t i = 0; i < count; i++)
		out[i] = (struct telem_class_statistics){
			.name = class_table.rows[i].name, .level = class_table.rows[i].level, .events = all[i].events,
			.cost_ns = all[i].cost_ps / 1000, .emitted = all[i].emitted, .dropped = all[i].dropped,
		};
	lock_release();
	errno = saved;
	return count;
}
