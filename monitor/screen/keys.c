#include "monitor/screen/keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "widgets/key.h"
#include "widgets/text.h"

/* Without an answer for so long the Classes panel says so, and we forget. */
#define ANSWER_NS 10000000000u

/* ---- levels ---- */

/* False when it could not be asked for; then it has been said. */
static bool ask_level(struct screen *screen, uint32_t class_id, uint32_t site, uint8_t level)
{
	const struct model *model = screen->target->session.model;
	uint32_t id = screen->target->session.next_request;
	int err = target_set_level(screen->target, class_id, site, level, screen->keep);

	if (err == -EPERM) {
		screen_say(screen, "telemtop was started with --read-only: nothing is sent to the target.");
	} else if (err < 0) {
		screen_say(screen, "%s: no control way: levels cannot be set", screen->target->address.text);
	} else {
		screen->requests[class_id] = (struct panel_request){ .is_waiting = true, .level = level,
								     .sent_ns = screen->now_ns };
		screen->request_ids[class_id] = id;
		screen_say(screen, "%s: asked for level %s", model_class(model, class_id)->name, level_name(level));
	}
	return err == 0;
}

static void ask_level_of_all(struct screen *screen, uint8_t level)
{
	const struct model *model = screen->target->session.model;

	for (uint32_t i = 0; i < model_class_count(model); i++)
		if (model_class(model, i)->is_defined && !ask_level(screen, i, 0, level))
			return;
	screen_say(screen, "every class: asked for level %s", level_name(level));
}

static void take_wish(struct screen *screen, struct panel_view *view)
{
	if (!view->wish.is_set)
		return;
	view->wish.is_set = false;
	if (view->wish.all_classes)
		ask_level_of_all(screen, view->wish.level);
	else if (view->wish.class_id < LIMIT_CLASSES)
		ask_level(screen, view->wish.class_id, view->wish.site, view->wish.level);
}

/* A dump's answer is where it lies, or why there is none. */
static void dump_answer(struct screen *screen)
{
	const struct request *request =
		screen->dump_request ? session_request_of(&screen->target->session, screen->dump_request) : NULL;

	if (!request || !request->is_answered)
		return;
	screen->dump_request = 0;
	screen_say(screen, request->code == ACK_DONE ? "The target has written %s" : "No dump: %s", request->text);
}

void commands_answers(struct screen *screen)
{
	dump_answer(screen);
	for (uint32_t i = 0; i < LIMIT_CLASSES; i++) {
		struct panel_request *waiting = &screen->requests[i];
		const struct request *request;

		if (!waiting->is_waiting)
			continue;
		request = session_request_of(&screen->target->session, screen->request_ids[i]);
		if (!request || screen->now_ns - waiting->sent_ns > ANSWER_NS) {
			waiting->is_waiting = false;
		} else if (request->is_answered) {
			const char *name = model_class(screen->target->session.model, i)->name;

			waiting->is_waiting = false;
			snprintf(waiting->answer, sizeof waiting->answer, "%.*s", (int)sizeof waiting->answer - 1,
				 request->text);
			if (request->code != ACK_DONE)
				screen_say(screen, "%s: refused: %s", name, request->text);
			else
				screen_say(screen, "%s: level %s, acknowledged", name, level_name(waiting->level));
		}
	}
}

static bool class_letter(struct screen *screen, int key)
{
	const struct model *model = screen->target->session.model;

	switch (key) {
	case 'a': ask_level_of_all(screen, LEVEL_ALL); return true;
	case 's': ask_level_of_all(screen, LEVEL_SUM); return true;
	case 'n': ask_level_of_all(screen, LEVEL_OFF); return true;
	case 'r': ask_level_of_all(screen, LEVEL_OWN); return true;
	default: break;
	}
	for (uint32_t i = 0; i < model_class_count(model); i++)
		if (key > 0 && screen->class_keys[i] == key) {
			ask_level(screen, i, 0, (uint8_t)((model_class(model, i)->level + 1) % (LEVEL_ALL + 1)));
			return true;
		}
	return false;
}

