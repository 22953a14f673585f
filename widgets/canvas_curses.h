/* canvas_curses.h -- the terminal as a canvas. A process has one.
 *
 * Everything is drawn into cells; canvas_curses_flush() sends those that changed.
 * The background is never painted. Colours follow roles (theme.h): 8 steps of
 * heat where there are 256 colours, named colours where there are 8, and bold,
 * dim, underline where there are none or nobody wants them.
 *
 * The program must have called setlocale(LC_CTYPE, "") before: without a UTF-8
 * codeset everything is drawn in ASCII, whatever was asked for. All functions
 * but canvas_curses_close_from_signal() belong to one thread. curses catches
 * SIGINT, SIGTERM, SIGTSTP and SIGWINCH if nobody did before canvas_curses_open(). */
#ifndef TELEM_WIDGETS_CANVAS_CURSES_H
#define TELEM_WIDGETS_CANVAS_CURSES_H

#include "widgets/canvas.h"
#include "widgets/key.h"

/* AUTO: as the terminal can, but none when NO_COLOR is set and not empty;
 * ALWAYS beats NO_COLOR. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct canvas_curses_options {
	enum color color;
	enum glyphs glyphs;
	bool light_background;       /* heat grows darker, not brighter */
};

/* Takes the terminal on standard output; keys come from standard input or, when
 * that is something else, from /dev/tty. Returns 0, -ENOTTY when there is no
 * terminal, -ENXIO when TERM is unset or unknown or too poor to place a cursor,
 * -EBUSY when open already, or another errno. On failure the terminal is untouched. */
int canvas_curses_open(const struct canvas_curses_options *options);
/* The whole screen, of size 0 when closed; valid until the next resize or close. */
struct canvas canvas_curses_canvas(void);
/* Where keys come from, to wait on; -1 when closed. */
int canvas_curses_fd(void);

/* The next key that is waiting, else KEYCODE_NONE; call until that comes. An
 * Escape alone is known after 25 ms. After KEYCODE_HANGUP no key will come. */
int canvas_curses_key(void);

/* Takes the terminal's present size; the canvas is blank then. Returns 0, or
 * -ENOMEM and the old size stays. */
int canvas_curses_resize(void);
/* Where the terminal's cursor stands after the next flush; outside: hidden. */
void canvas_curses_cursor(int x, int y);
/* Shows what was drawn: only cells that changed since the last flush travel. */
void canvas_curses_flush(void);
/* The next flush paints all anew, for a screen that others wrote on. */
void canvas_curses_redraw(void);

/* Gives the terminal back for a while, before stopping on ^Z, and takes it again
 * in the size it has then. Resume returns as canvas_curses_resize(). */
void canvas_curses_suspend(void);
int canvas_curses_resume(void);

/* Restores the terminal. May be called twice, and without open. */
void canvas_curses_close(void);
/* The same with nothing but tcsetattr() and write(): for a fatal signal's
 * handler, which must not return to drawing. */
void canvas_curses_close_from_signal(void);
#endif
