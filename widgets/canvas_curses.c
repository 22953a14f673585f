#include "widgets/canvas_curses.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

#include "widgets/canvas_backing.h"
#include "widgets/text.h"

enum {
	ESCAPE_DELAY_MS = 25,    /* the bytes of one key arrive together; two keys of a person do not */
	LEAVE_BYTES = 256,       /* the strings that restore the screen; about 40 bytes in practice */
	WIDTH_CELLS_MAX = 2000,  /* a terminal may claim 65535 x 65535 cells; no real one is that large */
	HEIGHT_CELLS_MAX = 1000,
	COLORS_8 = 8,
	COLORS_256 = 256,
	FIRST_PAIR = 1           /* pair 0 is the terminal's own colours */
};

enum color_mode { MODE_MONO, MODE_NAMED, MODE_256, MODE_DIRECT };

/* How a role looks. A colour of -1 is the terminal's own foreground. */
struct role_look {
	short named;             /* 0..7, from the user's palette */
	short on_dark, on_light; /* with 256 colours, on a dark and on a light background */
	attr_t named_attrs;
	attr_t mono_attrs;
};

static const struct role_look looks[ROLE_COUNT] = {
	[ROLE_TEXT] =    { -1, -1, -1, A_NORMAL, A_NORMAL },
	[ROLE_DIM] =     { -1, -1, -1, A_DIM, A_DIM },
	[ROLE_TITLE] =   { -1, -1, -1, A_BOLD, A_BOLD },
	[ROLE_OK] =      { COLOR_CYAN, 39, 25, A_NORMAL, A_NORMAL },
	[ROLE_WARN] =    { COLOR_YELLOW, 220, 94, A_NORMAL, A_BOLD },
	[ROLE_BAD] =     { COLOR_RED, 208, 166, A_BOLD, A_BOLD | A_UNDERLINE },
	[ROLE_ACCENT] =  { COLOR_MAGENTA, 176, 127, A_NORMAL, A_BOLD },
	[ROLE_SERIES1] = { COLOR_CYAN, 74, 25, A_NORMAL, A_NORMAL },
	[ROLE_SERIES2] = { COLOR_YELLOW, 179, 130, A_NORMAL, A_NORMAL },
	[ROLE_SERIES3] = { COLOR_GREEN, 114, 28, A_NORMAL, A_NORMAL },
	[ROLE_SERIES4] = { COLOR_MAGENTA, 175, 90, A_NORMAL, A_NORMAL },
	[ROLE_SERIES5] = { COLOR_RED, 173, 124, A_NORMAL, A_NORMAL },
	[ROLE_SERIES6] = { -1, 152, 30, A_NORMAL, A_NORMAL },
	/* From violet to pale yellow, with CIE lightness from 39 to 97 in steps of 6 to 10. On a
	 * light background the order is reversed, so that high heat stands out most on both. */
	[ROLE_HEAT0] =   { COLOR_CYAN, 92, 228, A_NORMAL, A_NORMAL },
	[ROLE_HEAT1] =   { COLOR_CYAN, 97, 222, A_NORMAL, A_NORMAL },
	[ROLE_HEAT2] =   { COLOR_CYAN, 133, 216, A_NORMAL, A_NORMAL },
	[ROLE_HEAT3] =   { COLOR_CYAN, 204, 210, A_NORMAL, A_NORMAL },
	[ROLE_HEAT4] =   { COLOR_CYAN, 210, 204, A_BOLD, A_NORMAL },
	[ROLE_HEAT5] =   { COLOR_CYAN, 216, 133, A_BOLD, A_NORMAL },
	[ROLE_HEAT6] =   { COLOR_CYAN, 222, 97, A_BOLD, A_NORMAL },
	[ROLE_HEAT7] =   { COLOR_CYAN, 228, 92, A_BOLD, A_NORMAL },
};

static const struct {
	int curses, ours;
} keycodes[] = {
	{ KEY_UP, KEYCODE_UP }, { KEY_DOWN, KEYCODE_DOWN }, { KEY_LEFT, KEYCODE_LEFT },
	{ KEY_RIGHT, KEYCODE_RIGHT }, { KEY_HOME, KEYCODE_HOME }, { KEY_END, KEYCODE_END },
	{ KEY_PPAGE, KEYCODE_PAGE_UP }, { KEY_NPAGE, KEYCODE_PAGE_DOWN }, { KEY_ENTER, KEYCODE_ENTER },
	{ KEY_BACKSPACE, KEYCODE_BACKSPACE }, { KEY_DC, KEYCODE_DELETE }, { KEY_IC, KEYCODE_INSERT },
	{ KEY_BTAB, KEYCODE_BACKTAB }, { KEY_RESIZE, KEYCODE_RESIZE },
};

