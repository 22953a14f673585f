/* telem.c -- start, stop, options: the life of the one emitter. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "emitter/deliver/config.h"
#include "emitter/deliver/request.h"
#include "emitter/core/emitter.h"
#include "emitter/deliver/flusher.h"
#include "emitter/record/ring.h"
#include "emitter/deliver/report.h"
#include "emitter/deliver/sink.h"
#include "emitter/deliver/snapshot.h"

/* All zero, so that it takes no room in the file. */
struct emitter emitter = { .lock = PTHREAD_MUTEX_INITIALIZER };

void emitter_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(emitter.error, sizeof emitter.error, format, arguments);
	va_end(arguments);
}

const char *telem_error(void)
{
	return emitter.error;
}

void *emitter_reserve(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

void emitter_use(size_t bytes)
{
	__atomic_fetch_add(&emitter.mapped_bytes, bytes, __ATOMIC_RELAXED);
}

void *emitter_map(size_t bytes)
{
	void *pages = emitter_reserve(bytes);

	if (pages)
		emitter_use(bytes);
	return pages;
}

void *emitter_keep(size_t bytes)
{
	enum { STEP = 64 << 10 };
	static uint8_t *at;
	static size_t left;
	uint8_t *kept;

	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > left) {
		at = bytes <= STEP ? emitter_map(STEP) : NULL;
		left = at ? STEP : 0;
		if (!at)
			return NULL;
	}
	kept = at;
	at += bytes;
	left -= bytes;
	return kept;
}

void emitter_unmap(void *pages, size_t bytes)
{
	if (!pages)
		return;
	munmap(pages, bytes);
	__atomic_fetch_sub(&emitter.mapped_bytes, bytes, __ATOMIC_RELAXED);
}

/* The two shards that belong to no thread. */
static bool common_shard(struct shard *shard, uint32_t id)
{
	if (!shard->cells)
		shard->cells = emitter_reserve(LIMIT_EMITTER_SITES * CELL_BYTES);
	shard->told = shard->cells ? (uint64_t *)(void *)(shard->cells + LIMIT_EMITTER_SITES) : NULL;
	shard->cell_count = LIMIT_EMITTER_SITES;
	shard->id = id;
	return shard->cells;
}


/* ---- fork ---- */

static void before_fork(void)
{
	emitter_lock();
}

static void after_fork_in_parent(void)
{
	emitter_unlock();
}

