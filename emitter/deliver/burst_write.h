/* burst_write.h -- tells viewers how many log lines a burst had that were not sent. */
#ifndef TELEM_EMITTER_DELIVER_BURST_WRITE_H
#define TELEM_EMITTER_DELIVER_BURST_WRITE_H

#include <stdbool.h>
#include <stdint.h>

/* Writes a FOLDED for each burst that is over; or only forgets them, unless is_told. For the flusher, with the lock held. */
void bursts_write(uint64_t now_ns, bool is_told);
#endif
