#include "monitor/screen/keys.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "monitor/screen/class_strip.h"
#include "monitor/screen/prompt.h"
#include "widgets/key.h"
#include "widgets/text.h"

/* ---- what the rows below do ---- */

static enum key_result do_quit(struct screen *screen)
{
	if (recorder_is_on(&screen->recorder) && !screen->asks_to_quit) {
		screen->asks_to_quit = true;
		/* The name stands last, because it may be long and be cut. */
		screen_say(screen, "Recording: q again ends it and quits (%s)", screen->recorder.path);
		return KEYS_STAY;
	}
	return KEYS_QUIT;
}

static enum key_result do_help(struct screen *screen)
{
	screen->overlay = screen->overlay == OVERLAY_HELP ? OVERLAY_HELP_ALL : OVERLAY_HELP;
	return KEYS_STAY;
}

/* In a recording, space plays and stops. */
static void play_or_stop(struct cursor *cursor)
{
	cursor->is_playing = !cursor->is_playing || cursor->is_at_end;
	if (cursor->is_at_end)
		cursor_seek(cursor, cursor->timeline->first_ns);
}

static enum key_result do_freeze(struct screen *screen)
{
	struct target *target = screen->target;

	if (target_is_recording(target)) {
		play_or_stop(&target->cursor);
	} else if (target_is_frozen(target)) {
		target_unfreeze(target);
		screen_say(screen, "The picture goes on; nothing was missed.");
	} else {
		screen_say(screen, target_freeze(target) == 0
				   ? "Frozen. The target and its recording go on; space returns to now."
				   : "No memory to freeze the picture.");
	}
	return KEYS_STAY;
}

static enum key_result do_classes(struct screen *screen)
{
	class_strip_open(screen);
	return KEYS_STAY;
}

static enum key_result do_next_panel(struct screen *screen)
{
	screen->panel = panels[screen->panel + 1] ? screen->panel + 1 : 0;
	return KEYS_STAY;
}

static enum key_result do_previous_panel(struct screen *screen)
{
	if (screen->panel > 0) {
		screen->panel--;
		return KEYS_STAY;
	}
	while (panels[screen->panel + 1])
		screen->panel++;
	return KEYS_STAY;
}

/* Starts a recording at the moment of a frozen picture: a cursor goes from there to now with the recorder looking on, which
 * then goes on with the live session. */
static int record_past(struct screen *screen, const char *path, struct problem *problem)
{
	struct target *target = screen->target;
	struct recorder *recorder = &screen->recorder;
	struct cursor cursor;
	struct session past;

	if (session_init(&past, target->address.text, SIZE_MAX) < 0)
		return problem_set(problem, EXIT_INTERNAL, "out of memory");
	cursor_open(&cursor, &target->timeline, &past);
	cursor_seek(&cursor, target->cursor.position_ns);
	if (recorder_start(recorder, &past, path, screen->may_overwrite, problem) == EXIT_DONE) {
		cursor_run(&cursor, UINT64_MAX);
		recorder_move(recorder, &target->session);
	}
	session_fini(&past);
	return problem->code;
}

void keys_record(struct screen *screen, const char *path)
{
	struct recorder *recorder = &screen->recorder;
	struct session *session = &screen->target->session;
	struct problem problem = { 0 };
	bool is_late = target_is_frozen(screen->target) && screen->target->timeline.point_count > 0;

	if (target_is_recording(screen->target)) {
		screen_say(screen, "This is a recording already.");
	} else if (recorder_is_on(recorder)) {
		recorder_stop(recorder);
		if (recorder->problem.code == EXIT_DONE)
			screen_say(screen, "Recording ended: %s, %s.", recorder->path,
				   recorder->is_full ? "cut where the disk was full" :
				   recorder->has_gap ? "with a gap where the disk was full" : "whole");
	} else if (model_ticks(session->model) == 0) {
		screen_say(screen, "Nothing to record yet: the target has not sent anything.");
	} else if ((is_late ? record_past(screen, path, &problem)
			    : recorder_start(recorder, session, path, screen->may_overwrite, &problem)) != EXIT_DONE) {
		screen_say(screen, "%s. %s", problem.what, problem.todo);
	} else if (is_late) {
		screen_say(screen, "Recording into %s, from the moment of this picture on. R ends it.", recorder->path);
	} else {
		screen_say(screen, "Recording into %s. R ends it.", recorder->path);
	}
}

