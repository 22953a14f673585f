#include "tests/support/term.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <vterm.h>

#define UTF8_BYTES_MAX 4
/* Longer than any sequence that sets modes. A longer sequence is passed on unchanged. */
#define HELD_BYTES_MAX 32
#define CELL_BYTES_MAX (VTERM_MAX_CHARS_PER_CELL * UTF8_BYTES_MAX)
static_assert(CELL_BYTES_MAX < sizeof(((struct term_cell *)0)->text), "a cell's text fits");

struct term {
	struct proc *proc;         /* the list of proc.c owns it, and it owns this struct */
	int master_fd;             /* owned by proc; the holder in proc.c keeps the terminal open */
	VTerm *vterm;              /* own */
	VTermScreen *screen;       /* vterm's */
	int rows;
	int cols;
	char *row_text;            /* own, one row */
	char *all_text;            /* own, rows of them */
	bool alternate;
	bool cursor_visible;
	bool mouse;
	uint32_t bell_count;
	char title[256];
	char held[HELD_BYTES_MAX + 1];   /* see starts_held() */
	size_t held_count;
};

/* ---- libvterm's side ---- */

static int on_term_prop(VTermProp prop, VTermValue *value, void *user)
{
	struct term *term = user;

	if (prop == VTERM_PROP_ALTSCREEN)
		term->alternate = value->boolean;
	else if (prop == VTERM_PROP_CURSORVISIBLE)
		term->cursor_visible = value->boolean;
	else if (prop == VTERM_PROP_MOUSE)
		term->mouse = value->number != VTERM_PROP_MOUSE_NONE;
	else if (prop == VTERM_PROP_TITLE)
		snprintf(term->title, sizeof(term->title), "%s", value->string);
	return 1;
}

static int on_bell(void *user)
{
	struct term *term = user;

	term->bell_count++;
	return 1;
}

/* Keys, and answers to what the program asks its terminal. */
static void on_terminal_says(const char *bytes, size_t count, void *user)
{
	struct term *term = user;

	/* NULL while libvterm is set up, before there is a program to talk to. */
	if (term->proc)
		proc_type(term->proc, bytes, count);
}

static void make_room(struct term *term)
{
	size_t row_bytes = (size_t)term->cols * CELL_BYTES_MAX + 1;

	term->row_text = realloc(term->row_text, row_bytes);
	term->all_text = realloc(term->all_text, row_bytes * (size_t)term->rows + 1);
	assert(term->row_text);
	assert(term->all_text);
	term->row_text[0] = term->all_text[0] = '\0';
}

/* A wide character in a terminal of one column crashes libvterm 0.1, so libvterm gets a second column, which is not
 * looked at. Only wrapping differs then. */
static int emulator_cols(const struct term *term)
{
	return term->cols < 2 ? 2 : term->cols;
}

static void emulator_init(struct term *term)
{
	static const VTermScreenCallbacks callbacks = { .settermprop = on_term_prop, .bell = on_bell };

	term->vterm = vterm_new(term->rows, emulator_cols(term));
	assert(term->vterm);
	vterm_set_utf8(term->vterm, 1);
	vterm_output_set_callback(term->vterm, on_terminal_says, term);
	term->screen = vterm_obtain_screen(term->vterm);
	vterm_screen_set_callbacks(term->screen, &callbacks, term);
	vterm_screen_enable_altscreen(term->screen, 1);
	vterm_screen_reset(term->screen, 1);
}

/* libvterm 0.1 has two faults, because of which some bytes are held until they are complete. It loses the first bytes
 * of a UTF-8 character that comes in two writes, and a read may end anywhere. And of "ESC [ ? 1006 ; 1000 h", with
 * which ncurses asks for the mouse, it obeys only the first number. */
static bool starts_held(char byte)
{
	return byte == '\033' || (unsigned char)byte >= 0xc0;
}

