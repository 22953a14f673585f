/* cost.h -- measures what recording an event of each kind costs here (record/price.h). */
#ifndef TELEM_EMITTER_DELIVER_COST_H
#define TELEM_EMITTER_DELIVER_COST_H

/* The first time; about a millisecond. Not locked. */
void cost_measure(void);
#endif
