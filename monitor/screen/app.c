#include "monitor/screen/app.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <curses.h>
#include <event2/event.h>

#include "monitor/screen/costly_view.h"
#include "monitor/screen/held_view.h"
#include "monitor/screen/keys.h"
#include "monitor/screen/panels/panel_common.h"
#include "monitor/screen/picker.h"
#include "monitor/screen/screen.h"
#include "monitor/session/clock.h"
#include "monitor/session/target.h"
#include "widgets/canvas_curses.h"
#include "widgets/key.h"
#include "widgets/text.h"

/* The time from one frame to the next, at least. */
#define FRAME_MS 33
/* Keys in a row before signals and data have their turn. */
#define KEYS_A_TURN 64
/* How often ages, retries and the clock move on when no data comes. */
#define BEAT_MS TARGET_CLOCK_MS

struct app {
	const struct options *options;
	struct event_base *base;
	struct event *keys, *frame, *beat, *look, *signals[6];
	int signal_count;
	struct target target;
	struct screen screen;
	struct picker picker;
	bool has_target, is_picking, is_waiting, is_frame_due, has_terminal, has_recorded;
	uint64_t told_stream;        /* of the program whose mistake in its settings was told */
	uint64_t drawn_ns, played_ns, waiting_ns;   /* of the clock: the latest frame, the latest step, since when we wait */
	int code;
	struct problem problem;      /* printed when the terminal is as it was */
};

const char *app_curses_version(void)
{
	return curses_version();
}

static void leave(struct app *app, int code)
{
	app->code = code;
	event_base_loopbreak(app->base);
}

/* ---- drawing ---- */

static double waited_s(const struct app *app)
{
	return (double)(clock_mono_ns() - app->waiting_ns) / 1e9;
}

static void draw_waiting(const struct app *app, const struct canvas *canvas)
{
	char line[400], text[sizeof line * UTF8_BYTES];

	snprintf(line, sizeof line, "Waiting for %s to start (%.0f s)", app->options->target, waited_s(app));
	text_clean(text, sizeof text, line, strlen(line), canvas_glyphs(canvas));
	canvas_clear(canvas);
	canvas_text(canvas, 0, 0, STYLE(ROLE_TITLE, ATTR_BOLD), "telemtop");
	text_wrap(canvas, 0, 2, STYLE(ROLE_TEXT), text);
	canvas_text(canvas, 0, canvas->height_cells - 1, STYLE(ROLE_DIM), "q quit");
}

static void draw(struct app *app)
{
	struct canvas canvas = canvas_curses_canvas();

	app->is_frame_due = false;
	app->drawn_ns = clock_mono_ns();
	if (app->is_waiting) {
		draw_waiting(app, &canvas);
		canvas_curses_cursor(-1, -1);
	} else if (app->is_picking) {
		picker_draw(&app->picker, &canvas);
		canvas_curses_cursor(0, app->picker.cursor_y);
	} else {
		app->screen.now_ns = app->drawn_ns;
		app->screen.real_ns = (int64_t)clock_real_ns();
		controls_clock(&app->target.controls, app->drawn_ns);
		controls_name_classes(&app->target.controls);
		screen_draw(&app->screen, &canvas);
		canvas_curses_cursor(app->screen.cursor_x, app->screen.cursor_y);
	}
	canvas_curses_flush();
}

static void draw_soon(struct app *app)
{
	uint64_t since_ms = (clock_mono_ns() - app->drawn_ns) / 1000000;
	struct timeval after = { 0, 0 };

	if (app->is_frame_due || !app->has_terminal)
		return;
	app->is_frame_due = true;
	if (since_ms < FRAME_MS)
		after.tv_usec = (suseconds_t)((FRAME_MS - since_ms) * 1000);
	evtimer_add(app->frame, &after);
}

static void on_frame(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	draw(arg);
}

/* ---- the target ---- */

