/* settings.h -- what the program has set, whether telemetry runs, and whether a reader is there.
 *
 * All fields but options and name are read without the lock. */
#ifndef TELEM_EMITTER_CORE_SETTINGS_H
#define TELEM_EMITTER_CORE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emitter/core/api.h"
#include "protocol/limits.h"

struct settings {
	uint64_t runs;               /* how many times telemetry has started */
	bool is_running;
	/* 0 until the start means the default. */
	uint64_t flush_ns, block_wait_ns;
	size_t ring_bytes;
	uint32_t policy;             /* enum telem_policy */
	bool is_policy_chosen;       /* by telem_set_policy(); else it depends on whether dumps are wanted */
	/* A stamp that the flusher renews at each turn; 0 while no reader is there. */
	uint64_t coarse_ticks;
	struct telem_options options;        /* of the latest start */
	char name[LIMIT_NAME_BYTES]; /* the program's */
	char problem[512];               /* what was wrong with the settings of the latest start; "" for nothing */
};
extern struct settings settings __attribute__((visibility("hidden")));

static inline bool settings_is_running(void)
{
	return __atomic_load_n(&settings.is_running, __ATOMIC_RELAXED);
}

/* Returns whether a reader is there. */
static inline bool settings_is_heard(void)
{
	return __atomic_load_n(&settings.coarse_ticks, __ATOMIC_RELAXED) != 0;
}

/* Gives every setting that is not set yet its default. options may be NULL. Call with the lock held. */
void settings_begin(const struct telem_options *options);
/* Somebody wants dumps, so rings keep the latest events from now on, unless the program has chosen its policy. Any
 * thread. */
void settings_want_dumps(void);
/* Names the program after its file if it has no other name. Call with the lock held. */
void settings_name(void);
#endif
