/* panel_memory.h -- the parts of the Memory panel: its lists, the table, the matrix, the row of holders, what is
 * open. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_MEMORY_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_MEMORY_H

#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/panels/panel_list.h"
#include "widgets/table.h"

enum memory_tab { TAB_TASK, TAB_TYPE, TAB_MATRIX, TAB_TAG, TAB_COUNT };
enum memory_sort { SORT_LIVE, SORT_MARK, SORT_ALLOC, SORT_FREE, SORT_OBJECTS, SORT_NAME, SORT_COUNT };

enum {
	CHART_SECONDS = 300,
	MATRIX_TASKS_MAX = TABLE_COLUMNS_MAX - 3     /* the matrix also has columns for type, live bytes and other tasks */
};

/* What lives of a task, a type or a tag, and what was ever allocated and freed there. NaN stands for what is not known. */
struct holding {
	double live, change, allocated, freed, allocations_per_s, alloc_per_s, free_per_s, objects;
	double average;              /* bytes of an object that lives */
	const struct series *trend;
	bool is_rough, is_known;
};

/* A table that is being drawn. */
struct memory_table {
	const struct model *model;
	const struct panel_rows *rows;
	int tab;
	enum glyphs glyphs;
	int columns[TABLE_COLUMNS_MAX];      /* what stands in each column of the table */
	/* For the matrix: the tasks that have a column. */
	uint32_t tasks[MATRIX_TASKS_MAX];
	int task_count;
};

/* ---- panel_memory_list.c ---- */
extern const char *const memory_tab_names[TAB_COUNT];
/* What a panel of allocation types needs; and one of tags. */
extern const struct need memory_alloc_need, memory_tag_need;
/* The tab of the view, always one that there is. */
int memory_tab_of(const struct panel_view *view);
const struct panel_list *memory_list_of(int tab);
struct holding memory_holding_of(const struct model *model, int tab, uint32_t id);
/* The row of what no sample tells the holder of; its id is TASK_ALL. */
#define MEMORY_OF_NOBODY "(not sampled)"

/* ---- panel_memory_table.c ---- */
/* Draws the table, or the matrix, from row y of the panel on. */
void memory_draw_table(struct memory_table *memory, struct panel_view *view, int y, const struct canvas *canvas);
/* The name of a row; style becomes dim when what it names is gone. */
void memory_row_name(const struct memory_table *memory, const struct panel_row *row, char *out, size_t out_bytes,
		     struct style *style);
/* "12.1 ms", how long half of the allocations live; "–" when lifetime is NULL. */
void memory_lifetime_text(char out[UNITS_BYTES], const struct model_site *lifetime);
void memory_dim_when_zero(double value, struct style *style);

/* ---- panel_memory_matrix.c ---- */
void memory_draw_matrix(struct memory_table *memory, struct panel_view *view, int y, const struct canvas *canvas);

/* ---- panel_memory_open.c ---- */
/* Draws who holds what of the task, type or tag that is open, and since when. */
void memory_draw_open(const struct model *model, struct panel_view *view, const struct canvas *canvas);

/* ---- panel_memory_holders.c ---- */
/* Draws into row y who holds the chosen type, or what the chosen task holds. */
void memory_draw_holders(const struct memory_table *memory, const struct panel_view *view, int y,
			 const struct canvas *canvas);

/* ---- panel_memory_small.c ---- */
/* The small form of a narrow Overview: the last minute, then the biggest tasks and types in a row each. */
void memory_draw_small(const struct model *model, struct panel_view *view, const struct canvas *canvas);
/* Live typed bytes once the program typed any, else the resident bytes that the kernel counts. */
const struct series *memory_chart_series(const struct model *model);
#endif
