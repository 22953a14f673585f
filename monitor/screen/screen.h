/* screen.h -- what the user looks at: the rows round the panel, and the panel.
 *
 * A struct screen can be drawn onto any canvas, so that whole screens have golden files. keys.c changes it, and app.c
 * gives it a terminal. */
#ifndef TELEM_MONITOR_SCREEN_SCREEN_H
#define TELEM_MONITOR_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/observe/record.h"
#include "monitor/screen/panels/panel.h"
#include "monitor/session/ask_held.h"
#include "monitor/session/target.h"
#include "widgets/canvas.h"
#include "widgets/lineedit.h"

enum { SCREEN_COSTLY_MAX = 8 };

enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_HELP_ALL, OVERLAY_CLASSES, OVERLAY_PROMPT };
enum prompt { PROMPT_FILTER, PROMPT_INTERVAL, PROMPT_GO };

struct screen {
	struct target *target;
	struct panel_view views[PANELS_MAX]; /* in the order of panels[] */
	int panel;                   /* into panels[] */
	struct recorder recorder;
	bool may_overwrite;          /* a recording may replace a file */
	enum overlay overlay;
	enum prompt prompt;
	struct lineedit edit;
	char typed[64];
	char message[600], message_clock[16];
	struct panel_request requests[LIMIT_CLASSES];        /* by class, as panels see the wishes of the controls */
	struct held held;            /* who holds the program's memory, while a panel wants that */
	bool has_held;               /* an answer is complete */
	uint64_t held_ns;            /* when it came, of the monotonic clock; 0: none came */
	uint32_t costly[SCREEN_COSTLY_MAX];  /* sites that we lease because a panel shows them, costly_count of them */
	int costly_count;
	uint64_t costly_stream;      /* the program whose sites they are */
	bool asks_to_quit;
	uint64_t now_ns;             /* of the monotonic clock, when this frame is drawn */
	int64_t real_ns;             /* of the wall clock */
	int cursor_x, cursor_y;      /* out: where the terminal's cursor belongs; -1: nowhere */
};

void screen_init(struct screen *screen, struct target *target);
/* Ends a recording in order. */
void screen_fini(struct screen *screen);
const struct panel *screen_panel(const struct screen *screen);
struct panel_view *screen_view(struct screen *screen);
/* Shows a line on the message row until the next one. */
void screen_say(struct screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says why the program cannot be asked, from what controls_request() returned, and what follows from that. */
void screen_say_refused(struct screen *screen, int err, const char *what);
/* Gives the shown panel's view what the panel may know of us and of the controls. */
void screen_fill_view(struct screen *screen);
void screen_draw(struct screen *screen, const struct canvas *canvas);
#endif
