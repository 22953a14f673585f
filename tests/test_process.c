/* libtelem in whole processes: forks, signals, ends, full disks, readers that die. The test
 * program is its own child: `test_process SCENARIO ARGUMENT`. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "emitter/telem.h"
#include "tests/support/fixture.h"
#include "tests/support/reader.h"

TELEM_CLASS(loud, "at all", TELEM_ALL);

/* Under TSan an addition by a signal handler may be lost. TSan also starts threads of its own, and cannot follow
 * threads of forked children. */
#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN true
#else
#define UNDER_ASAN false
#endif
#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

#define MS 1000000ull
#define S 1000000000ull

/* ================ the children ================================================ */

#define CHECK(condition)                                                                         \
	do {                                                                                     \
		if (!(condition)) {                                                              \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, telem_error()); \
			_exit(99);                                                               \
		}                                                                                \
	} while (0)

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
}

static uint64_t rss_kib(void)
{
	char line[256];
	uint64_t kib = 0;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "VmRSS:", 6))
			kib = strtoull(line + 6, NULL, 10);
	if (file)
		fclose(file);
	return kib;
}

static void wait_for_a_byte(void)
{
	char byte;

	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
}

static void emit(int count)
{
	for (int i = 0; i < count; i++)
		TELEM_COUNT(loud, "said", 1);
}

static struct telem_statistics statistics(void)
{
	struct telem_statistics stats;

	telem_stats(&stats);
	CHECK(stats.emitted == stats.delivered + stats.dropped + stats.queued);
	return stats;
}

static void *emit_once(void *arg)
{
	TELEM_COUNT(loud, "once", 1);
	return arg;
}

static void *emit_for_ever(void *arg)
{
	for (;;) {
		TELEM_COUNT(loud, "steady", 1);
		TELEM_SPAN(loud, "steady span")
			(void)arg;
	}
	return NULL;
}

static void *flush_for_ever(void *arg)
{
	for (;;) {
		telem_flush(10 * S);
		/* This waits for nothing; it leaves the processors to the other threads and the forked children. */
		poll(NULL, 0, 1);
	}
	return arg;
}

static void in_background(void *(*run)(void *))
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
	pthread_detach(thread);
}

/* Emits, then forks a child that emits and one that does not. Each of them waits for a byte from the test. */
static int child_fork(const char *arg)
{
	pid_t child;

	(void)arg;
	CHECK(telem_start(NULL) == 0);
	emit(100);
	say("parent %d", (int)getpid());
	wait_for_a_byte();               /* a viewer is there */
	child = fork();
	if (child == 0) {
		say("silent %d", (int)getpid());
		wait_for_a_byte();
		emit(7);
		say("speaks %d", (int)getpid());
		wait_for_a_byte();
		telem_stop();
		_exit(0);
	}
	emit(50);
	telem_flush(5 * S);
	say("parent done");
	_exit(0);                        /* no goodbye: only the connection is closed */
}

/* Does everything that takes the emitter's lock or that of malloc(): makes and ends tasks and threads, and
 * allocates. */
static void *work_for_ever(void *arg)
{
	for (size_t turn = 0;; turn++) {
		int task = telem_task_new("short");
		pthread_t thread;

		CHECK(task > 0 && telem_task_enter(task) == 0);
		TELEM_COUNT(loud, "steady", 1);
		telem_free(char, telem_malloc(char, 1 + turn % 5000));
		telem_task_leave();
		telem_task_end(task);
		if (turn % 64 == 0) {
			CHECK(pthread_create(&thread, NULL, emit_once, NULL) == 0);
			pthread_join(thread, NULL);
		}
		sched_yield();
	}
	return arg;
}

static int child_fork_many(const char *arg)
{
	enum { AT_ONCE = 8 };
	int forks = atoi(arg);
	pid_t children[AT_ONCE];

	CHECK(telem_start(NULL) == 0);
	in_background(work_for_ever);
	in_background(flush_for_ever);
	for (int i = 0; i < forks + AT_ONCE; i++) {
		pid_t *child = &children[i % AT_ONCE];
		int status;

		if (i >= AT_ONCE) {
			CHECK(waitpid(*child, &status, 0) == *child);
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
		}
		if (i >= forks)
			continue;
		*child = fork();
		CHECK(*child >= 0);
		if (*child == 0) {
			alarm(20);
			if (i % 4)
				emit(3);
			exit(5);
		}
	}
	return 0;
}

/* A child that was made without pthread_atfork() must not wait for a thread that it does not have. */
static int child_raw_fork(const char *arg)
{
	int status;
	pid_t child;

	(void)arg;
	CHECK(telem_start(NULL) == 0);
	child = _Fork();
	if (child == 0) {
		alarm(10);
		exit(5);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	return 0;
}

/* Takes and releases the library's lock all the time. */
static void do_slow_things(void)
{
	int task = telem_task_new("of a moment");

	telem_level_set("loud", TELEM_ALL);
	telem_task_enter(task);
	TELEM_COUNT(loud, "of a moment", 1);
	telem_task_leave();
	telem_task_end(task);
}

static bool keep_going;
static void *do_slow_things_until_told(void *arg)
{
	while (__atomic_load_n(&keep_going, __ATOMIC_RELAXED))
		do_slow_things();
	return arg;
}

/* The children are made while other threads hold the lock. */
static int child_raw_forks_that_emit(const char *arg)
{
	pthread_t threads[2];

	CHECK(telem_start(NULL) == 0);
	__atomic_store_n(&keep_going, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, do_slow_things_until_told, NULL) == 0);
	for (int i = 0; i < atoi(arg); i++) {
		pid_t child = i % 2 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		int status;

		CHECK(child >= 0);
		if (child == 0) {
			alarm(10);
			do_slow_things();
			TELEM_LOG(TELEM_INFO, "child %d", i);
			TELEM_SPAN(loud, "of a child")
				telem_frame("of a child");
			_exit(5);
		}
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	}
	__atomic_store_n(&keep_going, false, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static volatile int handler_forks;
static void fork_in_handler(int number)
{
	int status;
	pid_t child = fork();

	(void)number;
	if (child == 0) {
		alarm(10);
		TELEM_COUNT(loud, "in a handler of a child", 1);
		_exit(5);
	}
	if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5)
		handler_forks++;
}

/* The handler interrupts this thread wherever it is, also while it holds the lock. */
static int child_forks_in_handler(const char *arg)
{
	struct sigaction action = { .sa_handler = fork_in_handler, .sa_flags = SA_RESTART };
	int wanted = atoi(arg);

	CHECK(telem_start(NULL) == 0);
	CHECK(sigaction(SIGALRM, &action, NULL) == 0);
	for (int turn = 0; turn < wanted; turn++) {
		const struct itimerval once = { .it_value = { 0, 50 + turn % 50 } };
		int before = handler_forks;

		CHECK(setitimer(ITIMER_REAL, &once, NULL) == 0);
		while (handler_forks == before)
			do_slow_things();
	}
	CHECK(handler_forks == wanted);
	return 0;
}

/* Telemetry starts once there is enough memory. Every start before that says why it failed, and leaves all calls usable. */
static int child_start_without_memory(const char *arg)
{
	const uint64_t pages_kib = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	unsigned long pages;
	int result = -1;
	FILE *file = fopen("/proc/self/statm", "re");

	(void)arg;
	CHECK(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	for (uint64_t kib = pages * pages_kib; result < 0; kib += 100) {
		struct rlimit limit = { kib * 1024, RLIM_INFINITY };

		CHECK(kib < 1 << 20);
		CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
		result = telem_start(NULL);
		CHECK(result == 0 || strstr(telem_error(), "telem_start: no memory") ||
		      strstr(telem_error(), "no thread for telemetry"));
		TELEM_COUNT(loud, "without memory", 1);
		statistics();
		CHECK(telem_flush(5 * S) == (result < 0 ? -ENOTCONN : 0));
	}
	CHECK(telem_start(NULL) == -EALREADY);
	CHECK(strstr(telem_error(), "already"));
	telem_stop();
	return 0;
}

/* With 10 MiB of address space left, most of libtelem's tables are smaller, and events have a ring all the same. */
static int child_start_in_little_room(const char *arg)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	void *left;

	(void)arg;
	CHECK(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	limit.rlim_cur = pages * page_bytes + (10 << 20);
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
	CHECK(telem_start(NULL) == 0);
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "in little room", 1);
	CHECK(statistics().emitted == 1000);
	CHECK(statistics().dropped == 0);
	/* The program has room, too. */
	left = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(left != MAP_FAILED);
	telem_stop();
	return 0;
}

/* From here on every write to another descriptor than the standard streams fails with EPERM, in all threads, as a filter
 * of system calls has it. */
static bool forbid_writes(void)
{
	static const unsigned numbers[] = { SYS_write, SYS_writev, SYS_pwrite64, SYS_sendto, SYS_sendmsg };
	enum { COUNT = sizeof numbers / sizeof *numbers, LENGTH = COUNT + 6 };
	struct sock_filter code[LENGTH] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	const struct sock_fprog program = { LENGTH, code };
	int at = 1;

	for (int i = 0; i < COUNT; i++)
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], (uint8_t)(COUNT - i), 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 1);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	CHECK(at == LENGTH);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

