/* tabbar.h -- a row of names, one of them chosen: "10 s [60 s] 5 min  all".
 *
 * When not all names fit, the first ones are left out so that the chosen one is shown. */
#ifndef TELEM_WIDGETS_TABBAR_H
#define TELEM_WIDGETS_TABBAR_H

#include "widgets/canvas.h"

/* Draws into row y from column x on. active is an index, or -1 when no name is chosen. Returns the
 * column after the last name drawn. */
int tabbar_draw(const struct canvas *canvas, int x, int y, const char *const *names, int name_count, int active);
#endif