/* The one terminal. screen is NULL when closed. */
static struct {
	SCREEN *screen;
	struct canvas_backing *backing;      /* owned; what was drawn since */
	struct canvas_backing *shown;        /* owned; what the last flush left on stdscr */
	FILE *input;
	bool input_owned;                    /* input is /dev/tty, opened here */
	enum color_mode mode;
	int cursor_x, cursor_y;
	struct termios termios;              /* the modes before canvas_curses_open() */
	char leave[LEAVE_BYTES];             /* restores the screen from a signal handler */
	size_t leave_bytes;
	volatile sig_atomic_t active;        /* the terminal is in curses' modes */
} terminal;

/* An index of the 6x6x6 colour cube as red, green and blue, for terminals without a palette. */
static int direct_color(short index)
{
	static const int levels[] = { 0, 95, 135, 175, 215, 255 };
	int cube = index - 16;

	if (cube < 0)
		return index;
	return levels[cube / 36] << 16 | levels[cube / 6 % 6] << 8 | levels[cube % 6];
}

static enum color_mode color_mode_choose(enum color color)
{
	const char *no_color = getenv("NO_COLOR");

	if (color == COLOR_NEVER || (color == COLOR_AUTO && no_color && *no_color))
		return MODE_MONO;
	/* Without default colours a pair would paint the background. */
	if (!has_colors() || start_color() == ERR || use_default_colors() == ERR)
		return MODE_MONO;
	if (COLORS < COLORS_8 || COLOR_PAIRS < FIRST_PAIR + ROLE_COUNT)
		return MODE_MONO;
	if (COLORS > COLORS_256 && tigetflag("RGB") == 1)
		return MODE_DIRECT;
	return COLORS >= COLORS_256 ? MODE_256 : MODE_NAMED;
}

static void pairs_init(bool light_background)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct role_look *look = &looks[role];
		short color = light_background ? look->on_light : look->on_dark;

		if (terminal.mode == MODE_NAMED)
			init_pair((short)(FIRST_PAIR + role), look->named, -1);
		else if (terminal.mode == MODE_256)
			init_pair((short)(FIRST_PAIR + role), color, -1);
		else if (terminal.mode == MODE_DIRECT)
			init_extended_pair(FIRST_PAIR + role, direct_color(color), -1);
	}
}

static attr_t attrs_of(struct style style)
{
	const struct role_look *look = &looks[style.role < ROLE_COUNT ? style.role : ROLE_TEXT];
	attr_t attrs = terminal.mode == MODE_MONO ? look->mono_attrs : look->named_attrs;

	/* With 256 colours the colour alone shows heat. */
	if (terminal.mode > MODE_NAMED && style.role >= ROLE_HEAT0)
		attrs = A_NORMAL;
	if (style.attrs & ATTR_BOLD)
		attrs |= A_BOLD;
	if (style.attrs & ATTR_DIM)
		attrs |= A_DIM;
	if (style.attrs & ATTR_REVERSE)
		attrs |= A_REVERSE;
	if (style.attrs & ATTR_UNDERLINE)
		attrs |= A_UNDERLINE;
	return attrs;
}

static short pair_of(struct style style)
{
	if (terminal.mode == MODE_MONO || style.role >= ROLE_COUNT)
		return 0;
	return (short)(FIRST_PAIR + style.role);
}

/* Appends a capability of the terminal to the strings that restore it, without its padding "$<5>". */
static void leave_add(const char *name)
{
	char capability[16];
	const char *text;

	snprintf(capability, sizeof capability, "%s", name);   /* tigetstr() takes no const */
	text = tigetstr(capability);
	if (!text || text == (char *)-1)
		return;
	while (*text && terminal.leave_bytes < LEAVE_BYTES) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;

		if (end)
			text = end + 1;
		else
			terminal.leave[terminal.leave_bytes++] = *text++;
	}
}

static void leave_prepare(void)
{
	terminal.leave_bytes = 0;
	leave_add("sgr0");
	leave_add("rmkx");
	leave_add("cnorm");
	leave_add("rmcup");
}

static int input_open(void)
{
	int fd;

	terminal.input_owned = !isatty(STDIN_FILENO);
	if (!terminal.input_owned) {
		terminal.input = stdin;
		return 0;
	}
	fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -ENOTTY;
	terminal.input = fdopen(fd, "r+");
	if (!terminal.input) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

static void input_close(void)
{
	if (terminal.input_owned)
		fclose(terminal.input);
	terminal.input = NULL;
	terminal.input_owned = false;
}

/* The size that the terminal reports, or the size that curses found in TERM when it reports none. */
static void terminal_size(int *width_cells, int *height_cells)
{
	struct winsize size;

	*width_cells = COLS;
	*height_cells = LINES;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
		*width_cells = size.ws_col;
		*height_cells = size.ws_row;
	}
	if (*width_cells > WIDTH_CELLS_MAX)
		*width_cells = WIDTH_CELLS_MAX;
	if (*height_cells > HEIGHT_CELLS_MAX)
		*height_cells = HEIGHT_CELLS_MAX;
}

