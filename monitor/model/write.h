/* write.h -- a model's state, written as the messages that make another model equal to it.
 *
 * A recording starts with them, an INDEX point repeats them, and a checkpoint of the timeline is made of them: they
 * hold every cumulative figure. They do not hold trends, heat maps, rates and log lines, which follow only from the
 * events and ticks before them. */
#ifndef TELEM_MONITOR_MODEL_WRITE_H
#define TELEM_MONITOR_MODEL_WRITE_H

#include "monitor/model/model.h"

/* Receives one message after the other, each valid during the call only. HELLO comes first and has no marker, because
 * the marker belongs to the stream that the caller writes. */
typedef void model_emit(void *arg, const struct message *message);
/* Writes the model's target, definitions, figures, books and frames, and SNAPSHOT at the end,
 * followed by BYE when the target has said goodbye. A model that has received no HELLO writes nothing. */
void model_write(const struct model *model, model_emit *emit, void *arg);
#endif