static enum key_result do_record(struct screen *screen)
{
	screen->asks_to_quit = false;
	keys_record(screen, NULL);
	return KEYS_STAY;
}

static enum key_result do_mark(struct screen *screen)
{
	struct target *target = screen->target;

	model_set_mark(target_model(target));
	/* The live picture compares with the same moment, not with the one of the key. */
	if (target_is_frozen(target))
		model_take_mark(target->session.model, target_model(target));
	screen_say(screen, "Mark set: changes are counted from here. M clears it.");
	return KEYS_STAY;
}

static enum key_result do_unmark(struct screen *screen)
{
	model_clear_mark(target_model(screen->target));
	model_clear_mark(screen->target->session.model);
	screen_say(screen, "Mark cleared.");
	return KEYS_STAY;
}

static enum key_result do_window(struct screen *screen)
{
	static const int windows[] = { 10, 60, 300, 0 };
	struct model *model = screen->target->session.model;
	int at = 0;

	while (at < 3 && windows[at] != model_window(model))
		at++;
	at = (at + 1) % 4;
	model_set_window(model, windows[at]);
	model_set_window(target_model(screen->target), windows[at]);
	if (windows[at])
		screen_say(screen, "Distributions cover the last %d s.", windows[at]);
	else
		screen_say(screen, "Distributions cover the whole run.");
	return KEYS_STAY;
}

static enum key_result do_sync(struct screen *screen)
{
	struct message flush = { .kind = KIND_FLUSH }, sync = { .kind = KIND_SYNC };
	struct target *target = screen->target;
	int err;

	if (target_is_recording(target))
		return KEYS_STAY;
	if (target->source.state == SOURCE_ENDED) {
		screen_say(screen, "The target has ended and cannot be asked for anything.");
		return KEYS_STAY;
	}
	if (target->source.state != SOURCE_OPEN) {
		source_retry(&target->source);
		screen_say(screen, "Trying again.");
		return KEYS_STAY;
	}
	/* Who may only look can ask for the second. */
	controls_request(&target->controls, &flush, NULL, NULL);
	err = controls_request(&target->controls, &sync, NULL, NULL);
	if (err == 0)
		screen_say(screen, "Asked the target to flush and to send everything again.");
	else
		screen_say_refused(screen, err, "nothing can be asked for");
	return KEYS_STAY;
}

/* The text of the answer is where the dump is, or why there is none. */
static void dump_answered(void *arg, const struct request *request)
{
	screen_say(arg, request->code == ACK_DONE ? "The target has written %s" : "No dump: %s", request->text);
}

static enum key_result do_dump(struct screen *screen)
{
	struct message dump = { .kind = KIND_DUMP, .dump = { 0, text_of("asked for from the screen") } };
	int err = controls_request(&screen->target->controls, &dump, dump_answered, screen);

	if (err == 0)
		screen_say(screen, "Asked the target for a dump of its ring buffers.");
	else if (err == -EPERM)
		screen_say(screen, "telemtop was started with --read-only: nothing is sent to the target.");
	else
		screen_say_refused(screen, err, "nothing can be asked for");
	return KEYS_STAY;
}

static enum key_result do_filter(struct screen *screen)
{
	prompt_open(screen, PROMPT_FILTER, screen_view(screen)->filter);
	return KEYS_STAY;
}

static enum key_result do_interval(struct screen *screen)
{
	prompt_open(screen, PROMPT_INTERVAL, "");
	return KEYS_STAY;
}

static enum key_result do_keep(struct screen *screen)
{
	bool *persist = &screen->target->controls.persist;

	*persist = !*persist;
	screen_say(screen, *persist ? "Levels set from now on stay when telemtop leaves."
				    : "Levels set from now on are taken back when telemtop leaves.");
	return KEYS_STAY;
}

static enum key_result do_redraw(struct screen *screen)
{
	(void)screen;
	return KEYS_REDRAW;
}

static enum key_result do_suspend(struct screen *screen)
{
	(void)screen;
	return KEYS_SUSPEND;
}

