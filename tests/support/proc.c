#include "tests/support/proc.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define READ_BYTES (64u << 10)
/* How much is read from one stream in one pump, and for how long, because a small terminal scrolls slowly. Then the
 * other streams and the deadline get their turn. */
#define PUMP_BYTES_MAX (1u << 20)
#define PUMP_MS_MAX 20
/* How much is read from a child that has ended: more than any pipe or terminal can hold, but bounded, because a
 * grandchild may go on writing. */
#define DRAIN_BYTES_MAX (16u << 20)
#define DRAIN_MS_MAX 10000
#define SHOWN_BYTES_MAX (8u << 10)
#define KILL_DEADLINE_MS 5000

struct capture {
	int fd;            /* own; -1 when not captured, or ended */
	char *bytes;       /* own; NULL before the first byte */
	size_t count;
	size_t room;
	size_t mark;
	uint64_t total;
	bool captured;
};

struct queue {
	int fd;            /* -1: none */
	char *bytes;       /* own */
	size_t count;
	bool closing;
};

struct proc {
	struct proc *next;
	pid_t pid;
	char *name;        /* own; argv, for reports */
	bool exited;
	bool group_left;   /* the child has ended, but others of its group have not */
	int code;
	struct capture captures[PROC_STREAM_COUNT];
	struct queue in;   /* owns its fd */
	struct queue keys; /* borrows captures[PROC_TTY].fd */
	/* With a terminal only, else 0 and -1: see hold_terminal(). */
	pid_t holder_pid;
	int status_fd;
	int lifeline_fd;
	struct proc_terminal terminal;
};

/* What the child's side of fork() needs. The fds are the test's until exec. */
struct launch {
	const struct proc_spec *spec;
	char **env;        /* the array is owned, its strings are not */
	int std_fds[3];    /* -1: /dev/null */
	int exec_fd;
	int status_fd;
	int lifeline_fd;
	pid_t test_pid;
};

static struct proc *procs;   /* every living struct proc, oldest first */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int64_t proc_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t proc_slowness(void)
{
	const char *value = getenv("TEST_SLOW");
	long factor = value ? strtol(value, NULL, 10) : 1;

	return factor < 1 ? 1 : factor > 1000 ? 1000 : factor;
}

/* ---- the report ---- */

void proc_printf(const char *format, ...)
{
	char line[1000];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	print_error("%s", line);
}

void proc_print(const char *bytes, size_t count)
{
	char piece[512];
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte == '\n' || byte >= 0x80 || isprint(byte))
			piece[used++] = (char)byte;
		else
			used += (size_t)snprintf(piece + used, sizeof(piece) - used, "\\x%02x", byte);
		if (used > sizeof(piece) - 8) {
			print_error("%.*s", (int)used, piece);
			used = 0;
		}
	}
	print_error("%.*s", (int)used, piece);
}

static void print_capture(const struct capture *capture, const char *name)
{
	size_t shown = capture->count < SHOWN_BYTES_MAX ? capture->count : SHOWN_BYTES_MAX;

	if (!capture->captured)
		return;
	proc_printf("  %s: %llu bytes%s%s\n", name, (unsigned long long)capture->total,
		    capture->total > capture->count ? " (more than are kept)" : "",
		    shown < capture->count ? ", the last of them:" : shown ? ":" : "");
	if (shown == 0)
		return;
	proc_print(capture->bytes + capture->count - shown, shown);
	if (capture->bytes[capture->count - 1] != '\n')
		proc_printf("\n");
}

static void print_proc(const struct proc *proc)
{
	char state = proc_state(proc);

	proc_printf("---- child %d, %.600s: ", (int)proc->pid, proc->name);
	if (!proc->exited)
		proc_printf("alive, state %c\n", state ? state : '?');
	else if (proc->code < 0)
		proc_printf("killed by signal %d (%s)\n", -proc->code, strsignal(-proc->code));
	else
		proc_printf("exited with %d\n", proc->code);
	print_capture(&proc->captures[PROC_OUT], "stdout");
	print_capture(&proc->captures[PROC_ERR], "stderr");
	if (proc->terminal.describe)
		proc->terminal.describe(proc->terminal.owner);
}

