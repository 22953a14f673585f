/* config.h -- reads the settings of the TELEM variable. */
#ifndef TELEM_EMITTER_DELIVER_CONFIG_H
#define TELEM_EMITTER_DELIVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config {
	bool no_discovery;
	size_t sink_count;
	const char *sinks[16];       /* into text */
	char text[2048];             /* the settings, into which sinks point */
};

/* Applies the settings of string, and collects the addresses of sinks, which are opened later. Returns 0, or -EINVAL
 * when a setting is bad: telem_error() then names it, and the other settings are in force. Call with the lock held. */
int config_apply(struct config *config, const char *string);
#endif
