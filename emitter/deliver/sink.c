#include "emitter/deliver/sink.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "emitter/core/clock.h"
#include "emitter/core/error.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/deliver/sink_state.h"

/* Every kind of sink: one line each, in the order in which the error for a wrong address lists them. SCHEME(x) is
 * `const struct sink_scheme sink_x` of sink_x.c. */
#define SCHEMES(SCHEME) \
	SCHEME(fifo) \
	SCHEME(unix) \
	SCHEME(tcp) \
	SCHEME(connect) \
	SCHEME(file) \
	SCHEME(fd) \
	/* end */

#define DECLARE(name) extern const struct sink_scheme sink_##name __attribute__((visibility("hidden")));
#define POINT(name) &sink_##name,
SCHEMES(DECLARE)

static const struct sink_scheme *const schemes[] = { SCHEMES(POINT) };
enum { SCHEME_COUNT = sizeof schemes / sizeof *schemes };

static const struct sink_scheme *scheme_of(const char *address)
{
	const char *colon = strchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;

	for (size_t i = 0; colon && i < SCHEME_COUNT; i++)
		if (strlen(schemes[i]->name) == length && !strncmp(schemes[i]->name, address, length))
			return schemes[i];
	return NULL;
}

static void refuse(const char *address)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < SCHEME_COUNT && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? " " : "", schemes[i]->help);
	error_set("sink %s: no such kind of address (%s)", address, list);
}

int sink_open(const char *address)
{
	const struct sink_scheme *scheme = scheme_of(address);
	struct sink *sink;
	int state;

	if (!scheme) {
		refuse(address);
		return -EINVAL;
	}
	sink = sink_new(-1);
	if (!sink) {
		error_set("sink %s: there are %d already", address, LIMIT_SINKS);
		return -ENOSPC;
	}
	sink->scheme = scheme;
	state = scheme->open(sink, strchr(address, ':') + 1);
	if (state < 0) {
		error_set("sink %s: %s", address, sink->why ? sink->why : strerror(-state));
		sink_free(sink);
		return state;
	}
	sink_opened(sink, (enum sink_state)state);
	/* Events and ended tasks from before the flusher's next turn are for this sink, too. */
	if (state == SINK_NEW)
		__atomic_store_n(&settings.coarse_ticks, clock_ticks(), __ATOMIC_RELAXED);
	wake_signal();
	return sink->id;
}