/* ---- what the rows below do ---- */

static enum command_result do_quit(struct screen *screen)
{
	if (recorder_is_on(&screen->target->recorder) && !screen->asks_to_quit) {
		screen->asks_to_quit = true;
		/* What to do before the name, which may be long. */
		screen_say(screen, "Recording: q again ends it and quits (%s)", screen->target->recorder.path);
		return COMMAND_STAY;
	}
	return COMMAND_QUIT;
}

static enum command_result do_help(struct screen *screen)
{
	screen->overlay = screen->overlay == OVERLAY_HELP ? OVERLAY_HELP_ALL : OVERLAY_HELP;
	return COMMAND_STAY;
}

static enum command_result do_freeze(struct screen *screen)
{
	struct target *target = screen->target;

	if (target->is_file) {
		target->replay.is_playing = !target->replay.is_playing || target->replay.is_at_end;
		if (target->replay.is_at_end)
			replay_seek(&target->replay, target->replay.first_ns);
		return COMMAND_STAY;
	}
	if (screen->frozen) {
		model_free(screen->frozen);
		screen->frozen = NULL;
		screen_say(screen, "The picture goes on; nothing was missed.");
		return COMMAND_STAY;
	}
	screen->frozen = model_copy(target->session.model);
	screen->frozen_ticks = model_ticks(target->session.model);
	screen_say(screen, screen->frozen ? "Frozen. The target and its recording go on; space returns to now."
					  : "No memory to freeze the picture.");
	return COMMAND_STAY;
}

static enum command_result do_classes(struct screen *screen)
{
	screen_name_classes(screen);
	screen->overlay = OVERLAY_CLASSES;
	return COMMAND_STAY;
}

static enum command_result do_next_panel(struct screen *screen)
{
	screen->panel = panels[screen->panel + 1] ? screen->panel + 1 : 0;
	return COMMAND_STAY;
}

static enum command_result do_previous_panel(struct screen *screen)
{
	if (screen->panel > 0) {
		screen->panel--;
		return COMMAND_STAY;
	}
	while (panels[screen->panel + 1])
		screen->panel++;
	return COMMAND_STAY;
}

void commands_record(struct screen *screen, const char *path)
{
	struct target *target = screen->target;
	struct problem problem = { 0 };

	if (target->is_file) {
		screen_say(screen, "This is a recording already.");
	} else if (recorder_is_on(&target->recorder)) {
		recorder_stop(&target->recorder);
		if (target->recorder.problem.code == EXIT_DONE)
			screen_say(screen, "Recording ended: %s, %s.", target->recorder.path,
				   target->recorder.is_full ? "cut where the disk was full" :
				   target->recorder.has_gap ? "with a gap where the disk was full" : "whole");
	} else if (model_ticks(target->session.model) == 0) {
		screen_say(screen, "Nothing to record yet: the target has not said anything.");
	} else if (recorder_start(&target->recorder, &target->session, path, target->options->force,
				  &problem) != EXIT_DONE) {
		screen_say(screen, "%s. %s", problem.what, problem.todo);
	} else {
		screen_say(screen, "Recording into %s. R ends it.", target->recorder.path);
	}
}

static enum command_result do_record(struct screen *screen)
{
	screen->asks_to_quit = false;
	commands_record(screen, NULL);
	return COMMAND_STAY;
}

static enum command_result do_mark(struct screen *screen)
{
	model_set_mark(screen_model(screen));
	if (screen->frozen)
		model_set_mark(screen->target->session.model);
	screen_say(screen, "Mark set: changes are told from here on. M clears it.");
	return COMMAND_STAY;
}

static enum command_result do_unmark(struct screen *screen)
{
	model_clear_mark(screen_model(screen));
	model_clear_mark(screen->target->session.model);
	screen_say(screen, "Mark cleared.");
	return COMMAND_STAY;
}

