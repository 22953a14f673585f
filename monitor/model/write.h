/* write.h -- a model's state, written as the messages that make another model equal to it.
 *
 * A recording starts with them, an INDEX point repeats them, and a checkpoint of the
 * timeline is made of them: whoever hears them knows every cumulative figure. What only
 * the events before them tell (trends, heat maps, rates, log lines) is not in them. */
#ifndef TELEM_MONITOR_MODEL_WRITE_H
#define TELEM_MONITOR_MODEL_WRITE_H

#include "monitor/model/model.h"

/* Hands out one message after the other, each valid during the call only. HELLO comes first and
 * has no marker, for the marker belongs to the stream that the caller writes. */
typedef void model_emit(void *arg, const struct message *message);
/* Writes the model's target, definitions, figures, books and frames, and SNAPSHOT at the end,
 * followed by BYE when the target has said goodbye. A model that has not heard HELLO writes nothing. */
void model_write(const struct model *model, model_emit *emit, void *arg);
#endif