static int backings_new(enum glyphs glyphs)
{
	int width_cells, height_cells;

	if (glyphs == GLYPHS_BLOCKS && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		glyphs = GLYPHS_ASCII;
	terminal_size(&width_cells, &height_cells);
	terminal.backing = canvas_backing_new(width_cells, height_cells, glyphs);
	terminal.shown = canvas_backing_new(width_cells, height_cells, glyphs);
	return terminal.backing && terminal.shown ? 0 : -ENOMEM;
}

static void backings_free(void)
{
	canvas_backing_free(terminal.backing);
	canvas_backing_free(terminal.shown);
	terminal.backing = NULL;
	terminal.shown = NULL;
}

/* Checked before newterm(), which would accept a terminal that cannot place a cursor. */
static bool terminal_usable(void)
{
	char cup[] = "cup";
	const char *text;
	int known;

	if (setupterm(NULL, STDOUT_FILENO, &known) == ERR)
		return false;
	text = tigetstr(cup);
	del_curterm(cur_term);
	return text && text != (char *)-1;
}

static void modes_set(void)
{
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY_MS);
}

/* Until it has left the screen once, curses 6.4 sends each piece of a frame in a write of its own. So it leaves and
 * enters, but into /dev/null: the terminal itself enters its alternate screen once, for some scroll at each time. */
static void frames_whole(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);

	if (null >= 0 && kept >= 0 && dup2(null, STDOUT_FILENO) >= 0) {
		endwin();
		refresh();
		dup2(kept, STDOUT_FILENO);
		/* What curses sent for that, the terminal has not seen. */
		clearok(curscr, TRUE);
	}
	if (null >= 0)
		close(null);
	if (kept >= 0)
		close(kept);
}

int canvas_curses_open(const struct canvas_curses_options *options)
{
	int err;

	if (terminal.screen)
		return -EBUSY;
	if (!isatty(STDOUT_FILENO) || tcgetattr(STDOUT_FILENO, &terminal.termios) != 0)
		return -ENOTTY;
	if (!terminal_usable())
		return -ENXIO;
	err = input_open();
	if (err)
		return err;
	terminal.screen = newterm(NULL, stdout, terminal.input);
	if (!terminal.screen) {
		err = -ENXIO;
		goto close_input;
	}
	err = backings_new(options->glyphs);
	if (err)
		goto close_screen;
	leave_prepare();
	terminal.active = 1;
	/* This also sends what newterm() has left to be sent. */
	modes_set();
	frames_whole();
	terminal.mode = color_mode_choose(options->color);
	pairs_init(options->light_background);
	canvas_curses_cursor(-1, -1);
	return 0;
close_screen:
	backings_free();
	endwin();
	delscreen(terminal.screen);
	terminal.screen = NULL;
close_input:
	input_close();
	return err;
}

struct canvas canvas_curses_canvas(void)
{
	if (!terminal.backing)
		return (struct canvas){ 0 };
	return canvas_of(terminal.backing);
}

int canvas_curses_fd(void)
{
	return terminal.input ? fileno(terminal.input) : -1;
}

static int function_key(wint_t code)
{
	for (size_t i = 0; i < sizeof keycodes / sizeof keycodes[0]; i++)
		if ((wint_t)keycodes[i].curses == code)
			return keycodes[i].ours;
	if (code >= KEY_F(1) && code <= KEY_F(12))
		return KEYCODE_F0 + (int)(code - KEY_F0);
	return KEYCODE_UNKNOWN;
}

static int character_key(wint_t code)
{
	switch (code) {
	case '\r':
	case '\n':
		return KEYCODE_ENTER;
	case 0x1B:
		return KEYCODE_ESCAPE;
	case 0x7F:
	case '\b':
		return KEYCODE_BACKSPACE;
	default:
		return code <= 0x10FFFF ? (int)code : KEYCODE_UNKNOWN;
	}
}