static void on_change(void *arg, bool tick)
{
	struct app *app = arg;
	struct target *target = &app->target;

	if (!app->has_target)
		return;
	if (app->screen.recorder.problem.code) {
		screen_say(&app->screen, "%s", app->screen.recorder.problem.what);
		app->screen.recorder.problem.code = EXIT_DONE;
	}
	if (target->problem.code && !target->is_open && target->source.state == SOURCE_ENDED) {
		app->problem = target->problem;
		leave(app, target->problem.code);
		return;
	}
	if (!target->is_open && target->source.state == SOURCE_ENDED && app->options->no_reconnect &&
	    !model_link(target->session.model)->has_bye) {
		problem_set(&app->problem, EXIT_CONNECTION, "%s: connection lost", target->address.text);
		problem_todo(&app->problem, "Without --no-reconnect telemtop waits for it to come back.");
		leave(app, EXIT_CONNECTION);
		return;
	}
	if (target->notice.code) {
		screen_say(&app->screen, "%s. %s", target->notice.what, target->notice.todo);
		target->notice.code = EXIT_DONE;
	}
	/* A mistake in the program's settings is nothing that its own output shows. */
	if (tick && model_target(target_model(target))->problem[0] &&
	    app->told_stream != model_target(target_model(target))->stream) {
		app->told_stream = model_target(target_model(target))->stream;
		screen_say(&app->screen, "The target says: %s", model_target(target_model(target))->problem);
	}
	/* --record records from the first tick on, once. */
	if (tick && app->options->output && !app->has_recorded) {
		app->has_recorded = true;
		keys_record(&app->screen, app->options->output);
	}
	held_view_ask(&app->screen);
	costly_view_ask(&app->screen);
	draw_soon(app);
}

/* A recording starts at --at, with a first tick, so that there is something to see. */
static void start_recording(struct app *app)
{
	struct target *target = &app->target;

	target->cursor.speed = app->options->speed;
	cursor_seek(&target->cursor, target->timeline.first_ns + app->options->at_ns);
	app->played_ns = clock_mono_ns();
	if (target->warning.code)
		screen_say(&app->screen, "%s. %s", target->warning.what, target->warning.todo);
}

static int open_target(struct app *app, const struct address *address)
{
	const struct options *options = app->options;
	struct target_config config = options_target(options);

	config.awaits_next = true;
	config.past_bytes = LIMIT_TIMELINE_BYTES;
	if (target_open(&app->target, app->base, &config, address, on_change, app) != EXIT_DONE) {
		app->problem = app->target.problem;
		return app->problem.code;
	}
	app->has_target = true;
	screen_init(&app->screen, &app->target);
	app->screen.may_overwrite = options->force;
	app->screen.now_ns = clock_mono_ns();
	app->screen.real_ns = (int64_t)clock_real_ns();
	for (int i = 0; panels[i]; i++)
		if (panels[i]->digit == '0' + options->panel)
			app->screen.panel = i;
	if (options->filter)
		for (int i = 0; i < PANELS_MAX; i++)
			snprintf(app->screen.views[i].filter, sizeof app->screen.views[i].filter, "%s", options->filter);
	if (target_is_recording(&app->target))
		start_recording(app);
	if (address->note[0])
		screen_say(&app->screen, "%s", address->note);
	return EXIT_DONE;
}

static void close_target(struct app *app)
{
	if (!app->has_target)
		return;
	app->has_target = false;
	screen_fini(&app->screen);
	target_close(&app->target);
}

/* Looks for the target that is waited for. */
static void on_look(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval pause = { 0, ADDRESS_LOOK_MS * 1000 };
	struct app *app = arg;
	struct address address;
	int code = address_parse(app->options->target, &address, &app->problem), wait_s = app->options->wait_s;

	(void)fd, (void)what;
	if (address_may_come(code) && (wait_s == 0 || waited_s(app) < wait_s)) {
		app->problem.code = EXIT_DONE;
		evtimer_add(app->look, &pause);
		return;
	}
	app->is_waiting = false;
	if (code == EXIT_DONE) {
		app->problem.code = EXIT_DONE;
		code = open_target(app, &address);
	}
	if (code == EXIT_DONE)
		draw_soon(app);
	else
		leave(app, code);
}

