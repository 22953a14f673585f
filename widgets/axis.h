/* axis.h -- labels beside and below a plot, shared by the plots. */
#ifndef TELEM_WIDGETS_AXIS_H
#define TELEM_WIDGETS_AXIS_H

#include "widgets/canvas.h"
#include "widgets/units.h"

enum { AXIS_LABELS_MAX = 64 };   /* more would not be read in one row; they are left out */

/* The row of labels below a plot while it is being filled: what comes first has
 * its place, a later label that would touch one is left out. */
struct axis {
	struct canvas row;
	int count;
	struct { int start, end; } taken[AXIS_LABELS_MAX];
};

/* A moment to show on a time axis. */
struct axis_mark {
	int age;                     /* points before the newest one */
	const char *text;            /* "mark", "now 10:42:07" */
	bool tick;                   /* points at its column with ╵ */
};

/* Starts an empty axis in the row of canvas below plot, a part of it; the axis has
 * the plot's columns. */
struct axis axis_start(const struct canvas *canvas, const struct canvas *plot);
/* Text from column x on, moved left when it would pass the right edge. Returns
 * whether there was room. */
bool axis_label(struct axis *axis, int x, struct style style, const char *text);
/* Pointer (a character) at column x and text to its right, or to its left at the
 * right edge. Returns whether there was room. */
bool axis_pointer(struct axis *axis, int x, struct style style, uint32_t pointer, const char *text);
/* The marks that fall into the point_count points laid out over the columns. */
void axis_marks(struct axis *axis, const struct axis_mark *marks, int mark_count, int point_count);
/* "-5m … -1m … now" for a plot of seconds in all. */
void axis_time(struct axis *axis, double seconds);

/* Labels max at the top and 0 at the bottom of rows rows, and returns the part to
 * the right of them for the plot; all of canvas when it is too narrow for labels. */
struct canvas axis_values(const struct canvas *canvas, int rows, enum unit unit, double max);
#endif
