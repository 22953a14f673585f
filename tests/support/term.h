/* term.h -- a program on a terminal that the test can read, type on and resize.
 *
 * The program runs on a pseudo-terminal as its foreground job (so ^C and ^Z work), with
 * TERM=xterm-256color and LANG=C.UTF-8. libvterm acts as the terminal and answers the queries that
 * programs send to one. The screen is brought up to date by waiting: every wait, here or in proc.h,
 * reads all terminals. After the program has ended the screen stays as it was, until term_end() or
 * proc_end_all(). A wait may succeed with a screen that was drawn before a key was pressed, so wait
 * for something that only the key can have caused.
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
	const char *const *env;    /* applied after the terminal's own variables, so it can change them */
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
	char text[32];             /* UTF-8; " " when nothing is drawn, "" to the right of a wide character */
	int width;
	bool bold;
	bool reverse;
	bool underline;
	bool blink;
	bool italic;               /* libvterm 0.1 has no attribute for dim */
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

/* These wait for at most deadline_ms times TEST_SLOW, and then fail the test and show the screen.
 * They fail at once when the program has ended and its screen is final. */
#define term_wait_text(term, text, deadline_ms) \
	term_wait_text_at((term), (text), (deadline_ms), __FILE__, __LINE__)
#define term_wait_gone(term, text, deadline_ms) \
	term_wait_gone_at((term), (text), (deadline_ms), __FILE__, __LINE__)
/* Waits until a POSIX extended regular expression matches one row, or any row when row is -1. */
#define term_wait_row_matches(term, row, regex, deadline_ms) \
	term_wait_row_matches_at((term), (row), (regex), (deadline_ms), __FILE__, __LINE__)
/* Waits for the end of the program. Returns its exit code, or minus the signal; the screen is final then. */
#define term_wait_exit(term, deadline_ms) \
	proc_wait_exit_at(term_proc(term), (deadline_ms), __FILE__, __LINE__)
/* Waits until nothing has been received for quiet_ms. That only suggests that a drawing is
 * complete, before the screen is stored; where possible, wait for text that must appear. */
#define term_wait_quiet(term, quiet_ms, deadline_ms) \
	term_wait_quiet_at((term), (quiet_ms), (deadline_ms), __FILE__, __LINE__)

/* Types bytes without any change. */
void term_type(struct term *term, const char *text);
/* Presses keys by name, separated by blanks, in the escape sequences that the program has asked
 * for: up down left right home end pgup pgdn ins del enter tab backspace esc space F1..F12,
 * shift-NAME, ctrl-LETTER, alt-CHARACTER. Anything else is typed without change. Example:
 * term_keys(term, "down down enter q"). */
void term_keys(struct term *term, const char *names);
/* Presses and releases a button at a cell: 1, 2 or 3, or 4 and 5 for the wheel. Nothing is sent
 * unless the program has asked for the mouse. */
void term_click(struct term *term, int row, int col, int button);
/* Resizes the terminal; both sizes are at least 1. The program gets SIGWINCH. */
void term_resize(struct term *term, int rows, int cols);

/* These return what has been read so far. Rows have no blanks at their end. A returned text is
 * valid until the next call of the same function. */
int term_rows(const struct term *term);
int term_cols(const struct term *term);
/* All rows, each followed by a newline. */
const char *term_text(struct term *term);
const char *term_row(struct term *term, int row);
bool term_has(struct term *term, const char *text);
bool term_row_matches(struct term *term, int row, const char *regex);
/* Finds where text begins, row by row. row and col may be NULL. */
bool term_find(struct term *term, const char *text, int *row, int *col);
struct term_cell term_cell(const struct term *term, int row, int col);
struct term_cursor term_cursor(const struct term *term);
bool term_on_alternate_screen(const struct term *term);
/* Returns whether line mode and echo are on, as a shell needs them; valid after the exit too. */
bool term_is_cooked(const struct term *term);
/* Returns whether the program has asked for the mouse. */
bool term_wants_mouse(const struct term *term);
uint32_t term_bell_count(const struct term *term);
/* The title that the program set, or "". */
const char *term_title(const struct term *term);
/* All bytes that the program sent, valid until the next wait. count may be NULL. */
const char *term_raw(const struct term *term, size_t *count);
bool term_raw_has(const struct term *term, const void *bytes, size_t count);
/* How many bytes were received since the start, for rates. */
uint64_t term_byte_count(const struct term *term);

/* Kills the program if it still runs, and frees *term. NULL is allowed. proc_end_all() does the
 * same for every terminal, so a teardown needs only that. */
void term_end(struct term *term);

/* The functions behind the macros. */
struct term *term_start_at(const struct term_spec *spec, const char *file, int line);
void term_wait_text_at(struct term *term, const char *text, int64_t deadline_ms, const char *file, int line);
void term_wait_gone_at(struct term *term, const char *text, int64_t deadline_ms, const char *file, int line);
void term_wait_row_matches_at(struct term *term, int row, const char *regex, int64_t deadline_ms,
			      const char *file, int line);
void term_wait_quiet_at(struct term *term, int64_t quiet_ms, int64_t deadline_ms, const char *file, int line);
#endif