static enum command_result do_window(struct screen *screen)
{
	static const int windows[] = { 10, 60, 300, 0 };
	struct model *model = screen->target->session.model;
	int at = 0;

	while (at < 3 && windows[at] != model_window(model))
		at++;
	at = (at + 1) % 4;
	model_set_window(model, windows[at]);
	if (screen->frozen)
		model_set_window(screen->frozen, windows[at]);
	if (windows[at])
		screen_say(screen, "Distributions cover the last %d s.", windows[at]);
	else
		screen_say(screen, "Distributions cover the whole run.");
	return COMMAND_STAY;
}

static enum command_result do_sync(struct screen *screen)
{
	struct message flush = { .kind = KIND_FLUSH }, sync = { .kind = KIND_SYNC };
	uint32_t id;

	if (screen->target->is_file)
		return COMMAND_STAY;
	if (screen->target->source.state == SOURCE_ENDED) {
		screen_say(screen, "The target has ended; there is nobody to ask.");
	} else if (screen->target->source.state != SOURCE_OPEN) {
		source_retry(&screen->target->source);
		screen_say(screen, "Trying again.");
	} else if (target_request(screen->target, &flush, &id) == 0 && target_request(screen->target, &sync, &id) == 0) {
		screen_say(screen, "Asked the target to flush and to tell everything again.");
	} else {
		screen_say(screen, "%s: no control way: nothing can be asked for", screen->target->address.text);
	}
	return COMMAND_STAY;
}

static enum command_result do_dump(struct screen *screen)
{
	struct message dump = { .kind = KIND_DUMP, .dump = { 0, text_of("asked for from the screen") } };

	if (screen->target->source.state == SOURCE_OPEN && target_request(screen->target, &dump, &screen->dump_request) == 0)
		screen_say(screen, "Asked the target for a dump of its rings.");
	else if (screen->target->options->read_only)
		screen_say(screen, "With --read-only nothing is asked for.");
	else
		screen_say(screen, "%s: no control way: nothing can be asked for", screen->target->address.text);
	return COMMAND_STAY;
}

static void start_prompt(struct screen *screen, enum prompt prompt, const char *text)
{
	screen->overlay = OVERLAY_PROMPT;
	screen->prompt = prompt;
	snprintf(screen->typed, sizeof screen->typed, "%s", text);
	lineedit_init(&screen->edit, screen->typed, sizeof screen->typed);
}

static enum command_result do_filter(struct screen *screen)
{
	start_prompt(screen, PROMPT_FILTER, screen_view(screen)->filter);
	return COMMAND_STAY;
}

static enum command_result do_interval(struct screen *screen)
{
	start_prompt(screen, PROMPT_INTERVAL, "");
	return COMMAND_STAY;
}

static enum command_result do_keep(struct screen *screen)
{
	screen->keep = !screen->keep;
	screen_say(screen, screen->keep ? "Levels set from now on stay when we leave."
					: "Levels set from now on return when we leave.");
	return COMMAND_STAY;
}

static enum command_result do_redraw(struct screen *screen)
{
	(void)screen;
	return COMMAND_REDRAW;
}

static enum command_result do_suspend(struct screen *screen)
{
	(void)screen;
	return COMMAND_SUSPEND;
}

/* ---- replay ---- */

static enum command_result seek_by(struct screen *screen, double seconds)
{
	struct replay *replay = &screen->target->replay;
	double at = (double)replay->position_ns + seconds * 1e9;

	replay->is_playing = false;
	replay_seek(replay, at < (double)replay->first_ns ? replay->first_ns : (uint64_t)at);
	return COMMAND_STAY;
}

static enum command_result do_back(struct screen *screen) { return seek_by(screen, -1); }
static enum command_result do_forward(struct screen *screen) { return seek_by(screen, 1); }
static enum command_result do_far_back(struct screen *screen) { return seek_by(screen, -10); }
static enum command_result do_far_forward(struct screen *screen) { return seek_by(screen, 10); }
static enum command_result do_start(struct screen *screen) { return seek_by(screen, -1e9); }
static enum command_result do_end(struct screen *screen) { return seek_by(screen, 1e9); }