/* ---- time ---- */

static enum key_result seek_by(struct screen *screen, double seconds)
{
	struct cursor *cursor = &screen->target->cursor;

	if (cursor->timeline->point_count == 0)
		screen_say(screen, "Nothing earlier is kept.");
	else
		cursor_move(cursor, seconds * 1e9);
	return KEYS_STAY;
}

static enum key_result do_back(struct screen *screen) { return seek_by(screen, -1); }
static enum key_result do_forward(struct screen *screen) { return seek_by(screen, 1); }
static enum key_result do_far_back(struct screen *screen) { return seek_by(screen, -10); }
static enum key_result do_far_forward(struct screen *screen) { return seek_by(screen, 10); }
static enum key_result do_start(struct screen *screen) { return seek_by(screen, -1e9); }

static enum key_result do_end(struct screen *screen)
{
	return target_is_frozen(screen->target) ? do_freeze(screen) : seek_by(screen, 1e9);
}

static enum key_result change_speed(struct screen *screen, double factor)
{
	double *speed = &screen->target->cursor.speed;

	if (*speed * factor >= 0.1 && *speed * factor <= 1000)
		*speed *= factor;
	screen_say(screen, "Speed x%g", *speed);
	return KEYS_STAY;
}

static enum key_result do_faster(struct screen *screen) { return change_speed(screen, 2); }
static enum key_result do_slower(struct screen *screen) { return change_speed(screen, 0.5); }

static enum key_result do_go(struct screen *screen)
{
	prompt_open(screen, PROMPT_GO, "");
	return KEYS_STAY;
}

/* ---- the table ---- */

enum { ANYWHERE, LIVE_ONLY, REPLAY_ONLY, IN_PAST /* a recording, or a frozen picture */ };

static const struct key_row {
	int key, other;              /* other is a second key for the same, or 0 */
	int where;
	const char *footer;          /* NULL: the last row does not show it */
	enum key_result (*run)(struct screen *screen);
	struct help_key help;        /* with keys NULL the row before says it */
} rows[] = {
	{ 'c', 0, LIVE_ONLY, "c classes", do_classes, { "c", "+ letter: class level", true } },
	{ ' ', 'Z', LIVE_ONLY, "space freeze", do_freeze, { "space", "freeze", true } },
	{ ' ', 'Z', REPLAY_ONLY, "space play", do_freeze, { "space", "play, stop", true } },
	{ KEYCODE_LEFT, 'h', IN_PAST, "\xe2\x86\x90\xe2\x86\x92 step", do_back,
	  { "\xe2\x86\x90 \xe2\x86\x92", "a second", true } },
	{ KEYCODE_RIGHT, 'l', IN_PAST, NULL, do_forward, { 0 } },
	{ '[', 0, IN_PAST, "[ ] 10 steps", do_far_back, { "[ ]", "ten seconds", true } },
	{ ']', 0, IN_PAST, NULL, do_far_forward, { 0 } },
	{ '<', 0, REPLAY_ONLY, "< > speed", do_slower, { "< >", "speed", true } },
	{ '>', 0, REPLAY_ONLY, NULL, do_faster, { 0 } },
	{ KEYCODE_HOME, 0, IN_PAST, "Home End", do_start, { "Home", "start (End: end)", true } },
	{ KEYCODE_END, 0, IN_PAST, NULL, do_end, { 0 } },
	{ ':', 0, IN_PAST, ": go to", do_go, { ":", "go to a time", true } },
	{ '\t', 0, ANYWHERE, "Tab panel", do_next_panel, { "Tab", "next panel", true } },
	{ KEYCODE_BACKTAB, 0, ANYWHERE, NULL, do_previous_panel, { 0 } },
	{ '/', KEYCODE_F0 + 4, ANYWHERE, NULL, do_filter, { "/", "filter", true } },
	{ 'm', 0, ANYWHERE, "m mark", do_mark, { "m M", "mark, unmark", true } },
	{ 'M', 0, ANYWHERE, NULL, do_unmark, { 0 } },
	{ 'R', 0, LIVE_ONLY, "R rec", do_record, { "R", "record, stop", true } },
	{ 'D', 0, LIVE_ONLY, NULL, do_dump, { "D", "dump to file", false } },
	{ 'w', 0, ANYWHERE, NULL, do_window, { "w", "window", false } },
	{ 'd', 0, LIVE_ONLY, NULL, do_interval, { "d", "interval", false } },
	{ 'K', 0, LIVE_ONLY, NULL, do_keep, { "K", "keep levels", false } },
	{ KEYCODE_CTRL('R'), 0, ANYWHERE, NULL, do_sync, { "^R", "sync, retry", false } },
	{ KEYCODE_CTRL('L'), 0, ANYWHERE, NULL, do_redraw, { "^L", "redraw", false } },
	{ KEYCODE_CTRL('Z'), 0, ANYWHERE, NULL, do_suspend, { "^Z", "suspend", false } },
	{ '?', KEYCODE_F0 + 1, ANYWHERE, "? help", do_help, { "?", "help, all keys", false } },
	{ 'q', KEYCODE_F0 + 10, ANYWHERE, "q quit", do_quit, { "q", "quit", true } },
};

