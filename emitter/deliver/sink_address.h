/* sink_address.h -- what follows the scheme in a sink's address. */
#ifndef TELEM_EMITTER_DELIVER_SINK_ADDRESS_H
#define TELEM_EMITTER_DELIVER_SINK_ADDRESS_H

#include <stdbool.h>

struct sink;

/* Takes the text after "scheme:" up to a comma as the sink's path. *control is whether the option ",control" follows;
 * control is NULL when the scheme has no option. Returns 0 or -EINVAL. */
int sink_address(struct sink *sink, const char *rest, bool *control);
#endif