/* After the program has ended: looks whether one of the same name runs again. */
static void look_for_return(struct app *app)
{
	const struct address *address = &app->target.address;
	struct controls *controls = &app->target.controls;
	static struct found found[PICKER_MAX];
	uint64_t ended_ns = clock_mono_ns() - app->target.lost_ns;
	int count;

	if (controls->back_pid || app->target.source.state != SOURCE_ENDED || !address->pid || !address->program[0])
		return;
	count = discovery_list(found, PICKER_MAX, false);
	for (int i = 0; i < count; i++)
		/* A program that was running all the time is not the one that came back. */
		if (discovery_is_named(&found[i], address->program) && found[i].pid != address->pid &&
		    found[i].is_permitted && found[i].uptime_ns < ended_ns + 1000000000)
			controls->back_pid = (int)found[i].pid;
}

static void follow(struct app *app)
{
	char pid[16];
	struct address address;

	snprintf(pid, sizeof pid, "%d", app->target.controls.back_pid);
	app->target.controls.back_pid = 0;
	if (address_parse(pid, &address, &app->problem) != EXIT_DONE) {
		screen_say(&app->screen, "%s", app->problem.what);
		app->problem.code = EXIT_DONE;
		return;
	}
	close_target(app);
	if (open_target(app, &address) != EXIT_DONE)
		leave(app, app->problem.code);
}

/* A recording plays by the clock of this machine. */
static void play(struct app *app)
{
	uint64_t now_ns = clock_mono_ns(), passed_ns = now_ns - app->played_ns;

	app->played_ns = now_ns;
	if (cursor_play(&app->target.cursor, passed_ns))
		draw_soon(app);
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	struct app *app = arg;
	struct timeval next = { 0, 0 };

	(void)fd, (void)what;
	if (app->has_target) {
		target_clock(&app->target);
		play(app);
		look_for_return(app);
		held_view_ask(&app->screen);
		costly_view_ask(&app->screen);
	}
	next.tv_usec = app->has_target && app->target.cursor.is_playing ? 100000 : BEAT_MS * 1000 - 1;
	draw_soon(app);
	evtimer_add(app->beat, &next);
}

/* ---- keys and signals ---- */

static void suspend(struct app *app)
{
	canvas_curses_suspend();
	raise(SIGSTOP);
	canvas_curses_resume();
	canvas_curses_redraw();
	draw(app);
}

static void pick_key(struct app *app, int key)
{
	struct address address;
	char pid[16];

	picker_key(&app->picker, key);
	if (app->picker.quit) {
		leave(app, EXIT_DONE);
		return;
	}
	if (app->picker.chosen < 0)
		return;
	snprintf(pid, sizeof pid, "%d", (int)app->picker.found[app->picker.chosen].pid);
	app->is_picking = false;
	if (address_parse(pid, &address, &app->problem) != EXIT_DONE || open_target(app, &address) != EXIT_DONE)
		leave(app, app->problem.code);
}

static void on_keys(evutil_socket_t fd, short what, void *arg)
{
	struct app *app = arg;
	int key;

	(void)fd, (void)what;
	for (int i = 0; i < KEYS_A_TURN && (key = canvas_curses_key()) != KEYCODE_NONE; i++) {
		if (key == KEYCODE_RESIZE) {
			canvas_curses_resize();
		} else if (app->is_waiting) {
			if (picker_key_quits(key))
				leave(app, EXIT_DONE);
		} else if (app->is_picking) {
			pick_key(app, key);
		} else {
			app->screen.now_ns = clock_mono_ns();
			controls_clock(&app->target.controls, app->screen.now_ns);
			switch (keys_press(&app->screen, key)) {
			case KEYS_STAY: break;
			case KEYS_QUIT: leave(app, EXIT_DONE); return;
			case KEYS_REDRAW: canvas_curses_redraw(); break;
			case KEYS_SUSPEND: suspend(app); break;
			case KEYS_FOLLOW: follow(app); break;
			}
		}
		if (key == KEYCODE_HANGUP || event_base_got_break(app->base))
			return;
	}
	draw_soon(app);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	struct app *app = arg;

	(void)what;
	switch (number) {
	case SIGWINCH:
		canvas_curses_resize();
		draw_soon(app);
		break;
	case SIGTSTP:
		suspend(app);
		break;
	case SIGINT:
		leave(app, EXIT_DONE);
		break;
	default:
		leave(app, 128 + (int)number);
		break;
	}
}

