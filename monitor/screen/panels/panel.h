/* panel.h -- what a panel is: a const model onto a canvas, and some keys.
 *
 * A panel is one file and one row in panels.c. Panels own no data: what they remember is
 * in struct panel_view, one for each panel, kept by the screen. The screen gives a panel
 * the rows between pulse and messages; a panel clears them and draws its own title. */
#ifndef TELEM_MONITOR_SCREEN_PANELS_PANEL_H
#define TELEM_MONITOR_SCREEN_PANELS_PANEL_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/model/model.h"
#include "widgets/canvas.h"

/* What the program said to a request of ours about a class, for the Classes panel. */
struct panel_request {
	bool is_waiting;                     /* sent, no answer yet */
	uint8_t level;                       /* asked for */
	uint64_t sent_ns;                    /* of the viewer's clock, as now_ns below */
	char answer[80];                     /* a refusal's text, "" when done */
};

/* Levels to ask the program for: filled by a panel's key(), sent by the screen. */
struct panel_wish {
	bool is_set;
	bool all_classes;                    /* level for every class */
	uint32_t class_id, site;             /* site 0: the class */
	uint8_t level;                       /* LEVEL_OWN: give the lease back */
};

struct panel_view {
	int top, cursor;                     /* rows of the list; cursor -1: not in the list yet */
	uint32_t cursor_id;                  /* the item the cursor follows (site, task, class id) */
	int page;                            /* rows shown in the last frame */
	int sort;                            /* column, panel's own numbers; 0: the panel's favourite */
	bool is_ascending, is_held;          /* held: rows keep their order */
	uint32_t order[1024];                /* ids as they were when held */
	int order_count;
	int tab;                             /* Memory: task, type, task×type */
	bool is_open;                        /* an item is opened with Enter */
	uint32_t open_id;
	bool log_y;
	char filter[64];
	/* the screen's, the same in every panel's view */
	const struct panel_request *requests;        /* [LIMIT_CLASSES] */
	const char *class_keys;              /* [LIMIT_CLASSES] letters, 0: none */
	uint64_t now_ns;
	const char *own_name;                /* what we are called in set_by, or NULL */
	bool may_control;
	bool keep;                           /* levels are kept when we leave */
	const char *nothing;                 /* why there is no data at all, or NULL when there is */
	/* out */
	struct panel_wish wish;
	int cursor_x, cursor_y;              /* where the terminal's cursor belongs, in the canvas; -1: nowhere */
	char message[128];                   /* for the message row, "" for none */
	char go;                             /* switch to the panel of this key and open go_id there; 0: no */
	uint32_t go_id;
};

struct panel {
	const char *name;                    /* "Latency" */
	char digit;                          /* '2' */
	const char *help;                    /* one line */
	const char *const *keys;             /* "s r\tsort by next column, reverse", …, NULL */
	const char *footer;                  /* keys for the last row: "w window  L log y" or "" */
	const char *footer_open;             /* while an item is opened; NULL: the same */
	void (*draw)(const struct model *model, struct panel_view *view, const struct canvas *canvas);
	/* A key (widgets/key.h) that the screen did not take; false: not ours. */
	bool (*key)(const struct model *model, struct panel_view *view, int key);
};

/* In the order of their keys; NULL at the end. */
extern const struct panel *const panels[];
extern const struct panel panel_overview, panel_memory, panel_latency, panel_classes, panel_link, panel_frames;
/* NULL when no panel has this key. */
const struct panel *panel_find(char key);

/* Not in the list, nothing opened, nothing wished for. The screen's own fields are NULL and 0. */
void panel_view_init(struct panel_view *view);

/* A key that works everywhere, for the help page; a list of them ends with keys NULL. */
struct help_key { const char *keys, *does; bool is_main; };
/* The help page of a panel; all_keys: every key that works everywhere, not the main ones only. */
void help_draw(const struct panel *panel, const struct help_key *everywhere, bool all_keys, const struct canvas *canvas);
#endif
