/* dump_request.h -- one dump that anybody may ask for, and whoever writes dumps answers.
 *
 * There is one request at a time, in one static slot whose state moves by compare and swap, so
 * that a handler of a fatal signal can ask, too. Nothing here knows how a dump is written. */
#ifndef TELEM_EMITTER_CORE_DUMP_REQUEST_H
#define TELEM_EMITTER_CORE_DUMP_REQUEST_H

#include <stdbool.h>

/* Asks without waiting; granted at most once a minute. Any thread. */
void dump_request_soon(const char *reason);
/* Asks when nobody else does, and waits up to 5 s for the answer. True: it is answered, and the
 * request belongs to the caller until it calls dump_request_end(). For signal handlers, too. */
bool dump_request_wait(const char *reason);
/* Of an answered request: 0 or a negative errno, and the path of the file. */
int dump_request_result(const char **path);
void dump_request_end(void);

/* For the thread that writes dumps: takes the request that waits, or returns false. *reason and
 * *path, with room for LIMIT_PATH_BYTES, are valid until dump_request_answer(). */
bool dump_request_take(const char **reason, char **path);
void dump_request_answer(int result);
/* In the child of fork(): what the parent asked for is forgotten. */
void dump_request_forget(void);
#endif
