/* proc.h -- child programs under test: start them, write to them, read their output, wait, end
 * them.
 *
 * Every child is in one list. Each wait (WAIT_UNTIL and all *_wait_* calls) reads the output of
 * every child, so that no child waits on a full pipe while the test waits for another one. Nothing
 * here sleeps in order to synchronise: a wait tests its condition again every few ms and fails the
 * test at its deadline, showing the output of all children.
 *
 * All deadlines are multiplied by the environment variable TEST_SLOW (an integer, default 1), for
 * runs under sanitizers or valgrind.
 *
 * No child outlives the test: proc_teardown() is the cmocka teardown, and the kernel kills the
 * children when the thread that started them ends. A child has a process group of its own, which is
 * killed with it; a grandchild that leaves the group is not. Only the one thread that runs the
 * tests may call these functions. */
#ifndef TELEM_TESTS_SUPPORT_PROC_H
#define TELEM_TESTS_SUPPORT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many bytes of one output stream are stored; further bytes are only counted. It is enough for
 * minutes of screen updates, and small enough for ten children on a small machine. */
#define PROC_CAPTURE_BYTES_MAX (64u << 20)

struct proc;

enum proc_use {
	PROC_INHERIT,   /* the test's own stream; the terminal for a term.h child */
	PROC_NULL,      /* /dev/null */
	PROC_PIPE,      /* proc_write() to stdin; stdout and stderr captured */
};

enum proc_stream {
	PROC_OUT,
	PROC_ERR,
	PROC_TTY,       /* everything that a term.h child wrote to its terminal */
	PROC_STREAM_COUNT,
};

/* How term.c runs a child on a pseudo-terminal. Tests use term.h. */
struct proc_terminal {
	int master_fd;   /* non-blocking; proc_try_start() takes it, also when it fails */
	int slave_fd;    /* the caller closes it after the start */
	void *owner;     /* argument of the hooks */
	void (*output)(void *owner, const char *bytes, size_t count);
	void (*describe)(void *owner);   /* calls proc_print() with what is on the screen */
	void (*release)(void *owner);    /* the child has ended: free the owner */
};

struct proc_spec {
	const char *const *argv;   /* NULL at the end; argv[0] is looked up in PATH */
	const char *const *env;    /* NULL, or a list of "K=V" to set and "K" to remove, ended by NULL */
	const char *dir;           /* NULL, or the directory in which the child starts */
	enum proc_use in;
	enum proc_use out;
	enum proc_use err;
	const struct proc_terminal *terminal;   /* NULL when there is no terminal */
};

struct proc_usage {
	uint64_t rss_bytes;   /* VmRSS */
	uint64_t cpu_ns;      /* utime + stime, in steps of a clock tick (10 ms) */
	uint32_t thread_count;
	char state;           /* R S D T Z ... as in proc(5) */
};

/* A NULL-ended list of strings for .argv and .env. */
#define PROC_LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Starts a child and returns when its program runs, which means that exec has succeeded. The child
 * has default signals, an empty signal mask and no file descriptors above 2. Returns 0 or a
 * negative errno, also for a failed exec; end with proc_end(). */
int proc_try_start(struct proc **out, const struct proc_spec *spec);
/* The same, failing the test on an error:
 *   struct proc *demo = proc_start(.argv = PROC_LIST("build/telem-demo"), .out = PROC_PIPE); */
#define proc_start(...) proc_start_at(&(struct proc_spec){ __VA_ARGS__ }, __FILE__, __LINE__)

/* Queues bytes for the child's stdin pipe. Never waits and never raises SIGPIPE. What the child
 * does not read now is sent during later waits, and lost when the child has ended. */
void proc_write(struct proc *proc, const char *bytes, size_t count);
/* Closes the stdin pipe when the queue is empty. */
void proc_close_stdin(struct proc *proc);
/* Queues bytes as if typed on the child's terminal. */
void proc_type(struct proc *proc, const char *bytes, size_t count);

/* These wait for at most deadline_ms. A wait for text examines the output after the latest
 * proc_mark(), and fails at once when the child has ended without it. A line matches as a whole,
 * without its newline, and only when its newline has arrived. */
#define proc_wait_text(proc, stream, text, deadline_ms) \
	proc_wait_text_at((proc), (stream), (text), (deadline_ms), __FILE__, __LINE__)
#define proc_wait_line(proc, stream, line, deadline_ms) \
	proc_wait_line_at((proc), (stream), (line), (deadline_ms), __FILE__, __LINE__)
/* Waits for the end of the child. Returns its exit code, or minus the signal that killed it. All
 * output has been read then. */
#define proc_wait_exit(proc, deadline_ms) \
	proc_wait_exit_at((proc), (deadline_ms), __FILE__, __LINE__)

