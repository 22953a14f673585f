/* peer_lttng.h -- declares the event of bench_peers.c in the way that LTTng-UST requires: LTTng
 * includes this file several times and generates something else from it each time. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER telem_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/peer_lttng.h"

#if !defined(TELEM_BENCH_PEER_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TELEM_BENCH_PEER_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(telem_bench, event,
	LTTNG_UST_TP_ARGS(int, status, uint64_t, bytes),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, status, status)
		lttng_ust_field_integer(uint64_t, bytes, bytes)
	)
)
#endif

#include <lttng/tracepoint-event.h>
