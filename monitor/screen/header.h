/* header.h -- the two rows above the panel: who is watched and in what state, and its pulse. */
#ifndef TELEM_MONITOR_SCREEN_HEADER_H
#define TELEM_MONITOR_SCREEN_HEADER_H

#include <stddef.h>

#include "monitor/screen/screen.h"
#include "widgets/canvas.h"

/* Draws row 0: name, PID, host, state, recording, clock. What does not fit is left out, the least important first. */
void header_draw_identity(const struct screen *screen, const struct canvas *canvas);
/* Draws row 1: memory, events, bytes, lag, drops and classes. */
void header_draw_pulse(const struct screen *screen, const struct canvas *canvas);
/* The state in words: "LIVE 1 s", "LOST 00:08". */
void header_badge(const struct screen *screen, char *out, size_t out_bytes);
/* Its color. */
struct style header_badge_style(const struct screen *screen);
/* The time between two ticks, in seconds: as the program sends them, or as we asked for them. */
double header_interval_s(const struct screen *screen);
#endif
