/* prompt.h -- a line that the user types on the message row: a filter, an interval, a time. */
#ifndef TELEM_MONITOR_SCREEN_PROMPT_H
#define TELEM_MONITOR_SCREEN_PROMPT_H

#include "monitor/screen/screen.h"
#include "widgets/canvas.h"

/* Opens a prompt with this text to edit. */
void prompt_open(struct screen *screen, enum prompt prompt, const char *text);
/* Takes a key while a prompt is open. A filter acts while it is typed; the others act with Enter. */
void prompt_key(struct screen *screen, int key);
/* Draws it into row y, and places the terminal's cursor. */
void prompt_draw(struct screen *screen, const struct canvas *canvas, int y);
#endif
