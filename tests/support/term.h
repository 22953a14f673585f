/* term.h -- a program on a terminal that the test can read, type on and resize.
 *
 * The program runs on a pseudo-terminal, as its foreground job (^C and ^Z work),
 * with TERM=xterm-256color and LANG=C.UTF-8; libvterm plays the terminal and
 * answers what programs ask one. The screen is brought up to date by waiting: any
 * wait, here or in proc.h, reads all terminals. After the program has gone the
 * screen stays as it left it, until term_end() or proc_end_all(). A wait may be
 * content with a screen drawn before the key was pressed: wait for what only the
 * key can have brought.
 *
 * Rows and columns count from 0. Text is UTF-8. */
#ifndef TELEM_TESTS_SUPPORT_TERM_H
#define TELEM_TESTS_SUPPORT_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/proc.h"

struct term;

struct term_spec {
	const char *const *argv;   /* as in struct proc_spec */
	const char *const *env;    /* after the terminal's own, so it may change those */
	const char *dir;
	int rows;                  /* 0: 24 */
	int cols;                  /* 0: 80 */
	enum proc_use in;          /* PROC_INHERIT is the terminal */
	enum proc_use out;
	enum proc_use err;
};

#define TERM_COLOR_DEFAULT (-1)
#define TERM_COLOR_RGB 0x1000000   /* set in a colour that is 24 bits of RGB */

struct term_cell {
	char text[32];             /* UTF-8; " " when nothing is drawn, "" right of a wide character */
	int width;
	bool bold;
	bool reverse;
	bool underline;
	bool blink;
	bool italic;               /* libvterm 0.1 knows no dim */
	int fg;                    /* TERM_COLOR_DEFAULT, 0..255 of the palette, or TERM_COLOR_RGB | rgb */
	int bg;
};

struct term_cursor {
	int row;
	int col;
	bool visible;
};

/* Starts a program on a new terminal. Returns 0 or a negative errno. */
int term_try_start(struct term **out, const struct term_spec *spec);
/* The same, failing the test on an error:
 *   struct term *top = term_start(.argv = PROC_LIST("build/telemtop"), .rows = 24, .cols = 80); */
#define term_start(...) term_start_at(&(struct term_spec){ __VA_ARGS__ }, __FILE__, __LINE__)
/* The program, for proc_signal(), proc_rss_bytes(), proc_exited() and the rest. */
struct proc *term_proc(const struct term *term);

/* Waits, each for at most deadline_ms times TEST_SLOW, then fails the test and shows
 * the screen. They fail at once when the program has gone and the screen is final. */
#define term_wait_text(term, text, deadline_ms) \
	term_wait_text_at((term), (text), (deadline_ms), __FILE__, __LINE__)
#define term_wait_gone(term, text, deadline_ms) \
	term_wait_gone_at((term), (text), (deadline_ms), __FILE__, __LINE__)
/* A POSIX extended regular expression against one row, or any row when it is -1. */
#define term_wait_row_matches(term, row, regex, deadline_ms) \
	term_wait_row_matches_at((term), (row), (regex), (deadline_ms), __FILE__, __LINE__)
/* Returns the exit code, or minus the signal; the screen is final then. */
#define term_wait_exit(term, deadline_ms) \
	proc_wait_exit_at(term_proc(term), (deadline_ms), __FILE__, __LINE__)
/* Waits until nothing has come for quiet_ms: a guess that a drawing is complete, for
 * taking a picture of the screen. Prefer waiting for what must be there. */
#define term_wait_quiet(term, quiet_ms, deadline_ms) \
	term_wait_quiet_at((term), (quiet_ms), (deadline_ms), __FILE__, __LINE__)

/* Types bytes as they are. */
void term_type(struct term *term, const char *text);
/* Presses keys by name, blanks between them, in the sequences the program has asked
 * for: up down left right home end pgup pgdn ins del enter tab backspace esc space
 * F1..F12, shift-NAME, ctrl-LETTER, alt-CHARACTER; anything else is typed as it is.
 * Example: term_keys(term, "down down enter q"). */
void term_keys(struct term *term, const char *names);
/* Press and release at a cell: button 1, 2, 3, or 4 and 5 for the wheel. Nothing is
 * sent unless the program has asked for the mouse. */
void term_click(struct term *term, int row, int col, int button);
/* Both at least 1; the program gets SIGWINCH. */
void term_resize(struct term *term, int rows, int cols);

/* Asks about what has been read so far. Rows come without blanks at their end. A
 * returned text is valid until the next call of the same function. */
int term_rows(const struct term *term);
int term_cols(const struct term *term);
/* All rows, each with a newline. */
const char *term_text(struct term *term);
const char *term_row(struct term *term, int row);
bool term_has(struct term *term, const char *text);
bool term_row_matches(struct term *term, int row, const char *regex);
/* Where text begins, searched row by row; row and col may be NULL. */
bool term_find(struct term *term, const char *text, int *row, int *col);
struct term_cell term_cell(const struct term *term, int row, int col);
struct term_cursor term_cursor(const struct term *term);
bool term_on_alternate_screen(const struct term *term);
/* Line mode and echo are on, as a shell wants them; good after the exit, too. */
bool term_is_cooked(const struct term *term);
/* The program has asked for the mouse. */
bool term_wants_mouse(const struct term *term);
uint32_t term_bell_count(const struct term *term);
/* What the program set, or "". */
const char *term_title(const struct term *term);
/* All the bytes the program sent; count may be NULL. Valid until the next wait. */
const char *term_raw(const struct term *term, size_t *count);
bool term_raw_has(const struct term *term, const void *bytes, size_t count);
/* Bytes received since the start, for rates. */
uint64_t term_byte_count(const struct term *term);

/* Kills the program if need be, frees *term. NULL is fine. proc_end_all() does the
 * same for every terminal, so a teardown needs only that. */
void term_end(struct term *term);

/* The parts behind the macros. */
struct term *term_start_at(const struct term_spec *spec, const char *file, int line);
void term_wait_text_at(struct term *term, const char *text, int64_t deadline_ms, const char *file, int line);
void term_wait_gone_at(struct term *term, const char *text, int64_t deadline_ms, const char *file, int line);
void term_wait_row_matches_at(struct term *term, int row, const char *regex, int64_t deadline_ms,
			      const char *file, int line);
void term_wait_quiet_at(struct term *term, int64_t quiet_ms, int64_t deadline_ms, const char *file, int line);
#endif
