/* cell_shared.h -- counts events of threads that have no cell for the site.
 *
 * Usually the thread makes its cell, once for each site, with telem_cell_make_(). Threads beyond the limits, and signal
 * handlers that interrupt a slow path, share the cells of one shard, which are added to with locked instructions. */
#ifndef TELEM_EMITTER_RECORD_CELL_SHARED_H
#define TELEM_EMITTER_RECORD_CELL_SHARED_H

#include <stdint.h>

#include "emitter/core/api.h"

/* These functions run at most once for a thread and site, so the compiler keeps them apart from code that runs
 * often. */
#define CELL_COLD __attribute__((cold))
#define CELL_INNER __attribute__((cold, visibility("hidden")))

/* Makes and returns this thread's cell of the site. Returns NULL when the event must be counted in the shared shard. */
CELL_COLD struct telem_cell *telem_cell_make_(struct telem_site *site);
/* Returns the site's cell that these threads share; several may add to it at once. NULL while telemetry does not
 * run. */
CELL_INNER struct telem_cell *cell_shared(const struct telem_site *site);
/* Adds to that cell, if there is one. These threads have no ring, so events at level all are counted as dropped. */
CELL_INNER void cell_shared_add(struct telem_site *site, uint64_t count, uint64_t sum, uint64_t frees, uint64_t freed_bytes);
#endif
