/* rule.h -- the lines between panels, and their titles. */
#ifndef TELEM_WIDGETS_RULE_H
#define TELEM_WIDGETS_RULE_H

#include "widgets/canvas.h"

/* Draws "─ 1 Memory ───── 60 s ─ max 340 MiB ─" over the whole width, with the left text in bold.
 * Each text may be NULL. When both do not fit, the right one is left out, and then the left one is
 * cut in the middle. */
void rule_draw(const struct canvas *canvas, int y, const char *left, const char *right);
/* Draws a line from the top row to the bottom row, over what is there. */
void rule_vertical(const struct canvas *canvas, int x);
/* Draws the cell where a vertical line meets the horizontal line of row y: GLYPH_TEE_DOWN when the
 * vertical line begins there, GLYPH_TEE_UP when it ends there, GLYPH_CROSS when it goes through. */
void rule_tee(const struct canvas *canvas, int x, int y, enum glyph tee);
#endif
