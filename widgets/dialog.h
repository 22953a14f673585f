/* dialog.h -- a framed box in the middle of the screen, for help and questions.
 *
 *	┌ Help: Latency (2) ──── ? again: all keys ┐
 *	│ s r    sort by next column, reverse      │
 *	└──────────────────────────── 3 not shown ┘ */
#ifndef TELEM_WIDGETS_DIALOG_H
#define TELEM_WIDGETS_DIALOG_H

#include "widgets/canvas.h"

struct dialog {
	const char *title;
	const char *hint;            /* drawn to the right of the title when there is room; or NULL */
	const char *const *lines;    /* line_count of them, clean text */
	int line_count;
	int top;                     /* index of the first line to show; past the end counts as the end */
	int extra_rows;              /* blank rows below the lines, in which the caller draws */
};

struct dialog_drawn {
	struct canvas extra;         /* the extra rows, as many as there is room for */
	int top, line_count;         /* index of the first line shown, and how many are shown */
};

/* Draws the box over whatever is there, as wide and high as its text but at most as large as
 * canvas. Lines that are too long are cut in the middle. When some lines are not shown, the frame
 * says how many. */
struct dialog_drawn dialog_draw(const struct dialog *dialog, const struct canvas *canvas);
#endif