static void on_fatal(int number)
{
	canvas_curses_close_from_signal();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(struct app *app)
{
	static const int caught[] = { SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

	/* They are caught before curses would catch them. */
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
		app->signals[i] = evsignal_new(app->base, caught[i], on_signal, app);
		evsignal_add(app->signals[i], NULL);
		app->signal_count++;
	}
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], on_fatal);
}

/* ---- life ---- */

static int open_terminal(struct app *app)
{
	bool is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	struct canvas_curses_options options = {
		.color = app->options->color == COLOR_WHEN_ALWAYS ? COLOR_ALWAYS
			 : app->options->color == COLOR_WHEN_NEVER ? COLOR_NEVER : COLOR_AUTO,
		.glyphs = is_utf8 && !app->options->ascii ? GLYPHS_BLOCKS : GLYPHS_ASCII,
		.light_background = app->options->light,
	};
	const char *terminal = getenv("TERM");
	int err = canvas_curses_open(&options);

	if (err == 0) {
		app->has_terminal = true;
		return EXIT_DONE;
	}
	if (err == -ENXIO)
		problem_set(&app->problem, EXIT_TERMINAL, "TERM=%s: unknown terminal, or one without a movable cursor",
			    terminal ? terminal : "");
	else
		problem_set(&app->problem, EXIT_TERMINAL, "the terminal cannot be used: %s", strerror(-err));
	problem_todo(&app->problem, "Try TERM=xterm-256color, or telemtop lines for plain text.");
	return app->problem.code;
}

static void close_all(struct app *app)
{
	close_target(app);
	if (app->has_terminal)
		canvas_curses_close();
	for (int i = 0; i < app->signal_count; i++)
		event_free(app->signals[i]);
	if (app->keys)
		event_free(app->keys);
	if (app->frame)
		event_free(app->frame);
	if (app->beat)
		event_free(app->beat);
	if (app->look)
		event_free(app->look);
	event_base_free(app->base);
}

/* The target that was given, which may have to be waited for, or the only one there is; when there are several, the picker
 * asks. */
static int find_target(struct app *app, struct address *address)
{
	char pid[16];

	if (app->options->target) {
		int code = address_parse(app->options->target, address, &app->problem);

		if (app->options->wait_s < 0 || !address_may_come(code))
			return code;
		app->problem.code = EXIT_DONE;
		app->is_waiting = true;
		app->waiting_ns = clock_mono_ns();
		return EXIT_DONE;
	}
	picker_scan(&app->picker);
	if (app->picker.count == 0) {
		char directory[256];

		discovery_directory(directory, sizeof directory, geteuid());
		problem_set(&app->problem, EXIT_NO_TARGET, "no monitored program found in %s", directory);
		problem_todo(&app->problem, "Start one that links libtelem (try: telem-demo), or give a PID, socket, "
					    "FIFO, tcp:HOST:PORT or recording.");
		return app->problem.code;
	}
	if (app->picker.count > 1) {
		app->is_picking = true;
		return EXIT_DONE;
	}
	snprintf(pid, sizeof pid, "%d", (int)app->picker.found[0].pid);
	return address_parse(pid, address, &app->problem);
}

int app_run(const struct options *options)
{
	static struct app app;
	struct address address;
	struct timeval soon = { 0, 1000 };

	app.options = options;
	app.base = event_base_new();
	if (!app.base)
		return problem_set(&app.problem, EXIT_INTERNAL, "the event loop cannot be made"),
		       problem_print(&app.problem);
	if (find_target(&app, &address) == EXIT_DONE) {
		catch_signals(&app);
		app.frame = evtimer_new(app.base, on_frame, &app);
		app.beat = evtimer_new(app.base, on_beat, &app);
		app.look = evtimer_new(app.base, on_look, &app);
		if (open_terminal(&app) == EXIT_DONE &&
		    (app.is_picking || app.is_waiting || open_target(&app, &address) == EXIT_DONE)) {
			app.keys = event_new(app.base, canvas_curses_fd(), EV_READ | EV_PERSIST, on_keys, &app);
			event_add(app.keys, NULL);
			evtimer_add(app.beat, &soon);
			if (app.is_waiting)
				evtimer_add(app.look, &soon);
			draw(&app);
			if (!event_base_got_break(app.base))
				event_base_dispatch(app.base);
		}
	}
	close_all(&app);
	if (app.problem.code)
		return problem_print(&app.problem);
	return app.code;
}
