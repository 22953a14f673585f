/* lineedit.h -- one line of text being typed.
 *
 * Printable characters go in at the cursor; Backspace, Delete, ^U (all before the
 * cursor), arrows, Home, End, ^A, ^E edit; Enter and Escape end it. A full line
 * takes no more. Its text is clean UTF-8 at all times. */
#ifndef TELEM_WIDGETS_LINEEDIT_H
#define TELEM_WIDGETS_LINEEDIT_H

#include <stddef.h>

#include "widgets/canvas.h"
#include "widgets/key.h"

struct lineedit {
	char *text;                  /* the caller's, ended by a NUL */
	size_t text_bytes;           /* its size, NUL and all: the bound */
	size_t bytes;                /* in use */
	size_t cursor;               /* a byte offset, before a character or at the end */
};

enum lineedit_answer { LINEEDIT_MORE, LINEEDIT_DONE, LINEEDIT_CANCELLED };

/* Starts with what is in text, a string in a buffer of text_bytes (at least 1)
 * that lives as long as the edit; the cursor stands at its end. */
void lineedit_init(struct lineedit *edit, char *text, size_t text_bytes);
/* Takes one key (key.h); keys without a meaning here do nothing. */
enum lineedit_answer lineedit_key(struct lineedit *edit, int key);
/* Draws prompt and text into row y from x on, scrolled so that the cursor is in
 * view; returns the cursor's column, for canvas_curses_cursor(). */
int lineedit_draw(const struct lineedit *edit, const struct canvas *canvas, int x, int y, const char *prompt);
#endif