_Noreturn void proc_failed(const char *what, const char *file, int line)
{
	print_error("ERROR: ");
	proc_print(what, strlen(what));
	proc_printf(" failed\n");
	for (const struct proc *proc = procs; proc; proc = proc->next)
		print_proc(proc);
	proc_printf("----\n");
	_fail(file, line);
	abort();   /* not reached, _fail() leaves the test */
}

_Noreturn void proc_wait_failed(const struct proc_wait *wait, const char *what, const char *file, int line)
{
	proc_printf("waited %lld ms of %lld (TEST_SLOW is %lld)\n", (long long)(proc_now_ms() - wait->begin_ms),
		    (long long)(wait->deadline_ms - wait->begin_ms), (long long)proc_slowness());
	proc_failed(what, file, line);
}

/* ---- reading and feeding ---- */

static void capture_store(struct capture *capture, const char *bytes, size_t count)
{
	size_t kept = PROC_CAPTURE_BYTES_MAX - capture->count;

	capture->total += count;
	kept = count < kept ? count : kept;
	if (capture->count + kept + 1 > capture->room) {
		capture->room = 2 * (capture->count + kept) + 1;
		capture->bytes = realloc(capture->bytes, capture->room);
		assert(capture->bytes);
	}
	memcpy(capture->bytes + capture->count, bytes, kept);
	capture->count += kept;
	capture->bytes[capture->count] = '\0';
}

static void read_stream(struct proc *proc, enum proc_stream stream, size_t bytes_max, int64_t ms_max)
{
	static char bytes[READ_BYTES];
	struct capture *capture = &proc->captures[stream];
	int64_t until_ms = proc_now_ms() + ms_max;
	size_t taken = 0;

	while (capture->fd >= 0 && taken < bytes_max && proc_now_ms() <= until_ms) {
		ssize_t count = read(capture->fd, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return;
		if (count <= 0) {   /* the end; a terminal says EIO */
			close_fd(&capture->fd);
			if (stream == PROC_TTY)
				proc->keys.fd = -1;
			return;
		}
		taken += (size_t)count;
		capture_store(capture, bytes, (size_t)count);
		if (stream == PROC_TTY && proc->terminal.output)
			proc->terminal.output(proc->terminal.owner, bytes, (size_t)count);
	}
}

/* write() that fails with EPIPE without the signal, which a test program in the
 * middle of its own SIGPIPE tests could not take. */
static ssize_t write_quietly(int fd, const char *bytes, size_t count)
{
	struct timespec now = { 0, 0 };
	sigset_t pipe_set, old_set, pending_set;
	ssize_t written;
	int err;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending_set);
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old_set);
	written = write(fd, bytes, count);
	err = errno;
	if (written < 0 && err == EPIPE && !sigismember(&pending_set, SIGPIPE))
		sigtimedwait(&pipe_set, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &old_set, NULL);
	errno = err;
	return written;
}

static void queue_flush(struct queue *queue)
{
	while (queue->fd >= 0 && queue->count > 0) {
		ssize_t count = write_quietly(queue->fd, queue->bytes, queue->count);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return;
		if (count < 0) {   /* the child does not read it any more */
			queue->count = 0;
			return;
		}
		queue->count -= (size_t)count;
		memmove(queue->bytes, queue->bytes + count, queue->count);
	}
	if (queue->closing)
		close_fd(&queue->fd);
}

static void queue_add(struct queue *queue, const char *bytes, size_t count)
{
	if (queue->fd < 0 || count == 0)
		return;
	queue->bytes = realloc(queue->bytes, queue->count + count);
	assert(queue->bytes);
	memcpy(queue->bytes + queue->count, bytes, count);
	queue->count += count;
	queue_flush(queue);
}

