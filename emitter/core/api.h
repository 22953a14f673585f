/* api.h -- telem.h as the emitter's own sources include it.
 *
 * A source that defines nothing but calls of telem.h has no other header of its own, and includes this one first:
 * everybody who needs it, inside the library as outside, calls what telem.h declares.
 *
 * The emitter's own sites are registered when they are first used: if its sources registered them
 * when they are loaded, every program would list them. */
#ifndef TELEM_EMITTER_CORE_API_H
#define TELEM_EMITTER_CORE_API_H

#define TELEM_NO_SITES_HERE_
#include "emitter/telem.h"
#endif
