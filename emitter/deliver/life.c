/* life.c -- start, stop and sinks: the program's calls that begin and end telemetry. */
#include "emitter/core/api.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "emitter/core/clock.h"
#include "emitter/core/dump_request.h"
#include "emitter/core/error.h"
#include "emitter/core/fork.h"
#include "emitter/core/lock.h"
#include "emitter/core/memory.h"
#include "emitter/core/settings.h"
#include "emitter/core/wake.h"
#include "emitter/deliver/config.h"
#include "emitter/deliver/discovery.h"
#include "emitter/deliver/drain.h"
#include "emitter/deliver/dump.h"
#include "emitter/deliver/fence.h"
#include "emitter/deliver/flusher.h"
#include "emitter/deliver/frame_write.h"
#include "emitter/deliver/greet.h"
#include "emitter/deliver/lease.h"
#include "emitter/deliver/pool.h"
#include "emitter/deliver/report.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/sink_state.h"
#include "emitter/deliver/stream.h"
#include "emitter/deliver/writer.h"
#include "emitter/record/frame.h"
#include "emitter/record/latency.h"
#include "emitter/record/level.h"
#include "emitter/record/sample.h"
#include "emitter/record/shard.h"
#include "emitter/record/site.h"
#include "emitter/record/task.h"
#include "emitter/record/thread.h"

static bool is_over;                 /* the destructor has stopped telemetry */
static bool is_stopping;             /* telem_stop() is waiting for the flusher; read with the lock held */

/* ---- start ---- */

/* Begins the clock, the stream, discovery and the flusher. Returns 0 or a negative errno. Call with the lock held. */
static int begin(void)
{
	int err = shards_begin();

	if (err < 0) {
		error_set("telem_start: no memory (%s); what it reserves counts for RLIMIT_AS and RLIMIT_DATA",
			  strerror(-err));
		return err;
	}
	samples_begin();
	clock_begin();
	stream_begin();
	writer_begin();
	thread_on_end(drain_ended);
	if (!settings.options.no_discovery && discovery_open() == -EBUSY) {
		error_set("another copy of libtelem in this process has telemetry already; this one stays silent");
		return -EBUSY;
	}
	err = flusher_start();
	if (err < 0) {
		error_set("no thread for telemetry: %s", strerror(-err));
		for (uint32_t i = 0; i < LIMIT_SINKS; i++)
			if (sink_state(&sinks[i]) != SINK_FREE)
				sink_free(&sinks[i]);
	}
	return err;
}

static void set_running(bool is_running)
{
	__atomic_store_n(&settings.is_running, is_running, __ATOMIC_RELAXED);
}

static void not_stopping(void)
{
	is_stopping = false;
}

static void begin_in_child(void)
{
	if (settings.is_running && begin() < 0)
		set_running(false);
	levels_apply("program");
}

/* A child of fork() forgets what its parent was about to send. What must not stay open is closed at once, the rest is
 * forgotten before the child's first event. */
static const struct fork_hook fork_hooks[] = {
	{ .prepare = lock_take_for_fork, .parent = lock_release_after_fork, .child = lock_release_in_child },
	{ .child = not_stopping },
	{ .child = thread_forget, .restart = threads_forget },
	{ .child = sinks_forget, .restart = leases_forget },
	{ .child = levels_await_passage },
	{ .child = flusher_forget, .restart = reporters_forget },
	{ .restart = latencies_forget },
	{ .restart = samples_forget_all },
	{ .restart = frames_forget },
	{ .restart = frames_write_forget },
	{ .restart = dump_request_forget },
	{ .restart = shards_forget_common },
	{ .restart = pool_forget },
	{ .restart = tasks_begin },
	{ .restart = stream_forget },
	{ .restart = begin_in_child },
};

static void prepare_once(void)
{
	static bool is_prepared;

	if (is_prepared)
		return;
	lock_begin();
	fork_watch(fork_hooks, sizeof fork_hooks / sizeof *fork_hooks);
	is_prepared = true;
}

/* Keeps the latest error as what was wrong with the settings, for viewers. */
static void keep_problem(void)
{
	snprintf(settings.problem, sizeof settings.problem, "%s", telem_error());
}

/* Applies the settings of the program and of the environment. Returns 0 or -EINVAL. */
static int configure(const struct telem_options *options, struct config *config)
{
	const char *environment = getauxval(AT_SECURE) ? NULL : getenv("TELEM");
	int result = 0;

	settings_begin(options);
	settings.problem[0] = '\0';
	if (settings.options.config && config_apply(config, settings.options.config) < 0)
		result = -EINVAL;
	if (environment && !settings.options.ignore_environment && config_apply(config, environment) < 0)
		result = -EINVAL;
	if (result < 0)
		keep_problem();
	settings.options.no_discovery |= config->no_discovery;
	settings_name();
	dump_begin();
	return result;
}

static bool is_every_type(uint32_t type)
{
	(void)type;
	return true;
}

/* Puts the levels in force. */
static void levels_begin(void)
{
	/* Allocations and frees between two runs were not counted. */
	for (uint32_t i = 0; i < class_table.count; i++)
		class_table.rows[i].was_off = settings.runs > 0 || class_table.rows[i].own_level == TELEM_OFF;
	for (uint32_t i = 1; i < site_table.count; i++)
		site_table.rows[i].was_off = settings.runs > 0;
	if (settings.runs++ > 0)
		samples_forget(is_every_type);
	levels_apply("program");
}

