/* rule.h -- the lines between panels, with what they are called. */
#ifndef TELEM_WIDGETS_RULE_H
#define TELEM_WIDGETS_RULE_H

#include "widgets/canvas.h"

/* "─ 1 Memory ───── 60 s ─ max 340 MiB ─" over the whole width, the left text
 * bold. Either may be NULL. When both do not fit, the right one goes, then the
 * left one is cut in the middle. */
void rule_draw(const struct canvas *canvas, int y, const char *left, const char *right);
/* A line from the top row to the bottom, over what is there. */
void rule_vertical(const struct canvas *canvas, int x);
/* Where a vertical line meets row y's: GLYPH_TEE_DOWN when it begins there,
 * GLYPH_TEE_UP when it ends, GLYPH_CROSS when it goes through. */
void rule_tee(const struct canvas *canvas, int x, int y, enum glyph tee);
#endif