/* A recording and a viewer can take no more, for good. */
static int child_writes_forbidden(const char *dir)
{
	char path[PATH_MAX], sink[PATH_MAX];
	int64_t begin;
	double cpu_s;

	CHECK(setenv("XDG_RUNTIME_DIR", dir, 1) == 0);
	CHECK(telem_start(NULL) == 0);
	snprintf(path, sizeof path, "%s/w.telem", dir);
	CHECK(telem_sink_file(path) >= 0);
	snprintf(sink, sizeof sink, "%s/w.sock", dir);
	CHECK(telem_sink_unix(sink) >= 0);
	for (int i = 0; i < 100; i++)
		TELEM_COUNT(loud, "before the filter", 1);
	CHECK(telem_flush(5 * S) == 0);
	CHECK(forbid_writes());
	begin = proc_now_ms();
	cpu_s = (double)clock() / CLOCKS_PER_SEC;
	for (int i = 0; i < 100; i++) {
		TELEM_COUNT(loud, "behind the filter", 1);
		telem_flush(10 * MS);
	}
	while (!telem_error()[0] && proc_now_ms() - begin < 5000)
		telem_flush(10 * MS);
	CHECK(strstr(telem_error(), "w.telem"));
	CHECK((double)clock() / CLOCKS_PER_SEC - cpu_s < 1);
	begin = proc_now_ms();
	telem_stop();
	CHECK(proc_now_ms() - begin < 3000);
	return 0;
}

/* A daemon forks twice. All its classes are off, and it is found all the same once it passes a place. */
static int child_daemon_that_is_off(const char *dir)
{
	struct telem_class_statistics classes[LIMIT_CLASSES];
	char path[PATH_MAX];
	uint32_t rows;
	pid_t first;

	CHECK(setenv("XDG_RUNTIME_DIR", dir, 1) == 0);
	CHECK(telem_start(NULL) == 0);
	telem_enable_all(false);
	TELEM_COUNT(loud, "of the daemon", 1);
	TELEM_SPAN(loud, "span of the daemon")
		;
	first = fork();
	CHECK(first >= 0);
	if (first > 0) {
		int status;

		CHECK(waitpid(first, &status, 0) == first);
		return WEXITSTATUS(status);
	}
	CHECK(setsid() > 0);
	first = fork();
	CHECK(first >= 0);
	if (first > 0) {
		int status;

		CHECK(waitpid(first, &status, 0) == first);
		_exit(WEXITSTATUS(status));
	}
	snprintf(path, sizeof path, "%s/telem/%d.sock", dir, (int)getpid());
	CHECK(access(path, F_OK) < 0);
	TELEM_SPAN(loud, "span of the daemon")
		;
	CHECK(access(path, F_OK) == 0);
	CHECK(telem_level_get("loud") == TELEM_OFF);
	TELEM_COUNT(loud, "of the daemon", 1);
	rows = telem_class_stats(classes, sizeof classes / sizeof *classes);
	for (uint32_t i = 0; i < rows; i++)
		CHECK(strcmp(classes[i].name, "loud") || classes[i].events == 0);
	_exit(0);
}

/* What a program, or its malloc(), may do before and after fork(). */
static uint64_t hooks_run;
static int fork_turn;
static void *hook_memory;
static void on_fork(void)
{
	hooks_run++;
	TELEM_COUNT(loud, "in hook", 1);
	telem_free(char, hook_memory);
	hook_memory = telem_malloc(char, 100);
}
static void on_fork_late(void)
{
	if (fork_turn % 2)
		on_fork();
}

static void *fork_once(void *arg)
{
	int status;
	pid_t child = fork();            /* the hooks record the first events of this thread */

	CHECK(child >= 0);
	if (child == 0) {
		alarm(20);
		emit(3);
		exit(5);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	return arg;
}

static bool keep_counting;
static void *count_until_told(void *arg)
{
	while (__atomic_load_n(&keep_counting, __ATOMIC_RELAXED)) {
		TELEM_COUNT(loud, "beside", 1);
		++*(uint64_t *)arg;
	}
	return NULL;
}

static int child_fork_hooks(const char *arg)
{
	uint64_t beside = 0;
	pthread_t counting, thread;

	/* Hooks that were registered before those of the library run while it holds its lock. */
	CHECK(pthread_atfork(on_fork, on_fork, on_fork) == 0);
	CHECK(telem_start(NULL) == 0);
	CHECK(pthread_atfork(on_fork_late, on_fork_late, on_fork_late) == 0);
	__atomic_store_n(&keep_counting, true, __ATOMIC_RELAXED);
	CHECK(pthread_create(&counting, NULL, count_until_told, &beside) == 0);
	for (fork_turn = 0; fork_turn < atoi(arg); fork_turn++) {
		CHECK(pthread_create(&thread, NULL, fork_once, NULL) == 0);
		pthread_join(thread, NULL);
	}
	__atomic_store_n(&keep_counting, false, __ATOMIC_RELAXED);
	pthread_join(counting, NULL);
	CHECK(hooks_run >= 2 * (uint64_t)atoi(arg));
	CHECK(statistics().emitted == beside + hooks_run);
	telem_stop();
	CHECK(statistics().queued == 0);
	return 0;
}

/* Parent and children emit at the same time. The open sinks are the parent's. */
static int child_fork_sinks(const char *dir)
{
	enum { CHILDREN = 20 };
	pid_t children[CHILDREN];
	char path[200];

	CHECK(telem_start(&(struct telem_options){ .config = "flush=1ms", .linger_ns = 10 * S }) == 0);
	snprintf(path, sizeof path, "%s/run", dir);
	CHECK(telem_sink_file(path) >= 0);
	snprintf(path, sizeof path, "%s/fifo", dir);
	CHECK(telem_sink_fifo(path) >= 0);
	for (int i = 0; i < CHILDREN; i++) {
		emit(100);               /* in this thread's ring, of which the child has a copy */
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (children[i] == 0) {
			alarm(20);
			for (int turn = 0; i % 3 && turn < 10; turn++) {
				TELEM_COUNT(loud, "of a child", 1);
				telem_flush(S);
			}
			if (i % 2)
				exit(5);
			_exit(5);
		}
		emit(100);
	}
	for (int i = 0; i < CHILDREN; i++) {
		int status;

		CHECK(waitpid(children[i], &status, 0) == children[i]);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	}
	telem_stop();
	CHECK(statistics().queued == 0);
	return 0;
}

static int child_show_fds(const char *arg)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	(void)arg;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(dir))
			return 1;
	closedir(dir);
	return 0;
}

static int child_exec(const char *arg)
{
	char path[200];
	int status;
	pid_t child;

	setenv("TELEM", "sink=tcp:127.0.0.1:0", 1);
	CHECK(telem_start(NULL) == 0);
	snprintf(path, sizeof path, "%s/run", arg);
	CHECK(telem_sink_file(path) >= 0);
	snprintf(path, sizeof path, "%s/fifo", arg);
	CHECK(telem_sink_fifo(path) >= 0);
	CHECK(telem_sink_fd(dup(1)) >= 0);
	emit(10);
	for (int i = 0; i < 3; i++) {
		child = i == 0 ? vfork() : fork();
		if (child == 0) {
			if (i == 2)
				emit(3);
			execl("/proc/self/exe", "test_process", "show_fds", "", NULL);
			_exit(98);
		}
		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	return 0;
}

static int child_exit_while_emitting(const char *arg)
{
	(void)arg;
	CHECK(telem_start(NULL) == 0);
	in_background(emit_for_ever);
	in_background(emit_for_ever);
	say("emitting");
	wait_for_a_byte();
	errno = 77;
	emit(1000);
	CHECK(errno == 77);
	say("exiting");
	exit(7);
}

static bool same_actions(const struct sigaction *before, const struct sigaction *after)
{
	for (int i = 1; i < 65; i++) {
		if (before[i].sa_handler != after[i].sa_handler || before[i].sa_flags != after[i].sa_flags)
			return false;
		for (int blocked = 1; blocked < 65; blocked++)
			if (sigismember(&before[i].sa_mask, blocked) != sigismember(&after[i].sa_mask, blocked))
				return false;
	}
	return true;
}

static int child_dispositions(const char *arg)
{
	struct sigaction before[65], after[65];
	sigset_t mask_before, mask_after;

	(void)arg;
	memset(before, 0, sizeof before);
	memset(after, 0, sizeof after);
	signal(SIGPIPE, SIG_DFL);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	for (int i = 1; i < 65; i++)
		sigaction(i, NULL, &before[i]);
	CHECK(telem_start(NULL) == 0);
	emit(1000);
	for (int i = 1; i < 65; i++)
		sigaction(i, NULL, &after[i]);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	CHECK(same_actions(before, after));
	CHECK(memcmp(&mask_before, &mask_after, sizeof mask_before) == 0);
	telem_stop();
	for (int i = 1; i < 65; i++)
		sigaction(i, NULL, &after[i]);
	CHECK(same_actions(before, after));
	return 0;
}

/* Emits to the sinks of TELEM until its stdin closes. */
static int child_burst(const char *arg)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	struct sigaction before[65], after[65];
	sigset_t pending;

	(void)arg;
	memset(before, 0, sizeof before);
	memset(after, 0, sizeof after);
	for (int i = 1; i < 65; i++)
		sigaction(i, NULL, &before[i]);
	CHECK(telem_start(NULL) == 0);
	say("started");
	while (poll(&in, 1, 0) == 0)
		emit(2000);
	/* The readers have died meanwhile. */
	for (int i = 1; i < 65; i++)
		sigaction(i, NULL, &after[i]);
	CHECK(same_actions(before, after));
	CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGPIPE));
	telem_stop();
	CHECK(statistics().queued == 0);
	return 0;
}

