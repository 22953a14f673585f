/* slow.h -- the program's own look at itself: which queries were slow, which jobs took too much? */
#ifndef TELEM_DEMO_SLOW_H
#define TELEM_DEMO_SLOW_H

#include <stdbool.h>

/* Counts queries above a millisecond and logs those above ten, in a handler; gives jobs their
 * budget. persist: seals the table of handlers, so that each is found a little sooner. */
void slow_init(bool persist);
void slow_fini(void);
#endif
