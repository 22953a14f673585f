/* frame_write.h -- writes the frames that ended into the stream, while a viewer inspects frames. */
#ifndef TELEM_EMITTER_DELIVER_FRAME_WRITE_H
#define TELEM_EMITTER_DELIVER_FRAME_WRITE_H

#include <stdint.h>

/* Writes those that ended since the last call. The flusher, locked. */
void frames_write(uint64_t now_ns);
/* In the child of fork(): starts anew. */
void frames_write_forget(void);
#endif