static void emit_at_exit(void) { TELEM_COUNT(loud, "at exit", 1); }
static pthread_key_t early_key, late_key;
static int rounds;
static void emit_in_destructor(void *arg)
{
	TELEM_COUNT(loud, "in destructor", 1);
	TELEM_SPAN(loud, "in destructor")
		TELEM_ALLOC(struct telem_site, 1);
	if (UNDER_TSAN) {                /* its malloc() does not work any more in this thread */
		TELEM_ALLOC(char, 100);
		TELEM_FREE(char, 100);
	} else {
		telem_free(char, telem_malloc(char, 100));
	}
	if (__atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED) < 6)
		pthread_setspecific(late_key, arg);
}

static void *with_destructors(void *arg)
{
	pthread_setspecific(early_key, arg);
	pthread_setspecific(late_key, arg);
	TELEM_COUNT(loud, "in thread", 1);
	return NULL;
}

static int child_late_events(const char *arg)
{
	pthread_t thread;

	CHECK(pthread_key_create(&early_key, emit_in_destructor) == 0);
	CHECK(telem_start(&(struct telem_options){ .config = arg }) == 0);
	emit(1);
	CHECK(pthread_key_create(&late_key, emit_in_destructor) == 0);
	CHECK(pthread_create(&thread, NULL, with_destructors, &rounds) == 0);
	pthread_join(thread, NULL);
	atexit(emit_at_exit);
	say("%d rounds", __atomic_load_n(&rounds, __ATOMIC_RELAXED));
	exit(0);
}

static volatile sig_atomic_t handled;
static void on_signal(int number)
{
	(void)number;
	for (int i = 0; i < 5; i++)
		TELEM_COUNT(loud, "in handler", 1);
	TELEM_VALUE(loud, "in handler", 5, TELEM_NONE);
	TELEM_EVENT(loud, "in handler", TELEM_F("handled", handled));
	TELEM_LOG(TELEM_INFO, "in handler");
	handled++;
}

