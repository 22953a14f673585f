#include "demo/keys.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "emitter/telem.h"

static const struct { char key; const char *name; } classes[KEYS_CLASSES] = {
	{ 'm', "mem" }, { 'g', "gc" }, { 't', "task" }, { 'l', "log" },
	{ 'i', "index" }, { 'u', "queue" }, { 'y', "query" },
};

/* ---- the terminal ---- */

/* These belong to the process, as the terminal does; a signal handler has no other way to reach them. */
static struct termios modes_before;
static volatile sig_atomic_t is_open;

static void restore(void)
{
	if (is_open)
		tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
	is_open = 0;
}

static void die_tidily(int signal_number)
{
	restore();
	raise(signal_number);                 /* SA_RESETHAND: this time the signal ends the program */
}

static void print_line(const char *text)
{
	struct winsize size = { .ws_col = 0 };
	int cells;

	/* One cell less than the width, because text in the last cell could scroll; blanks erase
	 * the old line. */
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	cells = size.ws_col > 1 ? size.ws_col - 1 : 79;
	printf("\r%*s\r%.*s", cells, "", cells, text);
	fflush(stdout);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list args;

	print_line("");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void say_help(void)
{
	say("levels, - off + sum * all:  m mem  g gc  t task  l log  i index  u queue  y query");
	say("a all on  n all off  f record to a file, and back  s statistics  h help  q quit");
}

bool keys_open_terminal(void)
{
	static const int deadly[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction action = { .sa_handler = die_tidily, .sa_flags = (int)SA_RESETHAND };
	struct termios modes;

	/* In the background, changing the modes would stop the program. */
	if (!isatty(STDOUT_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &modes))
		return false;
	modes_before = modes;
	is_open = 1;
	for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
		sigaction(deadly[i], &action, NULL);
	modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
	modes.c_cc[VSUSP] = _POSIX_VDISABLE;  /* a stopped program would leave the terminal in these modes */
	tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
	say_help();
	return true;
}

void keys_close_terminal(void)
{
	if (is_open)
		print_line("");
	restore();
}

void keys_show_status(const struct keys *keys, const char *text)
{
	char line[256];
	size_t at = (size_t)snprintf(line, sizeof line - 32, "%s", text);

	for (int i = 0; i < KEYS_CLASSES && at < sizeof line - 32; i++) {
		int level = telem_level_get(classes[i].name);

		at += (size_t)snprintf(line + at, sizeof line - at, " %c%c", classes[i].key,
				       level < 0 ? '?' : "-+*"[level]);
	}
	snprintf(line + at, sizeof line - at, "%s", keys->is_recording ? " rec" : "");
	print_line(line);
}

/* ---- the keys ---- */

int keys_init(struct keys *keys, const char *sink_address_or_null)
{
	*keys = (struct keys){ .sink_address = sink_address_or_null, .sink_id = -1 };
	for (int i = 0; i < KEYS_CLASSES; i++)
		keys->levels[i] = telem_level_get(classes[i].name);
	if (sink_address_or_null)
		keys->sink_id = telem_sink_add(sink_address_or_null);
	return sink_address_or_null && keys->sink_id < 0 ? keys->sink_id : 0;
}

static void set_level(struct keys *keys, int at, int level)
{
	static const char *const words[] = { "off", "sum", "all" };

	/* Setting the level by name avoids declaring the classes of all other files. */
	if (telem_level_set(classes[at].name, (enum telem_level)level)) {
		say("%s: %s", classes[at].name, telem_error());
		return;
	}
	keys->levels[at] = level;
	say("%s: %s", classes[at].name, words[level]);
}

static void set_all(struct keys *keys, bool on)
{
	telem_enable_all(on);
	for (int i = 0; i < KEYS_CLASSES; i++)
		keys->levels[i] = on ? TELEM_ALL : TELEM_OFF;
}

/* Starts a recording in this directory or, the next time, redirects the stream to where it went before. */
static void toggle_recording(struct keys *keys)
{
	char address[64];
	int id;

	/* A recording is never overwritten, so the second one needs another name. */
	snprintf(address, sizeof address, keys->recording_count ? "file:telem-demo.%d-%u.telem" :
		 "file:telem-demo.%d.telem", (int)getpid(), keys->recording_count + 1);
	if (!keys->is_recording)
		id = keys->sink_id < 0 ? telem_sink_add(address) : telem_sink_redirect(keys->sink_id, address);
	else if (keys->sink_address)
		id = telem_sink_redirect(keys->sink_id, keys->sink_address);
	else
		id = telem_sink_remove(keys->sink_id);
	if (id < 0) {
		say("telemetry: %s", telem_error());
		return;
	}
	if (keys->is_recording) {
		keys->recording_count++;
		say("recording ended");
	} else {
		say("recording to %s", address + sizeof "file:" - 1);
	}
	keys->sink_id = keys->is_recording && !keys->sink_address ? -1 : id;
	keys->is_recording = !keys->is_recording;
}

static void say_stats(void)
{
	struct telem_statistics stats;

	telem_stats(&stats);
	say("events: %" PRIu64 " emitted, %" PRIu64 " delivered, %" PRIu64 " dropped, %" PRIu64 " queued",
	    stats.emitted, stats.delivered, stats.dropped, stats.queued);
	say("%" PRIu64 " bytes sent to %u sinks; %" PRIu64 " bytes of memory, %" PRIu64 " us of CPU",
	    stats.bytes_sent, (unsigned)stats.sinks, stats.memory_bytes, stats.flusher_cpu_ns / 1000);
}

bool keys_read(struct keys *keys)
{
	char key;

	while (is_open && read(STDIN_FILENO, &key, 1) == 1) {
		if (key == 'q')
			return false;
		if (key == 'a' || key == 'n')
			set_all(keys, key == 'a');
		else if (key == 'f')
			toggle_recording(keys);
		else if (key == 's')
			say_stats();
		else if (key == 'h' || key == '?')
			say_help();
		for (int i = 0; i < KEYS_CLASSES; i++)
			if (classes[i].key == key)
				set_level(keys, i, (keys->levels[i] + 1) % 3);
	}
	return true;
}
