/* axis.h -- labels beside and below a plot, shared by all plots. */
#ifndef TELEM_WIDGETS_AXIS_H
#define TELEM_WIDGETS_AXIS_H

#include "widgets/canvas.h"
#include "widgets/units.h"

enum { AXIS_LABELS_MAX = 64 };   /* further labels are left out; nobody reads so many in one row */

/* The row of labels below a plot, while it is being filled. A label drawn first has its place; a
 * later label that would touch one is left out. */
struct axis {
	struct canvas row;
	int count;
	struct { int start, end; } taken[AXIS_LABELS_MAX];
};

/* A moment to show on a time axis. */
struct axis_mark {
	int age;                     /* how many points it lies before the newest one */
	const char *text;            /* "mark", "now 10:42:07" */
	bool tick;                   /* whether ╵ points at its column */
};

/* Starts an empty axis in the row of canvas below plot, which is a part of canvas. The axis has the
 * columns of plot. */
struct axis axis_start(const struct canvas *canvas, const struct canvas *plot);
/* Draws text from column x on, moved to the left when it would pass the right edge. Returns whether
 * there was room. */
bool axis_label(struct axis *axis, int x, struct style style, const char *text);
/* Draws pointer (a character) at column x, and text to its right, or to its left at the right edge.
 * Returns whether there was room. */
bool axis_pointer(struct axis *axis, int x, struct style style, uint32_t pointer, const char *text);
/* Draws the marks that fall into point_count points spread over the columns of the axis. */
void axis_marks(struct axis *axis, const struct axis_mark *marks, int mark_count, int point_count);
/* Draws "-5m … -1m … now" below a plot that covers seconds. */
void axis_time(struct axis *axis, double seconds);

/* Draws the labels max at the top and low at the bottom of the first `rows` rows. Returns the part to
 * their right for the plot, or all of canvas when it is too narrow for labels. */
struct canvas axis_values(const struct canvas *canvas, int rows, enum unit unit, double low, double max);
#endif
