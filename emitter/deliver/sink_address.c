#include "emitter/deliver/sink_address.h"

#include <errno.h>
#include <string.h>

#include "emitter/deliver/sink_state.h"

int sink_address(struct sink *sink, const char *rest, bool *control)
{
	const char *comma = strchr(rest, ',');
	size_t length = comma ? (size_t)(comma - rest) : strlen(rest);

	if (control)
		*control = comma && !strcmp(comma, ",control");
	if (length == 0)
		sink->why = "nothing follows the colon";
	else if (length >= sizeof sink->path)
		sink->why = "the address is too long";
	else if (comma && !control)
		sink->why = "only tcp: and connect: take an option behind a comma";
	else if (comma && !*control)
		sink->why = "the only option is ,control";
	if (sink->why)
		return -EINVAL;
	memcpy(sink->path, rest, length);
	sink->path[length] = '\0';
	return 0;
}