/* Keys of every list, and the keys that have no row. */
static const struct help_key common_keys[] = {
	{ "\xe2\x86\x91 \xe2\x86\x93", "move (k j)", false }, { "PgUp", "page (^B ^F)", false },
	{ "^U ^D", "half page", false }, { "g G", "first, last", false }, { "\xe2\x8f\x8e", "open row", false },
	{ "Esc", "back one layer", false }, { "s r", "sort, reverse", false }, { "o", "hold, let go", false },
	{ "x X", "next level, off", false }, { "^C", "quit at once", false },
};

static bool row_applies(const struct screen *screen, const struct key_row *row)
{
	switch (row->where) {
	case LIVE_ONLY: return !target_is_recording(screen->target);
	case REPLAY_ONLY: return target_is_recording(screen->target);
	case IN_PAST: return screen->target->cursor.timeline != NULL;
	default: return true;
	}
}

const struct help_key *keys_help(const struct screen *screen)
{
	static struct help_key keys[2 + sizeof rows / sizeof *rows + sizeof common_keys / sizeof *common_keys];
	size_t count = 0;

	keys[count++] = (struct help_key){ "0-9", "panel", true };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].help.keys && row_applies(screen, &rows[i]))
			keys[count++] = rows[i].help;
	for (size_t i = 0; i < sizeof common_keys / sizeof *common_keys; i++)
		keys[count++] = common_keys[i];
	keys[count] = (struct help_key){ NULL, NULL, false };
	return keys;
}

/* The texts of the last row: two blanks lie between them, each stands there once, and those that do not fit are left
 * out. */
struct footer { char *out; size_t out_bytes, used; int left_cells; };

static void footer_add(struct footer *footer, const char *text)
{
	if (strstr(footer->out, text) || text_width(text) + 2 > footer->left_cells ||
	    footer->used + strlen(text) + 3 > footer->out_bytes)
		return;
	footer->left_cells -= text_width(text) + 2;
	footer->used += (size_t)snprintf(footer->out + footer->used, footer->out_bytes - footer->used, "%s  ", text);
}

void keys_footer(const struct screen *screen, int width_cells, char *out, size_t out_bytes)
{
	/* The footer says at any width how to get help and how to get out. */
	static const char last[] = "? help  q quit";
	struct footer footer = { out, out_bytes - sizeof last, 0, width_cells - (int)sizeof last + 1 };
	const struct panel *panel = screen_panel(screen);

	out[0] = '\0';
	for (const struct panel_key *row = panel->keys; row && row->key; row++)
		if (row->footer && panel_key_applies(row, &screen->views[screen->panel]))
			footer_add(&footer, row->footer);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].footer && !strstr(last, rows[i].footer) && row_applies(screen, &rows[i]) &&
		    (rows[i].where != IN_PAST || target_is_recording(screen->target)))
			footer_add(&footer, rows[i].footer);
	snprintf(out + footer.used, out_bytes - footer.used, "%s", last);
}

/* ---- keys ---- */