static size_t utf8_bytes(char first)
{
	unsigned char byte = (unsigned char)first;

	return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

/* Returns whether more bytes can complete a character or a sequence that sets modes. */
static bool is_unfinished(const char *held, size_t count)
{
	static const char prefix[] = "\033[?";
	const size_t prefix_bytes = sizeof(prefix) - 1;

	if (held[0] != '\033')
		return count < utf8_bytes(held[0]) && (count == 1 || (held[count - 1] & 0xc0) == 0x80);
	if (count <= prefix_bytes)
		return memcmp(held, prefix, count) == 0;
	return count < HELD_BYTES_MAX && (held[count - 1] == ';' || isdigit((unsigned char)held[count - 1]));
}

static void set_modes_one_by_one(struct term *term, const char *modes, const char *end)
{
	char sequence[HELD_BYTES_MAX + 8];

	while (modes < end) {
		int digits = (int)strspn(modes, "0123456789");
		int bytes = snprintf(sequence, sizeof(sequence), "\033[?%.*s%c", digits, modes, *end);

		vterm_input_write(term->vterm, sequence, (size_t)bytes);
		modes += digits + 1;
	}
}

static void let_go(struct term *term)
{
	size_t count = term->held_count;
	char last = count > 0 ? term->held[count - 1] : '\0';

	term->held[count] = '\0';
	term->held_count = 0;
	if (term->held[0] == '\033' && count > 4 && (last == 'h' || last == 'l'))
		set_modes_one_by_one(term, term->held + 3, term->held + count - 1);
	else
		vterm_input_write(term->vterm, term->held, count);
}

static void hold(struct term *term, char byte)
{
	if (starts_held(byte))
		let_go(term);
	term->held[term->held_count++] = byte;
	if (!is_unfinished(term->held, term->held_count))
		let_go(term);
}

/* ---- the hooks of proc.c ---- */

static void take_output(void *owner, const char *bytes, size_t count)
{
	struct term *term = owner;

	while (count > 0) {
		size_t plain = 0;

		while (term->held_count == 0 && plain < count && !starts_held(bytes[plain]))
			plain++;
		vterm_input_write(term->vterm, bytes, plain);
		bytes += plain;
		count -= plain;
		if (count > 0) {
			hold(term, *bytes++);
			count--;
		}
	}
}

static void describe(void *owner)
{
	struct term *term = owner;
	struct term_cursor cursor = term_cursor(term);

	proc_printf("  screen %dx%d%s, cursor at row %d col %d%s, %llu bytes came:\n", term->cols, term->rows,
		    term->alternate ? ", alternate" : "", cursor.row, cursor.col, cursor.visible ? "" : ", hidden",
		    (unsigned long long)term_byte_count(term));
	for (int row = 0; row < term->rows; row++) {
		const char *text = term_row(term, row);

		proc_printf("%3d|", row);
		proc_print(text, strlen(text));
		proc_printf("\n");
	}
}

static void release(void *owner)
{
	struct term *term = owner;

	vterm_free(term->vterm);
	free(term->row_text);
	free(term->all_text);
	free(term);
}

/* ---- start and end ---- */

static int open_terminal(int *master_fd, int *slave_fd, int rows, int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };
	char path[64];
	int err;

	*master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (*master_fd < 0)
		return -errno;
	if (grantpt(*master_fd) < 0 || unlockpt(*master_fd) < 0 || ptsname_r(*master_fd, path, sizeof(path)) != 0)
		goto close_master;
	*slave_fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*slave_fd < 0)
		goto close_master;
	ioctl(*slave_fd, TIOCSWINSZ, &size);
	return 0;
close_master:
	err = -errno;
	close(*master_fd);
	return err;
}

/* Variables of the developer's terminal that would change the program's behaviour. */
static const char *const terminal_env[] = {
	"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL", "LC_CTYPE", "COLORTERM", "COLORFGBG", "NO_COLOR",
	"LINES", "COLUMNS", "TMUX", "STY", "TERMINFO", "TERMINFO_DIRS", "ESCDELAY",
};

static const char **env_new(const char *const *changes)
{
	size_t own_count = sizeof(terminal_env) / sizeof(terminal_env[0]);
	size_t count = 0;
	const char **env;

	while (changes && changes[count])
		count++;
	env = calloc(own_count + count + 1, sizeof(*env));
	assert(env);
	memcpy(env, terminal_env, sizeof(terminal_env));
	if (count > 0)
		memcpy(env + own_count, changes, count * sizeof(*env));
	return env;
}

