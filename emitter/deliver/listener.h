/* listener.h -- accepts the viewers that connect to a listening sink. */
#ifndef TELEM_EMITTER_DELIVER_LISTENER_H
#define TELEM_EMITTER_DELIVER_LISTENER_H

#include <stdint.h>

struct sink;

/* Accepts all connections that wait, each as a sink of its own. For the flusher, without the lock. */
void listener_accept(struct sink *sink, uint64_t now_ns);
#endif
