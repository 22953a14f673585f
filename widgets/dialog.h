/* dialog.h -- a framed box in the middle of the screen, for help and questions.
 *
 *	┌ Help: Latency (2) ──── ? again: all keys ┐
 *	│ s r    sort by next column, reverse      │
 *	└──────────────────────────── 3 not shown ┘
 */
#ifndef TELEM_WIDGETS_DIALOG_H
#define TELEM_WIDGETS_DIALOG_H

#include "widgets/canvas.h"

struct dialog {
	const char *title;
	const char *hint;            /* at the right of the title when there is room; or NULL */
	const char *const *lines;    /* clean text */
	int line_count;
	int top;                     /* the first line to show; past the end counts as the end */
	int extra_rows;              /* blank rows below the lines, for the caller to draw in */
};

struct dialog_drawn {
	struct canvas extra;         /* the extra rows, as far as there is room for them */
	int top, line_count;         /* what is shown: where from, and how many lines */
};

/* As wide and high as its text, at most canvas; lines that are too long are cut
 * in the middle. Covers what is below it. When not all lines are shown, the
 * frame says how many are not. */
struct dialog_drawn dialog_draw(const struct dialog *dialog, const struct canvas *canvas);
#endif
