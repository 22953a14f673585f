/* screen.h -- the frame round the panels: who, state, pulse, message, keys.
 *
 * Draws a struct screen onto any canvas, so that whole screens have golden files. Holds
 * what the user is looking at; commands.c changes it, app.c gives it a terminal. */
#ifndef TELEM_MONITOR_SCREEN_SCREEN_H
#define TELEM_MONITOR_SCREEN_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/screen/panels/panel.h"
#include "monitor/session/target.h"
#include "widgets/canvas.h"
#include "widgets/lineedit.h"

enum overlay { OVERLAY_NONE, OVERLAY_HELP, OVERLAY_HELP_ALL, OVERLAY_CLASSES, OVERLAY_PROMPT };
enum prompt { PROMPT_FILTER, PROMPT_INTERVAL, PROMPT_GO };

struct screen {
	struct target *target;
	struct panel_view views[PANELS_MAX]; /* in the order of panels[] */
	int panel;                   /* into panels[] */
	struct model *frozen;        /* own; NULL: the picture goes on */
	uint64_t frozen_ticks;       /* of the live model when it was frozen */
	enum overlay overlay;
	enum prompt prompt;
	struct lineedit edit;
	char typed[64];
	char message[600], message_clock[16];
	char class_keys[LIMIT_CLASSES];
	struct panel_request requests[LIMIT_CLASSES];
	uint32_t request_ids[LIMIT_CLASSES], dump_request;   /* dump_request: 0, none is waited for */
	bool asks_to_quit, keep;
	bool is_wanted_back;         /* a program of this name is back as back_pid */
	int back_pid;
	uint64_t now_ns;             /* monotonic, of this frame */
	int64_t real_ns;
	int cursor_x, cursor_y;      /* out: where the terminal's cursor belongs; -1: nowhere */
};

void screen_init(struct screen *screen, struct target *target);
void screen_fini(struct screen *screen);
/* The model that is shown. */
struct model *screen_model(const struct screen *screen);
const struct panel *screen_panel(const struct screen *screen);
struct panel_view *screen_view(struct screen *screen);
/* One line on the message row, until the next. */
void screen_say(struct screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
void screen_draw(struct screen *screen, const struct canvas *canvas);
/* The state badge: "LIVE 1 s", "LOST 00:08". */
void screen_badge(const struct screen *screen, char *out, size_t out_bytes);
/* Letters for classes that have none yet: the first free letter of their names. */
void screen_name_classes(struct screen *screen);
#endif