/* curses reports only that there was no key; poll() tells whether one can still come. */
static bool hung_up(void)
{
	struct pollfd wait = { .fd = canvas_curses_fd(), .events = POLLIN };

	return poll(&wait, 1, 0) == 1 && (wait.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int canvas_curses_key(void)
{
	wint_t code;

	if (!terminal.screen)
		return KEYCODE_NONE;
	switch (get_wch(&code)) {
	case OK:
		return character_key(code);
	case KEY_CODE_YES:
		return function_key(code);
	default:
		return hung_up() ? KEYCODE_HANGUP : KEYCODE_NONE;
	}
}

int canvas_curses_resize(void)
{
	int width_cells, height_cells;
	struct canvas_backing *backing, *shown;

	if (!terminal.screen)
		return 0;
	terminal_size(&width_cells, &height_cells);
	backing = canvas_backing_new(width_cells, height_cells, terminal.backing->glyphs);
	shown = canvas_backing_new(width_cells, height_cells, terminal.backing->glyphs);
	if (!backing || !shown || resize_term(height_cells, width_cells) == ERR) {
		canvas_backing_free(backing);
		canvas_backing_free(shown);
		return -ENOMEM;
	}
	backings_free();
	terminal.backing = backing;
	terminal.shown = shown;
	erase();
	/* The program cannot know what the terminal shows after a resize, so the next flush sends
	 * every cell. (resizeterm() would do that too, but it also queues a KEY_RESIZE, which would
	 * lead to another resize.) */
	clearok(curscr, TRUE);
	return 0;
}

void canvas_curses_cursor(int x, int y)
{
	terminal.cursor_x = x;
	terminal.cursor_y = y;
}

/* A glyph whose width in this locale differs from the width in text_width.c would shift the row.
 * Its ASCII twin does not. */
static uint32_t agreed(uint32_t ch)
{
	const char *twin;

	if (ch < 0x80 || wcwidth((wchar_t)ch) == text_char_width(ch))
		return ch;
	twin = glyph_twin(ch);
	return twin ? (unsigned char)twin[0] : '?';
}

static void show_cell(int x, int y, const struct cell *cell)
{
	wchar_t text[2] = { (wchar_t)agreed(cell->ch), 0 };
	cchar_t shown;

	setcchar(&shown, text, attrs_of(cell->style), pair_of(cell->style), NULL);
	mvadd_wchnstr(y, x, &shown, 1);
	/* When a narrow twin replaces a wide character, its second cell must be drawn here. */
	if (text_char_width(cell->ch) == 2 && (uint32_t)text[0] != cell->ch) {
		text[0] = L' ';
		setcchar(&shown, text, attrs_of(cell->style), pair_of(cell->style), NULL);
		mvadd_wchnstr(y, x + 1, &shown, 1);
	}
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->ch == b->ch && a->style.role == b->style.role && a->style.attrs == b->style.attrs;
}

static void show_cursor(void)
{
	bool inside = terminal.cursor_x >= 0 && terminal.cursor_x < COLS &&
		      terminal.cursor_y >= 0 && terminal.cursor_y < LINES;

	if (inside)
		move(terminal.cursor_y, terminal.cursor_x);
	curs_set(inside);
}

void canvas_curses_flush(void)
{
	struct canvas_backing *backing = terminal.backing;

	if (!terminal.screen || !terminal.active)
		return;
	for (int y = 0; y < backing->height_cells; y++) {
		size_t row = (size_t)y * (size_t)backing->width_cells;

		for (int x = 0; x < backing->width_cells; x++) {
			const struct cell *cell = &backing->cells[row + (size_t)x];
			struct cell *shown = &terminal.shown->cells[row + (size_t)x];

			/* The second cell of a wide character is drawn with its first. */
			if (cell->ch != 0 && !same(cell, shown))
				show_cell(x, y, cell);
			*shown = *cell;
		}
	}
	show_cursor();
	refresh();
}

void canvas_curses_redraw(void)
{
	if (terminal.screen)
		clearok(curscr, TRUE);
}

void canvas_curses_suspend(void)
{
	if (!terminal.screen || !terminal.active)
		return;
	endwin();
	terminal.active = 0;
}

int canvas_curses_resume(void)
{
	if (!terminal.screen)
		return 0;
	terminal.active = 1;
	reset_prog_mode();
	canvas_curses_redraw();
	return canvas_curses_resize();
}

void canvas_curses_close(void)
{
	if (!terminal.screen)
		return;
	if (terminal.active)
		endwin();
	terminal.active = 0;
	delscreen(terminal.screen);
	terminal.screen = NULL;
	input_close();
	backings_free();
}

void canvas_curses_close_from_signal(void)
{
	size_t sent = 0;
	int saved_errno = errno;

	if (!terminal.active)
		return;
	terminal.active = 0;
	while (sent < terminal.leave_bytes) {
		ssize_t bytes = write(STDOUT_FILENO, terminal.leave + sent, terminal.leave_bytes - sent);

		if (bytes <= 0)
			break;
		sent += (size_t)bytes;
	}
	tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.termios);
	errno = saved_errno;
}
