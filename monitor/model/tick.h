/* tick.h -- what is computed when a SNAPSHOT ends a tick: rates, windows, trends, totals. Private to monitor/model/. */
#ifndef TELEM_MONITOR_MODEL_TICK_H
#define TELEM_MONITOR_MODEL_TICK_H

#include "monitor/model/store.h"

void apply_snapshot(struct model *model, const struct message_snapshot *snapshot);
/* Computes the distribution of a site over the model's window. */
void site_window(const struct model *model, struct model_site *site);
/* Computes what the mark compares with over the model's window, or forgets it when that is not remembered. */
void site_mark_window(const struct model *model, struct model_site *site);
/* Adds to buckets what the window_s seconds up to second added to the site's distribution. */
void window_add(const struct model_site *site, int64_t second, int window_s, uint64_t *buckets);
#endif
