/* holders.h -- who holds the memory, from the samples of the target's live allocations. Private to monitor/model/. */
#ifndef TELEM_MONITOR_MODEL_HOLDERS_H
#define TELEM_MONITOR_MODEL_HOLDERS_H

#include "monitor/model/store.h"

void apply_holders(struct model *model, const struct message_holders *message);
/* Computes what lives by type, by task and type, by tag and in all. Called when a tick ends, before trends. */
void holders_tick(struct model *model);
#endif
