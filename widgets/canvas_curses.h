/* canvas_curses.h -- the terminal as a canvas. A process has one.
 *
 * Everything is drawn into cells; canvas_curses_flush() sends the cells that changed to the
 * terminal. The background is never painted. Colours follow the roles of theme.h: with 256 colours
 * heat has 8 colours, with 8 colours it has two looks, and without colours, or when the user wants
 * none, bold, dim and underline stand for roles.
 *
 * The program must call setlocale(LC_CTYPE, "") first. When its character set is not UTF-8,
 * everything is drawn in ASCII, whatever the options say. All functions but
 * canvas_curses_close_from_signal() must be called from one thread. curses handles SIGINT, SIGTERM,
 * SIGTSTP and SIGWINCH unless the program has handlers for them before canvas_curses_open(). */
#ifndef TELEM_WIDGETS_CANVAS_CURSES_H
#define TELEM_WIDGETS_CANVAS_CURSES_H

#include "widgets/canvas.h"
#include "widgets/key.h"

/* COLOR_AUTO: what the terminal can show, but no colours when NO_COLOR is set and not empty.
 * COLOR_ALWAYS overrules NO_COLOR. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct canvas_curses_options {
	enum color color;
	enum glyphs glyphs;
	bool light_background;       /* high heat is dark, not bright */
};

/* Opens the terminal on standard output. Keys come from standard input or, when that is not a
 * terminal, from /dev/tty. Returns 0; -ENOTTY when there is no terminal; -ENXIO when TERM is unset,
 * unknown or cannot place a cursor; -EBUSY when it is open already; or another negative errno. On
 * failure the terminal is as it was. */
int canvas_curses_open(const struct canvas_curses_options *options);
/* The canvas of the whole screen, of size 0 while closed. It is valid until the next resize or close. */
struct canvas canvas_curses_canvas(void);
/* The file descriptor that keys come from, for polling; -1 while closed. */
int canvas_curses_fd(void);

/* Returns the next key that is waiting, or KEYCODE_NONE: call again until it returns that. An
 * Escape alone is reported after 25 ms. No key comes after KEYCODE_HANGUP. */
int canvas_curses_key(void);

/* Gives the canvas the terminal's current size and blanks it. Returns 0, or -ENOMEM and the old
 * size stays. */
int canvas_curses_resize(void);
/* Says where the terminal's cursor is shown after the next flush. A position outside the screen hides it. */
void canvas_curses_cursor(int x, int y);
/* Shows what was drawn: sends only the cells that changed since the last flush. */
void canvas_curses_flush(void);
/* Makes the next flush send every cell, for a screen that another program wrote on. */
void canvas_curses_redraw(void);

/* canvas_curses_suspend() restores the terminal for a while, before the program stops on ^Z.
 * canvas_curses_resume() takes it again, in the size it has by then, and returns what
 * canvas_curses_resize() returns. */
void canvas_curses_suspend(void);
int canvas_curses_resume(void);

/* Restores the terminal. May be called twice, and without canvas_curses_open(). */
void canvas_curses_close(void);
/* Restores the terminal with tcsetattr() and write() only, for the handler of a fatal signal.
 * Nothing may be drawn afterwards. */
void canvas_curses_close_from_signal(void);
#endif
