/* config.h -- the TELEM variable: settings without recompiling. */
#ifndef TELEM_EMITTER_DELIVER_CONFIG_H
#define TELEM_EMITTER_DELIVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config {
	bool no_discovery;
	size_t sink_count;
	const char *sinks[16];       /* into text */
	char text[2048];             /* owns what the others point to */
};

/* Applies classes, times and sizes at once (locked) and collects sinks. Returns 0 or
 * -EINVAL with the reason in telem_error(); what was right before and after it holds. */
int config_apply(struct config *config, const char *string);
#endif