int term_try_start(struct term **out, const struct term_spec *spec)
{
	struct term *term = calloc(1, sizeof(*term));
	struct proc_terminal terminal = { .owner = term, .output = take_output,
					  .describe = describe, .release = release };
	const char **env;
	int err;

	assert(term);
	term->rows = spec->rows ? spec->rows : 24;
	term->cols = spec->cols ? spec->cols : 80;
	err = open_terminal(&terminal.master_fd, &terminal.slave_fd, term->rows, term->cols);
	if (err) {
		free(term);
		return err;
	}
	term->master_fd = terminal.master_fd;
	make_room(term);
	emulator_init(term);
	env = env_new(spec->env);
	err = proc_try_start(&term->proc, &(struct proc_spec){
		.argv = spec->argv, .env = env, .dir = spec->dir, .in = spec->in, .out = spec->out,
		.err = spec->err, .terminal = &terminal });
	free(env);
	close(terminal.slave_fd);
	if (err) {
		release(term);
		return err;
	}
	*out = term;
	return 0;
}

struct term *term_start_at(const struct term_spec *spec, const char *file, int line)
{
	struct term *term = NULL;
	char reason[400];
	int err = term_try_start(&term, spec);

	if (err) {
		snprintf(reason, sizeof(reason), "term_start(\"%.300s\"), %s,", spec->argv[0], strerror(-err));
		proc_failed(reason, file, line);
	}
	return term;
}

struct proc *term_proc(const struct term *term)
{
	return term->proc;
}

void term_end(struct term *term)
{
	if (term)
		proc_end(term->proc);
}

/* ---- waiting ---- */

static _Noreturn void wait_failed(const struct term *term, const struct proc_wait *wait, const char *what,
				  const char *text, const char *file, int line)
{
	char reason[400];

	snprintf(reason, sizeof(reason), "%s(\"%.300s\")%s", what, text,
		 proc_exited(term->proc) ? ", the program has ended," : "");
	proc_wait_failed(wait, reason, file, line);
}

void term_wait_text_at(struct term *term, const char *text, int64_t deadline_ms, const char *file, int line)
{
	struct proc_wait wait = proc_wait_begin(deadline_ms);

	proc_pump(0);
	while (!term_has(term, text))
		if (proc_exited(term->proc) || !proc_wait_more(&wait))
			wait_failed(term, &wait, "term_wait_text", text, file, line);
}

void term_wait_gone_at(struct term *term, const char *text, int64_t deadline_ms, const char *file, int line)
{
	struct proc_wait wait = proc_wait_begin(deadline_ms);

	proc_pump(0);
	while (term_has(term, text))
		if (proc_exited(term->proc) || !proc_wait_more(&wait))
			wait_failed(term, &wait, "term_wait_gone", text, file, line);
}

static void compile_regex(regex_t *out, const char *regex)
{
	if (regcomp(out, regex, REG_EXTENDED | REG_NOSUB) != 0)
		proc_failed(regex, "compiling this regular expression", 0);
}

static bool row_matches(struct term *term, int row, const regex_t *regex)
{
	if (row >= 0)
		return row < term->rows && regexec(regex, term_row(term, row), 0, NULL, 0) == 0;
	for (int i = 0; i < term->rows; i++)
		if (regexec(regex, term_row(term, i), 0, NULL, 0) == 0)
			return true;
	return false;
}

bool term_row_matches(struct term *term, int row, const char *regex)
{
	regex_t compiled;
	bool matches;

	compile_regex(&compiled, regex);
	matches = row_matches(term, row, &compiled);
	regfree(&compiled);
	return matches;
}

void term_wait_row_matches_at(struct term *term, int row, const char *regex, int64_t deadline_ms,
			      const char *file, int line)
{
	struct proc_wait wait = proc_wait_begin(deadline_ms);
	regex_t compiled;

	compile_regex(&compiled, regex);
	proc_pump(0);
	while (!row_matches(term, row, &compiled)) {
		if (!proc_exited(term->proc) && proc_wait_more(&wait))
			continue;
		regfree(&compiled);
		wait_failed(term, &wait, "term_wait_row_matches", regex, file, line);
	}
	regfree(&compiled);
}

void term_wait_quiet_at(struct term *term, int64_t quiet_ms, int64_t deadline_ms, const char *file, int line)
{
	struct proc_wait wait = proc_wait_begin(deadline_ms);
	uint64_t byte_count = term_byte_count(term);
	int64_t since_ms = proc_now_ms();

	while (proc_now_ms() - since_ms < quiet_ms) {
		if (!proc_wait_more(&wait))
			wait_failed(term, &wait, "term_wait_quiet", "", file, line);
		if (term_byte_count(term) != byte_count) {
			byte_count = term_byte_count(term);
			since_ms = proc_now_ms();
		}
	}
}

