#include "monitor/screen/panels/panel_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/screen/panels/panel_common.h"
#include "widgets/cells.h"
#include "widgets/key.h"

enum {
	ORDER_MAX = sizeof ((struct panel_view *)0)->order / sizeof(uint32_t),
	FILTER_BYTES = 128
};

/* ---- filter ---- */

static bool regex_init(struct filter *filter, const char *text)
{
	char pattern[FILTER_BYTES];
	size_t bytes = strlen(text);

	/* The user may not have typed the closing slash yet. */
	if (bytes > 1 && text[bytes - 1] == '/')
		bytes--;
	if (bytes - 1 >= sizeof pattern)
		return false;
	memcpy(pattern, text + 1, bytes - 1);
	pattern[bytes - 1] = '\0';
	return regcomp(&filter->regex, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) == 0;
}

void filter_init(struct filter *filter, const char *text)
{
	*filter = (struct filter){ .part = text };
	if (*text == '!') {
		filter->is_not = true;
		text++;
	}
	filter->part = text;
	if (*text == '/' && text[1]) {
		filter->is_regex = regex_init(filter, text);
		filter->is_bad = !filter->is_regex;
	}
}

bool filter_match(const struct filter *filter, const char *name)
{
	bool found;

	if (!filter->part[0] || filter->is_bad)
		return true;
	if (filter->is_regex)
		found = regexec(&filter->regex, name, 0, NULL, 0) == 0;
	else
		found = strcasestr(name, filter->part) != NULL;
	return found != filter->is_not;
}

void filter_fini(struct filter *filter)
{
	if (filter->is_regex)
		regfree(&filter->regex);
}

/* ---- rows ---- */

void rows_add(struct panel_rows *rows, uint32_t id, int group, double key, const char *name)
{
	if (rows->count == rows->room) {
		int room = rows->room ? rows->room * 2 : 64;
		struct panel_row *bigger = realloc(rows->rows, (size_t)room * sizeof *bigger);

		if (!bigger)
			return;
		rows->rows = bigger;
		rows->room = room;
	}
	rows->rows[rows->count++] = (struct panel_row){ .id = id, .group = group, .key = key, .name = name };
}

void rows_free(struct panel_rows *rows)
{
	free(rows->rows);
	*rows = (struct panel_rows){ 0 };
}

