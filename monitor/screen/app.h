/* app.h -- the live screen: picks a target, owns the event loop, the terminal and all the
 * rest of it, until the user leaves. */
#ifndef TELEM_MONITOR_SCREEN_APP_H
#define TELEM_MONITOR_SCREEN_APP_H

#include "monitor/cli/options.h"

/* Standard output must be a terminal. Returns the exit status; the reason of a failure is printed once the terminal is
 * restored. */
int app_run(const struct options *options);
const char *app_curses_version(void);
#endif
