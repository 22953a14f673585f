/* cost.h -- measures what recording an event of each kind costs here (record/price.h). */
#ifndef TELEM_EMITTER_DELIVER_COST_H
#define TELEM_EMITTER_DELIVER_COST_H

/* Measures at the first call, which takes about a millisecond. Call without the lock. */
void cost_measure(void);
#endif
