#include "monitor/cli/headless.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "monitor/cli/output.h"
#include "widgets/text.h"

void headless_over(struct headless *headless, int code)
{
	headless->code = code;
	headless->is_over = true;
	event_base_loopbreak(headless->base);
}

void headless_fail(struct headless *headless, const struct problem *problem)
{
	headless_over(headless, problem_print(problem));
}

bool headless_is_denied(struct headless *headless)
{
	const struct target *target = &headless->target;
	struct problem problem = { 0 };

	if (!controls_are_denied(&target->controls))
		return false;
	problem_set(&problem, EXIT_PERMISSION, "%s: %s", target->address.text, controls_refusal(-EACCES));
	problem_todo(&problem, "Use the program's Unix socket, or start it with ,control behind the address.");
	headless_fail(headless, &problem);
	return true;
}

bool headless_flush(struct headless *headless)
{
	int code;

	if (output_flush(&code))
		return true;
	headless->has_no_output = true;
	headless_over(headless, code);
	return false;
}

void headless_note(const char *format, ...)
{
	char text[1024], shown[sizeof text * UTF8_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	text_clean(shown, sizeof shown, text, strlen(text), GLYPHS_BLOCKS);
	fprintf(stderr, "telemtop: %s\n", shown);
}

static void on_change(void *arg, bool tick)
{
	struct headless *headless = arg;
	struct target *target = &headless->target;

	if (headless->is_over)
		return;
	if (target->notice.code) {
		headless_fail(headless, &target->notice);
		return;
	}
	/* What can still go well is said once. */
	if (target->problem.code && target->source.state != SOURCE_ENDED && !headless->has_said_problem) {
		headless->has_said_problem = true;
		problem_print(&target->problem);
	}
	headless->callbacks->change(headless, tick);
	if (headless->is_over || target->is_open || target->source.state != SOURCE_ENDED)
		return;
	if (target->problem.code) {
		headless_fail(headless, &target->problem);
	} else if (model_link(target->session.model)->has_bye || target->address.kind->ends) {
		headless_over(headless, EXIT_DONE);
	} else {
		problem_set(&target->problem, EXIT_CONNECTION, "%s: connection lost", target->address.text);
		problem_todo(&target->problem, "The target ended without saying goodbye.");
		headless_fail(headless, &target->problem);
	}
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	(void)what;
	headless_over(arg, number == SIGINT ? EXIT_DONE : 128 + (int)number);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct headless *headless = arg;

	(void)fd, (void)what;
	if (headless->callbacks->timeout)
		headless->callbacks->timeout(headless);
	else
		headless_over(headless, EXIT_DONE);
}

/* Called one second after the start, to say that an address waits for a program. */
static void on_no_program(evutil_socket_t fd, short what, void *arg)
{
	struct headless *headless = arg;

	(void)fd, (void)what;
	if (!headless->target.session.has_greeted)
		headless_note("%s: waiting for a program", headless->options->target);
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	struct headless *headless = arg;

	(void)fd, (void)what;
	target_clock(&headless->target);
}

static void walk_recording(struct headless *headless)
{
	struct cursor *cursor = &headless->target.cursor;

	if (headless->options->at_ns)
		cursor_seek(cursor, headless->target.timeline.first_ns + headless->options->at_ns);
	if (headless->callbacks->follows_file) {
		while (!headless->is_over && cursor_tick(cursor))
			headless->callbacks->change(headless, true);
	} else {
		cursor_run(cursor, UINT64_MAX);
		headless->callbacks->change(headless, true);
	}
	if (!headless->is_over)
		headless->code = EXIT_DONE;
	/* The whole part of a damaged recording was used; the exit status says that there was damage. */
	if (headless->target.warning.code && headless->code == EXIT_DONE)
		headless->code = headless->target.warning.code;
}

int headless_run(const struct options *options, const struct headless_callbacks *callbacks, void *state)
{
	struct headless headless = { .options = options, .callbacks = callbacks, .state = state };
	struct address address;
	struct problem problem = { 0 };
	struct event *interrupt, *terminate, *timer, *no_program, *beat;
	struct target_config config = options_target(options);
	struct timeval length = { (time_t)(options->for_ns / 1000000000u), (suseconds_t)(options->for_ns / 1000 % 1000000) };

	if (options->wait_s >= 0 && address_may_come(address_parse(options->target, &address, &problem)))
		headless_note("waiting for %s", options->target);
	if (address_wait(options->target, options->wait_s, &address, &problem) != EXIT_DONE)
		return problem_print(&problem);
	if (address.note[0])
		fprintf(stderr, "telemtop: %s\n", address.note);
	headless.base = event_base_new();
	if (!headless.base)
		return problem_set(&problem, EXIT_INTERNAL, "the event loop cannot be made"), problem_print(&problem);
	interrupt = evsignal_new(headless.base, SIGINT, on_signal, &headless);
	terminate = evsignal_new(headless.base, SIGTERM, on_signal, &headless);
	timer = evtimer_new(headless.base, on_timeout, &headless);
	no_program = evtimer_new(headless.base, on_no_program, &headless);
	beat = event_new(headless.base, -1, EV_PERSIST, on_beat, &headless);
	evsignal_add(interrupt, NULL);
	evsignal_add(terminate, NULL);
	if (address.kind->waits)
		event_add(no_program, &(struct timeval){ 1, 0 });
	if (options->for_ns)
		evtimer_add(timer, &length);
	if (target_open(&headless.target, headless.base, &config, &address, on_change, &headless) != EXIT_DONE) {
		headless.code = problem_print(&headless.target.problem);
	} else {
		if (headless.target.warning.code)
			problem_print(&headless.target.warning);
		if (target_is_recording(&headless.target)) {
			walk_recording(&headless);
		} else if (!headless.is_over) {
			event_add(beat, &(struct timeval){ TARGET_CLOCK_MS / 1000, TARGET_CLOCK_MS % 1000 * 1000 });
			event_base_dispatch(headless.base);
		}
		if (callbacks->end)
			callbacks->end(&headless);
		target_close(&headless.target);
	}
	event_free(interrupt);
	event_free(terminate);
	event_free(timer);
	event_free(no_program);
	event_free(beat);
	event_base_free(headless.base);
	/* What could not be written is said once. */
	return headless.has_no_output ? headless.code : output_finish(headless.code);
}