static int code_of_status(int status)
{
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static bool has_ended(struct proc *proc, int *status)
{
	if (proc->holder_pid == 0)
		return waitpid(proc->pid, status, WNOHANG) == proc->pid;
	return read(proc->status_fd, status, sizeof(*status)) == (ssize_t)sizeof(*status);
}

/* Returns true once, when the child has ended. */
static bool notice_exit(struct proc *proc)
{
	int status;

	if (proc->exited || !has_ended(proc, &status))
		return false;
	proc->exited = true;
	proc->code = code_of_status(status);
	/* The kernel does not use the PID again while the group has members. */
	proc->group_left = kill(-proc->pid, 0) == 0;
	return true;
}

static void pump_proc(struct proc *proc)
{
	/* The exit is checked before reading, so that everything written before the exit is read. */
	bool last = notice_exit(proc);

	for (int stream = 0; stream < PROC_STREAM_COUNT; stream++)
		read_stream(proc, (enum proc_stream)stream, last ? DRAIN_BYTES_MAX : PUMP_BYTES_MAX,
			    last ? DRAIN_MS_MAX : PUMP_MS_MAX);
	queue_flush(&proc->in);
	queue_flush(&proc->keys);
}

static nfds_t add_poll(struct pollfd *polls, nfds_t used, nfds_t max, int fd, short events)
{
	if (fd < 0 || used == max)
		return used;
	polls[used] = (struct pollfd){ .fd = fd, .events = events };
	return used + 1;
}

void proc_pump(int timeout_ms)
{
	/* Children beyond this room are still read, once in each pump. */
	struct pollfd polls[256];
	const nfds_t max = sizeof(polls) / sizeof(polls[0]);
	nfds_t used = 0;

	for (struct proc *proc = procs; proc; proc = proc->next) {
		for (int stream = 0; stream < PROC_STREAM_COUNT; stream++)
			used = add_poll(polls, used, max, proc->captures[stream].fd, POLLIN);
		if (proc->in.count > 0)
			used = add_poll(polls, used, max, proc->in.fd, POLLOUT);
		if (proc->keys.count > 0)
			used = add_poll(polls, used, max, proc->keys.fd, POLLOUT);
		if (!proc->exited)
			used = add_poll(polls, used, max, proc->status_fd, POLLIN);
	}
	poll(polls, used, timeout_ms);
	for (struct proc *proc = procs; proc; proc = proc->next)
		pump_proc(proc);
}

void proc_watch_for(int64_t duration_ms)
{
	int64_t until_ms = proc_now_ms() + duration_ms;

	while (proc_now_ms() < until_ms)
		proc_pump(PROC_LOOK_MS);
}

/* ---- waiting ---- */

struct proc_wait proc_wait_begin(int64_t deadline_ms)
{
	struct proc_wait wait = { .begin_ms = proc_now_ms() };

	wait.deadline_ms = wait.begin_ms + deadline_ms * proc_slowness();
	return wait;
}

bool proc_wait_more(struct proc_wait *wait)
{
	if (wait->late)
		return false;
	proc_pump(PROC_LOOK_MS);
	wait->late = proc_now_ms() >= wait->deadline_ms;
	return true;
}

/* Returns whether nothing more can come on this stream. */
static bool is_silent(const struct proc *proc, enum proc_stream stream)
{
	return proc->exited && (stream == PROC_TTY || proc->captures[stream].fd < 0);
}

static void wait_output(struct proc *proc, enum proc_stream stream, const char *text, int64_t deadline_ms,
			bool (*has)(const struct proc *, enum proc_stream, const char *), const char *what,
			const char *file, int line)
{
	struct proc_wait wait = proc_wait_begin(deadline_ms);
	char reason[400];

	proc_pump(0);
	while (!has(proc, stream, text)) {
		if (!is_silent(proc, stream) && proc_wait_more(&wait))
			continue;
		snprintf(reason, sizeof(reason), "%s(\"%.300s\") of child %d%s", what, text, (int)proc->pid,
			 is_silent(proc, stream) ? ", which ended before," : "");
		proc_wait_failed(&wait, reason, file, line);
	}
}

void proc_wait_text_at(struct proc *proc, enum proc_stream stream, const char *text, int64_t deadline_ms,
		       const char *file, int line)
{
	wait_output(proc, stream, text, deadline_ms, proc_has_text, "proc_wait_text", file, line);
}

void proc_wait_line_at(struct proc *proc, enum proc_stream stream, const char *text, int64_t deadline_ms,
		       const char *file, int line)
{
	wait_output(proc, stream, text, deadline_ms, proc_has_line, "proc_wait_line", file, line);
}

int proc_wait_exit_at(struct proc *proc, int64_t deadline_ms, const char *file, int line)
{
	struct proc_wait wait = proc_wait_begin(deadline_ms);
	char reason[64];

	while (!proc->exited) {
		if (proc_wait_more(&wait))
			continue;
		snprintf(reason, sizeof(reason), "proc_wait_exit() of child %d", (int)proc->pid);
		proc_wait_failed(&wait, reason, file, line);
	}
	return proc->code;
}

/* ---- the child's side of fork: system calls only ---- */

static void reset_signals(void)
{
	sigset_t none;

	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		signal(signal_number, SIG_DFL);   /* this fails for KILL, STOP and libc's own, which does not matter */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void die_with(pid_t parent_pid)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent_pid)   /* it died before the line above */
		_exit(127);
}

