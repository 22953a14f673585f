/* app.h -- the live screen: finds a target, and owns the event loop and the terminal until the user leaves. */
#ifndef TELEM_MONITOR_SCREEN_APP_H
#define TELEM_MONITOR_SCREEN_APP_H

#include "monitor/cli/options.h"

/* Standard output must be a terminal. Returns the exit status; the reason of a failure is printed once the terminal is
 * restored. */
int app_run(const struct options *options);
const char *app_curses_version(void);
#endif
