/* slow.h -- how the program watches itself: which queries were slow, and which jobs exceeded their budget? */
#ifndef TELEM_DEMO_SLOW_H
#define TELEM_DEMO_SLOW_H

#include <stdbool.h>

/* Attaches a handler that counts queries above 1 ms and logs those above 10 ms, and gives jobs
 * their budget. persist freezes the table of handlers, so that each handler is found a little
 * faster. */
void slow_init(bool persist);
void slow_fini(void);
#endif