static void place_std_fds(const int fds[3])
{
	int high_fds[3];

	/* The fds are first moved above 2, then to 0, 1 and 2. */
	for (int i = 0; i < 3; i++) {
		int fd = fds[i] < 0 ? open("/dev/null", O_RDWR) : fds[i];
		high_fds[i] = fcntl(fd, F_DUPFD, 3);
	}
	for (int i = 0; i < 3; i++) {
		if (high_fds[i] >= 0)
			dup2(high_fds[i], i);
		else
			close(i);
	}
}

static _Noreturn void run_program(const struct launch *launch, pid_t parent_pid)
{
	const struct proc_spec *spec = launch->spec;
	int exec_fd = fcntl(launch->exec_fd, F_DUPFD_CLOEXEC, 3);
	int err;

	die_with(parent_pid);
	setpgid(0, 0);
	/* All signals are blocked here, so SIGTTOU does not stop us. */
	if (spec->terminal)
		tcsetpgrp(spec->terminal->slave_fd, getpid());
	place_std_fds(launch->std_fds);
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	reset_signals();
	if (!spec->dir || chdir(spec->dir) == 0)
		execvpe(spec->argv[0], (char *const *)(uintptr_t)spec->argv, launch->env);
	err = errno;
	(void)!write(exec_fd, &err, sizeof(err));
	_exit(127);
}

/* The parent of a program on a terminal, in the place a shell has in real life.
 * Were the program itself the leader of the terminal's session, its exit would
 * hang the line up: the kernel would throw away its last output and reset the
 * modes it forgot to restore; and with its parent outside the session ^Z would
 * not stop it. Says the program's pid and later its status through status_fd,
 * and keeps the terminal until the test closes the lifeline. */