static void make_condition(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&emitter.flushed, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* The child has neither the flusher nor anything of what its parent was about to say. It
 * starts telemetry at its first event, so a child that only calls exec() does next to
 * nothing: it lets go of the parent's connections. */
static void after_fork_in_child(void)
{
	emitter_unlock();
	/* Anew, not destroyed: that would wait for threads that waited in the parent. */
	make_condition();
	emitter.is_stopping = false;
	emitter.in_child = true;
	thread_forget();
	for (uint32_t i = 0; i < LIMIT_SINKS; i++) {
		struct sink *sink = &sinks[i];

		if (sink_state(sink) == SINK_FREE)
			continue;
		if (sink->in_fd >= 0 && sink->in_fd != sink->fd)
			close(sink->in_fd);
		if (sink->fd >= 0)
			close(sink->fd);
		sink_unwatch(sink);
		emitter_unmap(sink->queue, SINK_QUEUE_ROOM * sizeof *sink->queue);
		emitter_unmap(sink->decoder, decoder_bytes());
		sink_set_state(sink, SINK_FREE);
	}
	flusher_forget();
	emitter.coarse_ticks = 0;
	emitter.streaming_count = 0;
}

/* Locked. */
static void begin_in_child(void)
{
	if (!emitter.in_child)
		return;
	leases_forget();
	latencies_forget();
	reporters_forget();
	frames_forget();
	dump_forget();
	if (common_shard(&emitter.ended, UINT32_MAX) && common_shard(&emitter.shared, UINT32_MAX - 1))
		shards_forget();
	blocks_forget();
	tasks_begin();
	stream = (struct stream){ .id = 0 };
	emitter.bytes_sent = 0;
	__atomic_store_n(&emitter.in_child, false, __ATOMIC_RELAXED);
	if (emitter.is_running && emitter_begin() < 0)
		__atomic_store_n(&emitter.is_running, false, __ATOMIC_RELAXED);
	levels_apply("program");
}

void emitter_restart_in_child(void)
{
	int saved = errno;

	if (!__atomic_load_n(&emitter.in_child, __ATOMIC_RELAXED))
		return;
	emitter_lock();
	begin_in_child();
	emitter_unlock();
	errno = saved;
}

/* ---- start and stop ---- */

static void name_from_file(void)
{
	if (!emitter.name[0])
		snprintf(emitter.name, sizeof emitter.name, "%s", program_invocation_short_name);
}

int emitter_begin(void)
{
	int err;

	if (!common_shard(&emitter.ended, UINT32_MAX) || !common_shard(&emitter.shared, UINT32_MAX - 1))
		return -ENOMEM;
	__atomic_store_n(&emitter.pid, getpid(), __ATOMIC_RELAXED);
	clock_begin();
	stream_begin();
	if (!emitter.options.no_discovery) {
		err = discovery_open();
		if (err == -EBUSY) {
			emitter_error("another copy of libtelem in this process has telemetry already; this one stays "
				      "silent");
			return err;
		}
	}
	err = flusher_start();
	if (err < 0) {
		emitter_error("no thread for telemetry: %s", strerror(-err));
		for (uint32_t i = 0; i < LIMIT_SINKS; i++)
			if (sink_state(&sinks[i]) != SINK_FREE)
				sink_free(&sinks[i]);
		return err;
	}
	return 0;
}

int telem_start(const struct telem_options *options)
{
	static bool is_prepared;
	struct config config = { .no_discovery = false };
	const char *environment = getauxval(AT_SECURE) ? NULL : getenv("TELEM"), *temporary = secure_getenv("TMPDIR");
	int saved = errno, result = 0, err;

	emitter_lock();
	if (!is_prepared) {
		make_condition();
		pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	}
	is_prepared = true;
	while (emitter.is_stopping)
		pthread_cond_wait(&emitter.flushed, &emitter.lock);
	begin_in_child();
	if (emitter.is_running) {
		emitter_unlock();
		errno = saved;
		return -EALREADY;
	}
	classes_begin();
	if (!emitter.tasks)
		tasks_begin();
	if (!emitter.flush_ns)
		emitter.flush_ns = LIMIT_FLUSH_NS_DEFAULT;
	if (!emitter.ring_bytes)
		emitter.ring_bytes = LIMIT_RING_BYTES_DEFAULT;
	emitter.options = options ? *options : (struct telem_options){ 0 };
	if (emitter.options.linger_ns == 0)
		emitter.options.linger_ns = LIMIT_LINGER_NS_DEFAULT;
	if (emitter.options.linger_ns > LIMIT_LINGER_NS_MAX)
		emitter.options.linger_ns = LIMIT_LINGER_NS_MAX;
	if (emitter.options.name)
		snprintf(emitter.name, sizeof emitter.name, "%s", emitter.options.name);
	if (emitter.options.config && config_apply(&config, emitter.options.config) < 0)
		result = -EINVAL;
	if (environment && !emitter.options.ignore_environment && config_apply(&config, environment) < 0)
		result = -EINVAL;
	emitter.options.no_discovery |= config.no_discovery;
	name_from_file();
	if (!emitter.dump_directory[0])
		dump_directory(temporary && *temporary && strlen(temporary) < sizeof emitter.dump_directory
			       ? temporary : "/tmp");
	err = emitter_begin();
	if (err == 0) {
		__atomic_store_n(&emitter.is_running, true, __ATOMIC_RELAXED);
		for (size_t i = 0; i < config.sink_count; i++)
			if (sink_open(config.sinks[i]) < 0)
				result = -EINVAL;
		/* What came and went between two runs was not counted. */
		for (uint32_t i = 0; i < emitter.class_count; i++)
			emitter.classes[i].was_off = emitter.runs > 0 || emitter.classes[i].own_level == TELEM_OFF;
		if (emitter.runs++ > 0)
			samples_forget();
		levels_apply("program");
	}
	emitter_unlock();
	errno = saved;
	return err < 0 ? err : result;
}

bool emitter_is_orphan(void)
{
	pid_t pid = __atomic_load_n(&emitter.pid, __ATOMIC_RELAXED);

	return pid && pid != getpid() && !__atomic_load_n(&emitter.in_child, __ATOMIC_RELAXED);
}

static void stop(void)
{
	int saved = errno;

	if (emitter_is_orphan())
		return;
	emitter_lock();
	while (emitter.is_stopping)
		pthread_cond_wait(&emitter.flushed, &emitter.lock);
	if (emitter.is_running) {
		/* Nothing new is recorded from here on; what is in the rings still goes out. */
		__atomic_store_n(&emitter.is_running, false, __ATOMIC_RELAXED);
		emitter.is_stopping = !emitter.in_child;
		levels_apply("program");
		if (emitter.is_stopping)
			flusher_stop(emitter.options.linger_ns);
		emitter.is_stopping = false;
		leases_forget();
		pthread_cond_broadcast(&emitter.flushed);
	}
	emitter_unlock();
	errno = saved;
}

/* Joining the flusher is a cancellation point, and a stop that is half done is for ever. */
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

/* This copy's own: in a plugin telem_stop() may be the program's. */
__attribute__((destructor)) static void stop_at_exit(void)
{
	stop_whole();
}

/* ---- settings ---- */

int telem_set_flush_interval(uint64_t ns)
{
	if (ns < LIMIT_FLUSH_NS_MIN || ns > LIMIT_FLUSH_NS_MAX)
		return -EINVAL;
	__atomic_store_n(&emitter.flush_ns, ns, __ATOMIC_RELAXED);
	return 0;
}

int telem_set_ring_bytes(size_t bytes)
{
	size_t rounded = LIMIT_RING_BYTES_MIN;

	if (bytes < LIMIT_RING_BYTES_MIN || bytes > LIMIT_RING_BYTES_MAX)
		return -EINVAL;
	while (rounded < bytes)
		rounded *= 2;
	__atomic_store_n(&emitter.ring_bytes, rounded, __ATOMIC_RELAXED);
	return 0;
}

int telem_set_policy(enum telem_policy policy, uint64_t timeout_ns)
{
	if (policy > TELEM_BLOCK || timeout_ns > LIMIT_BLOCK_WAIT_NS_MAX)
		return -EINVAL;
	__atomic_store_n(&emitter.block_wait_ns, timeout_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&emitter.policy, policy, __ATOMIC_RELAXED);
	return 0;
}

/* ---- sinks ---- */

int telem_sink_add(const char *address)
{
	int saved = errno, id = -ENOTCONN;

	emitter_restart_in_child();
	emitter_lock();
	if (emitter.is_running)
		id = sink_open(address);
	emitter_unlock();
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

int telem_sink_remove(int id)
{
	int saved = errno, result = -ENOENT;
	struct timespec pause;

	emitter_lock();
	if (emitter.is_running && id >= 0 && id < LIMIT_SINKS && sink_state(&sinks[id]) == SINK_OPEN) {
		/* Everything up to now leaves through it first. */
		sinks[id].close_by_ns = clock_ns() + emitter.options.linger_ns;
		sink_set_state(&sinks[id], SINK_CLOSING);
		flusher_wake();
		while (emitter.is_running && sink_state(&sinks[id]) == SINK_CLOSING) {
			clock_gettime(CLOCK_MONOTONIC, &pause);
			pause.tv_sec++;
			pthread_cond_timedwait(&emitter.flushed, &emitter.lock, &pause);
		}
		result = 0;
	}
	emitter_unlock();
	errno = saved;
	return result;
}

int telem_sink_redirect(int id, const char *address)
{
	int added = telem_sink_add(address);

	/* The old one goes behind a fence: the new one has been greeted by then. */
	if (added >= 0)
		telem_sink_remove(id);
	return added;
}

int telem_flush(uint64_t timeout_ns)
{
	int saved = errno, result = -ENOTCONN;

	emitter_restart_in_child();
	emitter_lock();
	if (emitter.is_running)
		result = flusher_wait(flusher_flush_soon(), timeout_ns);
	emitter_unlock();
	errno = saved;
	return result;
}

void telem_sync(void)
{
	int saved = errno;

	emitter_lock();
	if (emitter.is_running)
		flusher_sync_soon();
	emitter_unlock();
	errno = saved;
}

void telem_stats(struct telem_statistics *out)
{
	int saved = errno;
	uint64_t emitted, dropped;

	memset(out, 0, sizeof *out);
	emitter_restart_in_child();
	emitter_lock();
	snapshot_totals(&emitted, &dropped);
	out->delivered = __atomic_load_n(&stream.delivered, __ATOMIC_RELAXED);
	out->dropped = dropped + __atomic_load_n(&stream.dropped, __ATOMIC_RELAXED);
	out->emitted = emitted;
	out->queued = emitted - out->delivered - out->dropped;
	out->bytes_sent = __atomic_load_n(&emitter.bytes_sent, __ATOMIC_RELAXED);
	out->memory_bytes = __atomic_load_n(&emitter.mapped_bytes, __ATOMIC_RELAXED);
	out->flusher_cpu_ns = flusher_cpu_ns();
	out->sinks = emitter.streaming_count;
	out->sites = emitter.site_count ? emitter.site_count - 1 : 0;
	out->classes = emitter.class_count;
	out->tasks = emitter.task_count;
	out->threads = emitter.thread_count;
	emitter_unlock();
	errno = saved;
}
