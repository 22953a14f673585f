/* dump_request.h -- a request for a dump: any thread asks, and the flusher, which writes dumps, answers.
 *
 * There is one request at a time, in one static slot whose state moves by compare and swap, so
 * that a handler of a fatal signal can ask, too. This file does not know how a dump is written. */
#ifndef TELEM_EMITTER_CORE_DUMP_REQUEST_H
#define TELEM_EMITTER_CORE_DUMP_REQUEST_H

#include <stdbool.h>

/* Asks for a dump and does not wait. At most one such request a minute is granted. Any thread. */
void dump_request_soon(const char *reason);
/* Asks for a dump as soon as no other request is under way, and waits for the answer, at most 5 s in all.
 * Returns true when it is answered; then the request belongs to the caller until it calls
 * dump_request_end(). Signal handlers may call it. */
bool dump_request_wait(const char *reason);
/* Returns 0 or the negative errno of an answered request, and the path of its file. */
int dump_request_result(const char **path);
void dump_request_end(void);

/* For the thread that writes dumps: takes the request that waits, or returns false. *reason and
 * *path, with room for LIMIT_PATH_BYTES, are valid until dump_request_answer(). */
bool dump_request_take(const char **reason, char **path);
void dump_request_answer(int result);
/* In the child of fork(): forgets what the parent asked for. */
void dump_request_forget(void);
#endif