static _Noreturn void hold_terminal(const struct launch *launch)
{
	int slave_fd = launch->spec->terminal->slave_fd;
	pid_t holder_pid, pid;
	int status;
	char byte;

	die_with(launch->test_pid);
	holder_pid = getpid();
	setsid();
	ioctl(slave_fd, TIOCSCTTY, 0);
	pid = fork();
	if (pid == 0)
		run_program(launch, holder_pid);
	if (pid < 0) {
		status = errno;
		(void)!write(launch->exec_fd, &status, sizeof(status));
		_exit(127);
	}
	setpgid(pid, pid);
	/* This process must not hold pipes of other children open. */
	place_std_fds((const int[3]){ slave_fd, launch->lifeline_fd, launch->status_fd });
	close_range(3, ~0u, 0);
	(void)!write(2, &pid, sizeof(pid));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)!write(2, &status, sizeof(status));
	while (read(1, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* ---- the test's side ---- */

static size_t list_count(const char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

static size_t env_find(char **env, size_t count, const char *entry)
{
	size_t name_bytes = strcspn(entry, "=");
	size_t i = 0;

	while (i < count && (strncmp(env[i], entry, name_bytes) != 0 || env[i][name_bytes] != '='))
		i++;
	return i;
}

/* The test's environment with the changes of the spec; only the array is new. */
static char **env_new(const char *const *changes)
{
	size_t count = list_count((const char *const *)(uintptr_t)environ);
	char **env = calloc(count + list_count(changes) + 1, sizeof(*env));

	assert(env);
	if (count > 0)
		memcpy(env, environ, count * sizeof(*env));
	for (size_t i = 0; changes && changes[i]; i++) {
		size_t index = env_find(env, count, changes[i]);

		if (strchr(changes[i], '=')) {
			env[index] = (char *)(uintptr_t)changes[i];
			count += index == count;
		} else if (index < count) {
			env[index] = env[--count];
		}
	}
	env[count] = NULL;
	return env;
}

static char *name_new(const char *const *argv)
{
	char *name = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&name, &bytes);

	assert(file);
	for (size_t i = 0; argv[i]; i++)
		fprintf(file, "%s%s", i ? " " : "", argv[i]);
	fclose(file);
	return name;
}

static struct proc *proc_new(const struct proc_spec *spec)
{
	struct proc *proc = calloc(1, sizeof(*proc));

	assert(proc);
	proc->name = name_new(spec->argv);
	for (int stream = 0; stream < PROC_STREAM_COUNT; stream++)
		proc->captures[stream].fd = -1;
	proc->in.fd = proc->keys.fd = proc->status_fd = proc->lifeline_fd = -1;
	if (spec->terminal) {
		proc->terminal = *spec->terminal;
		proc->captures[PROC_TTY].fd = proc->keys.fd = spec->terminal->master_fd;
		proc->captures[PROC_TTY].captured = true;
	}
	return proc;
}

static void proc_free(struct proc *proc)
{
	for (int stream = 0; stream < PROC_STREAM_COUNT; stream++) {
		close_fd(&proc->captures[stream].fd);
		free(proc->captures[stream].bytes);
	}
	close_fd(&proc->in.fd);
	close_fd(&proc->status_fd);
	close_fd(&proc->lifeline_fd);
	free(proc->in.bytes);
	free(proc->keys.bytes);
	free(proc->name);
	free(proc);
}

/* A pipe whose ends no other program gets. The test's end does not block; the two
 * ends are separate open files, so the child's does. */
static int pipe_make(int *test_fd, int *child_fd, bool test_reads)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*test_fd = fds[test_reads ? 0 : 1];
	*child_fd = fds[test_reads ? 1 : 0];
	fcntl(*test_fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static int std_fd_make(struct proc *proc, const struct proc_spec *spec, int index, int *child_fd)
{
	const enum proc_use uses[3] = { spec->in, spec->out, spec->err };

	*child_fd = -1;
	if (uses[index] == PROC_NULL)
		return 0;
	if (uses[index] == PROC_INHERIT) {
		*child_fd = spec->terminal ? spec->terminal->slave_fd : index;
		return 0;
	}
	if (index == 0)
		return pipe_make(&proc->in.fd, child_fd, false);
	proc->captures[index - 1].captured = true;
	return pipe_make(&proc->captures[index - 1].fd, child_fd, true);
}

static bool is_pipe_of(const struct proc_spec *spec, int index)
{
	const enum proc_use uses[3] = { spec->in, spec->out, spec->err };

	return uses[index] == PROC_PIPE;
}

/* Blocks until exec: returns 0, or the negative errno the child reports. */
static int await_exec(int fd)
{
	int err = 0;
	ssize_t count;

	fcntl(fd, F_SETFL, 0);
	do
		count = read(fd, &err, sizeof(err));
	while (count < 0 && errno == EINTR);
	return count > 0 ? -err : 0;
}

static void await_pid(struct proc *proc)
{
	fcntl(proc->status_fd, F_SETFL, 0);
	while (read(proc->status_fd, &proc->pid, sizeof(proc->pid)) < 0 && errno == EINTR)
		;
	fcntl(proc->status_fd, F_SETFL, O_NONBLOCK);
}

static int fork_child(struct proc *proc, const struct launch *launch)
{
	sigset_t all, old;
	pid_t pid;
	int err;

	/* No handler of the test may run on the child's side. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	err = errno;
	if (pid == 0 && launch->spec->terminal)
		hold_terminal(launch);
	if (pid == 0)
		run_program(launch, launch->test_pid);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return -err;
	if (launch->spec->terminal)
		proc->holder_pid = pid;
	else
		proc->pid = pid;
	return 0;
}

static void list_add(struct proc *proc)
{
	struct proc **link = &procs;

	while (*link)
		link = &(*link)->next;
	*link = proc;
}

static int make_pipes(struct proc *proc, struct launch *launch, int *exec_fd)
{
	int err = 0;

	for (int i = 0; i < 3 && !err; i++)
		err = std_fd_make(proc, launch->spec, i, &launch->std_fds[i]);
	if (!err)
		err = pipe_make(exec_fd, &launch->exec_fd, true);
	if (!err && launch->spec->terminal)
		err = pipe_make(&proc->status_fd, &launch->status_fd, true);
	if (!err && launch->spec->terminal)
		err = pipe_make(&proc->lifeline_fd, &launch->lifeline_fd, false);
	return err;
}

static void close_child_ends(struct launch *launch)
{
	for (int i = 0; i < 3; i++)
		if (is_pipe_of(launch->spec, i))
			close_fd(&launch->std_fds[i]);
	close_fd(&launch->exec_fd);
	close_fd(&launch->status_fd);
	close_fd(&launch->lifeline_fd);
}

static int launch_child(struct proc *proc, struct launch *launch)
{
	int exec_fd = -1;
	int err = make_pipes(proc, launch, &exec_fd);

	if (!err) {
		launch->env = env_new(launch->spec->env);
		err = fork_child(proc, launch);
		free(launch->env);
	}
	close_child_ends(launch);
	if (err)
		goto close_exec;
	err = await_exec(exec_fd);
	if (err) {
		close_fd(&proc->lifeline_fd);   /* lets the holder go */
		waitpid(proc->holder_pid ? proc->holder_pid : proc->pid, NULL, 0);
	} else if (launch->spec->terminal) {
		await_pid(proc);
	}
close_exec:
	close_fd(&exec_fd);
	return err;
}

int proc_try_start(struct proc **out, const struct proc_spec *spec)
{
	struct proc *proc = proc_new(spec);
	struct launch launch = { .spec = spec, .std_fds = { -1, -1, -1 }, .exec_fd = -1,
				 .status_fd = -1, .lifeline_fd = -1, .test_pid = getpid() };
	int err = launch_child(proc, &launch);

	if (err) {
		proc_free(proc);
		return err;
	}
	list_add(proc);
	*out = proc;
	return 0;
}

struct proc *proc_start_at(const struct proc_spec *spec, const char *file, int line)
{
	struct proc *proc = NULL;
	char reason[400];
	int err = proc_try_start(&proc, spec);

	if (err) {
		snprintf(reason, sizeof(reason), "proc_start(\"%.300s\"), %s,", spec->argv[0], strerror(-err));
		proc_failed(reason, file, line);
	}
	return proc;
}

void proc_write(struct proc *proc, const char *bytes, size_t count)
{
	queue_add(&proc->in, bytes, count);
}

void proc_close_stdin(struct proc *proc)
{
	proc->in.closing = true;
	queue_flush(&proc->in);
}

void proc_type(struct proc *proc, const char *bytes, size_t count)
{
	queue_add(&proc->keys, bytes, count);
}

/* ---- asking ---- */

pid_t proc_pid(const struct proc *proc)
{
	return proc->pid;
}

bool proc_exited(const struct proc *proc)
{
	return proc->exited;
}

int proc_exit_code(const struct proc *proc)
{
	assert(proc->exited);
	return proc->code;
}

const char *proc_bytes(const struct proc *proc, enum proc_stream stream, size_t *count)
{
	const struct capture *capture = &proc->captures[stream];

	if (count)
		*count = capture->count;
	return capture->bytes ? capture->bytes : "";
}

uint64_t proc_byte_count(const struct proc *proc, enum proc_stream stream)
{
	return proc->captures[stream].total;
}

bool proc_has_text(const struct proc *proc, enum proc_stream stream, const char *text)
{
	const struct capture *capture = &proc->captures[stream];

	return capture->bytes && memmem(capture->bytes + capture->mark, capture->count - capture->mark,
					text, strlen(text));
}

bool proc_has_line(const struct proc *proc, enum proc_stream stream, const char *line)
{
	const struct capture *capture = &proc->captures[stream];
	size_t line_bytes = strlen(line);
	size_t at = capture->mark;

	while (at < capture->count) {
		const char *begin = capture->bytes + at;
		const char *end = memchr(begin, '\n', capture->count - at);

		if (!end)
			return false;
		if ((size_t)(end - begin) == line_bytes && memcmp(begin, line, line_bytes) == 0)
			return true;
		at += (size_t)(end - begin) + 1;
	}
	return false;
}

bool proc_has_bytes(const struct proc *proc, enum proc_stream stream, const void *bytes, size_t count)
{
	const struct capture *capture = &proc->captures[stream];

	return capture->bytes && memmem(capture->bytes, capture->count, bytes, count);
}

void proc_mark(struct proc *proc, enum proc_stream stream)
{
	proc_pump(0);
	proc->captures[stream].mark = proc->captures[stream].count;
}

static int read_proc_file(const struct proc *proc, const char *name, char *text, size_t text_bytes)
{
	char path[64];
	ssize_t count;
	int fd;

	if (proc->exited)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)proc->pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	count = read(fd, text, text_bytes - 1);
	close(fd);
	if (count <= 0)
		return -ESRCH;
	text[count] = '\0';
	return 0;
}

static unsigned long long status_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

int proc_usage_read(const struct proc *proc, struct proc_usage *out)
{
	unsigned long long user_ticks, system_ticks;
	char status[8192], stat[2048];
	const char *after_name;
	char state;

	if (read_proc_file(proc, "status", status, sizeof(status)) < 0 ||
	    read_proc_file(proc, "stat", stat, sizeof(stat)) < 0)
		return -ESRCH;
	after_name = strrchr(stat, ')');   /* the name may hold blanks and brackets */
	if (!after_name || sscanf(after_name, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
				  &state, &user_ticks, &system_ticks) != 3)
		return -ESRCH;
	out->state = state;
	out->cpu_ns = (user_ticks + system_ticks) * (1000000000u / (unsigned long)sysconf(_SC_CLK_TCK));
	out->rss_bytes = status_number(status, "\nVmRSS:") * 1024;
	out->thread_count = (uint32_t)status_number(status, "\nThreads:");
	return 0;
}

static struct proc_usage usage_of(const struct proc *proc)
{
	struct proc_usage usage = { 0 };

	if (proc_usage_read(proc, &usage) < 0)
		proc_failed("reading /proc of a child that has gone", __FILE__, __LINE__);
	return usage;
}

uint64_t proc_rss_bytes(const struct proc *proc)
{
	return usage_of(proc).rss_bytes;
}

uint64_t proc_cpu_ns(const struct proc *proc)
{
	return usage_of(proc).cpu_ns;
}

uint32_t proc_thread_count(const struct proc *proc)
{
	return usage_of(proc).thread_count;
}

uint32_t proc_fd_count(const struct proc *proc)
{
	char path[64];
	uint32_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)proc->pid);
	dir = proc->exited ? NULL : opendir(path);
	if (!dir)
		proc_failed("reading /proc of a child that has gone", __FILE__, __LINE__);
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

