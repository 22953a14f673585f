/* panel_list.h -- lists that stand still: sorted, filtered, with a cursor on an item.
 *
 * The cursor enters with the first ↓ and follows its item from then on. While it is in
 * the list, and until `o` or Esc lets go, rows keep their order: new ones come at the
 * end, gone ones stay. What is remembered is in struct panel_view. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_LIST_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_LIST_H

#include <regex.h>

#include "monitor/screen/panels/panel.h"

enum { LIST_NONE = UINT32_MAX };     /* no id */

struct panel_row {
	uint32_t id;
	int group;                   /* rows of different groups are not compared: lower first */
	double key;                  /* sorted by; NaN last */
	const char *name;            /* borrowed, as it came; "" when gone */
	bool is_gone;
	int rank;                    /* in the held order */
};

struct panel_rows {
	struct panel_row *rows;      /* own, count of them */
	int count, room;
	int all_count;               /* before the filter */
};

/* Adds a row; without memory the list just ends there. */
void rows_add(struct panel_rows *rows, uint32_t id, int group, double key, const char *name);
void rows_free(struct panel_rows *rows);

struct panel_list {
	/* Adds every row, whatever the filter. */
	void (*collect)(const struct model *model, const struct panel_view *view, struct panel_rows *rows);
	const char *const *sorts;    /* names of what can be sorted by, by panel_view.sort */
	int sort_count;
	int sort_name;               /* the one that sorts by name, A first; -1: none */
};

/* Filtered and in order, the view's cursor put where its item is now; free with rows_free(). */
struct panel_rows list_rows(const struct panel_list *list, const struct model *model, struct panel_view *view);
/* The same for a look only: another panel's rows, without cursor, filter or hold. */
struct panel_rows list_rows_plain(const struct panel_list *list, const struct model *model, int sort);
/* Moving, sorting, holding, Esc; true when the key was one of those. */
bool list_key(const struct panel_list *list, const struct model *model, struct panel_view *view, int key);
/* "sort p99 ▼ held" */
void list_sort_label(char out[64], const struct panel_list *list, const struct panel_view *view);
/* Takes the cursor out and lets go of the order. */
void list_leave(struct panel_view *view);

/* A filter: part of the name, "!" and what it must not be, "/regex/"; case does not matter. */
struct filter {
	const char *part;
	bool is_not, is_regex, is_bad;       /* bad: no regular expression; everything matches */
	regex_t regex;
};
void filter_init(struct filter *filter, const char *text);
bool filter_match(const struct filter *filter, const char *name);
void filter_fini(struct filter *filter);
#endif
