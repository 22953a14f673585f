#include "emitter/deliver/fence.h"

#include <errno.h>

#include "emitter/core/clock.h"
#include "emitter/core/lock.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/deliver/sink_state.h"

static uint64_t wanted, passed;      /* read and written with the lock held */
static uint64_t under_way, under_way_block;  /* what the flusher waits for */
static bool is_under_way;

uint64_t fence_ask(void)
{
	wake_signal();
	return ++wanted;
}

int fence_wait(uint64_t fence, uint64_t timeout_ns)
{
	uint64_t now_ns = clock_ns(), end = now_ns + timeout_ns < now_ns ? UINT64_MAX : now_ns + timeout_ns;

	while (settings.is_running && passed < fence)
		if (lock_wait_flushed_until(end) == -ETIMEDOUT)
			return passed < fence ? -ETIMEDOUT : 0;
	return passed < fence ? -ENOTCONN : 0;
}

bool fence_begin(void)
{
	if (is_under_way || wanted <= passed)
		return false;
	under_way = wanted;
	return true;
}

void fence_set(uint64_t block_number)
{
	is_under_way = true;
	under_way_block = block_number;
}

static bool holds_up(const struct sink *sink)
{
	return sink_has_reader(sink) && sink->queue_count > 0 &&
	       sink->queue[sink->queue_head]->number <= under_way_block && !(sink->is_regular && sink->retry_ns);
}

void fence_pass(void)
{
	if (!is_under_way)
		return;
	for (uint32_t i = 0; i < LIMIT_SINKS; i++)
		if (holds_up(&sinks[i]))
			return;
	lock_take();
	passed = under_way;
	is_under_way = false;
	/* Another fence was asked for meanwhile. */
	if (wanted > passed)
		wake_signal();
	lock_flushed();
	lock_release();
}

void fences_forget(void)
{
	wanted = passed = 0;
	is_under_way = false;
}