char proc_state(const struct proc *proc)
{
	struct proc_usage usage;

	return proc_usage_read(proc, &usage) < 0 ? '\0' : usage.state;
}

int proc_signal(struct proc *proc, int signal_number)
{
	pump_proc(proc);
	if (proc->exited || kill(proc->pid, signal_number) < 0)
		return -ESRCH;
	return 0;
}

/* ---- the end ---- */

static void kill_and_reap(struct proc *proc)
{
	int64_t until_ms = proc_now_ms() + KILL_DEADLINE_MS * proc_slowness();

	pump_proc(proc);
	if (!proc->exited || proc->group_left)
		kill(-proc->pid, SIGKILL);
	if (!proc->exited)
		kill(proc->pid, SIGKILL);   /* if it has left its group */
	while (!proc->exited && proc_now_ms() < until_ms)
		proc_pump(PROC_LOOK_MS);
	if (proc->holder_pid == 0)
		return;
	close_fd(&proc->lifeline_fd);
	if (!proc->exited)
		kill(proc->holder_pid, SIGKILL);
	waitpid(proc->holder_pid, NULL, 0);
}

void proc_end(struct proc *proc)
{
	struct proc **link = &procs;

	if (!proc)
		return;
	kill_and_reap(proc);
	while (*link && *link != proc)
		link = &(*link)->next;
	assert(*link);
	*link = proc->next;
	if (proc->terminal.release)
		proc->terminal.release(proc->terminal.owner);
	proc_free(proc);
}

void proc_end_all(void)
{
	while (procs)
		proc_end(procs);
}

int proc_teardown(void **state)
{
	(void)state;
	proc_end_all();
	return 0;
}
