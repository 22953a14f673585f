/* e2e.h -- the real programs, started and asked as a user would.
 *
 * Programs come from the build directory that the environment variable B names,
 * "build" without it. Everything is a child of proc.h and ends with the test. */
#ifndef TELEM_TESTS_SUPPORT_E2E_H
#define TELEM_TESTS_SUPPORT_E2E_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/support/fixture.h"
#include "tests/support/proc.h"
#include "tests/support/term.h"

/* Path of a built program. */
const char *bin(const char *name);
/* A short text, valid for the next 64 calls. */
const char *fmt(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The process id as telemtop takes it. */
const char *pid_of(const struct proc *proc);

/* A program that has ended: its exit code (or minus the signal) and what it said. Valid
 * until proc_end_all(). */
struct said { int code; const char *out, *err; };
struct said said_of(struct proc *proc, int64_t deadline_ms);
#define run(...) run_at(PROC_LIST(__VA_ARGS__))
struct said run_at(const char *const *argv);
#define telemtop(...) run(bin("telemtop"), __VA_ARGS__)
/* Fails the test, showing what was said, unless it ended so. */
#define assert_code(said, expected) assert_code_at((said), (expected), __FILE__, __LINE__)
void assert_code_at(struct said said, int code, const char *file, int line);
/* Fails unless text holds part. */
#define assert_has(text, part) assert_has_at((text), (part), true, __FILE__, __LINE__)
#define assert_has_not(text, part) assert_has_at((text), (part), false, __FILE__, __LINE__)
void assert_has_at(const char *text, const char *part, bool wanted, const char *file, int line);

/* ---- the monitored program ---- */

struct demo_spec {
	const char *name;            /* of the executable; NULL: telem-demo */
	const char *telem;           /* TELEM's value; NULL: none */
	const char *const *args;     /* NULL: all files of the fixture, over and over */
};
/* telem-demo on a tree of text files, once its socket is there. */
#define demo_start(fixture, ...) demo_start_at((fixture), (struct demo_spec){ __VA_ARGS__ })
struct proc *demo_start_at(struct fixture *fixture, struct demo_spec spec);
/* Where it listens. */
const char *demo_socket(struct fixture *fixture, const struct proc *demo);

/* ---- telemtop's answers ---- */

/* `once --json` at ten ticks a second; json_decref() it. */
json_t *once(const char *target);
/* A number, for example "link.emitted"; booleans are 0 and 1. Fails the test when there is none. */
int64_t figure(const json_t *json, const char *path);
const char *text_at(const json_t *json, const char *path);
/* The element of that name in a list of the answer: named(json, "classes", "mem"). */
const json_t *named(const json_t *json, const char *list, const char *name);
/* The level the program has for a class now; a new literal text or "?". */
const char *level_now(const char *target, const char *class_name);
/* The same with its own level: "all/sum". */
const char *levels_now(const char *target, const char *class_name);

/* telemtop on a terminal: screen_start(24, 80, "-d", "0.1", target). */
#define screen_start(rows_, cols_, ...) \
	term_start(.argv = PROC_LIST(bin("telemtop"), __VA_ARGS__), .rows = (rows_), .cols = (cols_))
/* Ends it with q; fails unless it ends with 0 and leaves the terminal as it was. */
void screen_quit(struct term *term);
void assert_terminal_restored(struct term *term);

/* ---- sockets of our own ---- */

/* Listens; serve_accept() waits for a caller. Both descriptors are the caller's. */
int serve_unix(const char *path);
int serve_tcp(uint16_t port);
int serve_accept(int listen_fd);

/* Waits in steps of a round trip, so that what the condition asks may be dear. */
#define ASK_UNTIL(condition, deadline_ms)                                                              \
	do {                                                                                           \
		struct proc_wait ask_ = proc_wait_begin(deadline_ms);                                  \
		while (!(condition))                                                                   \
			if (!proc_wait_more(&ask_))                                                    \
				proc_wait_failed(&ask_, "ASK_UNTIL(" #condition ")", __FILE__, __LINE__); \
	} while (0)
#endif
