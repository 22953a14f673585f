/* panel.h -- what a panel is: it draws a const model onto a canvas, and has some keys.
 *
 * A panel is one file and one line in panels.c; its place among the tabs, its digit, its keys in the footer and on the
 * help page, and its small form on the Overview follow from its struct panel. A panel has no data of its own: what it
 * remembers is in a struct panel_view, one for each panel, which the screen keeps. The screen gives a panel the rows
 * between the header and the message row; the panel clears them and draws its own title. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/model/model.h"
#include "widgets/canvas.h"

/* How many panels panels.c may list; the screen has a view for each. */
#define PANELS_MAX 16

/* What the program answered to a request of ours about a class; the Classes panel shows it. */
struct panel_request {
	bool is_waiting;                     /* sent, and not answered yet */
	uint8_t level;                       /* the level that was asked for */
	uint64_t sent_ns;                    /* of the viewer's clock, like now_ns below */
	char answer[80];                     /* the text of a refusal, "" when it was done */
};

/* A level to ask the program for: a panel's key fills it in, the screen sends it. */
struct panel_wish {
	bool is_set;
	bool all_classes;                    /* the level is for every class */
	uint32_t class_id, site;             /* site 0: the level is for the whole class */
	uint8_t level;                       /* LEVEL_OWN: give the lease back */
};

struct held_sample;
struct panel;

struct panel_view {
	int top, cursor;                     /* the first row shown, and the cursor's row; -1: it has not been placed yet */
	uint32_t cursor_id;                  /* the item that the cursor follows: the id of a site, task or class */
	int page;                            /* how many rows the last frame showed */
	int sort;                            /* the column to sort by, an index into the panel's sorts; 0 at the start */
	bool is_ascending, is_held;          /* is_held: rows keep their order */
	uint32_t order[1024];                /* the ids in the order that is held */
	int order_count;
	int tab;                             /* Memory: by task, by type, task×type, by tag */
	bool is_open;                        /* an item was opened with Enter */
	uint32_t open_id;
	bool log_y;
	char filter[64];
	/* The screen fills these in, alike for every panel. */
	const struct panel_request *requests;        /* LIMIT_CLASSES of them */
	const char *class_keys;              /* LIMIT_CLASSES letters; 0: the class has none */
	uint64_t now_ns;
	const char *own_name;                /* the name we have in set_by, or NULL */
	bool may_control;
	bool keep;                           /* levels stay as they are when we leave */
	const struct held_sample *held_samples;      /* what the program last answered to wants_held; NULL: nothing */
	uint32_t held_count;
	const char *nothing;                 /* why there is no data at all; NULL when there is some */
	/* The panel fills these in. */
	struct panel_wish wish;
	bool wants_costly;                   /* have the program count what is dear to count (costly_view.h) */
	bool wants_held;                     /* ask the program for its live samples, now and then */
	int cursor_x, cursor_y;              /* where the terminal's cursor belongs on the canvas; -1: nowhere */
	char message[128];                   /* for the message row; "" for no message */
	const struct panel *go;              /* the panel to switch to, where the item go_id is opened; NULL: stay */
	uint32_t go_id;
};

/* When a row of keys applies: always, while an item is open, or while none is. */
enum panel_while { PANEL_ALWAYS, PANEL_WHILE_OPEN, PANEL_WHILE_CLOSED };

/* One key of a panel: what it does, and what the footer and the help page show of it. Rows end with a key of 0. */
struct panel_key {
	int key, other;                      /* numbers of widgets/key.h; other is a second key for the same, or 0 */
	enum panel_while applies;
	const char *footer;                  /* "x next level"; NULL: the footer does not show this row */
	const char *help_keys, *help;        /* "x X" and "next level, off"; NULL: the help page does not show it */
	/* Does what the key means. Returns false when the key has no such meaning now; then the panel's key() gets it.
	 * NULL: the row is only shown, for a key that the panel's key() or the screen takes. */
	bool (*run)(const struct model *model, struct panel_view *view);
};

/* The Overview has three layouts, chosen by how wide it is. */
enum overview_layout { OVERVIEW_WIDE, OVERVIEW_MEDIUM, OVERVIEW_NARROW, OVERVIEW_LAYOUT_COUNT };
/* Where in a layout a small form stands: its band, counted from 1 at the top, and its order within the band,
 * counted from 1 at the left. Zeros: the layout has no place for it. */
struct panel_place { uint8_t band, column; };

struct panel {
	const char *name;                    /* "Latency" */
	char digit;                          /* the key that switches to it; 0: Tab alone does */
	const char *help;                    /* one line for the help page */
	const struct panel_key *keys;        /* rows up to one with key 0 */
	void (*draw)(const struct model *model, struct panel_view *view, const struct canvas *canvas);
	/* Takes a key (a number of widgets/key.h) that neither the screen nor a row of keys took, as list_key() does
	 * for lists; returns false when the key means nothing here. Optional. */
	bool (*key)(const struct model *model, struct panel_view *view, int key);

	/* The small form on the Overview, optional: it draws its title and as many rows as fit. The view is the
	 * Overview's. */
	void (*small)(const struct model *model, struct panel_view *view, const struct canvas *canvas);
	/* How many rows the small form could fill, without its title; the Overview says how many are hidden.
	 * Optional. */
	int (*count)(const struct model *model);
	/* A small form without any place is shown on a wide Overview where there is room, while its count is
	 * above 0. */
	struct panel_place places[OVERVIEW_LAYOUT_COUNT];
	/* Only for a box of the Overview that belongs to a panel: that panel. The box shows its digit. */
	const struct panel *of;
};

/* The panels in the order of Tab; NULL at the end. Each can be drawn. */
extern const struct panel *const panels[];
/* What the Overview shows beside the small forms of panels; NULL at the end. A box has no draw() and no digit. */
extern const struct panel *const panel_boxes[];
/* The panels that other code names. */
extern const struct panel panel_overview, panel_memory, panel_latency, panel_classes, panel_link, panel_frames;

/* The panel with this digit; NULL when there is none. */
const struct panel *panel_find(int key);
/* Every panel with a digit: "0 (overview), 1 (memory) or 2 (latency)". */
void panels_list(char *out, size_t out_bytes);
/* Whether a row of keys applies to what the view shows. */
bool panel_key_applies(const struct panel_key *row, const struct panel_view *view);
/* Gives the panel a key: to its rows, then to its key(). False: the key means nothing here. */
bool panel_press(const struct panel *panel, const struct model *model, struct panel_view *view, int key);

/* The cursor is not in the list, nothing is open, nothing is wished for; what the screen fills in is NULL and 0. */
void panel_view_init(struct panel_view *view);

/* A key that works in every panel, for the help page; a list of them ends with keys NULL. */
struct help_key { const char *keys, *does; bool is_main; };
/* Draws the help page of a panel. all_keys: it shows every key that works in all panels, not only the main ones. */
void help_draw(const struct panel *panel, const struct help_key *everywhere, bool all_keys, const struct canvas *canvas);
#endif