/* Waits until condition, any C expression, is true. It is evaluated one last time after the
 * deadline, and the test fails when it is still false. */
#define WAIT_UNTIL(condition, deadline_ms) \
	do { \
		struct proc_wait wait_until_ = proc_wait_begin(deadline_ms); \
		while (!(condition)) \
			if (!proc_wait_more(&wait_until_)) \
				proc_wait_failed(&wait_until_, "WAIT_UNTIL(" #condition ")", \
						 __FILE__, __LINE__); \
	} while (0)
/* Fails the test when condition is false at any time within duration_ms: for promises that
 * something does not happen. The duration is not multiplied by TEST_SLOW. */
#define HOLDS_FOR(condition, duration_ms) \
	do { \
		int64_t holds_until_ = proc_now_ms() + (duration_ms); \
		do { \
			if (!(condition)) \
				proc_failed("HOLDS_FOR(" #condition ")", __FILE__, __LINE__); \
			proc_pump(PROC_LOOK_MS); \
		} while (proc_now_ms() < holds_until_); \
	} while (0)

/* Reads all children for duration_ms of real time, not multiplied by TEST_SLOW: an interval for
 * measuring rates of bytes or CPU. Not for waiting until something happens. */
void proc_watch_for(int64_t duration_ms);
/* Milliseconds of CLOCK_MONOTONIC. */
int64_t proc_now_ms(void);
/* The factor in TEST_SLOW, at least 1. */
int64_t proc_slowness(void);

/* These return what has been read so far; only waits read. */
pid_t proc_pid(const struct proc *proc);
bool proc_exited(const struct proc *proc);
/* After proc_exited(): the exit code, or minus the signal. */
int proc_exit_code(const struct proc *proc);
/* The stored bytes, followed by a 0; valid until the next wait. */
const char *proc_bytes(const struct proc *proc, enum proc_stream stream, size_t *count);
/* How many bytes were received, stored or not. */
uint64_t proc_byte_count(const struct proc *proc, enum proc_stream stream);
bool proc_has_text(const struct proc *proc, enum proc_stream stream, const char *text);
bool proc_has_line(const struct proc *proc, enum proc_stream stream, const char *line);
/* Searches the whole stream for any bytes, zeros included, and ignores marks. */
bool proc_has_bytes(const struct proc *proc, enum proc_stream stream, const void *bytes, size_t count);
/* From here on, text and lines are searched only in later output. */
void proc_mark(struct proc *proc, enum proc_stream stream);

/* What the kernel reports about the child; -ESRCH when it has ended. */
int proc_usage_read(const struct proc *proc, struct proc_usage *out);
/* The same figures one by one; these fail the test when the child has ended. */
uint64_t proc_rss_bytes(const struct proc *proc);
uint64_t proc_cpu_ns(const struct proc *proc);
uint32_t proc_thread_count(const struct proc *proc);
uint32_t proc_fd_count(const struct proc *proc);
/* The state letter; 0 when the child has ended. */
char proc_state(const struct proc *proc);

/* Sends a signal to the child alone, not to its group. Returns 0 or -ESRCH. */
int proc_signal(struct proc *proc, int signal_number);

/* Kills the child and its group if they still run, reaps the child, and frees *proc. NULL is allowed. */
void proc_end(struct proc *proc);
/* Does the same for all children. */
void proc_end_all(void);
/* proc_end_all() as a cmocka teardown. */
int proc_teardown(void **state);

/* What the macros and other files of tests/support use. */
#define PROC_LOOK_MS 3
struct proc_wait {
	int64_t begin_ms;
	int64_t deadline_ms;
	bool late;
};
/* Reads and writes the pipes of all children; returns after any news or timeout_ms. */
void proc_pump(int timeout_ms);
struct proc_wait proc_wait_begin(int64_t deadline_ms);
/* Calls proc_pump(). Returns false when the condition has been evaluated after the deadline. */
bool proc_wait_more(struct proc_wait *wait);
/* These fail the running test with the reason, and show the output of all children. */
_Noreturn void proc_wait_failed(const struct proc_wait *wait, const char *what, const char *file, int line);
_Noreturn void proc_failed(const char *what, const char *file, int line);
/* Print to the test's report at any length (cmocka cuts at 1023 bytes). Control bytes other than
 * newline are printed as \xNN. */
void proc_print(const char *bytes, size_t count);
void proc_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct proc *proc_start_at(const struct proc_spec *spec, const char *file, int line);
void proc_wait_text_at(struct proc *proc, enum proc_stream stream, const char *text, int64_t deadline_ms,
		       const char *file, int line);
void proc_wait_line_at(struct proc *proc, enum proc_stream stream, const char *text, int64_t deadline_ms,
		       const char *file, int line);
int proc_wait_exit_at(struct proc *proc, int64_t deadline_ms, const char *file, int line);
#endif
