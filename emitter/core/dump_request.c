#include "emitter/core/dump_request.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "emitter/core/clock.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "protocol/limits.h"

/* In TAKEN, the thread that waited for the answer owns the request. */
enum state { IDLE, FILLED_IN, WANTED, BEING_WRITTEN, DONE, TAKEN };
#define WAIT_NS 5000000000u
#define SOON_NS 60000000000u

static struct {
	uint32_t state;              /* atomic */
	bool is_waited_for;          /* a thread waits for the result; atomic */
	int result;
	char reason[LIMIT_NAME_BYTES], path[LIMIT_PATH_BYTES];
} request;

static bool go(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&request.state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* For assertions only, which a release build does not have. */
__attribute__((unused)) static bool is_in(uint32_t state)
{
	return __atomic_load_n(&request.state, __ATOMIC_RELAXED) == state;
}

/* Makes only calls that a signal handler may make. */
static bool ask(const char *reason, bool waits)
{
	size_t length = strnlen(reason, sizeof request.reason - 1);

	if (!settings_is_running() || !go(IDLE, FILLED_IN))
		return false;
	memcpy(request.reason, reason, length);
	request.reason[length] = '\0';
	__atomic_store_n(&request.is_waited_for, waits, __ATOMIC_RELAXED);
	__atomic_store_n(&request.state, WANTED, __ATOMIC_RELEASE);
	wake_signal();
	return true;
}

static void pause_1_ms(void)
{
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 1000000 }, NULL);
}

void dump_request_soon(const char *reason)
{
	static uint64_t latest_ns;
	uint64_t now_ns = clock_ns(), before = __atomic_load_n(&latest_ns, __ATOMIC_RELAXED);

	if ((before == 0 || now_ns - before >= SOON_NS) && ask(reason, false))
		__atomic_store_n(&latest_ns, now_ns, __ATOMIC_RELAXED);
}

bool dump_request_wait(const char *reason)
{
	uint64_t end = clock_ns() + WAIT_NS;

	while (!ask(reason, true)) {
		if (!settings_is_running() || clock_ns() >= end)
			return false;
		pause_1_ms();
	}
	while (!go(DONE, TAKEN)) {
		if (clock_ns() >= end || !settings_is_running()) {
			if (go(WANTED, IDLE))
				return false;
			/* The dump is being written. This thread stops waiting, unless the dump is done by now. */
			__atomic_store_n(&request.is_waited_for, false, __ATOMIC_SEQ_CST);
			return go(DONE, TAKEN);
		}
		pause_1_ms();
	}
	return true;
}

int dump_request_result(const char **path)
{
	assert(is_in(TAKEN));
	*path = request.path;
	return request.result;
}

void dump_request_end(void)
{
	__atomic_store_n(&request.state, IDLE, __ATOMIC_RELEASE);
}

bool dump_request_take(const char **reason, char **path)
{
	if (!go(WANTED, BEING_WRITTEN))
		return false;
	*reason = request.reason;
	*path = request.path;
	return true;
}

void dump_request_answer(int result)
{
	assert(is_in(BEING_WRITTEN));
	request.result = result;
	__atomic_store_n(&request.state, DONE, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&request.is_waited_for, __ATOMIC_SEQ_CST))
		go(DONE, IDLE);
}

void dump_request_forget(void)
{
	request.state = IDLE;
}
