/* held_view.h -- asks the program who holds its memory while a panel shows that. */
#ifndef TELEM_MONITOR_SCREEN_HELD_VIEW_H
#define TELEM_MONITOR_SCREEN_HELD_VIEW_H

struct screen;

/* Asks, when the shown panel wants it and the last answer is older than HELD_NS. Called when figures have come, and now
 * and then. */
void held_view_ask(struct screen *screen);
/* Gives the shown panel's view what the program answered. */
void held_view_fill(struct screen *screen);
#endif