static enum command_result change_speed(struct screen *screen, double factor)
{
	struct replay *replay = &screen->target->replay;
	double speed = replay->speed * factor;

	if (speed >= 0.1 && speed <= 1000)
		replay->speed = speed;
	screen_say(screen, "Speed x%g", replay->speed);
	return COMMAND_STAY;
}

static enum command_result do_faster(struct screen *screen) { return change_speed(screen, 2); }
static enum command_result do_slower(struct screen *screen) { return change_speed(screen, 0.5); }

static enum command_result do_go(struct screen *screen)
{
	start_prompt(screen, PROMPT_GO, "");
	return COMMAND_STAY;
}

/* ---- the table ---- */

enum { ANYWHERE, LIVE_ONLY, REPLAY_ONLY };

static const struct command_row {
	int key, other;              /* other: a second key, or 0 */
	int where;
	const char *footer;          /* NULL: not in the last row */
	enum command_result (*run)(struct screen *screen);
	struct help_key help;        /* keys NULL: told by the row before */
} rows[] = {
	{ 'c', 0, LIVE_ONLY, "c classes", do_classes, { "c", "+ letter: class level", true } },
	{ ' ', 'Z', LIVE_ONLY, "space freeze", do_freeze, { "space", "freeze", true } },
	{ ' ', 'Z', REPLAY_ONLY, "space play", do_freeze, { "space", "play, stop", true } },
	{ KEYCODE_LEFT, 'h', REPLAY_ONLY, "\xe2\x86\x90\xe2\x86\x92 step", do_back,
	  { "\xe2\x86\x90 \xe2\x86\x92", "a second", true } },
	{ KEYCODE_RIGHT, 'l', REPLAY_ONLY, NULL, do_forward, { 0 } },
	{ '[', 0, REPLAY_ONLY, "[ ] 10 steps", do_far_back, { "[ ]", "ten seconds", true } },
	{ ']', 0, REPLAY_ONLY, NULL, do_far_forward, { 0 } },
	{ '<', 0, REPLAY_ONLY, "< > speed", do_slower, { "< >", "speed", true } },
	{ '>', 0, REPLAY_ONLY, NULL, do_faster, { 0 } },
	{ KEYCODE_HOME, 0, REPLAY_ONLY, "Home End", do_start, { "Home", "start (End: end)", true } },
	{ KEYCODE_END, 0, REPLAY_ONLY, NULL, do_end, { 0 } },
	{ ':', 0, REPLAY_ONLY, ": go to", do_go, { ":", "go to a time", true } },
	{ '\t', 0, ANYWHERE, "Tab panel", do_next_panel, { "Tab", "next panel", true } },
	{ KEYCODE_BACKTAB, 0, ANYWHERE, NULL, do_previous_panel, { 0 } },
	{ '/', KEYCODE_F0 + 4, ANYWHERE, NULL, do_filter, { "/", "filter", true } },
	{ 'm', 0, ANYWHERE, "m mark", do_mark, { "m M", "mark, unmark", true } },
	{ 'M', 0, ANYWHERE, NULL, do_unmark, { 0 } },
	{ 'R', 0, LIVE_ONLY, "R rec", do_record, { "R", "record, stop", true } },
	{ 'D', 0, LIVE_ONLY, NULL, do_dump, { "D", "dump its rings", false } },
	{ 'w', 0, ANYWHERE, NULL, do_window, { "w", "window", false } },
	{ 'd', 0, LIVE_ONLY, NULL, do_interval, { "d", "interval", false } },
	{ 'K', 0, LIVE_ONLY, NULL, do_keep, { "K", "keep levels", false } },
	{ KEYCODE_CTRL('R'), 0, ANYWHERE, NULL, do_sync, { "^R", "sync, retry", false } },
	{ KEYCODE_CTRL('L'), 0, ANYWHERE, NULL, do_redraw, { "^L", "redraw", false } },
	{ KEYCODE_CTRL('Z'), 0, ANYWHERE, NULL, do_suspend, { "^Z", "suspend", false } },
	{ '?', KEYCODE_F0 + 1, ANYWHERE, "? help", do_help, { "?", "help, all keys", false } },
	{ 'q', KEYCODE_F0 + 10, ANYWHERE, "q quit", do_quit, { "q", "quit", true } },
};

