/* lineedit.h -- one line of text that a person types.
 *
 * Printable characters are inserted at the cursor. Backspace, Delete, ^U (deletes everything before
 * the cursor), the arrows, Home, End, ^A and ^E edit; Enter and Escape end the edit. A full line
 * accepts no further characters. The text is clean UTF-8 at all times. */
#ifndef TELEM_WIDGETS_LINEEDIT_H
#define TELEM_WIDGETS_LINEEDIT_H

#include <stddef.h>

#include "widgets/canvas.h"
#include "widgets/key.h"

struct lineedit {
	char *text;                  /* owned by the caller, ended by a NUL */
	size_t text_bytes;           /* size of text, its NUL included: the bound */
	size_t bytes;                /* bytes in use, without the NUL */
	size_t cursor;               /* a byte offset: before a character, or the end */
};

enum lineedit_answer { LINEEDIT_MORE, LINEEDIT_DONE, LINEEDIT_CANCELLED };

/* Starts to edit the string in text, a buffer of text_bytes (at least 1) that must live as long as
 * the edit. The cursor is at its end. */
void lineedit_init(struct lineedit *edit, char *text, size_t text_bytes);
/* Handles one key (key.h). Keys without a meaning here do nothing. */
enum lineedit_answer lineedit_key(struct lineedit *edit, int key);
/* Draws prompt and text into row y from column x on, scrolled so that the cursor is visible.
 * Returns the cursor's column, for canvas_curses_cursor(). */
int lineedit_draw(const struct lineedit *edit, const struct canvas *canvas, int x, int y, const char *prompt);
#endif