static int start(const struct telem_options *options)
{
	struct config config = { .no_discovery = false };
	int result, err;

	prepare_once();
	while (is_stopping)
		lock_wait_flushed();
	fork_restart_locked();
	if (settings.is_running) {
		error_set("telem_start: telemetry runs already");
		return -EALREADY;
	}
	classes_begin();
	if (!task_table.first)
		tasks_begin();
	result = configure(options, &config);
	err = begin();
	if (err < 0)
		return err;
	set_running(true);
	for (size_t i = 0; i < config.sink_count; i++)
		if (sink_open(config.sinks[i]) < 0) {
			result = -EINVAL;
			keep_problem();
		}
	if (settings.problem[0] && !settings.options.no_discovery)
		discovery_tell_problem(settings.problem);
	levels_begin();
	return result;
}

/* Whoever looks for the reason of a silence asks for it with TELEM_DEBUG=1; otherwise nothing is ever printed. */
static void print_error(void)
{
	const char *debug = secure_getenv("TELEM_DEBUG");
	char line[600];
	int length = snprintf(line, sizeof line, "libtelem: %s\n", telem_error());

	if (debug && !strcmp(debug, "1") && telem_error()[0] && length > 0)
		(void)!write(STDERR_FILENO, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

int telem_start(const struct telem_options *options)
{
	int saved = errno, result;

	lock_take();
	result = start(options);
	print_error();
	lock_release();
	errno = saved;
	return result;
}

/* ---- stop ---- */

static void stop(void)
{
	int saved = errno;

	if (lock_is_of_parent())
		return;
	lock_take();
	while (is_stopping)
		lock_wait_flushed();
	if (settings.is_running) {
		/* From here on nothing new is recorded. What is in the rings is still sent. */
		set_running(false);
		is_stopping = !fork_awaits_restart();
		levels_apply("program");
		if (is_stopping)
			flusher_stop(settings.options.linger_ns);
		is_stopping = false;
		leases_forget();
		lock_flushed();
	}
	lock_release();
	errno = saved;
}

/* Joining the flusher is a cancellation point, and a stop that is cancelled in the middle could never be finished. */
static void stop_whole(void)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	stop();
	pthread_setcancelstate(cancel, NULL);
}

void telem_stop(void)
{
	stop_whole();
}

/* In a plugin the name telem_stop may be bound to the program's copy of the library, so it is not called here. */
__attribute__((destructor)) static void stop_at_exit(void)
{
	stop_whole();
	is_over = true;
}

/* At the end of a process this runs before the destructors of its objects, and other threads may still use the memory. When
 * a plugin with a copy of its own is unloaded it runs after them, because it was registered first, and nobody can use the
 * plugin's memory any more (System V ABI, Itanium C++ ABI 3.3.6.3: __cxa_finalize()). */
static void give_memory_back(void)
{
	if (!is_over)
		return;
	memory_give_back();
	lock_end();
}

__attribute__((constructor(101))) static void await_unloading(void)
{
	atexit(give_memory_back);
}

/* ---- sinks ---- */

int telem_sink_add(const char *address)
{
	int saved = errno, id = -ENOTCONN;

	fork_restart();
	lock_take();
	if (settings.is_running)
		id = sink_open(address);
	lock_release();
	errno = saved;
	return id;
}
static int add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int add(const char *format, ...)
{
	char address[LIMIT_PATH_BYTES + 32];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(address, sizeof address, format, arguments);
	va_end(arguments);
	return length < 0 || (size_t)length >= sizeof address ? -ENAMETOOLONG : telem_sink_add(address);
}

int telem_sink_fifo(const char *path) { return add("fifo:%s", path); }
int telem_sink_unix(const char *path) { return add("unix:%s", path); }
int telem_sink_file(const char *path) { return add("file:%s", path); }
int telem_sink_fd(int fd) { return add("fd:%d", fd); }

int telem_sink_tcp_listen(const char *host, int port, bool control)
{
	return add("tcp:%s:%d%s", host, port, control ? ",control" : "");
}

int telem_sink_tcp_connect(const char *host, int port, bool control)
{
	return add("connect:%s:%d%s", host, port, control ? ",control" : "");
}


/* Returns whether the sink exists and was not asked to close yet. Call with the lock held. */
static bool may_be_removed(int id)
{
	return id >= 0 && id < LIMIT_SINKS && sink_is_flushers(&sinks[id]) && !sink_is_leaving(&sinks[id]) &&
	       !sink_close_by_ns(&sinks[id]);
}

int telem_sink_remove(int id)
{
	int saved = errno, result = -ENOENT;

	lock_take();
	if (settings.is_running && may_be_removed(id)) {
		/* The sink first sends everything that was recorded before this. */
		sink_close_by(&sinks[id], clock_ns() + settings.options.linger_ns);
		wake_signal();
		while (settings.is_running && sink_close_by_ns(&sinks[id]))
			lock_wait_flushed_until(clock_ns() + 1000000000u);
		result = 0;
	}
	lock_release();
	errno = saved;
	return result;
}

int telem_sink_redirect(int id, const char *address)
{
	int added = telem_sink_add(address);

	/* The old sink closes after a fence, because the new one has been greeted by then. */
	if (added >= 0)
		telem_sink_remove(id);
	return added;
}

int telem_flush(uint64_t timeout_ns)
{
	int saved = errno, result = -ENOTCONN;

	fork_restart();
	lock_take();
	if (settings.is_running)
		result = fence_wait(fence_ask(), timeout_ns);
	lock_release();
	errno = saved;
	return result;
}

void telem_sync(void)
{
	int saved = errno;

	lock_take();
	if (settings.is_running)
		greet_all_soon();
	lock_release();
	errno = saved;
}