/* Keys that every list has, and those that are no command of ours. */
static const struct help_key common_keys[] = {
	{ "\xe2\x86\x91 \xe2\x86\x93", "move (k j)", false }, { "PgUp", "page (^B ^F)", false },
	{ "^U ^D", "half page", false }, { "g G", "first, last", false }, { "\xe2\x8f\x8e", "open row", false },
	{ "Esc", "back one layer", false }, { "s r", "sort, reverse", false }, { "o", "hold, let go", false },
	{ "x X", "next level, off", false }, { "^C", "quit at once", false },
};

static bool row_applies(const struct screen *screen, const struct command_row *row)
{
	return row->where == ANYWHERE || (row->where == REPLAY_ONLY) == screen->target->is_file;
}

const struct help_key *commands_help(const struct screen *screen)
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

/* Texts with two blanks between them; each stands there once, and only what fits. */
struct footer { char *out; size_t out_bytes, used; int left_cells; };

static void footer_add(struct footer *footer, const char *text)
{
	if (strstr(footer->out, text) || text_width(text) + 2 > footer->left_cells ||
	    footer->used + strlen(text) + 3 > footer->out_bytes)
		return;
	footer->left_cells -= text_width(text) + 2;
	footer->used += (size_t)snprintf(footer->out + footer->used, footer->out_bytes - footer->used, "%s  ", text);
}

void commands_footer(const struct screen *screen, int width_cells, char *out, size_t out_bytes)
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
		if (rows[i].footer && !strstr(last, rows[i].footer) && row_applies(screen, &rows[i]))
			footer_add(&footer, rows[i].footer);
	snprintf(out + footer.used, out_bytes - footer.used, "%s", last);
}

/* ---- prompts ---- */

/* Today's HH:MM[:SS] of the recording's day. */
static void go_to(struct screen *screen, const char *typed)
{
	struct replay *replay = &screen->target->replay;
	const struct model *model = screen->target->session.model;
	time_t first = (time_t)(model_real_ns(model, replay->first_ns) / 1000000000), wanted;
	int hour, minute, second = 0;
	struct tm when;

	if (sscanf(typed, "%d:%d:%d", &hour, &minute, &second) < 2 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
	    second < 0 || second > 60 || !localtime_r(&first, &when)) {
		screen_say(screen, "\"%s\" is no time: give HH:MM or HH:MM:SS", typed);
		return;
	}
	when.tm_hour = hour;
	when.tm_min = minute;
	when.tm_sec = second;
	wanted = mktime(&when);
	if (wanted < first - 1)
		wanted += 86400;        /* over midnight */
	replay->is_playing = false;
	replay_seek(replay, replay->first_ns + (uint64_t)(wanted > first ? wanted - first : 0) * 1000000000u);
}

static void set_interval(struct screen *screen, const char *typed)
{
	char *end;
	double seconds = strtod(typed, &end);

	if (end == typed || *end || !(seconds >= 0.1 && seconds <= 60)) {
		screen_say(screen, "\"%s\" is no interval: give 0.1 to 60 seconds", typed);
		return;
	}
	if (target_set_interval(screen->target, (uint64_t)(seconds * 1e9)) < 0)
		screen_say(screen, "%s: no control way: nothing can be asked for", screen->target->address.text);
	else
		screen_say(screen, "Interval %g s", seconds);
}

