/* request.h -- what a viewer asks: the rows of requests.def, and their answers. */
#ifndef TELEM_EMITTER_DELIVER_REQUEST_H
#define TELEM_EMITTER_DELIVER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct sink;

/* CLOSED: the viewer's end is, or the way is broken. */
enum request_result { REQUEST_FINE, REQUEST_CLOSED, REQUEST_NONSENSE };
/* Reads what a viewer asks, and answers: not more requests at once than in a second. The flusher. */
enum request_result request_read(struct sink *sink, int fd, uint64_t now_ns);
/* May it ask now? A viewer that asks too much is heard again in its next second. */
bool request_is_heard(struct sink *sink, uint64_t now_ns);
#endif
