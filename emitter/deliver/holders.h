/* holders.h -- who holds the memory: live bytes and allocations by type, task and tag, estimated from the sample. */
#ifndef TELEM_EMITTER_DELIVER_HOLDERS_H
#define TELEM_EMITTER_DELIVER_HOLDERS_H

#include <stdint.h>

struct writer;

/* Writes what lives now, as rows of HOLDERS. Called by the flusher, with the lock held. */
void holders_write(struct writer *writer, uint64_t tick, uint64_t now_ns);
#endif
