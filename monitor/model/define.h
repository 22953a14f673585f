/* define.h -- applies the messages that define things: HELLO, CLASS, SITE, TASK, LEVEL. Private to monitor/model/. */
#ifndef TELEM_MONITOR_MODEL_DEFINE_H
#define TELEM_MONITOR_MODEL_DEFINE_H

#include "monitor/model/store.h"

void apply_hello(struct model *model, const struct message_hello *hello);
void apply_class(struct model *model, const struct message_class *message);
void apply_site(struct model *model, const struct message_site *message);
void apply_task(struct model *model, const struct message_task *message);
void apply_level(struct model *model, const struct message_level *message);
/* Called when a greeting is complete: a task that it did not name has ended while we were not connected. */
void tasks_greeted(struct model *model);
void model_line_add(struct model *model, const struct model_line *line);
#endif
