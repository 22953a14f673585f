/* dump.h -- the flight recorder: writes what the rings still hold as a recording.
 *
 * The events are copied, so they stay in the rings for the stream. The flusher writes dumps; other threads ask for them
 * with core/dump_request.h. */
#ifndef TELEM_EMITTER_DELIVER_DUMP_H
#define TELEM_EMITTER_DELIVER_DUMP_H

#include <stdint.h>

#include "protocol/limits.h"

/* Writes a dump, and the path of its file to path. Returns 0 or a negative errno. For the flusher, without the lock. */
int dump_write(const char *reason, char path[LIMIT_PATH_BYTES], uint64_t now_ns);
/* Writes the dump that another thread has asked for, if there is one. For the flusher, without the lock. */
void dump_wanted(uint64_t now_ns);
/* Sets where dumps go from now on, for somebody who wants them. Returns 0, or -EINVAL when the path is too long. Call with
 * the lock held. */
int dump_want_directory(const char *path);
/* Called when telemetry starts: dumps go to TMPDIR or /tmp unless the program has set a directory. Call with the
 * lock held. */
void dump_begin(void);
#endif
