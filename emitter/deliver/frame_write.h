/* frame_write.h -- the frames that ended, into the stream while anybody inspects them. */
#ifndef TELEM_EMITTER_DELIVER_FRAME_WRITE_H
#define TELEM_EMITTER_DELIVER_FRAME_WRITE_H

#include <stdint.h>

/* Those that ended since the last call. The flusher, locked. */
void frames_write(uint64_t now_ns);
/* In the child of fork(). */
void frames_write_forget(void);
#endif
