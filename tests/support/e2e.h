/* e2e.h -- the real programs, started and used as a user does.
 *
 * The programs are in the build directory that the environment variable B names, or in "build"
 * without it. Every program is a child of proc.h and ends with the test. */
#ifndef TELEM_TESTS_SUPPORT_E2E_H
#define TELEM_TESTS_SUPPORT_E2E_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/support/fixture.h"
#include "tests/support/proc.h"
#include "tests/support/term.h"

/* The path of a built program. */
const char *bin(const char *name);
/* A short formatted text, valid for the next 64 calls. */
const char *fmt(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The process id as an argument of telemtop. */
const char *pid_of(const struct proc *proc);

/* A program that has ended: its exit code (or minus the signal) and what it printed. Valid until
 * proc_end_all(). */
struct said { int code; const char *out, *err; };
struct said said_of(struct proc *proc, int64_t deadline_ms);
#define run(...) run_at(PROC_LIST(__VA_ARGS__))
struct said run_at(const char *const *argv);
#define telemtop(...) run(bin("telemtop"), __VA_ARGS__)
/* Fails the test, and shows what the program printed, unless its exit code is expected. */
#define assert_code(said, expected) assert_code_at((said), (expected), __FILE__, __LINE__)
void assert_code_at(struct said said, int code, const char *file, int line);
/* Fails the test unless text contains part, or with assert_has_not() when it does. */
#define assert_has(text, part) assert_has_at((text), (part), true, __FILE__, __LINE__)
#define assert_has_not(text, part) assert_has_at((text), (part), false, __FILE__, __LINE__)
void assert_has_at(const char *text, const char *part, bool wanted, const char *file, int line);

/* ---- the monitored program ---- */

struct demo_spec {
	const char *name;            /* name of the executable; NULL: telem-demo */
	const char *telem;           /* value of the environment variable TELEM; NULL: unset */
	const char *const *args;     /* arguments; NULL: index all files of the fixture, over and over */
};
/* Starts telem-demo on a tree of text files, and returns when its socket exists. */
#define demo_start(fixture, ...) demo_start_at((fixture), (struct demo_spec){ __VA_ARGS__ })
struct proc *demo_start_at(struct fixture *fixture, struct demo_spec spec);
/* The path of the program's socket. */
const char *demo_socket(struct fixture *fixture, const struct proc *demo);

/* ---- telemtop's answers ---- */

/* Runs `telemtop once --json` at ten ticks a second. The caller calls json_decref() on the result. */
json_t *once(const char *target);
/* A number of the answer, for example "link.emitted"; booleans are 0 and 1. Fails the test when it
 * is missing. */
int64_t figure(const json_t *json, const char *path);
const char *text_at(const json_t *json, const char *path);
/* The element with this name in a list of the answer: named(json, "classes", "mem"). */
const json_t *named(const json_t *json, const char *list, const char *name);
/* The program's current level of a class, as a string literal; "?" for an unknown one. */
const char *level_now(const char *target, const char *class_name);
/* The same with the program's own level behind it: "all/sum". */
const char *levels_now(const char *target, const char *class_name);

/* Starts telemtop on a terminal: screen_start(24, 80, "-d", "0.1", target). */
#define screen_start(rows_, cols_, ...) \
	term_start(.argv = PROC_LIST(bin("telemtop"), __VA_ARGS__), .rows = (rows_), .cols = (cols_))
/* Quits with the key q. Fails the test unless the exit code is 0 and the terminal is restored. */
void screen_quit(struct term *term);
void assert_terminal_restored(struct term *term);

/* ---- sockets that a test listens on ---- */

/* serve_unix() and serve_tcp() listen; serve_accept() waits for a connection. The caller owns the
 * descriptors. */
int serve_unix(const char *path);
int serve_tcp(uint16_t port);
int serve_accept(int listen_fd);

/* Waits until condition is true, as WAIT_UNTIL does; the condition may run a program. */
#define ASK_UNTIL(condition, deadline_ms)                                                              \
	do {                                                                                           \
		struct proc_wait ask_ = proc_wait_begin(deadline_ms);                                  \
		while (!(condition))                                                                   \
			if (!proc_wait_more(&ask_))                                                    \
				proc_wait_failed(&ask_, "ASK_UNTIL(" #condition ")", __FILE__, __LINE__); \
	} while (0)
#endif