static void prompt_key(struct screen *screen, int key)
{
	enum lineedit_answer answer = lineedit_key(&screen->edit, key);

	if (screen->prompt == PROMPT_FILTER)
		snprintf(screen_view(screen)->filter, sizeof screen_view(screen)->filter, "%s",
			 answer == LINEEDIT_CANCELLED ? "" : screen->typed);
	if (answer == LINEEDIT_MORE)
		return;
	screen->overlay = OVERLAY_NONE;
	if (answer == LINEEDIT_CANCELLED || !screen->typed[0])
		return;
	if (screen->prompt == PROMPT_INTERVAL)
		set_interval(screen, screen->typed);
	else if (screen->prompt == PROMPT_GO)
		go_to(screen, screen->typed);
}

/* ---- keys ---- */

/* Arrows have words: their ASCII twins are keys of their own. */
static const struct { int key; const char *name; } special_keys[] = {
	{ ' ', "Space" }, { '\t', "Tab" }, { KEYCODE_BACKTAB, "Shift-Tab" }, { KEYCODE_ENTER, "Enter" },
	{ KEYCODE_ESCAPE, "Esc" }, { KEYCODE_BACKSPACE, "Backspace" }, { KEYCODE_DELETE, "Del" },
	{ KEYCODE_INSERT, "Ins" },
	{ KEYCODE_UP, "Up" }, { KEYCODE_DOWN, "Down" }, { KEYCODE_LEFT, "Left" }, { KEYCODE_RIGHT, "Right" },
	{ KEYCODE_HOME, "Home" }, { KEYCODE_END, "End" }, { KEYCODE_PAGE_UP, "PgUp" }, { KEYCODE_PAGE_DOWN, "PgDn" },
};

static void key_name(int key, char *out, size_t out_bytes)
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

/* False when panel is NULL. */
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
	taken = panel_press(screen_panel(screen), screen_model(screen), view, key);
	if (view->message[0])
		screen_say(screen, "%s", view->message);
	take_wish(screen, view);
	if (switch_panel(screen, view->go)) {
		screen_view(screen)->is_open = true;
		screen_view(screen)->open_id = view->go_id;
	}
	view->go = NULL;
	return taken;
}

static void escape(struct screen *screen)
{
	screen->is_wanted_back = false;
	screen->asks_to_quit = false;
	if (panel_key(screen, KEYCODE_ESCAPE))
		return;
	screen_view(screen)->filter[0] = '\0';
	screen_say(screen, "%s", "");
}

enum command_result commands_key(struct screen *screen, int key)
{
	char name[16];

	if (key == KEYCODE_CTRL('C') || key == KEYCODE_HANGUP)
		return COMMAND_QUIT;
	if (screen->overlay == OVERLAY_PROMPT) {
		prompt_key(screen, key);
		return COMMAND_STAY;
	}
	if (screen->overlay == OVERLAY_CLASSES) {
		screen->overlay = OVERLAY_NONE;
		if (key != KEYCODE_ESCAPE && !class_letter(screen, key) && key != 'q') {
			key_name(key, name, sizeof name);
			screen_say(screen, "No class has the letter \"%s\".", name);
		}
		return COMMAND_STAY;
	}
	if ((screen->overlay == OVERLAY_HELP || screen->overlay == OVERLAY_HELP_ALL) && key != '?' &&
	    key != KEYCODE_F0 + 1) {
		screen->overlay = OVERLAY_NONE;
		if (key == KEYCODE_ESCAPE || key == 'q')
			return COMMAND_STAY;
	}
	if (key == KEYCODE_ENTER && screen->is_wanted_back)
		return COMMAND_FOLLOW;
	if (key == KEYCODE_ESCAPE) {
		escape(screen);
		return COMMAND_STAY;
	}
	if (switch_panel(screen, panel_find(key)))
		return COMMAND_STAY;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if ((rows[i].key == key || (rows[i].other && rows[i].other == key)) && row_applies(screen, &rows[i]))
			return rows[i].run(screen);
	if (!panel_key(screen, key)) {
		key_name(key, name, sizeof name);
		screen_say(screen, "No key \"%s\" here. ? for help.", name);
	}
	return COMMAND_STAY;
}
