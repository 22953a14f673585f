/* request.h -- reads the requests of viewers, the rows of requests.def, and answers them. */
#ifndef TELEM_EMITTER_DELIVER_REQUEST_H
#define TELEM_EMITTER_DELIVER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct sink;

/* CLOSED: the viewer has closed the connection, or it is broken. NONSENSE: the bytes are not a request. */
enum request_result { REQUEST_FINE, REQUEST_CLOSED, REQUEST_NONSENSE };
/* Reads the requests of a viewer and answers them, at most as many as it may send in a second. The flusher. */
enum request_result request_read(struct sink *sink, int fd, uint64_t now_ns);
/* Returns whether requests of this viewer are read now. A viewer that sends too many must wait for its next second. */
bool request_is_heard(struct sink *sink, uint64_t now_ns);
#endif
