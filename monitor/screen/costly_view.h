/* costly_view.h -- has the program count what is dear to count while a panel shows it.
 *
 * What malloc() holds and the proportional resident size hold the program up while they are counted. Libtelem leaves them
 * off, and telemtop holds a lease on each while the panel that shows them is on the screen. */
#ifndef TELEM_MONITOR_SCREEN_COSTLY_VIEW_H
#define TELEM_MONITOR_SCREEN_COSTLY_VIEW_H

struct screen;

/* Takes the leases when the shown panel wants those figures, and gives back its own when it does not. Called when figures
 * have come, and now and then. */
void costly_view_ask(struct screen *screen);
#endif