/* ---- typing ---- */

struct key {
	const char *name;
	VTermKey key;
};

static const struct key keys[] = {
	{ "up", VTERM_KEY_UP }, { "down", VTERM_KEY_DOWN }, { "left", VTERM_KEY_LEFT },
	{ "right", VTERM_KEY_RIGHT }, { "home", VTERM_KEY_HOME }, { "end", VTERM_KEY_END },
	{ "pgup", VTERM_KEY_PAGEUP }, { "pgdn", VTERM_KEY_PAGEDOWN }, { "ins", VTERM_KEY_INS },
	{ "del", VTERM_KEY_DEL }, { "enter", VTERM_KEY_ENTER }, { "tab", VTERM_KEY_TAB },
	{ "backspace", VTERM_KEY_BACKSPACE }, { "esc", VTERM_KEY_ESCAPE },
};

static VTermKey key_named(const char *name)
{
	int number, end = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].name, name) == 0)
			return keys[i].key;
	if (sscanf(name, "F%2d%n", &number, &end) == 1 && name[end] == '\0' && number >= 1 && number <= 12)
		return (VTermKey)VTERM_KEY_FUNCTION(number);
	return VTERM_KEY_NONE;
}

static void press(struct term *term, const char *name)
{
	VTermKey key = key_named(name);

	if (key != VTERM_KEY_NONE) {
		vterm_keyboard_key(term->vterm, key, VTERM_MOD_NONE);
	} else if (strcmp(name, "space") == 0) {
		term_type(term, " ");
	} else if (strncmp(name, "ctrl-", 5) == 0 && name[5] && !name[6]) {
		term_type(term, (const char[2]){ (char)(name[5] & 0x1f), '\0' });
	} else if (strncmp(name, "alt-", 4) == 0) {
		term_type(term, "\033");
		term_type(term, name + 4);
	} else if (strncmp(name, "shift-", 6) == 0 && key_named(name + 6) != VTERM_KEY_NONE) {
		vterm_keyboard_key(term->vterm, key_named(name + 6), VTERM_MOD_SHIFT);
	} else {
		term_type(term, name);
	}
}

void term_keys(struct term *term, const char *names)
{
	char name[64];
	int bytes;

	/* The sequence of a key depends on what the program has set so far, so its output is read first. */
	proc_pump(0);
	while (sscanf(names, "%63s%n", name, &bytes) == 1) {
		press(term, name);
		names += bytes;
	}
}

void term_type(struct term *term, const char *text)
{
	proc_type(term->proc, text, strlen(text));
}

void term_click(struct term *term, int row, int col, int button)
{
	proc_pump(0);
	/* libvterm 0.1 sends clicks even to programs that did not ask for them. */
	if (!term->mouse)
		return;
	vterm_mouse_move(term->vterm, row, col, VTERM_MOD_NONE);
	vterm_mouse_button(term->vterm, button, true, VTERM_MOD_NONE);
	vterm_mouse_button(term->vterm, button, false, VTERM_MOD_NONE);
}

void term_resize(struct term *term, int rows, int cols)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols };

	assert(rows >= 1);
	assert(cols >= 1);
	/* Output for the old size is read before the screen changes. */
	proc_pump(0);
	term->rows = rows;
	term->cols = cols;
	make_room(term);
	vterm_set_size(term->vterm, rows, emulator_cols(term));
	ioctl(term->master_fd, TIOCSWINSZ, &size);
}

/* ---- asking ---- */

int term_rows(const struct term *term)
{
	return term->rows;
}

int term_cols(const struct term *term)
{
	return term->cols;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (c >> 18 & 0x07));
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Writes one cell's characters without a 0 at the end. Returns how many bytes they are. */
static size_t put_cell(char *out, const VTermScreenCell *cell)
{
	size_t bytes = 0;

	if (cell->chars[0] == (uint32_t)-1)   /* right of a wide character */
		return 0;
	for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++)
		bytes += put_utf8(out + bytes, cell->chars[i]);
	if (bytes == 0)
		out[bytes++] = ' ';
	return bytes;
}

static VTermScreenCell cell_at(const struct term *term, int row, int col)
{
	VTermScreenCell cell = { 0 };

	vterm_screen_get_cell(term->screen, (VTermPos){ .row = row, .col = col }, &cell);
	return cell;
}

