/* frame_write.h -- writes the frames that ended into the stream, while a viewer inspects frames. */
#ifndef TELEM_EMITTER_DELIVER_FRAME_WRITE_H
#define TELEM_EMITTER_DELIVER_FRAME_WRITE_H

#include <stdint.h>

/* Writes those that ended since the last call. For the flusher, with the lock held. */
void frames_write(uint64_t now_ns);
/* Returns when frames must be written next, if nothing else wakes the flusher; UINT64_MAX while none can come. */
uint64_t frames_due_ns(void);
/* In the child of fork(): starts anew. */
void frames_write_forget(void);
#endif