/* Names of keys that have no character. Arrows are named in words, because "<" and ">" are keys, too. */
static const struct { int key; const char *name; } special_keys[] = {
	{ ' ', "Space" }, { '\t', "Tab" }, { KEYCODE_BACKTAB, "Shift-Tab" }, { KEYCODE_ENTER, "Enter" },
	{ KEYCODE_ESCAPE, "Esc" }, { KEYCODE_BACKSPACE, "Backspace" }, { KEYCODE_DELETE, "Del" },
	{ KEYCODE_INSERT, "Ins" },
	{ KEYCODE_UP, "Up" }, { KEYCODE_DOWN, "Down" }, { KEYCODE_LEFT, "Left" }, { KEYCODE_RIGHT, "Right" },
	{ KEYCODE_HOME, "Home" }, { KEYCODE_END, "End" }, { KEYCODE_PAGE_UP, "PgUp" }, { KEYCODE_PAGE_DOWN, "PgDn" },
};

void keys_name(int key, char *out, size_t out_bytes)
{
	for (size_t i = 0; i < sizeof special_keys / sizeof *special_keys; i++)
		if (special_keys[i].key == key) {
			snprintf(out, out_bytes, "%s", special_keys[i].name);
			return;
		}
	if (key > 0 && key < ' ') {
		snprintf(out, out_bytes, "^%c", key + '@');
	} else if (key > KEYCODE_F0 && key <= KEYCODE_F0 + 12) {
		snprintf(out, out_bytes, "F%d", key - KEYCODE_F0);
	} else if (key > 0 && key < KEYCODE_HANGUP && text_char_width((uint32_t)key) > 0) {
		char ch[UTF8_BYTES];

		snprintf(out, out_bytes, "%.*s", (int)utf8_encode(ch, (uint32_t)key), ch);
	} else {
		snprintf(out, out_bytes, "that");
	}
}

/* Returns false when panel is NULL. */
static bool switch_panel(struct screen *screen, const struct panel *panel)
{
	for (int i = 0; panels[i]; i++)
		if (panels[i] == panel) {
			screen->panel = i;
			return true;
		}
	return false;
}

static bool panel_key(struct screen *screen, int key)
{
	struct panel_view *view = screen_view(screen);
	bool taken;

	view->message[0] = '\0';
	screen_fill_view(screen);
	taken = panel_press(screen_panel(screen), target_model(screen->target), view, key);
	if (view->message[0])
		screen_say(screen, "%s", view->message);
	class_strip_take_wish(screen, view);
	if (switch_panel(screen, view->go)) {
		screen_view(screen)->is_open = true;
		screen_view(screen)->open_id = view->go_id;
	}
	view->go = NULL;
	return taken;
}

static void escape(struct screen *screen)
{
	screen->target->controls.back_pid = 0;
	screen->asks_to_quit = false;
	if (panel_key(screen, KEYCODE_ESCAPE))
		return;
	screen_view(screen)->filter[0] = '\0';
	screen_say(screen, "%s", "");
}

enum key_result keys_press(struct screen *screen, int key)
{
	char name[16];

	if (key == KEYCODE_CTRL('C') || key == KEYCODE_HANGUP)
		return KEYS_QUIT;
	if (screen->overlay == OVERLAY_PROMPT) {
		prompt_key(screen, key);
		return KEYS_STAY;
	}
	if (screen->overlay == OVERLAY_CLASSES) {
		class_strip_key(screen, key);
		return KEYS_STAY;
	}
	if ((screen->overlay == OVERLAY_HELP || screen->overlay == OVERLAY_HELP_ALL) && key != '?' &&
	    key != KEYCODE_F0 + 1) {
		screen->overlay = OVERLAY_NONE;
		if (key == KEYCODE_ESCAPE || key == 'q')
			return KEYS_STAY;
	}
	if (key == KEYCODE_ENTER && screen->target->controls.back_pid)
		return KEYS_FOLLOW;
	if (key == KEYCODE_ESCAPE) {
		escape(screen);
		return KEYS_STAY;
	}
	if (switch_panel(screen, panel_find(key)))
		return KEYS_STAY;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if ((rows[i].key == key || (rows[i].other && rows[i].other == key)) && row_applies(screen, &rows[i]))
			return rows[i].run(screen);
	if (!panel_key(screen, key)) {
		keys_name(key, name, sizeof name);
		screen_say(screen, "No key \"%s\" here. ? for help.", name);
	}
	return KEYS_STAY;
}
