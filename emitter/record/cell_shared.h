/* cell_shared.h -- where an event is counted whose thread has no cell for its site.
 *
 * Usually the thread makes its cell, once for each site, with telem_cell_make_(). Threads beyond the limits, and signal
 * handlers that interrupt a slow path, share the cells of one shard, which are added to with locked instructions. */
#ifndef TELEM_EMITTER_RECORD_CELL_SHARED_H
#define TELEM_EMITTER_RECORD_CELL_SHARED_H

#include <stdint.h>

#include "emitter/core/api.h"

/* All of this runs once for a thread and site, or not even that: the compiler shall keep the calls out of the hot text. */
#define CELL_COLD __attribute__((cold))
#define CELL_INNER __attribute__((cold, visibility("hidden")))

/* Returns this thread's cell, made with all it needs; NULL: the event goes to the shared shard, if at all. */
CELL_COLD struct telem_cell *telem_cell_make_(struct telem_site *site);
/* Returns the site's cell that all such threads share; several may add to it at once. NULL: telemetry is not running. */
CELL_INNER struct telem_cell *cell_shared(const struct telem_site *site);
/* Adds to that cell, if there is one. No ring is shared: what would be streamed is counted as dropped. */
CELL_INNER void cell_shared_add(struct telem_site *site, uint64_t count, uint64_t sum, uint64_t frees, uint64_t freed_bytes);
#endif