static int compare_rows(const void *left, const void *right)
{
	const struct panel_row *a = left, *b = right;
	int order;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (isnan(a->key) != isnan(b->key))
		return isnan(a->key) ? 1 : -1;
	if (a->key < b->key || a->key > b->key)
		return a->key < b->key ? -1 : 1;
	order = strcasecmp(a->name, b->name);
	if (order)
		return order;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The same order, but with names from Z to A. */
static int compare_rows_down(const void *left, const void *right)
{
	const struct panel_row *a = left, *b = right;
	int order = strcasecmp(b->name, a->name);

	if (a->rank == b->rank && order)
		return order;
	return compare_rows(left, right);
}

static void rows_sort(struct panel_rows *rows, bool by_name, bool is_ascending)
{
	for (int i = 0; i < rows->count; i++) {
		struct panel_row *row = &rows->rows[i];

		if (by_name) {
			row->group = 0;
			row->key = 0;
		} else if (!is_ascending) {
			row->key = -row->key;
		}
	}
	if (rows->count > 0)
		qsort(rows->rows, (size_t)rows->count, sizeof *rows->rows,
		      by_name && !is_ascending ? compare_rows_down : compare_rows);
}

struct place { uint32_t id; int rank; };

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Gives each row its place in the held order; rows that are not in it come after those that are. */
static void rows_rank(struct panel_rows *rows, const struct panel_view *view)
{
	struct place places[ORDER_MAX];
	bool is_seen[ORDER_MAX] = { false };
	int count = cells_max(0, cells_min(view->order_count, ORDER_MAX));
	int there = rows->count;

	for (int i = 0; i < count; i++)
		places[i] = (struct place){ view->order[i], i };
	qsort(places, (size_t)count, sizeof *places, compare_places);
	for (int i = 0; i < there; i++) {
		struct place wanted = { rows->rows[i].id, 0 };
		const struct place *found = bsearch(&wanted, places, (size_t)count, sizeof *places, compare_places);

		rows->rows[i].rank = found ? found->rank : count;
		if (found)
			is_seen[found->rank] = true;
	}
	for (int i = 0; i < count; i++) {
		if (is_seen[i])
			continue;
		rows_add(rows, view->order[i], 0, NAN, "");
		rows->rows[rows->count - 1].is_gone = true;
		rows->rows[rows->count - 1].rank = i;
	}
}

static void rows_filter(struct panel_rows *rows, const char *text)
{
	struct filter filter;
	int kept = 0;

	filter_init(&filter, text);
	for (int i = 0; i < rows->count; i++)
		if (filter_match(&filter, rows->rows[i].name))
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
	filter_fini(&filter);
}

/* Moves the cursor to where its item is now. When the item is gone, the cursor takes the item that stands in its row. */
static void cursor_settle(const struct panel_rows *rows, struct panel_view *view)
{
	if (view->cursor < 0)
		return;
	if (rows->count == 0) {
		/* cursor_id stays, for the item may come back when the filter changes. */
		view->cursor = 0;
		return;
	}
	for (int i = 0; i < rows->count; i++)
		if (rows->rows[i].id == view->cursor_id) {
			view->cursor = i;
			return;
		}
	view->cursor = cells_min(view->cursor, rows->count - 1);
	view->cursor_id = rows->rows[view->cursor].id;
}

static int sort_of(const struct panel_list *list, const struct panel_view *view)
{
	return view->sort >= 0 && view->sort < list->sort_count ? view->sort : 0;
}

struct panel_rows list_rows(const struct panel_list *list, const struct model *model, struct panel_view *view)
{
	struct panel_rows rows = { 0 };

	view->sort = sort_of(list, view);
	list->collect(model, view, &rows);
	rows.all_count = rows.count;
	if (view->is_held)
		rows_rank(&rows, view);
	rows_filter(&rows, view->filter);
	rows_sort(&rows, view->sort == list->sort_name, view->is_ascending);
	cursor_settle(&rows, view);
	return rows;
}

struct panel_rows list_rows_plain(const struct panel_list *list, const struct model *model, int sort)
{
	struct panel_view view;

	panel_view_init(&view);
	view.sort = sort;
	return list_rows(list, model, &view);
}

void list_draw(const struct table *table, const struct panel_rows *rows, struct panel_view *view, int y,
	       const struct canvas *canvas)
{
	struct table whole = *table;
	struct table_drawn drawn;

	whole.row_count = rows->count;
	whole.top = view->top;
	whole.cursor = view->cursor;
	whole.sort_ascending = view->is_ascending;
	drawn = table_draw(&whole, canvas);
	view->top = drawn.top;
	view->page = drawn.row_count;
	if (drawn.cursor_y >= 0) {
		view->cursor_x = 0;
		view->cursor_y = y + drawn.cursor_y;
	}
}

/* ---- keys ---- */

static void hold(const struct panel_rows *rows, struct panel_view *view)
{
	view->order_count = cells_min(rows->count, ORDER_MAX);
	for (int i = 0; i < view->order_count; i++)
		view->order[i] = rows->rows[i].id;
	view->is_held = true;
}

void list_leave(struct panel_view *view)
{
	view->cursor = -1;
	view->is_held = false;
	view->order_count = 0;
	/* The rows are sorted again, and the first of them is what the order is for. */
	view->top = 0;
}

/* Sorts the rows again and holds the new order. */
static void hold_again(const struct panel_list *list, const struct model *model, struct panel_view *view)
{
	struct panel_rows rows;

	view->is_held = false;
	rows = list_rows(list, model, view);
	hold(&rows, view);
	rows_free(&rows);
}

static void cursor_move(const struct panel_rows *rows, struct panel_view *view, long long to)
{
	if (rows->count == 0)
		return;
	if (!view->is_held)
		hold(rows, view);
	view->cursor = to < 0 ? 0 : to >= rows->count ? rows->count - 1 : (int)to;
	view->cursor_id = rows->rows[view->cursor].id;
}

static bool move_key(const struct panel_rows *rows, struct panel_view *view, int key)
{
	long long at = view->cursor, page = cells_max(view->page, 1);

	switch (key) {
	case KEYCODE_DOWN: case 'j':
		/* The first key enters the list at the first row on the screen. */
		cursor_move(rows, view, at < 0 ? view->top : at + 1);
		return true;
	case KEYCODE_UP: case 'k':
		cursor_move(rows, view, at < 0 ? view->top : at - 1);
		return true;
	case KEYCODE_PAGE_DOWN: case KEYCODE_CTRL('F'):
		cursor_move(rows, view, at < 0 ? view->top : at + page);
		return true;
	case KEYCODE_PAGE_UP: case KEYCODE_CTRL('B'):
		cursor_move(rows, view, at < 0 ? view->top : at - page);
		return true;
	case KEYCODE_CTRL('D'):
		cursor_move(rows, view, at < 0 ? view->top : at + (page + 1) / 2);
		return true;
	case KEYCODE_CTRL('U'):
		cursor_move(rows, view, at < 0 ? view->top : at - (page + 1) / 2);
		return true;
	case KEYCODE_HOME: case 'g':
		cursor_move(rows, view, 0);
		return true;
	case KEYCODE_END: case 'G':
		cursor_move(rows, view, rows->count - 1LL);
		return true;
	default:
		return false;
	}
}

static bool escape(const struct panel_rows *rows, struct panel_view *view)
{
	/* Esc goes back one layer. The list is the first layer, when the user can see that the cursor is in it. */
	if (view->cursor >= 0 && rows->count > 0) {
		list_leave(view);
	} else if (view->filter[0]) {
		view->filter[0] = '\0';
	} else if (view->is_held || view->cursor >= 0) {
		list_leave(view);
	} else {
		return false;
	}
	return true;
}

bool list_key(const struct panel_list *list, const struct model *model, struct panel_view *view, int key)
{
	struct panel_rows rows = list_rows(list, model, view);
	bool was_held = view->is_held, is_taken = true;

	switch (key) {
	case 's': case KEYCODE_F0 + 6:
		view->sort = (view->sort + 1) % cells_max(list->sort_count, 1);
		view->is_ascending = view->sort == list->sort_name;
		if (was_held)
			hold_again(list, model, view);
		break;
	case 'r':
		view->is_ascending = !view->is_ascending;
		if (was_held)
			hold_again(list, model, view);
		break;
	case 'o':
		if (was_held)
			view->is_held = false;
		else
			hold(&rows, view);
		break;
	case KEYCODE_ESCAPE:
		is_taken = escape(&rows, view);
		break;
	default:
		is_taken = move_key(&rows, view, key);
		break;
	}
	rows_free(&rows);
	return is_taken;
}

const struct model_site *list_site(const struct model *model, const struct panel_view *view)
{
	if (!view->is_open && view->cursor < 0)
		return NULL;
	return model_site_by_id(model, view->is_open ? view->open_id : view->cursor_id);
}

bool list_level_up(const struct model *model, struct panel_view *view)
{
	return wish_site_next(view, list_site(model, view));
}

bool list_level_off(const struct model *model, struct panel_view *view)
{
	return wish_site_off(view, list_site(model, view));
}

bool list_open(const struct panel_list *list, const struct model *model, struct panel_view *view)
{
	if (view->cursor < 0)
		list_key(list, model, view, KEYCODE_DOWN);
	if (view->cursor >= 0) {
		view->is_open = true;
		view->open_id = view->cursor_id;
	}
	return true;
}

bool list_close(const struct model *model, struct panel_view *view)
{
	(void)model;
	view->is_open = false;
	return true;
}

void list_sort_label(char out[64], const struct panel_list *list, const struct panel_view *view)
{
	snprintf(out, 64, "sort %s %s%s", list->sorts[sort_of(list, view)], view->is_ascending ? "▲" : "▼",
		 view->is_held ? " held" : "");
}