/* The signal handler interrupts recording in the same thread, also a first event and an event in a full ring. */
static int child_signals(const char *arg)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct telem_statistics stats;
	uint64_t emitted = 0, until;

	CHECK(telem_start(&(struct telem_options){ .config = arg }) == 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	until = now_ns() + 700 * MS;
	while (now_ns() < until) {
		emit(100);
		TELEM_LOG(TELEM_INFO, "interrupted %d", 1);
		TELEM_EVENT(loud, "interrupted", TELEM_F("until", until));
		TELEM_VALUE(loud, "interrupted", 7, TELEM_NONE);
		emitted += 102;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	stats = statistics();
	CHECK(handled > 100);
	if (stats.emitted != emitted + (uint64_t)handled * 7)
		say("emitted %" PRIu64 ", said %" PRIu64 " + 7 * %d", stats.emitted, emitted, (int)handled);
	CHECK(stats.emitted == emitted + (uint64_t)handled * 7);
	telem_stop();
	stats = statistics();
	CHECK(stats.queued == 0);
	return 0;
}

static int child_threads(const char *arg)
{
	int threads = atoi(arg) / 10 * 10;
	struct telem_statistics stats;
	uint64_t before_kib = 0;

	CHECK(telem_start(&(struct telem_options){ .config = "ring=64K" }) == 0);
	if (strchr(arg, '/'))
		CHECK(telem_sink_fd(open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0);
	for (int i = 0; i < threads; i += 10) {
		pthread_t some[10];

		for (int one = 0; one < 10; one++)
			CHECK(pthread_create(&some[one], NULL, emit_once, NULL) == 0);
		for (int one = 0; one < 10; one++)
			pthread_join(some[one], NULL);
		if (i == threads / 2)
			before_kib = rss_kib();
	}
	/* A sanitizer does not return freed memory. */
	CHECK(rss_kib() < before_kib + (proc_slowness() > 1 ? 512 << 10 : 16 << 10));
	telem_stop();
	stats = statistics();
	CHECK(stats.emitted == (uint64_t)threads);
	CHECK(stats.queued == 0);
	/* The bound allows for every ring that there may be, because it depends on the machine how many wait for the
	 * flusher. */
	CHECK(stats.memory_bytes < 256 << 20);
	return 0;
}

static int child_unheard(const char *arg)
{
	int millions = atoi(arg);
	struct telem_statistics stats;
	uint64_t before_kib;

	CHECK(telem_start(NULL) == 0);
	emit(1000000);
	before_kib = rss_kib();
	for (int i = 1; i < millions; i++)
		emit(1000000);
	CHECK(rss_kib() < before_kib + 1024);
	stats = statistics();
	CHECK(stats.emitted == (uint64_t)millions * 1000000);
	CHECK(stats.dropped > (uint64_t)(millions - 1) * 1000000);
	telem_stop();
	CHECK(statistics().queued == 0);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Returns how long the slowest of a thousand events takes. Preemption is rarer than that. */
static uint64_t tail_ns(void)
{
	enum { EVENTS = 20000 };
	static uint64_t took_ns[EVENTS];

	for (int i = 0; i < EVENTS; i++) {
		uint64_t begin = now_ns();

		emit(1);
		took_ns[i] = now_ns() - begin;
	}
	qsort(took_ns, EVENTS, sizeof *took_ns, by_size);
	return took_ns[EVENTS - EVENTS / 1000];
}

/* Measures again and again how long 20,000 events take at best, how long the slow ones take, and memory, with any
 * readers. */
static int child_timing(const char *arg)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	(void)arg;
	CHECK(telem_start(&(struct telem_options){ .linger_ns = 10 * S }) == 0);
	say("started");
	while (poll(&in, 1, 0) == 0) {
		uint64_t best = UINT64_MAX;

		for (int i = 0; i < 20; i++) {
			uint64_t begin = now_ns();

			emit(20000);
			begin = now_ns() - begin;
			best = begin < best ? begin : best;
		}
		say("%" PRIu64 " %" PRIu64 " %" PRIu64, best, tail_ns(), rss_kib());
	}
	telem_stop();
	CHECK(statistics().queued == 0);
	return 0;
}

/* The threads are cancelled in these loops, and never inside the library. */
static uint64_t loops;
static void *flush_until_cancelled(void *arg)
{
	for (;;) {
		telem_flush(10 * S);
		__atomic_add_fetch(&loops, 1, __ATOMIC_RELAXED);
		pthread_testcancel();
	}
	return arg;
}

static void *level_until_cancelled(void *arg)
{
	for (;;) {
		telem_class_level(&telem_class_loud, TELEM_ALL);
		__atomic_add_fetch(&loops, 1, __ATOMIC_RELAXED);
		pthread_testcancel();
	}
	return arg;
}

static void *emit_until_cancelled(void *arg)
{
	for (;;) {
		emit(100);
		__atomic_add_fetch(&loops, 1, __ATOMIC_RELAXED);
		pthread_testcancel();
	}
	return arg;
}

/* The thread has been cancelled before it begins to wait for room. */
static void *emit_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	emit(30000);
	pthread_testcancel();
	return arg;
}

static void start_and_cancel(void *(*body)(void *))
{
	uint64_t from = __atomic_load_n(&loops, __ATOMIC_RELAXED);
	pthread_t thread;
	void *result;

	CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
	while (body != emit_cancelled && __atomic_load_n(&loops, __ATOMIC_RELAXED) < from + 3)
		sched_yield();
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

/* Threads are cancelled while they are in the library. Then another thread records its first event, and the program
 * exits. */
static int child_cancel(const char *arg)
{
	pthread_t thread;

	CHECK(telem_start(NULL) == 0);
	for (int i = 0; i < 50; i++)
		start_and_cancel(*arg == 'f' ? flush_until_cancelled : level_until_cancelled);
	CHECK(pthread_create(&thread, NULL, emit_once, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(statistics().emitted == 1);
	exit(5);
}

/* Does the same while the thread waits for room in a full ring, because the reader does not read. */
static int child_cancel_blocked(const char *arg)
{
	int ends[2];

	CHECK(telem_start(&(struct telem_options){ .config = arg }) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	CHECK(telem_sink_fd(ends[1]) >= 0);
	CHECK(telem_flush(10 * S) == 0);         /* the reader has been greeted */
	for (int i = 0; i < 10; i++) {
		start_and_cancel(emit_cancelled);
		start_and_cancel(emit_until_cancelled);
	}
	telem_stop();
	CHECK(statistics().queued == 0);
	exit(5);
}

/* Exits when the test says so, with any reader. */
static int child_exit_when_told(const char *arg)
{
	CHECK(telem_start(&(struct telem_options){ .linger_ns = strtoull(arg, NULL, 10) }) == 0);
	say("started");
	wait_for_a_byte();
	emit(300000);
	telem_flush(200 * MS);
	emit(100);
	say("exiting");
	exit(0);
}

static int child_disk_full(const char *path)
{
	struct rlimit limit = { 256 << 10, RLIM_INFINITY };
	struct telem_statistics stats;

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(telem_start(NULL) == 0);
	CHECK(telem_sink_file(path) >= 0);
	for (int i = 0; i < 100; i++) {
		emit(2000);
		telem_flush(S);
	}
	stats = statistics();
	CHECK(stats.dropped > 0 && stats.delivered > 0);
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	for (uint64_t before = stats.delivered, until = now_ns() + 10 * S; stats.delivered < before + 5000;) {
		CHECK(now_ns() < until);
		emit(100);
		telem_flush(S);
		stats = statistics();
	}
	telem_stop();
	CHECK(statistics().queued == 0);
	return 0;
}

static int child_small_disk(const char *path)
{
	struct telem_statistics stats;

	CHECK(telem_start(NULL) == 0);
	CHECK(telem_sink_file(path) >= 0);
	for (int i = 0; i < 100; i++) {
		emit(2000);
		telem_flush(S);
	}
	telem_stop();
	stats = statistics();
	CHECK(stats.dropped > 0 && stats.delivered > 0 && stats.queued == 0);
	return 0;
}

/* First no file descriptor is free, then one is. */
static int child_no_descriptors(const char *arg)
{
	int fds[64], count = 0;
	struct rlimit limit = { 24, 24 };

	(void)arg;
	CHECK(telem_start(NULL) == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fds[count] = dup(0)) >= 0)
		count++;
	say("full");
	wait_for_a_byte();
	while (count > 0)
		close(fds[--count]);
	say("free");
	wait_for_a_byte();
	emit(1);
	return 0;
}

/* Closes all descriptors, as daemons do, while a viewer and a recording are open, and uses their numbers for files and
 * sockets of its own. */
static int child_reuses_descriptors(const char *arg)
{
	enum { FILES = 16, PAIRS = 8 };
	int files[FILES], pairs[PAIRS][2], file_sink;
	char byte;

	(void)arg;
	CHECK(telem_start(NULL) == 0);
	file_sink = telem_sink_file("reused.telem");
	CHECK(file_sink >= 0);
	emit(100);
	say("started");
	wait_for_a_byte();
	closefrom(3);
	for (int i = 0; i < FILES; i++)
		CHECK((files[i] = memfd_create("ours", 0)) >= 0);
	for (int i = 0; i < PAIRS; i++)
		CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pairs[i]) == 0);
	/* Whether a later viewer gets these depends on when the flusher has noticed that the earlier one is gone. */
	for (int i = 0; i < 1000; i++)
		TELEM_COUNT(loud, "meanwhile", 1);
	telem_level_set("at all", TELEM_SUM);
	telem_level_set("at all", TELEM_ALL);
	say("closed");
	wait_for_a_byte();
	emit(1);
	telem_stop();
	CHECK(strstr(telem_error(), "the program has closed file descriptor"));
	for (int i = 0; i < FILES; i++)
		CHECK(lseek(files[i], 0, SEEK_END) == 0);
	for (int i = 0; i < 2 * PAIRS; i++)
		CHECK(recv(pairs[i / 2][i % 2], &byte, 1, 0) < 0 && errno == EAGAIN);
	for (int i = 0; i < 2 * PAIRS; i++)
		CHECK(send(pairs[i / 2][i % 2], "x", 1, MSG_NOSIGNAL) == 1);
	return 0;
}

/* Closes all descriptors and ends; a child that it forks must not close what has their numbers now. */
static int child_closes_all(const char *arg)
{
	pid_t pid;
	int ours[2], status;

	CHECK(telem_start(NULL) == 0);
	emit(1);
	closefrom(3);
	if (strcmp(arg, "fork"))
		return 0;
	CHECK((ours[0] = open("/dev/null", O_RDONLY)) >= 0 && (ours[1] = open("/dev/null", O_RDONLY)) >= 0);
	pid = fork();
	if (pid == 0)
		_exit(fcntl(ours[0], F_GETFD) < 0 || fcntl(ours[1], F_GETFD) < 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	return 0;
}

/* While the standard streams are closed, a descriptor of ours must not take their numbers. */
static int child_closes_standard_streams(const char *arg)
{
	int saved[2] = { fcntl(0, F_DUPFD, 100), fcntl(1, F_DUPFD, 100) };
	char byte;

	(void)arg;
	CHECK(saved[0] >= 100 && saved[1] >= 100);
	CHECK(telem_start(NULL) == 0);
	emit(1);
	close(0);
	close(1);
	for (int fd = 3; fd < 100; fd++)
		close(fd);
	dprintf(saved[1], "closed\n");
	CHECK(read(saved[0], &byte, 1) == 1);    /* the test gives the flusher time to do it wrong */
	CHECK(fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0);
	CHECK(dup2(saved[0], 0) == 0 && dup2(saved[1], 1) == 1);
	say("open");
	wait_for_a_byte();
	return 0;
}

static int child_start_only(const char *arg)
{
	int result = telem_start(&(struct telem_options){ .config = *arg ? arg : NULL });

	say("start %d", result);
	say("error %s", telem_error());
	wait_for_a_byte();
	emit(10);
	return 0;
}

/* Calls exec(), and so becomes another program with the same PID. Then it ends as if killed, so that its socket
 * stays. */
static int child_again(const char *arg)
{
	(void)arg;
	CHECK(telem_start(NULL) == 0);
	emit(3);
	telem_flush(5 * S);
	say("first");
	wait_for_a_byte();
	execl("/proc/self/exe", "test_process", "start_only", "", NULL);
	_exit(98);
}

static int child_idle(const char *arg)
{
	(void)arg;
	CHECK(telem_start(NULL) == 0);
	emit(1000);
	say("idle");
	wait_for_a_byte();
	return 0;
}

static const struct scenario { const char *name; int (*run)(const char *argument); } scenarios[] = {
	{ "fork", child_fork }, { "fork_many", child_fork_many }, { "raw_fork", child_raw_fork },
	{ "start_without_memory", child_start_without_memory },
	{ "start_in_little_room", child_start_in_little_room },
	{ "daemon_that_is_off", child_daemon_that_is_off },
	{ "writes_forbidden", child_writes_forbidden },
	{ "raw_forks_that_emit", child_raw_forks_that_emit }, { "forks_in_handler", child_forks_in_handler },
	{ "show_fds", child_show_fds }, { "exec", child_exec }, { "exit_while_emitting", child_exit_while_emitting },
	{ "dispositions", child_dispositions }, { "burst", child_burst }, { "late_events", child_late_events },
	{ "signals", child_signals }, { "threads", child_threads }, { "unheard", child_unheard },
	{ "timing", child_timing }, { "exit_when_told", child_exit_when_told }, { "disk_full", child_disk_full },
	{ "small_disk", child_small_disk }, { "no_descriptors", child_no_descriptors },
	{ "reuses_descriptors", child_reuses_descriptors }, { "closes_all", child_closes_all },
	{ "closes_standard_streams", child_closes_standard_streams },
	{ "start_only", child_start_only }, { "idle", child_idle }, { "cancel", child_cancel },
	{ "cancel_blocked", child_cancel_blocked }, { "fork_hooks", child_fork_hooks },
	{ "fork_sinks", child_fork_sinks }, { "again", child_again },
};

/* ================ the tests =================================================== */

static struct fixture *fixture;
static struct reader *reader;

static int setup(void **state)
{
	int err = fixture_setup(state);

	fixture = *state;
	reader = NULL;
	return err;
}

static int teardown(void **state)
{
	reader_free(reader);
	return fixture_teardown(state);
}

#define START(scenario, argument, ...)                                                           \
	proc_start(.argv = PROC_LIST("/proc/self/exe", scenario, argument), .in = PROC_PIPE, .out = PROC_PIPE, \
		   .env = PROC_LIST("LC_ALL=C", ##__VA_ARGS__))

static void run(const char *scenario, const char *argument, int64_t deadline_ms)
{
	struct proc *child = proc_start(.argv = PROC_LIST("/proc/self/exe", scenario, argument), .in = PROC_PIPE,
					 .out = PROC_PIPE);

	assert_int_equal(proc_wait_exit(child, deadline_ms), 0);
}

static const char *scaled(int count)
{
	static char text[32];

	snprintf(text, sizeof text, "%d", count / (int)proc_slowness());
	return text;
}

static const char *socket_of(pid_t pid)
{
	return fixture_path(fixture, "telem/%d.sock", (int)pid);
}

static struct reader *view(pid_t pid)
{
	struct reader *who = reader_unix(socket_of(pid));

	READ_UNTIL(who, who->kind_count[KIND_SINK] > 0);
	return who;
}

static void tell(struct proc *child) { proc_write(child, "x", 1); }

static pid_t pid_said(struct proc *child, const char *word)
{
	const char *at;

	proc_wait_text(child, PROC_OUT, word, 10000);
	WAIT_UNTIL((at = strstr(proc_bytes(child, PROC_OUT, NULL), word)) && strchr(at, '\n'), 10000);
	return atoi(at + strlen(word));
}

static void a_forked_child_has_a_stream_of_its_own_once_it_speaks(void **state)
{
	struct proc *child;
	struct reader *parent;
	pid_t parent_pid, forked;

	(void)state;
	if (UNDER_TSAN)
		skip();
	child = START("fork", "");
	parent_pid = pid_said(child, "parent ");
	reader = parent = view(parent_pid);
	tell(child);
	forked = pid_said(child, "silent ");
	assert_int_equal(access(socket_of(forked), F_OK), -1);
	/* The parent ends. Its child must not hold the connection open. */
	reader_to_end(parent);
	assert_int_equal(reader_site(parent, "loud.said")->event_count, 150);
	tell(child);
	pid_said(child, "speaks ");
	reader = view(forked);
	assert_int_equal(reader->pid, forked);
	assert_true(reader->stream != parent->stream);
	tell(child);
	reader_to_end(reader);
	assert_int_equal(reader_site(reader, "loud.said")->count, 7);
	assert_int_equal(reader_site(reader, "loud.said")->event_count, 7);
	assert_int_equal(reader->bye.emitted, 7);
	reader_check_books(reader);
	reader_free(parent);
}

static void no_forked_child_hangs_whatever_other_threads_do(void **state)
{
	(void)state;
	/* ASan's own allocator may be locked at fork(), and the child cannot unlock it. */
	if (UNDER_TSAN || UNDER_ASAN)
		skip();
	run("fork_many", scaled(10000), 180000);
}

static void a_child_forked_behind_our_back_can_exit(void **state)
{
	struct proc *child;

	(void)state;
	/* In such a child a leak checker looks for threads that do not exist. */
	child = proc_start(.argv = PROC_LIST("/proc/self/exe", "raw_fork", ""), .out = PROC_PIPE,
			   .env = PROC_LIST("ASAN_OPTIONS=detect_leaks=0"));
	assert_int_equal(proc_wait_exit(child, 20000), 0);
}

static void a_start_without_memory_says_why_and_does_no_harm(void **state)
{
	(void)state;
	if (UNDER_TSAN || UNDER_ASAN)
		skip();                  /* they reserve terabytes */
	run("start_without_memory", "", 20000);
}

static void where_memory_is_limited_tables_are_smaller(void **state)
{
	(void)state;
	if (UNDER_TSAN || UNDER_ASAN)
		skip();                  /* they reserve terabytes */
	run("start_in_little_room", "", 20000);
}

static void a_daemon_whose_classes_are_off_is_found(void **state)
{
	(void)state;
	if (UNDER_TSAN)
		skip();                  /* it starts no threads in a child of a program with threads */
	run("daemon_that_is_off", fixture->dir, 20000);
}

static void writes_that_fail_for_ever_are_said_and_hold_nothing_up(void **state)
{
	(void)state;
	if (UNDER_TSAN || UNDER_ASAN)
		skip();                  /* they write reports */
	run("writes_forbidden", fixture->dir, 20000);
}

/* In the children of these tests a sanitizer waits for locks that threads of the parent held. */
static void children_forked_behind_our_back_may_emit(void **state)
{
	(void)state;
	if (UNDER_TSAN || UNDER_ASAN)
		skip();
	run("raw_forks_that_emit", scaled(200), 60000);
}

static void a_signal_handler_may_fork_wherever_it_interrupts(void **state)
{
	(void)state;
	if (UNDER_TSAN || UNDER_ASAN)
		skip();
	run("forks_in_handler", scaled(200), 60000);
}

static void hooks_of_a_fork_may_emit_and_free(void **state)
{
	(void)state;
	if (UNDER_TSAN || UNDER_ASAN)
		skip();
	run("fork_hooks", scaled(200), 60000);
}

static void read_recording(const char *path);

static void forked_children_write_nothing_into_what_is_their_parents(void **state)
{
	const char *path = fixture_path(fixture, "fifo");
	struct proc *child;
	struct reader *fifo;

	(void)state;
	/* In such children a sanitizer waits for locks that threads of the parent held. */
	if (UNDER_TSAN || UNDER_ASAN)
		skip();
	assert_int_equal(mkfifo(path, 0600), 0);
	fifo = reader = reader_new(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	child = START("fork_sinks", fixture->dir);
	/* The reader fails the test unless each block is whole and in order. */
	READ_UNTIL(fifo, (fifo->at_end = false, proc_pump(0), fifo->has_bye));
	assert_int_equal(proc_wait_exit(child, 20000), 0);
	read_recording(fixture_path(fixture, "run"));
	for (struct reader *who = fifo; who; who = who == fifo ? reader : NULL) {
		assert_int_equal(who->pid, proc_pid(child));
		assert_int_equal(who->gap_count, 0);
		assert_int_equal(who->event_count, 4000);
		assert_int_equal(reader_site(who, "loud.said")->count, 4000);
		assert_int_equal(reader_site(who, "loud.of a child")->count, 0);
		reader_check_books(who);
	}
	reader_free(fifo);
}

static void nothing_of_ours_is_open_after_exec(void **state)
{
	(void)state;
	if (UNDER_TSAN)
		skip();
	run("exec", fixture->dir, 20000);
}

static void exiting_while_threads_emit_keeps_the_status_and_errno(void **state)
{
	struct proc *child = START("exit_while_emitting", "");
	int64_t begin;

	(void)state;
	proc_wait_line(child, PROC_OUT, "emitting", 10000);
	reader = view(proc_pid(child));
	reader->is_lossy = true;
	tell(child);
	READ_UNTIL(reader, proc_has_line(child, PROC_OUT, "exiting") || (proc_pump(0), false));
	begin = proc_now_ms();
	reader_to_end(reader);
	assert_int_equal(proc_wait_exit(child, 5000), 7);
	assert_in_range(proc_now_ms() - begin, 0, 600 * proc_slowness());
	if (reader->has_bye)
		reader_check_books(reader);
}

static void run_to_5(const char *scenario, const char *argument)
{
	assert_int_equal(proc_wait_exit(START(scenario, argument), 20000), 5);
}

static void a_cancelled_thread_leaves_no_lock_held(void **state)
{
	(void)state;
	run_to_5("cancel", "flush");
	run_to_5("cancel", "level");
}

static void a_thread_cancelled_while_it_waits_for_room_does_not_hold_up_the_stop(void **state)
{
	(void)state;
	run_to_5("cancel_blocked", "ring=64K;policy=block:5s");
}

static void signal_dispositions_and_masks_are_left_alone(void **state)
{
	(void)state;
	run("dispositions", "", 20000);
}

/* ---- readers that die ---- */

static void kill_readers(struct proc *child, struct reader *(*come)(const char *), const char *where)
{
	for (int i = 0; i < 5; i++) {
		reader = come(where);
		reader->is_lossy = true;
		/* A FIFO reads as at its end while it has no writer. */
		READ_UNTIL(reader, (reader->at_end = false, reader->event_count > 5000));
		reader_free(reader);             /* while bytes are on their way, as after kill -9 */
		reader = NULL;
		assert_false(proc_exited(child));
	}
	proc_close_stdin(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
}

static bool has_open(const struct proc *child, const char *path)
{
	char name[64], target[256];
	bool has = false;

	for (int fd = 0; fd < 64 && !has; fd++) {
		ssize_t length;

		snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)proc_pid(child), fd);
		length = readlink(name, target, sizeof target - 1);
		target[length > 0 ? length : 0] = '\0';
		has = !strcmp(target, path);
	}
	return has;
}

static struct reader *come_to_tcp(const char *port) { return reader_tcp((uint16_t)atoi(port)); }
static struct proc *fifo_writer;
/* A program cannot know that a FIFO has another reader when that one comes before the program has noticed that the
 * first is gone; it then greets at the next sync, which may be 30 s away. */
static struct reader *come_to_fifo(const char *path)
{
	WAIT_UNTIL(!has_open(fifo_writer, path), 10000);
	return reader_new(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

static void a_program_outlives_readers_that_die_on_a_unix_socket(void **state)
{
	struct proc *child = START("burst", "");

	(void)state;
	proc_wait_line(child, PROC_OUT, "started", 10000);
	kill_readers(child, reader_unix, socket_of(proc_pid(child)));
}

static void a_program_outlives_readers_that_die_on_tcp(void **state)
{
	char setting[64], port[16];
	struct proc *child;

	(void)state;
	snprintf(port, sizeof port, "%u", fixture_free_port());
	snprintf(setting, sizeof setting, "TELEM=sink=tcp:127.0.0.1:%s", port);
	child = START("burst", "", setting);
	proc_wait_line(child, PROC_OUT, "started", 10000);
	kill_readers(child, come_to_tcp, port);
}

static void a_program_outlives_readers_that_die_on_a_fifo(void **state)
{
	const char *path = fixture_path(fixture, "fifo");
	char setting[128];
	struct proc *child;

	(void)state;
	snprintf(setting, sizeof setting, "TELEM=sink=fifo:%s", path);
	child = START("burst", "", setting);
	proc_wait_line(child, PROC_OUT, "started", 10000);
	fifo_writer = child;
	kill_readers(child, come_to_fifo, path);
}

static void a_fifo_replaced_by_a_file_is_not_written_to(void **state)
{
	const char *path = fixture_path(fixture, "fifo");
	char setting[128];
	struct proc *child;
	size_t count;

	(void)state;
	snprintf(setting, sizeof setting, "TELEM=sink=fifo:%s", path);
	child = START("burst", "", setting);
	proc_wait_line(child, PROC_OUT, "started", 10000);
	fifo_writer = child;
	reader = come_to_fifo(path);
	reader->is_lossy = true;
	READ_UNTIL(reader, (reader->at_end = false, reader->event_count > 1000));
	assert_true(has_open(child, path));
	assert_int_equal(unlink(path), 0);
	fixture_write(path, "mine", 4);
	reader_free(reader);
	reader = NULL;
	HOLDS_FOR(!proc_exited(child), 400);     /* it tries again every 100, 200 ms ... */
	proc_close_stdin(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
	free(fixture_read(path, &count));
	assert_int_equal(count, 4);
}

static void a_link_in_place_of_a_fifo_is_refused(void **state)
{
	struct proc *child;
	char setting[200];

	(void)state;
	assert_int_equal(mkfifo(fixture_path(fixture, "real"), 0600), 0);
	assert_int_equal(symlink("real", fixture_path(fixture, "link")), 0);
	snprintf(setting, sizeof setting, "sink=fifo:%s", fixture_path(fixture, "link"));
	child = START("start_only", setting);
	proc_wait_line(child, PROC_OUT, "start -22", 10000);
	tell(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
}

/* ---- events at odd moments ---- */

static void read_recording(const char *path)
{
	size_t count;
	uint8_t *bytes = (uint8_t *)fixture_read(path, &count);

	reader = reader_new(-1);
	reader->at_end = true;
	reader->is_lossy = true;
	reader_feed(reader, bytes, count);
	assert_int_equal(block_reader_rest(&reader->blocks), 0);
	assert_int_equal(reader->blocks.damaged_count, 0);
	free(bytes);
}

static void events_of_exit_handlers_and_thread_destructors_are_counted(void **state)
{
	const char *path = fixture_path(fixture, "run");
	char config[128];

	(void)state;
	snprintf(config, sizeof config, "sink=file:%s;mem=all", path);
	run("late_events", config, 20000);
	read_recording(path);
	assert_int_equal(reader_site(reader, "loud.at exit")->event_count, 1);
	/* After our own destructor an event has no ring to go to, and is counted as lost. */
	assert_in_range(reader_site(reader, "loud.in destructor")->count, 4, 8);
	assert_in_range(reader_site(reader, "mem.char")->count, 4, 8);
	assert_int_equal(reader_site(reader, "mem.char")->min, reader_site(reader, "mem.char")->count);
	assert_int_equal(reader_site(reader, "mem.char")->max, reader_site(reader, "mem.char")->sum);
	assert_int_equal(reader_site(reader, "loud.in thread")->event_count, 1);
	reader_check_books(reader);
}

static void an_event_that_has_no_ring_to_go_to_is_in_the_books_of_its_class(void **state)
{
	const char *path = fixture_path(fixture, "run");
	uint64_t emitted = 0, dropped = 0;
	char config[128];

	(void)state;
	snprintf(config, sizeof config, "sink=file:%s", path);
	run("late_events", config, 20000);
	read_recording(path);
	for (int i = 0; i < LIMIT_CLASSES; i++) {
		emitted += reader->tasks[TASK_ALL]->books[i].emitted;
		dropped += reader->tasks[TASK_ALL]->books[i].dropped;
	}
	assert_true(reader->bye.dropped > 0);
	assert_int_equal(emitted, reader->bye.emitted);
	assert_int_equal(dropped, reader->bye.dropped);
}

static void signal_handlers_that_interrupt_recording_add_up(void **state)
{
	(void)state;
	if (UNDER_TSAN)
		skip();
	run("signals", "ring=64K", 20000);
	run("signals", "ring=64K;policy=overwrite", 20000);
}

static void signal_handlers_add_up_while_somebody_reads(void **state)
{
	char config[128];

	(void)state;
	if (UNDER_TSAN)
		skip();
	snprintf(config, sizeof config, "ring=64K;sink=file:%s", fixture_path(fixture, "run"));
	run("signals", config, 20000);
	read_recording(fixture_path(fixture, "run"));
	reader_check_books(reader);
}

static void threads_of_one_event_are_all_counted_and_memory_is_flat(void **state)
{
	(void)state;
	run("threads", scaled(100000), 180000);
}

static void threads_of_one_event_are_all_counted_while_somebody_reads(void **state)
{
	char argument[40];

	(void)state;
	snprintf(argument, sizeof argument, "%s/heard", scaled(100000));
	run("threads", argument, 180000);
}

static void ten_million_events_nobody_hears_take_no_memory(void **state)
{
	(void)state;
	run("unheard", "10", 60000);
}

/* ---- slow readers, ends ---- */

struct timing { uint64_t best_ns, tail_ns, kib; };

static struct timing timing(struct proc *child)
{
	struct timing timing;
	const char *line;
	char *end;

	proc_mark(child, PROC_OUT);
	proc_wait_text(child, PROC_OUT, "\n", 10000);
	proc_mark(child, PROC_OUT);
	proc_wait_text(child, PROC_OUT, "\n", 10000);
	line = proc_bytes(child, PROC_OUT, NULL);
	line += strlen(line) - 1;
	while (line[-1] != '\n')
		line--;
	timing.best_ns = strtoull(line, &end, 10);
	timing.tail_ns = strtoull(end, &end, 10);
	timing.kib = strtoull(end, NULL, 10);
	return timing;
}

static void a_stopped_reader_does_not_slow_the_program_nor_make_it_grow(void **state)
{
	struct proc *child = START("timing", "");
	struct timing unheard, stalled;

	(void)state;
	proc_wait_line(child, PROC_OUT, "started", 10000);
	unheard = timing(child);
	reader = view(proc_pid(child));
	reader->is_lossy = true;
	for (int i = 0; i < 10; i++)
		stalled = timing(child);
	/* The bound is loose, because the machine has other work. A lock or a system call would take 10 times as
	 * long. */
	assert_true(stalled.best_ns < 5 * unheard.best_ns + 2 * MS);
	assert_true(stalled.tail_ns < 20 * unheard.tail_ns + MS / 20 * (uint64_t)proc_slowness());
	assert_true(stalled.kib < unheard.kib + (8 << 10) * (uint64_t)proc_slowness());
	/* The books count every event that the reader missed. */
	proc_close_stdin(child);
	READ_UNTIL(reader, (proc_pump(0), reader->at_end));
	assert_int_equal(proc_wait_exit(child, 20000), 0);
	reader_check_books(reader);
	assert_true(reader->bye.dropped > 0);
}

static void an_exit_without_a_reader_is_quick(void **state)
{
	struct proc *child = START("exit_when_told", "");
	int64_t begin;

	(void)state;
	proc_wait_line(child, PROC_OUT, "started", 10000);
	tell(child);
	proc_wait_line(child, PROC_OUT, "exiting", 10000);
	begin = proc_now_ms();
	assert_int_equal(proc_wait_exit(child, 5000), 0);
	assert_in_range(proc_now_ms() - begin, 0, 400 * proc_slowness());
}

/* The FIFO and the connecting sink have no reader, and a viewer has come and gone. */
static void an_exit_does_not_linger_for_sinks_without_a_reader(void **state)
{
	char setting[200];
	struct proc *child;

	(void)state;
	snprintf(setting, sizeof setting, "TELEM=sink=fifo:%s;sink=connect:127.0.0.1:%u", fixture_path(fixture, "fifo"),
		 fixture_free_port());
	child = START("exit_when_told", "60000000000", setting);
	proc_wait_line(child, PROC_OUT, "started", 10000);
	reader_free(view(proc_pid(child)));
	tell(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
}

static void an_exit_with_a_stalled_reader_takes_the_linger_time(void **state)
{
	struct proc *child = START("exit_when_told", "");
	int64_t begin;

	(void)state;
	proc_wait_line(child, PROC_OUT, "started", 10000);
	reader = view(proc_pid(child));
	reader->is_lossy = true;
	tell(child);
	proc_wait_line(child, PROC_OUT, "exiting", 10000);
	begin = proc_now_ms();
	assert_int_equal(proc_wait_exit(child, 5000), 0);
	assert_in_range(proc_now_ms() - begin, 0, 500 * proc_slowness());
}

/* ---- disks ---- */

static void a_full_disk_costs_events_never_the_file(void **state)
{
	const char *path = fixture_path(fixture, "run");

	(void)state;
	run("disk_full", path, 30000);
	read_recording(path);
	reader_check_books(reader);
	assert_true(reader->bye.dropped > 0);
}

static void a_small_file_system_that_fills_up_leaves_a_good_file(void **state)
{
	const char *path = fixture_path(fixture, "disk");

	(void)state;
	assert_int_equal(mkdir(path, 0700), 0);
	if (mount("telem-test", path, "tmpfs", 0, "size=256k") < 0)
		skip();                  /* shown as skipped: mounting needs rights */
	run("small_disk", fixture_path(fixture, "disk/run"), 30000);
	read_recording(fixture_path(fixture, "disk/run"));
	assert_true(reader->event_count > 1000);
	assert_int_equal(umount(path), 0);
}

/* ---- discovery ---- */

static void expect_start(const char *result, const char *error)
{
	struct proc *child = START("start_only", "");

	proc_wait_line(child, PROC_OUT, result, 10000);
	proc_wait_text(child, PROC_OUT, "error ", 10000);
	assert_true(proc_has_text(child, PROC_OUT, error));
	tell(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
}

static void a_link_in_place_of_the_socket_directory_is_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdir(fixture_path(fixture, "real"), 0700), 0);
	assert_int_equal(symlink("real", fixture_path(fixture, "telem")), 0);
	expect_start("start 0", "not a directory of ours");
	assert_int_equal(rmdir(fixture_path(fixture, "real")), 0);       /* the directory must be empty */
}

static void a_socket_directory_open_to_others_is_refused(void **state)
{
	(void)state;
	assert_int_equal(mkdir(fixture_path(fixture, "telem"), 0700), 0);
	assert_int_equal(chmod(fixture_path(fixture, "telem"), 0755), 0);
	expect_start("start 0", "not a directory of ours");
}

static void a_socket_path_that_is_too_long_is_no_failure(void **state)
{
	char setting[300];
	struct proc *child;

	(void)state;
	memset(setting, 0, sizeof setting);
	strcpy(setting, "XDG_RUNTIME_DIR=/");
	memset(setting + strlen(setting), 'x', 200);
	child = START("start_only", "", setting);
	proc_wait_line(child, PROC_OUT, "start 0", 10000);
	proc_wait_text(child, PROC_OUT, "too long", 10000);
	tell(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
}

/* A dead process with the same PID has left a socket. The child calls exec(), so that its PID is known before. */
static void a_stale_socket_is_replaced(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pid_t child;
	int status;

	(void)state;
	assert_int_equal(mkdir(fixture_path(fixture, "telem"), 0700), 0);
	child = fork();
	if (child == 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0), null = open("/dev/null", O_RDWR);

		snprintf(address.sun_path, sizeof address.sun_path, "%s/telem/%d.sock", fixture->dir, (int)getpid());
		if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0)
			_exit(97);
		close(fd);
		dup2(null, 0);
		dup2(null, 1);
		execl("/proc/self/exe", "test_process", "start_only", "", NULL);
		_exit(98);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	/* The child replaced the socket, and removed it at the end. */
	assert_int_equal(access(socket_of(child), F_OK), -1);
}

/* Leaves a socket as a process does that was killed. */
static const char *leave_socket(const char *name, int *listening)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = fixture_path(fixture, "telem/%s", name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	if (listening)
		assert_int_equal(listen(*listening = fd, 4), 0);
	else
		close(fd);
	return path;
}

static pid_t dead_process(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	return child;
}

static void sockets_of_the_dead_are_removed_by_the_next_program_and_no_others(void **state)
{
	const char *dead[2], *kept[6];
	char name[32];
	int fds[2];
	struct proc *child;

	(void)state;
	assert_int_equal(mkdir(fixture_path(fixture, "telem"), 0700), 0);
	snprintf(name, sizeof name, "%d.sock", (int)dead_process());
	dead[0] = leave_socket(name, NULL);
	snprintf(name, sizeof name, "%d-123456.sock", (int)dead_process());
	dead[1] = leave_socket(name, NULL);
	kept[0] = leave_socket("x.sock", NULL);
	kept[1] = leave_socket("12x.sock", NULL);
	snprintf(name, sizeof name, "%d.socket", (int)dead_process());
	kept[2] = leave_socket(name, NULL);
	/* One socket is of a process that exists, the other of one that we cannot see. */
	snprintf(name, sizeof name, "%d.sock", (int)getpid());
	kept[3] = leave_socket(name, &fds[0]);
	snprintf(name, sizeof name, "%d.sock", (int)dead_process());
	kept[4] = leave_socket(name, &fds[1]);
	kept[5] = fixture_path(fixture, "telem/%d.sock", (int)dead_process());
	fixture_write(kept[5], "mine", 4);
	child = START("start_only", "");
	proc_wait_line(child, PROC_OUT, "start 0", 10000);
	for (int i = 0; i < 2; i++)
		assert_int_equal(access(dead[i], F_OK), -1);
	for (int i = 0; i < 6; i++)
		assert_int_equal(access(kept[i], F_OK), 0);
	assert_int_equal(access(socket_of(proc_pid(child)), F_OK), 0);
	tell(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
	close(fds[0]);
	close(fds[1]);
}

/* The listener stands for a program of another PID namespace that has the same PID. */
static void a_socket_that_somebody_listens_on_is_left_to_him(void **state)
{
	char name[64], byte = 'x';
	int ends[2], listening, status;
	glob_t found = { .gl_pathc = 0 };
	const char *pattern, *path;
	pid_t child;

	(void)state;
	assert_int_equal(mkdir(fixture_path(fixture, "telem"), 0700), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		if (read(ends[0], &byte, 1) != 1 || dup2(ends[0], 0) < 0 || dup2(open("/dev/null", O_WRONLY), 1) < 0)
			_exit(97);
		execl("/proc/self/exe", "test_process", "start_only", "", NULL);
		_exit(98);
	}
	snprintf(name, sizeof name, "%d.sock", (int)child);
	path = leave_socket(name, &listening);
	pattern = fixture_path(fixture, "telem/%d-*.sock", (int)child);
	assert_int_equal(write(ends[1], &byte, 1), 1);
	WAIT_UNTIL(glob(pattern, 0, NULL, &found) == 0, 10000);
	reader = reader_unix(found.gl_pathv[0]);
	READ_UNTIL(reader, reader->kind_count[KIND_SINK] > 0);
	assert_int_equal(reader->pid, child);
	assert_int_equal(write(ends[1], &byte, 1), 1);
	reader_to_end(reader);
	assert_int_equal(reader->bye.emitted, 10);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(access(found.gl_pathv[0], F_OK), -1);
	globfree(&found);
	close(listening);
	close(ends[0]);
	close(ends[1]);
}

static void a_program_with_the_number_of_a_dead_one_is_another(void **state)
{
	struct proc *child = START("again", "");
	struct reader *first;

	(void)state;
	proc_wait_line(child, PROC_OUT, "first", 10000);
	first = view(proc_pid(child));
	tell(child);
	proc_wait_line(child, PROC_OUT, "start 0", 10000);
	reader = view(proc_pid(child));
	assert_int_equal(reader->pid, first->pid);
	assert_true(reader->stream != first->stream);
	reader_to_end(first);
	assert_false(first->has_bye);
	reader_free(first);
	tell(child);
	reader_to_end(reader);
	assert_int_equal(reader->bye.emitted, 10);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
}

static void a_file_in_place_of_the_socket_is_left_alone(void **state)
{
	pid_t child;
	int status;
	size_t count;
	const char *path;

	(void)state;
	assert_int_equal(mkdir(fixture_path(fixture, "telem"), 0700), 0);
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		fixture_write(fixture_path(fixture, "telem/%d.sock", (int)getpid()), "mine", 4);
		dup2(null, 0);
		dup2(null, 1);
		execl("/proc/self/exe", "test_process", "start_only", "", NULL);
		_exit(98);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	path = socket_of(child);
	free(fixture_read(path, &count));
	assert_int_equal(count, 4);
}

static void without_descriptors_it_does_not_spin_and_recovers(void **state)
{
	struct proc *child = START("no_descriptors", "");
	uint64_t cpu_ns;

	(void)state;
	proc_wait_line(child, PROC_OUT, "full", 10000);
	reader = reader_unix(socket_of(proc_pid(child)));
	cpu_ns = proc_cpu_ns(child);
	proc_watch_for(600);
	assert_true(proc_cpu_ns(child) - cpu_ns <= 60 * MS * (uint64_t)proc_slowness());
	assert_false(reader_pump(reader));
	tell(child);
	proc_wait_line(child, PROC_OUT, "free", 10000);
	READ_UNTIL(reader, reader->kind_count[KIND_SINK] > 0);
	tell(child);
	reader_to_end(reader);
	assert_int_equal(reader_site(reader, "loud.said")->event_count, 1);
}

static void descriptors_that_the_program_closed_are_opened_again_and_never_mistaken(void **state)
{
	struct proc *child;
	uint64_t cpu_ns;

	(void)state;
	child = proc_start(.argv = PROC_LIST("/proc/self/exe", "reuses_descriptors", ""), .in = PROC_PIPE,
			   .out = PROC_PIPE, .dir = fixture->dir);
	proc_wait_line(child, PROC_OUT, "started", 10000);
	reader = view(proc_pid(child));
	tell(child);
	proc_wait_line(child, PROC_OUT, "closed", 10000);
	reader_free(reader);
	reader = NULL;
	cpu_ns = proc_cpu_ns(child);
	proc_watch_for(600);
	assert_true(proc_cpu_ns(child) - cpu_ns <= 60 * MS * (uint64_t)proc_slowness());
	reader = view(proc_pid(child));
	tell(child);
	assert_int_equal(proc_wait_exit(child, 20000), 0);
	reader_to_end(reader);
	assert_int_equal(reader_site(reader, "loud.said")->event_count, 1);
	assert_int_equal(access(socket_of(proc_pid(child)), F_OK), -1);
}

static void a_program_that_closed_all_descriptors_ends_and_forks(void **state)
{
	(void)state;
	if (UNDER_TSAN)
		skip();                  /* to ThreadSanitizer, using a descriptor that another thread reopens is a race */
	run("closes_all", "", 10000);
	run("closes_all", "fork", 10000);
}

static void closed_standard_streams_are_left_to_the_program(void **state)
{
	struct proc *child;

	(void)state;
	if (UNDER_TSAN)
		skip();                  /* as above */
	child = START("closes_standard_streams", "");
	proc_wait_line(child, PROC_OUT, "closed", 10000);
	proc_watch_for(300);
	tell(child);
	proc_wait_line(child, PROC_OUT, "open", 10000);
	reader = view(proc_pid(child));
	tell(child);
	assert_int_equal(proc_wait_exit(child, 10000), 0);
}

static void an_idle_program_makes_no_system_call(void **state)
{
	const char *trace = fixture_path(fixture, "trace");
	struct proc *child;
	struct stat before, after;
	char self[256] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	if (UNDER_TSAN)
		skip();
	if (proc_try_start(&child, &(struct proc_spec){
			.argv = PROC_LIST("strace", "-f", "-o", trace, "true"), .err = PROC_PIPE }) < 0 ||
	    proc_wait_exit(child, 10000) != 0)
		skip();                  /* strace is not installed or not allowed here */
	child = proc_start(.argv = PROC_LIST("strace", "-f", "-o", trace, self, "idle", ""),
			   .env = PROC_LIST("ASAN_OPTIONS=detect_leaks=0"),  /* it cannot run while traced */
			   .in = PROC_PIPE, .out = PROC_PIPE, .err = PROC_PIPE);
	proc_wait_line(child, PROC_OUT, "idle", 20000);
	proc_watch_for(300);             /* until then it has finished what it began */
	assert_int_equal(stat(trace, &before), 0);
	proc_watch_for(1500);
	assert_int_equal(stat(trace, &after), 0);
	assert_true(before.st_size > 0);
	assert_int_equal(after.st_size, before.st_size);
	tell(child);
	assert_int_equal(proc_wait_exit(child, 20000), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_forked_child_has_a_stream_of_its_own_once_it_speaks),
		TEST(no_forked_child_hangs_whatever_other_threads_do),
		TEST(a_child_forked_behind_our_back_can_exit),
		TEST(a_start_without_memory_says_why_and_does_no_harm),
		TEST(where_memory_is_limited_tables_are_smaller),
		TEST(a_daemon_whose_classes_are_off_is_found),
		TEST(writes_that_fail_for_ever_are_said_and_hold_nothing_up),
		TEST(children_forked_behind_our_back_may_emit),
		TEST(a_signal_handler_may_fork_wherever_it_interrupts),
		TEST(hooks_of_a_fork_may_emit_and_free),
		TEST(forked_children_write_nothing_into_what_is_their_parents),
		TEST(nothing_of_ours_is_open_after_exec),
		TEST(exiting_while_threads_emit_keeps_the_status_and_errno),
		TEST(a_cancelled_thread_leaves_no_lock_held),
		TEST(a_thread_cancelled_while_it_waits_for_room_does_not_hold_up_the_stop),
		TEST(signal_dispositions_and_masks_are_left_alone),
		TEST(a_program_outlives_readers_that_die_on_a_unix_socket),
		TEST(a_program_outlives_readers_that_die_on_tcp),
		TEST(a_program_outlives_readers_that_die_on_a_fifo),
		TEST(a_fifo_replaced_by_a_file_is_not_written_to),
		TEST(a_link_in_place_of_a_fifo_is_refused),
		TEST(events_of_exit_handlers_and_thread_destructors_are_counted),
		TEST(an_event_that_has_no_ring_to_go_to_is_in_the_books_of_its_class),
		TEST(signal_handlers_that_interrupt_recording_add_up),
		TEST(signal_handlers_add_up_while_somebody_reads),
		TEST(threads_of_one_event_are_all_counted_and_memory_is_flat),
		TEST(threads_of_one_event_are_all_counted_while_somebody_reads),
		TEST(ten_million_events_nobody_hears_take_no_memory),
		TEST(a_stopped_reader_does_not_slow_the_program_nor_make_it_grow),
		TEST(an_exit_without_a_reader_is_quick),
		TEST(an_exit_does_not_linger_for_sinks_without_a_reader),
		TEST(an_exit_with_a_stalled_reader_takes_the_linger_time),
		TEST(a_full_disk_costs_events_never_the_file),
		TEST(a_small_file_system_that_fills_up_leaves_a_good_file),
		TEST(a_link_in_place_of_the_socket_directory_is_refused),
		TEST(a_socket_directory_open_to_others_is_refused),
		TEST(a_socket_path_that_is_too_long_is_no_failure),
		TEST(a_stale_socket_is_replaced),
		TEST(sockets_of_the_dead_are_removed_by_the_next_program_and_no_others),
		TEST(a_socket_that_somebody_listens_on_is_left_to_him),
		TEST(a_program_with_the_number_of_a_dead_one_is_another),
		TEST(a_file_in_place_of_the_socket_is_left_alone),
		TEST(without_descriptors_it_does_not_spin_and_recovers),
		TEST(descriptors_that_the_program_closed_are_opened_again_and_never_mistaken),
		TEST(a_program_that_closed_all_descriptors_ends_and_forks),
		TEST(closed_standard_streams_are_left_to_the_program),
		TEST(an_idle_program_makes_no_system_call),
	};

	for (size_t i = 0; argc > 2 && i < sizeof scenarios / sizeof *scenarios; i++)
		if (!strcmp(argv[1], scenarios[i].name))
			return scenarios[i].run(argv[2]);
	if (getenv("TEST_FILTER"))
		cmocka_set_test_filter(getenv("TEST_FILTER"));
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
