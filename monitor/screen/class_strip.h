/* class_strip.h -- the row that c opens: a letter for each class, which switches its level. */
#ifndef TELEM_MONITOR_SCREEN_CLASS_STRIP_H
#define TELEM_MONITOR_SCREEN_CLASS_STRIP_H

#include "monitor/screen/screen.h"
#include "widgets/canvas.h"

/* Opens it, with a letter for every class. */
void class_strip_open(struct screen *screen);
/* Draws it into the last row, y, and as many rows above as it takes. */
void class_strip_draw(const struct screen *screen, const struct canvas *canvas, int y);
/* Takes a key while the strip is open, which closes it. */
void class_strip_key(struct screen *screen, int key);
/* Asks for the level that a panel's key wishes for, if it does. */
void class_strip_take_wish(struct screen *screen, struct panel_view *view);
#endif