/* Writes a row without the blanks at its end, and a 0. Returns how many bytes are before the 0. */
static size_t put_row(char *out, const struct term *term, int row)
{
	size_t bytes = 0;

	for (int col = 0; col < term->cols; col++) {
		VTermScreenCell cell = cell_at(term, row, col);

		bytes += put_cell(out + bytes, &cell);
	}
	while (bytes > 0 && out[bytes - 1] == ' ')
		bytes--;
	out[bytes] = '\0';
	return bytes;
}

const char *term_row(struct term *term, int row)
{
	assert(row >= 0);
	assert(row < term->rows);
	put_row(term->row_text, term, row);
	return term->row_text;
}

const char *term_text(struct term *term)
{
	size_t bytes = 0;

	for (int row = 0; row < term->rows; row++) {
		bytes += put_row(term->all_text + bytes, term, row);
		term->all_text[bytes++] = '\n';
	}
	term->all_text[bytes] = '\0';
	return term->all_text;
}

bool term_has(struct term *term, const char *text)
{
	return strstr(term_text(term), text);
}

static int col_of_byte(const struct term *term, int row, size_t offset)
{
	size_t bytes = 0;
	int col = 0;

	for (; col < term->cols; col++) {
		VTermScreenCell cell = cell_at(term, row, col);
		char text[CELL_BYTES_MAX];

		bytes += put_cell(text, &cell);
		if (bytes > offset)
			break;
	}
	return col;
}

bool term_find(struct term *term, const char *text, int *row, int *col)
{
	for (int i = 0; i < term->rows; i++) {
		const char *begin = term_row(term, i);
		const char *at = strstr(begin, text);

		if (!at)
			continue;
		if (row)
			*row = i;
		if (col)
			*col = col_of_byte(term, i, (size_t)(at - begin));
		return true;
	}
	return false;
}

static int color_number(const VTermColor *color)
{
	if (VTERM_COLOR_IS_DEFAULT_FG(color) || VTERM_COLOR_IS_DEFAULT_BG(color))
		return TERM_COLOR_DEFAULT;
	if (VTERM_COLOR_IS_INDEXED(color))
		return color->indexed.idx;
	return TERM_COLOR_RGB | color->rgb.red << 16 | color->rgb.green << 8 | color->rgb.blue;
}

struct term_cell term_cell(const struct term *term, int row, int col)
{
	VTermScreenCell cell;
	struct term_cell out = { 0 };

	assert(row >= 0 && row < term->rows);
	assert(col >= 0 && col < term->cols);
	cell = cell_at(term, row, col);
	out.text[put_cell(out.text, &cell)] = '\0';
	out.width = cell.width;
	out.bold = cell.attrs.bold;
	out.reverse = cell.attrs.reverse;
	out.underline = cell.attrs.underline != VTERM_UNDERLINE_OFF;
	out.blink = cell.attrs.blink;
	out.italic = cell.attrs.italic;
	out.fg = color_number(&cell.fg);
	out.bg = color_number(&cell.bg);
	return out;
}

struct term_cursor term_cursor(const struct term *term)
{
	VTermPos pos;

	vterm_state_get_cursorpos(vterm_obtain_state(term->vterm), &pos);
	pos.col = pos.col < term->cols ? pos.col : term->cols - 1;
	return (struct term_cursor){ .row = pos.row, .col = pos.col, .visible = term->cursor_visible };
}

bool term_on_alternate_screen(const struct term *term)
{
	return term->alternate;
}

bool term_is_cooked(const struct term *term)
{
	struct termios modes;

	if (tcgetattr(term->master_fd, &modes) < 0)
		return false;
	return (modes.c_lflag & ICANON) && (modes.c_lflag & ECHO) && (modes.c_lflag & ISIG) &&
	       (modes.c_iflag & ICRNL) && (modes.c_oflag & OPOST);
}

bool term_wants_mouse(const struct term *term)
{
	return term->mouse;
}

uint32_t term_bell_count(const struct term *term)
{
	return term->bell_count;
}

const char *term_title(const struct term *term)
{
	return term->title;
}

const char *term_raw(const struct term *term, size_t *count)
{
	return proc_bytes(term->proc, PROC_TTY, count);
}

bool term_raw_has(const struct term *term, const void *bytes, size_t count)
{
	return proc_has_bytes(term->proc, PROC_TTY, bytes, count);
}

uint64_t term_byte_count(const struct term *term)
{
	return proc_byte_count(term->proc, PROC_TTY);
}
