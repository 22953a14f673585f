/* dump.h -- the flight recorder: what the rings still hold, written as a recording.
 *
 * It is copied beside the producers and the stream, and taken from neither. The flusher writes it;
 * others ask by core/dump_request.h. */
#ifndef TELEM_EMITTER_DELIVER_DUMP_H
#define TELEM_EMITTER_DELIVER_DUMP_H

#include <stdint.h>

#include "protocol/limits.h"

/* Writes a dump. The flusher, not locked. 0 or a negative errno; path: of the file. */
int dump_write(const char *reason, char path[LIMIT_PATH_BYTES], uint64_t now_ns);
/* Writes what others asked for. The flusher, not locked. */
void dump_wanted(uint64_t now_ns);
/* Where dumps go from now on; -EINVAL: too long. Locked. */
int dump_set_directory(const char *path);
/* Telemetry starts: dumps go to TMPDIR or /tmp unless the program said otherwise. Locked. */
void dump_begin(void);
#endif
