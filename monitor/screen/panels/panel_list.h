/* panel_list.h -- lists that stand still: sorted, filtered, with a cursor on an item.
 *
 * The cursor enters the list with the first ↓ and follows its item from then on. While it is in the list, and until `o` or
 * Esc lets go, rows keep their order: new rows come at the end, and the rows of items that are gone stay. All that a list
 * remembers is in struct panel_view. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_LIST_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_LIST_H

#include <regex.h>

#include "monitor/screen/panels/panel.h"
#include "widgets/table.h"

enum { LIST_NONE = UINT32_MAX };     /* the id of no item */

struct panel_row {
	uint32_t id;
	int group;                   /* rows are sorted within their group; the lower group comes first */
	double key;                  /* rows are sorted by it; NaN comes last */
	const char *name;            /* borrowed, as the target sent it; "" when the item is gone */
	bool is_gone;
	int rank;                    /* the place in the held order */
};

struct panel_rows {
	struct panel_row *rows;      /* own, count of them */
	int count, room;
	int all_count;               /* how many there were before the filter */
};

/* Adds a row; when memory is out, it adds nothing. */
void rows_add(struct panel_rows *rows, uint32_t id, int group, double key, const char *name);
void rows_free(struct panel_rows *rows);

struct panel_list {
	/* Adds every row; the filter is applied afterwards. */
	void (*collect)(const struct model *model, const struct panel_view *view, struct panel_rows *rows);
	const char *const *sorts;    /* names of the columns to sort by; panel_view.sort counts them */
	int sort_count;
	int sort_name;               /* the column that sorts by name, A first; -1: there is none */
};

/* The rows filtered and in order; moves the view's cursor to where its item is now. Free them with rows_free(). */
struct panel_rows list_rows(const struct panel_list *list, const struct model *model, struct panel_view *view);
/* The rows of another panel's list, without cursor, filter or held order. */
struct panel_rows list_rows_plain(const struct panel_list *list, const struct model *model, int sort);
/* Draws the rows as a table, of which the caller sets the columns, sort_column and what draws the cells. canvas is the part
 * of the panel's canvas from row y on. Keeps in the view what the next frame and the keys need: the first row, how many
 * rows are a page, and where the cursor is. */
void list_draw(const struct table *table, const struct panel_rows *rows, struct panel_view *view, int y,
	       const struct canvas *canvas);
/* Takes the keys that move, sort, hold or let go, and Esc; returns true when the key was one of those. */
bool list_key(const struct panel_list *list, const struct model *model, struct panel_view *view, int key);
/* How the list is sorted, for a title: "sort p99 ▼ held". */
void list_sort_label(char out[64], const struct panel_list *list, const struct panel_view *view);
/* For a list of sites: the site that is open, or else the one that the cursor is on; NULL when the cursor is not in the
 * list. */
const struct model_site *list_site(const struct model *model, const struct panel_view *view);
/* For a row of keys of such a list: asks for the next level of that site, or for off. */
bool list_level_up(const struct model *model, struct panel_view *view);
bool list_level_off(const struct model *model, struct panel_view *view);
/* For a row of keys: opens what the cursor is on, which enters the list first when it is not in it; and closes it. */
bool list_open(const struct panel_list *list, const struct model *model, struct panel_view *view);
bool list_close(const struct model *model, struct panel_view *view);
/* Takes the cursor out of the list and lets go of the held order. */
void list_leave(struct panel_view *view);

/* A filter is a part of the name, or "!" and a part that it must not have, or "/regex/". Case does not matter. */
struct filter {
	const char *part;
	bool is_not, is_regex, is_bad;       /* is_bad: it is no valid regular expression, and every name matches */
	regex_t regex;
};
void filter_init(struct filter *filter, const char *text);
bool filter_match(const struct filter *filter, const char *name);
void filter_fini(struct filter *filter);
#endif
